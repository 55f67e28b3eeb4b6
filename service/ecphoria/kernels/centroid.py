"""EcphoryRAG: traces close to the cue draw in traces close to their centre.

Source: EcphoryRAG, section 3.3 and its code. Re-ranking by cosine with the question, as published,
undoes the hops; so the strength of the way a trace was found by stays in its score.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import FloatArray, floats, indices, one_size, tally

__all__ = ["Centroid", "carried", "hop", "positive_cosine", "relevance", "sources"]

SMALL = 1e-9  # a centroid shorter than this points nowhere


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Centroid:
    """Where the seeds of a hop point.

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
    rows, one = floats("vectors", vectors, ndim=2), floats("query", query)
    if rows.shape[1] != one.size:
        raise ValueError("query must have the dimension of the vectors")
    return np.clip(rows @ one, 0.0, 1.0)


def relevance(direct: ArrayLike, path: ArrayLike, *, weight: float = 0.5) -> FloatArray:
    """Mix what a trace says with how it was reached: `a cos+ + (1 - a) pi`; O(s).

    Args:
        direct: [s] in [0, 1], positive cosine with the question.
        path: pi [s] in [0, 1]; of a trace found directly, the same cosine.
        weight: a in [0, 1]; 1 is the published score.

    >>> relevance([0.2], [0.383379]).round(6)
    array([0.29169])
    """
    near, way = floats("direct", direct, low=0, high=1), floats("path", path, low=0, high=1)
    one_size(direct=near, path=way)
    if not 0.0 <= weight <= 1.0:
        raise ValueError("weight must lie in [0, 1]")
    return weight * near + (1.0 - weight) * way


def hop(vectors: ArrayLike, score: ArrayLike, path: ArrayLike) -> Centroid | None:
    """Take the weighted centre of the seeds: `c = normalise(sum w_e v_e)`; O(s d).

    Weights are the scores, scaled to sum 1 (a softmax of them is nearly flat).

    Args:
        vectors: [s, d], unit length.
        score: [s] >= 0.
        path: pi [s] in [0, 1].

    Returns:
        None if all scores are 0 or the vectors cancel out.

    >>> hop([[1.0, 0.0], [0.0, 1.0]], [3.0, 1.0], [1.0, 0.5]).path
    0.875
    """
    rows = floats("vectors", vectors, ndim=2)
    level, way = floats("score", score, low=0.0), floats("path", path, low=0.0, high=1.0)
    one_size(vectors=rows, score=level, path=way)
    total = float(level.sum())
    if not total > 0.0:
        return None
    weights = level / total
    centre = weights @ rows
    length = float(np.linalg.norm(centre))
    if length < SMALL:
        return None
    return Centroid(weights=weights, vector=centre / length, path=float(weights @ way))


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
    if not (0.0 <= path <= 1.0 and 0.0 < keep <= 1.0):
        raise ValueError("path must lie in [0, 1] and keep in (0, 1]")
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
    level = floats("score", score, low=0.0)
    from_, to = indices("trace", trace, size=level.size), indices("source", source, size=size)
    value = floats("weight", weight, low=0.0)
    one_size(trace=from_, source=to, weight=value)
    fan = tally(from_, value, size=level.size)
    return tally(to, level[from_] * value / np.maximum(1.0, fan[from_]), size=size)
