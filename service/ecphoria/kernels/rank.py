"""The last cut: add up the parts, order, keep k."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import FloatArray, IntArray, floats, ordered

__all__ = ["Ranking", "rank"]

DECIMALS = 12  # sums that differ less than this differ by the order of adding


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranking:
    """The k best.

    Attributes:
        index: int [<= k], into the rows of the parts, best first.
        score: [n], the sum of each row.
    """

    index: IntArray
    score: FloatArray


def rank(parts: ArrayLike, order: ArrayLike, k: int) -> Ranking:
    """Sort by the sum of parts, descending; ties by the order key, ascending; O(n log n).

    Scores equal to 12 decimals tie, so adding the same parts in another order changes nothing.
    Rows with equal score and equal key stay as given: make the key distinct.

    Args:
        parts: [n, p], the terms of each score.
        order: int [n], smaller comes first (say, the place by occurred_at descending, then id).
        k: how many, >= 0.

    >>> rank([[0.2, 0.3], [0.9, 0.0], [0.5, 0.0]], [2, 1, 0], 3).index
    array([1, 2, 0])
    """
    terms = floats("parts", parts, ndim=2)
    key = ordered("order", order)
    if key.size != terms.shape[0]:
        raise ValueError("order must have one value for each row of parts")
    if k < 0:
        raise ValueError("k must not be negative")
    score = terms.sum(axis=1)
    index = np.lexsort((key, -np.round(score, DECIMALS)))[:k]
    return Ranking(index=index.astype(np.int64), score=score)
