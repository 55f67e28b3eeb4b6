"""How well confidence tells questions with an answer from those without, from rows alone."""

from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict

from ecphoria.evaluation.measures import auroc, refusal_at
from ecphoria.evaluation.rows import Row

__all__ = ["Abstention", "Bin", "TakenOut", "abstention", "calibration_error", "reliability"]

_FALSE_REFUSALS = ("0.021", "0.05", "0.10")
_BINS: Final = 10


class Bin(BaseModel):
    """Questions whose confidence lies from `low` to below `high`; the last bin includes 1.

    Questions with and without an answer have the same total weight, however many there are.
    """

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    low: float
    """Lower bound."""
    high: float
    """Upper bound."""
    n: int
    """Questions in the bin."""
    weight: float
    """Their share of the total weight."""
    confidence: float
    """Their mean confidence."""
    right: float
    """Share of them that has an answer."""


class TakenOut(BaseModel):
    """Questions with their evidence in the store against the same questions without it."""

    model_config = ConfigDict(frozen=True)

    n: int
    auroc: float | None
    refusal_at_frr: dict[str, float | None]
    ece: float | None
    reliability: list[Bin]


class Abstention(BaseModel):
    """Questions with an answer against those of the data that have none."""

    model_config = ConfigDict(frozen=True)

    auroc: float | None
    refusal_at_frr: dict[str, float | None]
    ece: float | None
    reliability: list[Bin]
    taken_out: TakenOut | None = None


def abstention(rows: Sequence[Row]) -> Abstention:
    """Judge the confidence of one strategy's rows."""
    present = {(row.collection, row.question): row.confidence for row in rows if row.scored}
    pairs = [
        (present[key], row.confidence)
        for row in rows
        if row.taken_out and (key := (row.collection, row.question)) in present
    ]
    yes = list(present.values())
    no = [row.confidence for row in rows if row.adversarial]
    return Abstention(
        auroc=auroc(yes, no),
        refusal_at_frr=_refusals(yes, no),
        ece=calibration_error(yes, no),
        reliability=reliability(yes, no),
        taken_out=_taken_out(pairs) if pairs else None,
    )


def reliability(answerable: Sequence[float], others: Sequence[float]) -> list[Bin]:
    """Sort questions into ten bins of equal width by confidence; empty bins are left out.

    Args:
        answerable: Confidence of the questions with an answer.
        others: Confidence of the questions without.
    """
    if not answerable or not others:
        return []
    known = [(one, 0.5 / len(answerable), True) for one in answerable]
    known += [(one, 0.5 / len(others), False) for one in others]
    places: list[list[tuple[float, float, bool]]] = [[] for _ in range(_BINS)]
    for one in known:
        places[min(int(one[0] * _BINS), _BINS - 1)].append(one)
    return [_bin(place, inside) for place, inside in enumerate(places) if inside]


def calibration_error(answerable: Sequence[float], others: Sequence[float]) -> float | None:
    """Expected calibration error: mean distance of confidence and share right over the bins.

    >>> calibration_error([1.0, 1.0], [0.0])
    0.0
    """
    bins = reliability(answerable, others)
    if not bins:
        return None
    return sum(one.weight * abs(one.right - one.confidence) for one in bins)


def _bin(place: int, inside: Sequence[tuple[float, float, bool]]) -> Bin:
    weight = sum(each for _, each, _ in inside)
    return Bin(
        low=place / _BINS,
        high=(place + 1) / _BINS,
        n=len(inside),
        weight=weight,
        confidence=sum(sure * each for sure, each, _ in inside) / weight,
        right=sum(each for _, each, has_answer in inside if has_answer) / weight,
    )


def _taken_out(pairs: Sequence[tuple[float, float]]) -> TakenOut:
    present = [one for one, _ in pairs]
    without = [one for _, one in pairs]
    return TakenOut(
        n=len(pairs),
        auroc=auroc(present, without),
        refusal_at_frr=_refusals(present, without),
        ece=calibration_error(present, without),
        reliability=reliability(present, without),
    )


def _refusals(yes: Sequence[float], no: Sequence[float]) -> dict[str, float | None]:
    return {rate: refusal_at(yes, no, float(rate)) for rate in _FALSE_REFUSALS}
