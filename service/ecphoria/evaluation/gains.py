"""What the default strategy adds to the best baseline: in all, and by kind of question."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict

from ecphoria.evaluation.datasets.dataset import Suite
from ecphoria.evaluation.figures import HEADLINE, MEASURES, Measure
from ecphoria.evaluation.measures import mean
from ecphoria.evaluation.rows import Row

__all__ = ["BASELINES", "Gain", "Gains", "gains", "worst_first"]

BASELINES: Final = ("dense", "lexical", "fusion")
"""Strategies that the default must beat."""

T = TypeVar("T")


class Gain(BaseModel):
    """The default against the best baseline on the same questions."""

    model_config = ConfigDict(frozen=True)

    n: int
    default: float
    best: str
    best_value: float
    gain: float


class Gains(Gain):
    """The gain on all questions; slices stand with the smallest gain first."""

    measure: str
    by_category: dict[str, Gain]
    by_kind: dict[str, Gain]


def gains(of: Mapping[str, Sequence[Row]], default: str, suite: Suite) -> Gains | None:
    """Compare the default with the baselines; None if one side was not measured.

    Args:
        of: All rows, by strategy.
        default: Its name.
        suite: Says which measure: the first of its headline.
    """
    name = HEADLINE[suite][0]
    measure = MEASURES[suite][name]
    own = [row for row in of.get(default, ()) if row.scored]
    others = {
        one: [row for row in of[one] if row.scored]
        for one in BASELINES
        if one != default and of.get(one)
    }
    if not own or not others:
        return None
    whole = _gain(own, others, measure)
    return Gains(
        measure=name,
        **whole.model_dump(),
        by_category=_slices(own, others, measure, lambda row: row.category),
        by_kind=_slices(own, others, measure, lambda row: row.kind),
    )


def worst_first(entries: Mapping[str, T], order: Mapping[str, Gain]) -> dict[str, T]:
    """Put entries into the order of the gains; those without a gain come last."""
    known = {name: entries[name] for name in order if name in entries}
    return known | dict(entries)


def _slices(
    own: Sequence[Row],
    others: Mapping[str, Sequence[Row]],
    measure: Measure,
    slice_of: Callable[[Row], str],
) -> dict[str, Gain]:
    found = {
        name: _gain(
            [row for row in own if slice_of(row) == name],
            {one: [row for row in rows if slice_of(row) == name] for one, rows in others.items()},
            measure,
        )
        for name in {slice_of(row) for row in own} - {""}
    }
    return dict(sorted(found.items(), key=lambda pair: (pair[1].gain, pair[0])))


def _gain(own: Sequence[Row], others: Mapping[str, Sequence[Row]], measure: Measure) -> Gain:
    value = mean([measure(row) for row in own]) or 0.0
    means = {name: mean([measure(row) for row in rows]) or 0.0 for name, rows in others.items()}
    best = max(means, key=lambda name: means[name])
    return Gain(
        n=len(own),
        default=value,
        best=best,
        best_value=means[best],
        gain=value - means[best],
    )
