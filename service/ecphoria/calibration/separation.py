"""Tell how well a confidence separates questions with an answer from those without."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import floor
from typing import Final

from ecphoria.records.calibration import Bin

_BINS: Final = 10


def auroc(answerable: Sequence[float], adversarial: Sequence[float]) -> float | None:
    """Share of pairs in which the answerable question has the higher confidence; ties count half.

    >>> auroc([0.9, 0.6, 0.4], [0.5, 0.3]) == 5 / 6
    True
    """
    if not answerable or not adversarial:
        return None
    low = sorted(adversarial)
    won = sum(bisect_left(low, value) + bisect_right(low, value) for value in answerable)
    return won / (2 * len(answerable) * len(adversarial))


def refusal_at(
    answerable: Sequence[float], adversarial: Sequence[float], rate: float
) -> float | None:
    """Share of questions without an answer refused where at most `rate` of the others are.

    What lies below a threshold is refused; the threshold is the highest that keeps the rate.
    """
    if not answerable or not adversarial:
        return None
    ordered = sorted(answerable)
    allowed = floor(rate * len(ordered) + 1e-9)
    if allowed >= len(ordered):
        return 1.0
    return sum(value < ordered[allowed] for value in adversarial) / len(adversarial)


def reliability_bins(answerable: Sequence[float], others: Sequence[float]) -> list[Bin]:
    """Sort questions into ten bins of equal width by confidence; empty bins are left out."""
    if not answerable or not others:
        return []
    known = [(value, 0.5 / len(answerable), True) for value in answerable]
    known += [(value, 0.5 / len(others), False) for value in others]
    places: list[list[tuple[float, float, bool]]] = [[] for _ in range(_BINS)]
    for one in known:
        places[min(int(one[0] * _BINS), _BINS - 1)].append(one)
    return [_bin(place, inside) for place, inside in enumerate(places) if inside]


def calibration_error(answerable: Sequence[float], others: Sequence[float]) -> float | None:
    """Expected calibration error: mean distance of confidence and share right over the bins.

    >>> calibration_error([1.0, 1.0], [0.0])
    0.0
    """
    bins = reliability_bins(answerable, others)
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
