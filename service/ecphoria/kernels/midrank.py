"""Ranks in place of values: a scale that neither outliers nor the number of nodes can bend."""

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import FloatArray, floats

__all__ = ["midrank"]

DECIMALS = 11
"""Values that differ less than this differ by the order of adding."""


def midrank(values: ArrayLike) -> FloatArray:
    """Scale values to 0..1 by their rank, ties sharing the middle of theirs; O(n log n).

    `r = (midrank - 1) / (n - 1)` with ranks from 1, the least first; one value alone gets 0.

    Args:
        values: [n], compared to 11 decimals.

    >>> midrank([0.2, 0.1, 0.4, 0.2])
    array([0.5, 0. , 1. , 0.5])
    """
    given = np.round(floats("values", values), DECIMALS)
    if given.size < 2:
        return np.zeros_like(given)
    _, place, count = np.unique(given, return_inverse=True, return_counts=True)
    last = np.cumsum(count).astype(np.float64)
    middle: FloatArray = (last - 0.5 * (count - 1) - 1.0) / (given.size - 1)
    return middle[place]
