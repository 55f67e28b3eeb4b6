"""Personalised PageRank by forward push: work where the mass is, nothing elsewhere."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.adjacency import Adjacency
from ecphoria.kernels.arrays import FloatArray, floats

__all__ = ["PageRank", "push"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PageRank:
    """Where a walker that keeps returning to the seeds is found.

    Attributes:
        value: [n] >= 0; value and residual sum to 1, or to 0 without seeds.
        residual: mass not yet pushed; no value is too small by more than this.
        arcs: arcs followed, the work done.
    """

    value: FloatArray
    residual: float
    arcs: int


def push(
    graph: Adjacency, seeds: ArrayLike, *, damping: float = 0.5, epsilon: float = 1e-6
) -> PageRank:
    """Approximate `x = (1 - d) s + d W^T x` from below, W = the rows of `graph` scaled to sum 1.

    All nodes with a residual of at least epsilon * max(1, out-degree) push at once, in rounds, so
    the result does not depend on the order of nodes. A node without arcs sends to the seeds.
    Source: Andersen, Chung, Lang 2006. At most 1 / ((1 - d) epsilon) arcs are followed.

    Args:
        graph: weights >= 0; rows need not be normalised.
        seeds: [n] >= 0; scaled to sum 1.
        damping: d in [0, 1), the chance to walk on.
        epsilon: > 0, residual per arc left behind.

    >>> pair = Adjacency.from_arcs([0, 1], [1, 0], [1, 1], size=2)
    >>> push(pair, [1, 0], epsilon=1e-12).value.round(6)
    array([0.666667, 0.333333])
    """
    start = floats("seeds", seeds, low=0.0)
    if start.size != graph.size:
        raise ValueError("seeds must have one value for each node")
    if not 0.0 <= damping < 1.0 or not epsilon > 0.0:
        raise ValueError("damping must lie in [0, 1) and epsilon above 0")
    value = np.zeros_like(start)
    if not start.any():
        return PageRank(value=value, residual=0.0, arcs=0)

    start = start / start.sum()
    leaving = graph.row_sums()
    fan = np.where(leaving > 0.0, np.diff(graph.indptr), 0)
    walk = Adjacency(
        indptr=graph.indptr,
        indices=graph.indices,
        weights=graph.weights / np.where(leaving > 0.0, leaving, 1.0)[graph.tails()],
    )
    limit = epsilon * np.maximum(1, fan)
    residual, arcs = start.copy(), 0
    active = residual >= limit
    while active.any():
        sent = np.where(active, residual, 0.0)
        residual = residual - sent
        value += (1.0 - damping) * sent
        stranded = float(sent[fan == 0].sum())
        residual += damping * (walk.push(sent) + stranded * start)
        arcs += int(fan[active].sum())
        active = residual >= limit
    return PageRank(value=value, residual=float(residual.sum()), arcs=arcs)
