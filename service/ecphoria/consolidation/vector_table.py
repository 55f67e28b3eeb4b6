"""Find near vectors by comparing all of them in memory.

A search of the vector index takes 3 to 4 ms. A comparison with 100,000 vectors of 384 numbers in
memory takes .6 ms, and reading them takes as long as some thousand searches. So a table takes less
time if a cycle searches around many of a tenant's vectors, as the first one (decision 0099).
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ecphoria.consolidation.service import Cycle
from ecphoria.ports import Vector
from ecphoria.records.ids import TenantId
from ecphoria.runtime import in_parts

Read: TypeAlias = Callable[[TenantId, Sequence[str]], Awaitable[Sequence[tuple[str, Vector]]]]
"""Reads the vectors of nodes, each with its id."""

# Reading sixteen vectors takes less time than one search (decision 0099).
_SHARE = 16
# 350,000 vectors of 384 numbers; a tenant with more is searched by the index.
_MOST_BYTES = 512 << 20
_PAGE = 2_000
# The numbers of one block of cosines, 32 MB.
_BLOCK = 8 << 20
# The cosines of the server differ by rounding.
_ROUNDING = 1e-4


class VectorTable:
    """The unit vectors of a tenant's live episodes or concepts."""

    def __init__(self, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Take one vector a row, [n, dimension]."""
        self._ids = ids
        self._rows = {one: row for row, one in enumerate(ids)}
        self._vectors = vectors

    @staticmethod
    def pays(searches: int, total: int) -> bool:
        """Tell whether a table of `total` vectors takes less time than searches of the index."""
        return searches * _SHARE >= total

    @classmethod
    async def load(cls, cycle: Cycle, place: str, ids: Sequence[str], read: Read) -> Self | None:
        """Read the vectors of these nodes in pages; None if they are too large for memory."""
        found: list[str] = []
        table = np.empty((0, 0), np.float32)
        async for page in cycle.chunks(ids, _PAGE, place):
            rows = await read(cycle.tenant, page)
            if not rows:
                continue
            if not table.size:
                if len(ids) * rows[0][1].nbytes > _MOST_BYTES:
                    return None
                table = np.empty((len(ids), rows[0][1].size), np.float32)
            vectors = np.stack([vector for _, vector in rows])
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            table[len(found) : len(found) + len(rows)] = vectors / np.maximum(lengths, 1e-12)
            found += [one for one, _ in rows]
        return cls(found, table[: len(found)])

    def near(self, ids: Sequence[str], *, above: float, most: int) -> list[list[str]]:
        """List the neighbours of each of these nodes with at least about this cosine.

        At most the `most` nearest, in no order. A node without a vector has none.
        """
        found: list[list[str]] = [[] for _ in ids]
        placed = [(place, self._rows[one]) for place, one in enumerate(ids) if one in self._rows]
        step = max(1, _BLOCK // max(1, len(self._ids)))
        for block in in_parts(placed, step):
            rows = [row for _, row in block]
            cosines = self._vectors[rows] @ self._vectors.T
            cosines[range(len(rows)), rows] = -1.0  # the node itself
            for (place, _), of_one in zip(block, cosines, strict=True):
                near = np.flatnonzero(of_one >= above - _ROUNDING)
                if near.size > most:
                    near = near[np.argpartition(of_one[near], -most)[-most:]]
                found[place] = [self._ids[row] for row in near.tolist()]
        return found
