"""Fan: how a node divides what it sends among its arcs."""

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.adjacency import Adjacency
from ecphoria.kernels.arrays import FloatArray, IntArray, floats, indices, one_size, tally

__all__ = ["transition"]


def transition(
    tail: ArrayLike,
    head: ArrayLike,
    kind: ArrayLike,
    weight: ArrayLike,
    *,
    degree: ArrayLike,
    gain: ArrayLike,
    fan_power: float = 1.0,
    row_guard: bool = True,
) -> Adjacency:
    """Turn weighted relationships into the arcs that activation follows, both ways.

    A relationship (tail, head) of kind t becomes the arcs tail -> head with gain `gain[t, 0]` and
    head -> tail with `gain[t, 1]`; a zero gain makes no arc. With F_t(j) the weight of all
    relationships of kind t at node j, listed or cut away:

    ```
    F_t(j)  = sum(listed w) + (degree_t(j) - listed count) * smallest listed w
    c(j->i) = gain * w_ji / max(1, F_t(j))^fan_power
    P(j->i) = c(j->i) / max(1, sum_k c(j->k))          the row guard
    ```

    So a lone weak edge stays weak, an edge of one kind never dilutes another kind, and no node
    sends more than it holds. Sources: Anderson's fan effect; SYNAPSE, per-kind reading.

    Args:
        tail: int [m].
        head: int [m]; a relationship of a node with itself is dropped.
        kind: int [m], row of `gain`.
        weight: [m] in [0, 1].
        degree: int [n, kinds], how many relationships of each kind the node has in the store.
        gain: [kinds, 2] in [0, 1], forward and backward.
        fan_power: 1 is the ACT-R fan, 0 switches it off.
        row_guard: keep rows at a sum of 1 or less.

    Returns:
        Adjacency of n nodes; O(m log m).

    >>> one = transition([0], [1], [0], [0.5], degree=[[1], [1]], gain=[[1.0, 0.5]])
    >>> one.weights
    array([0.5 , 0.25])
    """
    shares = floats("gain", gain, ndim=2, low=0.0, high=1.0)
    if shares.shape[1] != 2:
        raise ValueError("gain must have a forward and a backward column")
    kinds = shares.shape[0]
    degrees = floats("degree", degree, ndim=2, low=0.0)
    if degrees.shape[1] != kinds:
        raise ValueError("degree must have one column for each kind")
    if not 0.0 <= fan_power <= 1.0:
        raise ValueError("fan_power must lie in [0, 1]")
    size = degrees.shape[0]
    one = indices("tail", tail, size=size)
    other = indices("head", head, size=size)
    sort = indices("kind", kind, size=kinds)
    value = floats("weight", weight, low=0.0, high=1.0)
    one_size(tail=one, head=other, kind=sort, weight=value)

    kept = one != other
    one, other, sort, value = one[kept], other[kept], sort[kept], value[kept]
    start, end = np.concatenate((one, other)), np.concatenate((other, one))
    sort, value = np.concatenate((sort, sort)), np.concatenate((value, value))
    fan = _fan(start, sort, value, degrees)
    strength = np.concatenate((shares[sort[: one.size], 0], shares[sort[: one.size], 1]))
    arc = strength * value / np.maximum(1.0, fan[start, sort]) ** fan_power
    live = arc > 0.0
    start, end, arc = start[live], end[live], arc[live]
    if row_guard:
        leaving = tally(start, arc, size=size)
        arc = arc / np.maximum(1.0, leaving)[start]
    return Adjacency.from_arcs(start, end, arc, size=size)


def _fan(node: IntArray, kind: IntArray, weight: FloatArray, degree: FloatArray) -> FloatArray:
    """Bound each node's total weight per kind from above, also where its list was cut."""
    total = np.zeros_like(degree)
    listed = np.zeros_like(degree)
    least = np.full_like(degree, np.inf)
    np.add.at(total, (node, kind), weight)
    np.add.at(listed, (node, kind), 1.0)
    np.minimum.at(least, (node, kind), weight)
    missing = np.where(listed > 0.0, np.maximum(0.0, degree - listed), 0.0)
    bound: FloatArray = total + missing * np.where(np.isfinite(least), least, 0.0)
    return bound
