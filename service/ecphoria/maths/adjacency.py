"""Sparse graphs as arrays: adjacency, fan, frontier."""

from dataclasses import dataclass
from typing import Final, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.maths.arrays import BoolArray, FloatArray, IntArray, floats, ints, tally


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Adjacency:
    """Compressed sparse rows; rows are sources, so row j holds the arcs that leave node j.

    Arcs of row j are `indices[indptr[j]:indptr[j + 1]]`, sorted by head; parallel arcs stay apart.

    Attributes:
        indptr: int [n + 1], where each row starts.
        indices: int [m], the head of each arc.
        weights: float [m] >= 0, what an arc carries.
    """

    indptr: IntArray
    indices: IntArray
    weights: FloatArray

    @classmethod
    def from_arcs(
        cls, tail: ArrayLike, head: ArrayLike, weight: ArrayLike, *, size: int
    ) -> "Adjacency":
        """Sort arcs into rows; O(m log m). Self-loops are dropped.

        Args:
            tail: int [m], where each arc starts.
            head: int [m], where it ends.
            weight: [m] >= 0.
            size: number of nodes n.

        >>> Adjacency.from_arcs([1, 0, 0], [0, 2, 1], [0.5, 0.2, 0.1], size=3).indices
        array([1, 2, 0])
        """
        start, end = ints(tail), ints(head)
        kept = np.flatnonzero(start != end)
        kept = kept[np.lexsort((end[kept], start[kept]))]
        indptr = np.zeros(size + 1, dtype=np.int64)
        np.cumsum(np.bincount(start[kept], minlength=size), out=indptr[1:])
        return cls(indptr=indptr, indices=end[kept], weights=floats(weight)[kept])

    @property
    def size(self) -> int:
        """Number of nodes n."""
        return self.indptr.size - 1

    def tails(self) -> IntArray:
        """Name the source of each arc, int [m].

        >>> Adjacency.from_arcs([0, 0, 1], [1, 2, 0], [1, 1, 1], size=3).tails()
        array([0, 0, 1])
        """
        return np.repeat(np.arange(self.size, dtype=np.int64), np.diff(self.indptr))

    def row_sums(self) -> FloatArray:
        """Sum the weights that leave each node, [n].

        >>> Adjacency.from_arcs([0, 0], [1, 2], [0.25, 0.5], size=3).row_sums()
        array([0.75, 0.  , 0.  ])
        """
        return tally(self.tails(), self.weights, size=self.size)

    def push(self, value: FloatArray) -> FloatArray:
        """Send every node's value along its arcs: P^T value, [n]; O(m).

        >>> Adjacency.from_arcs([0, 0], [1, 2], [0.25, 0.5], size=3).push(np.array([2.0, 0, 0]))
        array([0. , 0.5, 1. ])
        """
        carried = self.weights * np.repeat(value, np.diff(self.indptr))
        return tally(self.indices, carried, size=self.size)


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
    fan: Literal["weight", "degree"] = "weight",
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
    sends more than it holds. With `fan` "degree", F_t(j) is the number of arcs of all kinds that
    leave j, as SYNAPSE prints it. Sources: Anderson's fan effect; SYNAPSE, per-kind reading.

    Args:
        tail: int [m].
        head: int [m]; a relationship of a node with itself is dropped.
        kind: int [m], row of `gain`.
        weight: [m] in [0, 1].
        degree: int [n, kinds], how many relationships of each kind the node has in the store.
        gain: [kinds, 2] in [0, 1], forward and backward.
        fan_power: 1 is the ACT-R fan, 0 switches it off.
        row_guard: keep rows at a sum of 1 or less.
        fan: divide by the weight of a node's kind, or by its out-degree.

    Returns:
        Adjacency of n nodes; O(m log m).

    >>> one = transition([0], [1], [0], [0.5], degree=[[1], [1]], gain=[[1.0, 0.5]])
    >>> one.weights
    array([0.5 , 0.25])
    """
    shares, degrees = floats(gain), floats(degree)
    one, other, sort, value = ints(tail), ints(head), ints(kind), floats(weight)
    size = degrees.shape[0]
    kept = one != other
    one, other, sort, value = one[kept], other[kept], sort[kept], value[kept]
    start, end = np.concatenate((one, other)), np.concatenate((other, one))
    sort, value = np.concatenate((sort, sort)), np.concatenate((value, value))
    strength = np.concatenate((shares[sort[: one.size], 0], shares[sort[: one.size], 1]))
    if fan == "weight":
        sharing = _fan(start, sort, value, degrees)[start, sort]
    else:
        sharing = _out_degree(start, sort, strength > 0.0, degrees, shares)[start]
    arc = strength * value / np.maximum(1.0, sharing) ** fan_power
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


def _out_degree(
    node: IntArray, kind: IntArray, leaves: BoolArray, degree: FloatArray, gain: FloatArray
) -> FloatArray:
    """Count the arcs that leave each node, [n].

    A kind that is walked both ways counts by its degree in the store, listed or not. One that is
    walked in one direction counts by its listed arcs: the degree does not tell directions apart.
    """
    listed = np.zeros_like(degree)
    np.add.at(listed, (node[leaves], kind[leaves]), 1.0)
    both = (gain > 0.0).all(axis=1)
    count: FloatArray = np.where(both, np.maximum(listed, degree), listed).sum(axis=1)
    return count


TIE: Final = 1e-9
"""Relative difference up to which energies are equal: sums depend on the order of adding."""

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


def mask(energy: FloatArray, rows: IntArray) -> FloatArray:
    """Silence everything but the given rows.

    >>> mask(np.array([3.0, 2.0]), np.array([1]))
    array([0., 2.])
    """
    sending = np.zeros_like(energy)
    sending[rows] = energy[rows]
    return sending


def strongest(
    tail: IntArray, head: IntArray, sent: FloatArray, *, size: int
) -> tuple[IntArray, FloatArray]:
    """Find the strongest sender to each head, and its amount; ties by index; -1 for none.

    >>> strongest(np.array([4, 2]), np.array([0, 0]), np.array([0.1, 0.3]), size=2)
    (array([ 2, -1]), array([0.3, 0. ]))
    """
    share = np.zeros(size)
    np.maximum.at(share, head, sent)
    first = np.full(size, np.iinfo(np.int64).max, dtype=np.int64)
    best = (sent > 0.0) & (sent >= share[head] * (1.0 - TIE))
    np.minimum.at(first, head[best], tail[best])
    return np.where(share > 0.0, first, -1), share


def pad(values: Grown, size: int, *, fill: int = 0) -> Grown:
    """Pad a copy to a new length.

    >>> pad(np.array([1.0]), 2)
    array([1., 0.])
    """
    padded = np.full(size, fill, dtype=values.dtype)
    padded[: values.size] = values
    return padded
