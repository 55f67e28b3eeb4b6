"""Columns of a bounded subgraph, and the memory of what never changes in them.

An episode is immutable: only its place among its neighbours moves. So each recall reads places,
and contents (terms, vector, speaker, flags) only of episodes this process has not seen lately.
The database stays the only truth: an episode that is not live any more has no place, and what is
remembered of a tenant is dropped as soon as one of its episodes was deleted.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecphoria.graph.contents import Content, IntArray, Shelf
from ecphoria.graph.executor import Graph, Statement
from ecphoria.model.ids import EpisodeId, TenantId
from ecphoria.ports.recall import Around, Columns, Window
from ecphoria.ports.world import Vector

__all__ = ["ColumnReader"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Places:
    id: list[str]
    turn: list[int]
    session: list[str]
    ordinal: list[int]
    near_length: list[float]
    context_norm: list[float]


_LIST_PLACES = Statement("recall.list_places", _Places)
_LIST_CONTENTS = Statement("recall.list_contents", Content)


class ColumnReader:
    """Reads columns, remembering the contents of up to `keep` episodes."""

    def __init__(self, graph: Graph, keep: int) -> None:
        self._graph = graph
        self._keep = keep
        self._shelves: OrderedDict[TenantId, tuple[int, Shelf]] = OrderedDict()

    def check(self, tenant: TenantId, deletions: int) -> None:
        """Forget a tenant's contents if an episode was deleted since they were read."""
        known = self._shelves.get(tenant)
        if known is None or known[0] != deletions:
            self._shelves[tenant] = (deletions, Shelf())

    def forget(self, tenant: TenantId) -> None:
        """Forget all of a tenant that is gone."""
        self._shelves.pop(tenant, None)

    async def read(
        self,
        tenant: TenantId,
        ids: Sequence[EpisodeId],
        windows: Sequence[Window],
        vector: Vector | None,
        around: Around,
    ) -> Columns:
        """Fetch episodes by id, by place in their session, and near others, each once."""
        (places,) = await self._graph.run(
            _LIST_PLACES,
            tenant=tenant,
            ids=list(ids),
            around=list(around.ids),
            back=around.back,
            ahead=around.ahead,
            windows=[
                {"session": window.session, "first": window.first, "last": window.last}
                for window in windows
            ],
        )
        shelf = await self._stocked(tenant, places.id)
        # An episode deleted between the two reads has a place but no content.
        rows = [row for row, one in enumerate(places.id) if one in shelf]
        return _columns(places, np.array(rows, dtype=np.int64), shelf, vector)

    async def vectors(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, Vector]:
        """Fetch the vectors of episodes; those that are gone are absent."""
        shelf = await self._stocked(tenant, ids)
        there = [one for one in ids if one in shelf]
        return dict(zip(there, shelf.vector[shelf.slots(there)], strict=True))

    async def _stocked(self, tenant: TenantId, ids: Sequence[str]) -> Shelf:
        """Give the tenant's shelf with all of these on it."""
        _, shelf = self._shelves.get(tenant, (0, Shelf()))
        missing = [one for one in ids if one not in shelf]
        if missing:
            shelf.put(await self._graph.run(_LIST_CONTENTS, tenant=tenant, ids=missing))
        self._bound(tenant)
        return shelf

    def _bound(self, tenant: TenantId) -> None:
        """Drop whole shelves, those used longest ago first, while more is kept than may be."""
        if tenant in self._shelves:
            self._shelves.move_to_end(tenant)
        while sum(len(shelf) for _, shelf in self._shelves.values()) > self._keep:
            self._shelves.popitem(last=False)


def _columns(places: _Places, rows: IntArray, shelf: Shelf, vector: Vector | None) -> Columns:
    ids = tuple(EpisodeId(places.id[row]) for row in rows.tolist())
    slots = shelf.slots(ids)
    length, facts = shelf.length[slots], shelf.facts[slots]
    at = slots.tolist()
    return Columns(
        id=ids,
        turn=np.array(places.turn, np.int64)[rows],
        session=tuple(places.session[row] or None for row in rows.tolist()),
        ordinal=np.array(places.ordinal, np.int64)[rows],
        speaker=tuple(shelf.speaker[slot] for slot in at),
        occurred_ms=shelf.occurred_ms[slots],
        terms=tuple(shelf.terms[slot] for slot in at),
        length=length[:, 0],
        near_length=np.array(places.near_length, np.float64)[rows],
        context_norm=np.array(places.context_norm, np.float64)[rows],
        length_prior=length[:, 1],
        is_question=facts[:, 0],
        time_expression=facts[:, 1],
        first_person=facts[:, 2],
        second_person=facts[:, 3],
        title=tuple(shelf.title[slot] for slot in at),
        importance=shelf.importance[slots],
        cosine=_cosine(shelf.vector, slots, vector),
    )


def _cosine(
    stored: NDArray[np.float32], slots: IntArray, vector: Vector | None
) -> NDArray[np.float64]:
    if vector is None or not slots.size:
        return np.zeros(slots.size)
    return (stored[slots] @ vector).astype(np.float64)
