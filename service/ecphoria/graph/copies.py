"""Search the whole store for a text: the proof that an erasure reached every copy."""

from collections.abc import Mapping
from dataclasses import dataclass

from ecphoria.graph.executor import Graph, Statement

__all__ = ["count_copies"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Copies:
    place: str
    copies: int


_COUNT_COPIES = Statement("doctor.count_copies", _Copies)


async def count_copies(graph: Graph, text: str) -> Mapping[str, int]:
    """Count, by label and property, the values that hold a text; empty if there are none.

    Every node and edge of every tenant is read, so it takes long in a large store.
    """
    rows = await graph.run(_COUNT_COPIES, text=text)
    return {row.place: row.copies for row in rows}
