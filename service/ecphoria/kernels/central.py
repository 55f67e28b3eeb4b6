"""The few members that stand for a group: near to the whole of it, and not alike.

Sources: LexRank's degree centrality over cosines without a threshold (Erkan and Radev 2004), and
maximal marginal relevance against repetition (Carbonell and Goldstein 1998).
"""

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import FloatArray, IntArray, floats, one_size

__all__ = ["central", "centrality"]


def centrality(vectors: ArrayLike) -> FloatArray:
    """Average each member's cosine to all, itself among them: its product with the centre; O(n d).

    Args:
        vectors: [n, d], unit rows; a row of zeros is near to nobody.

    >>> centrality([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]).round(4)
    array([0.5333, 0.8   , 0.6   ])
    """
    rows = floats("vectors", vectors, ndim=2)
    if not len(rows):
        return np.empty(0)
    return np.asarray(rows @ rows.mean(axis=0), dtype=np.float64)


def central(
    vectors: ArrayLike, weight: ArrayLike, *, count: int, novelty: float = 0.4
) -> IntArray:
    """Choose members one by one by `(1 - novelty) w_i c_i - novelty max cos to those chosen`.

    Args:
        vectors: [n, d], unit rows.
        weight: w [n] in [0, 1], how much a member says at all.
        count: how many to choose, fewer where there are fewer.
        novelty: in [0, 1]; 0 lets them repeat each other.

    Returns:
        int [min(count, n)], in the order of choice; ties go to the earlier row. O(count n d).

    >>> central([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [1, 1, 1], count=2).tolist()
    [0, 2]
    """
    rows = floats("vectors", vectors, ndim=2)
    said = floats("weight", weight, low=0.0, high=1.0)
    one_size(vectors=rows[:, :1].ravel(), weight=said)
    if count < 1:
        raise ValueError("count must be at least 1")
    if not 0.0 <= novelty <= 1.0:
        raise ValueError("novelty must lie in [0, 1]")
    worth = (1.0 - novelty) * said * centrality(rows)
    repeats = np.zeros(len(rows))
    chosen: list[int] = []
    free = np.ones(len(rows), dtype=np.bool_)
    while len(chosen) < min(count, len(rows)):
        score = np.where(free, np.round(worth - novelty * repeats, 9), -np.inf)
        best = int(np.argmax(score))
        chosen.append(best)
        free[best] = False
        repeats = np.maximum(repeats, rows @ rows[best])
    return np.array(chosen, dtype=np.int64)
