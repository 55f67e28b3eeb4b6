"""The scale of a tenant's evidence: the figures of its recalls, with and without their first hit.

A recall without its first hit looks like a question without an answer. So the store itself tells
how far apart both kinds are, without labels (decision 0070).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ecphoria.records.answered import answered

LEAST: Final = 10
"""Recorded recalls from which the scale counts; fewer and more are never mixed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figure:
    """A figure that is scaled.

    Attributes:
        name: Of the evidence.
        least: Least spread, for a store that is asked the same again and again.
        lead: Deviations by which the first hit stands above the others in any store, because it
            was chosen for this.
    """

    name: str
    least: float
    lead: float


_FIGURES: Final = (
    _Figure(name="joint", least=0.06, lead=0.1),
    _Figure(name="top_similarity", least=0.06, lead=0.3),
    _Figure(name="gap", least=0.04, lead=0.5),
)
SCALED: Final = tuple(figure.name for figure in _FIGURES)
"""Names of the figures that are scaled."""
_SUMS: Final = 4
"""Sums of a figure: of the values with the first hit, of their squares, and both without it."""
_LEAST_WORTH, _MOST = 0.2, 3.0


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Usual evidence of a tenant's recorded recalls."""

    recalls: float
    """Recalls; those before the last 500 count half, and so on."""
    found: Mapping[str, float]
    """Mean of each figure."""
    without: Mapping[str, float]
    """Mean of each figure without the first hit."""
    spread: Mapping[str, float]
    """Standard deviation of each figure within either kind."""

    def scaled(self, evidence: Mapping[str, float]) -> dict[str, float]:
        """Scale figures: 0 half way between both means, in deviations times the figure's worth.

        The worth is the distance of both means in deviations. So a figure that says nothing in
        this store, such as cosines in a language that the model does not read, hardly counts.
        """
        scaled = {}
        for figure in _FIGURES:
            name, unit = figure.name, max(self.spread[figure.name], figure.least)
            apart = max(0.0, self.found[name] - self.without[name] - figure.lead * unit)
            above = (evidence[name] - self.without[name] - apart / 2.0) / unit
            worth = min(max(apart / unit, _LEAST_WORTH), _MOST)
            scaled[name] = min(max(above, -_MOST), _MOST) * worth
        return scaled


def sums_of(recalls: Iterable[tuple[Mapping[str, float], Mapping[str, float]]]) -> list[float]:
    """Add up the figures of recalls: their number, then the sums of each figure.

    Args:
        recalls: The evidence of each, and the same without its first hit.
    """
    sums = [0.0] * (1 + _SUMS * len(SCALED))
    for found, without in recalls:
        values = ((found[name], without[name]) for name in SCALED)
        row = [1.0, *(x for one, other in values for x in (one, one**2, other, other**2))]
        sums = [total + value for total, value in zip(sums, row, strict=True)]
    return sums


def scale_of(sums: Sequence[float]) -> Scale | None:
    """Read a scale from its sums; None with too few recalls."""
    if len(sums) != 1 + _SUMS * len(SCALED) or sums[0] < LEAST:
        return None
    count, *rest = sums
    found, without, spread = {}, {}, {}
    for place, name in enumerate(SCALED):
        one, one2, other, other2 = (value / count for value in rest[_SUMS * place :][:_SUMS])
        found[name], without[name] = one, other
        # Rounding may take a variance below 0.
        spread[name] = math.sqrt(max(0.0, (one2 - one**2 + other2 - other**2) / 2.0))
    return Scale(recalls=count, found=found, without=without, spread=spread)
