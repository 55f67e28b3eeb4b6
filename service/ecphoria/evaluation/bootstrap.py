"""How sure a difference is: paired bootstrap over questions, and over whole collections.

Efron's percentile method on paired differences. Questions of one conversation are alike, so the
interval over collections is the honest one for data nobody has seen.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

__all__ = ["SEED", "Difference", "difference"]

SEED = 20_250
_DRAWS = 10_000
_AT_ONCE = 500
_SHARES = (2.5, 97.5)

FloatArray = NDArray[np.float64]
Interval = tuple[float, float]


class Difference(BaseModel):
    """A mean difference with 95 % intervals."""

    model_config = ConfigDict(frozen=True)

    mean: float
    questions: Interval
    """Over questions."""
    collections: Interval | None
    """Over whole conversations or pools; None with a single one."""


def difference(
    before: Sequence[float], after: Sequence[float], owners: Sequence[str], *, seed: int = SEED
) -> Difference:
    """Compare two lists of scores of the same questions.

    Args:
        before: Score of each question; not empty.
        after: Score of each question, in the same order.
        owners: The collection of each question.
        seed: Of the draws; the same data and seed give the same intervals.
    """
    gain = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    names, place = np.unique(np.asarray(owners), return_inverse=True)
    sums = np.bincount(place, weights=gain).astype(np.float64)
    sizes = np.bincount(place).astype(np.float64)
    several = len(names) > 1
    return Difference(
        mean=float(gain.mean()),
        questions=_interval(gain, np.ones(gain.size), np.random.default_rng(seed)),
        collections=_interval(sums, sizes, np.random.default_rng(seed)) if several else None,
    )


def _interval(sums: FloatArray, sizes: FloatArray, random: np.random.Generator) -> Interval:
    """Draw units with replacement; each mean weighs a unit by its size."""
    means = []
    for _ in range(_DRAWS // _AT_ONCE):
        drawn = random.integers(0, sums.size, size=(_AT_ONCE, sums.size))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    low, high = np.percentile(np.concatenate(means), _SHARES)
    return float(low), float(high)
