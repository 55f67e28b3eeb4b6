"""Groups of nodes that hang together, none of them too large to be about one thing.

Source: single linkage by Kruskal's algorithm, which joins the strongest pairs first; the bound on
the size cuts its chains, which would join everything by way of something in between.
"""

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import IntArray, floats, indices, one_size

__all__ = ["clusters"]

_ROUNDED = 9


def clusters(
    one: ArrayLike, other: ArrayLike, weight: ArrayLike, *, size: int, most: int
) -> IntArray:
    """Join groups by the strongest edge first, unless together they were more than `most`.

    Where no connected component is larger these are the components. Weights equal to nine
    digits count as ties, which go to the smaller `one`, then `other`: so the order in which the
    edges are given does not matter. O(m log m).

    Args:
        one: int [m].
        other: int [m].
        weight: [m] >= 0.
        size: number of nodes n.
        most: largest group.

    Returns:
        int [n], for each node the smallest of its group, itself if it is alone.

    >>> clusters([0, 1, 2, 3], [1, 2, 3, 4], [0.9, 0.8, 0.5, 0.7], size=6, most=3).tolist()
    [0, 0, 0, 3, 3, 5]
    """
    first, second = indices("one", one, size=size), indices("other", other, size=size)
    value = floats("weight", weight, low=0.0)
    one_size(one=first, other=second, weight=value)
    if most < 1:
        raise ValueError("most must be at least 1")
    above = np.arange(size)
    count = np.ones(size, np.int64)

    def root(node: int) -> int:
        while above[node] != node:
            above[node] = above[above[node]]
            node = int(above[node])
        return node

    order = np.lexsort((second, first, -np.round(value, _ROUNDED)))
    for here, there in zip(first[order].tolist(), second[order].tolist(), strict=True):
        low, high = sorted((root(here), root(there)))
        if low != high and count[low] + count[high] <= most:
            above[high] = low
            count[low] += count[high]
    return np.array([root(node) for node in range(size)], dtype=np.int64)
