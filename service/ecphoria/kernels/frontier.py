"""Who sends next, and who sent most: the bookkeeping of a step-by-step walk."""

from typing import Final, TypeVar

import numpy as np

from ecphoria.kernels.arrays import FloatArray, IntArray

__all__ = ["frontier", "grown", "only", "strongest"]

TIE: Final = 1e-9  # relative: energies this close are equal up to the order of adding

Grown = TypeVar("Grown", FloatArray, IntArray)


def frontier(energy: FloatArray, count: int) -> IntArray:
    """Pick the `count` strongest, and whatever ties with the last of them; O(n).

    Ties are common (the concepts of one passage all get the same share) and have no fair order.

    >>> frontier(np.array([3.0, 0.0, 1.0, 1.0]), 2)
    array([0, 2, 3])
    """
    live = np.flatnonzero(energy > 0.0)
    if live.size > count:
        last = np.partition(energy[live], live.size - count)[live.size - count]
        live = live[energy[live] >= last * (1.0 - TIE)]
    return live


def only(energy: FloatArray, rows: IntArray) -> FloatArray:
    """Silence everything but the given rows.

    >>> only(np.array([3.0, 2.0]), np.array([1]))
    array([0., 2.])
    """
    sending = np.zeros_like(energy)
    sending[rows] = energy[rows]
    return sending


def strongest(
    tail: IntArray, head: IntArray, sent: FloatArray, *, size: int
) -> tuple[IntArray, FloatArray]:
    """Find who sent each head most, and how much; the smaller index of equals; -1 for none.

    >>> strongest(np.array([4, 2]), np.array([0, 0]), np.array([0.1, 0.3]), size=2)
    (array([ 2, -1]), array([0.3, 0. ]))
    """
    share = np.zeros(size)
    np.maximum.at(share, head, sent)
    first = np.full(size, np.iinfo(np.int64).max, dtype=np.int64)
    best = (sent > 0.0) & (sent >= share[head] * (1.0 - TIE))
    np.minimum.at(first, head[best], tail[best])
    return np.where(share > 0.0, first, -1), share


def grown(values: Grown, size: int, *, fill: int = 0) -> Grown:
    """Pad a copy to a new length.

    >>> grown(np.array([1.0]), 2)
    array([1., 0.])
    """
    grown = np.full(size, fill, dtype=values.dtype)
    grown[: values.size] = values
    return grown
