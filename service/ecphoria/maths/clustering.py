"""Clusters, their most central members, and centroid hops.

Sources: `clusters` is single linkage by Kruskal's algorithm. Single linkage makes chains, which
join what is far apart; a largest size bounds them. `centrality` is the degree centrality of
LexRank over all cosines, without a threshold (Erkan and Radev 2004), `mmr_select` the maximal
marginal relevance of Carbonell and Goldstein (1998).

The functions from `positive_cosine` on are those of EcphoryRAG, section 3.3, and of its code. The
published score is the cosine with the question alone, which undoes the hops. Here the strength of
the way to a trace is a part of its score.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.maths.arrays import FloatArray, IntArray, floats, ints, tally

_ROUNDED = 9
"""Digits of a weight; further ones depend on the order of adding."""


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
    first, second = ints(one), ints(other)
    above = np.arange(size)
    count = np.ones(size, np.int64)

    def root(node: int) -> int:
        while above[node] != node:
            above[node] = above[above[node]]
            node = int(above[node])
        return node

    order = np.lexsort((second, first, -np.round(floats(weight), _ROUNDED)))
    for here, there in zip(first[order].tolist(), second[order].tolist(), strict=True):
        low, high = sorted((root(here), root(there)))
        if low != high and count[low] + count[high] <= most:
            above[high] = low
            count[low] += count[high]
    return np.array([root(node) for node in range(size)], dtype=np.int64)


def centrality(vectors: ArrayLike) -> FloatArray:
    """Average each member's cosine to all, itself among them: its product with the centre; O(n d).

    The rows [n, d] are unit vectors; a row of zeros is near to nobody.

    >>> centrality([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]).round(4)
    array([0.5333, 0.8   , 0.6   ])
    """
    rows = floats(vectors)
    if not len(rows):
        return np.empty(0)
    return np.asarray(rows @ rows.mean(axis=0), dtype=np.float64)


def mmr_select(
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

    >>> mmr_select([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [1, 1, 1], count=2).tolist()
    [0, 2]
    """
    rows = floats(vectors)
    worth = (1.0 - novelty) * floats(weight) * centrality(rows)
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


SMALL = 1e-9  # a centroid shorter than this points nowhere


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Centroid:
    """The centroid of the seeds of a hop.

    Attributes:
        weights: [s], sum 1.
        vector: [d], unit length.
        path: mean path strength of the seeds.
    """

    weights: FloatArray
    vector: FloatArray
    path: float


def positive_cosine(vectors: ArrayLike, query: ArrayLike) -> FloatArray:
    """Compare unit vectors with one, negative cosines as 0: [s]; O(s d).

    >>> positive_cosine([[0.8, 0.6], [-1.0, 0.0]], [1.0, 0.0])
    array([0.8, 0. ])
    """
    return np.clip(floats(vectors) @ floats(query), 0.0, 1.0)


def relevance(direct: ArrayLike, path: ArrayLike, *, weight: float = 0.5) -> FloatArray:
    """Mix a trace's own similarity with the way to it: `a cos+ + (1 - a) pi`; O(s).

    Args:
        direct: [s] in [0, 1], positive cosine with the question.
        path: pi [s] in [0, 1]; of a trace found directly, the same cosine.
        weight: a in [0, 1]; 1 is the published score.

    >>> relevance([0.2], [0.383379]).round(6)
    array([0.29169])
    """
    return weight * floats(direct) + (1.0 - weight) * floats(path)


def hop(
    vectors: ArrayLike, score: ArrayLike, path: ArrayLike, *, softmax: bool = False
) -> Centroid | None:
    """Take the weighted centre of the seeds: `c = normalise(sum w_e v_e)`; O(s d).

    Weights are the scores, scaled to sum 1.

    Args:
        vectors: [s, d], unit length.
        score: [s] >= 0.
        path: pi [s] in [0, 1].
        softmax: Weigh by exp(score), as in Eq. 2; of cosines it is nearly flat.

    Returns:
        None if all scores are 0 or the vectors cancel out.

    >>> hop([[1.0, 0.0], [0.0, 1.0]], [3.0, 1.0], [1.0, 0.5]).path
    0.875
    >>> hop([[1.0, 0.0], [0.0, 1.0]], [0.9, 0.4], [1.0, 1.0], softmax=True).weights.round(3)
    array([0.622, 0.378])
    """
    level = floats(score)
    weights = np.exp(level) if softmax else level
    total = float(weights.sum())
    if not (total > 0.0 and level.any()):
        return None
    weights = weights / total
    centre = weights @ floats(vectors)
    length = float(np.linalg.norm(centre))
    if length < SMALL:
        return None
    return Centroid(weights=weights, vector=centre / length, path=float(weights @ floats(path)))


def carried(
    vectors: ArrayLike, centre: ArrayLike, *, path: float, keep: float = 0.8
) -> FloatArray:
    """Give newly found traces their path strength: `pi_e = gamma cos+(v_e, c) pi_mean`; O(s d).

    Args:
        vectors: [s, d], unit length.
        centre: [d], unit length.
        path: mean path strength of the seeds, in [0, 1].
        keep: gamma in (0, 1], what is kept over a hop.

    >>> carried([[1.0, 0.0]], [0.6, 0.8], path=0.5).round(6)
    array([0.24])
    """
    return keep * path * positive_cosine(vectors, centre)


def sources(
    trace: ArrayLike, source: ArrayLike, weight: ArrayLike, score: ArrayLike, *, size: int
) -> FloatArray:
    """Wake the sources of traces: `x_E = sum_e score_e w_eE / max(1, F_e)`; O(m).

    F_e is the weight of all of a trace's edges, so a trace with many sources tells little of each.

    Args:
        trace: int [m].
        source: int [m].
        weight: [m] >= 0.
        score: [s] >= 0, one for each trace.
        size: number of sources n.

    >>> sources([0, 0], [0, 1], [1.0, 1.0], [0.6], size=2)
    array([0.3, 0.3])
    """
    level, value, origin = floats(score), floats(weight), ints(trace)
    fan = tally(origin, value, size=level.size)
    share = level[origin] * value / np.maximum(1.0, fan[origin])
    return tally(ints(source), share, size=size)
