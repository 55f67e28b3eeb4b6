"""A weighted directed graph as three arrays: what every spreading kernel runs on."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import FloatArray, IntArray, floats, indices, one_size, tally

__all__ = ["Adjacency"]


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

    def __post_init__(self) -> None:
        start = self.indptr
        if start.ndim != 1 or not start.size or start[0] != 0 or (np.diff(start) < 0).any():
            raise ValueError("indptr must start at 0 and never fall")
        if start[-1] != self.indices.size:
            raise ValueError("indptr must end at the number of arcs")
        indices("indices", self.indices, size=self.size)
        one_size(indices=self.indices, weights=floats("weights", self.weights, low=0.0))

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
        start = indices("tail", tail, size=size)
        end = indices("head", head, size=size)
        value = floats("weight", weight, low=0.0)
        one_size(tail=start, head=end, weight=value)
        kept = np.flatnonzero(start != end)
        kept = kept[np.lexsort((end[kept], start[kept]))]
        indptr = np.zeros(size + 1, dtype=np.int64)
        np.cumsum(np.bincount(start[kept], minlength=size), out=indptr[1:])
        return cls(indptr=indptr, indices=end[kept], weights=value[kept])

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
        """Add up what leaves each node, [n].

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
