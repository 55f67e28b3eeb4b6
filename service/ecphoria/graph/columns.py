"""Columns of a bounded subgraph, and the memory of what never changes in them.

An episode is immutable: only its place among its neighbours moves. So contents (terms, vector,
speaker, flags) are read only of episodes this process has not seen lately, and places only of
those it has not seen since the tenant's last change. The database stays the only truth: every
recall reads the tenant's counters first, places are dropped when anything changed, and contents
when an episode was deleted.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ecphoria.graph.contents import Content, IntArray, Shelf
from ecphoria.graph.executor import Graph, Statement
from ecphoria.graph.places import Place, PlaceBook
from ecphoria.model.ids import EpisodeId, TenantId
from ecphoria.ports.recall import Around, Columns, Window
from ecphoria.ports.world import Vector

__all__ = ["ColumnReader"]

# While the driver decodes an answer, no other request goes on: large reads are made in parts.
_CONTENTS_AT_ONCE = 500
_STEMS_AT_ONCE = 100_000
"""Stems of the texts of one read: a megabyte, or 5,000 usual turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlaceLists:
    id: list[str]
    turn: list[int]
    session: list[str]
    ordinal: list[int]
    near_length: list[float]
    context_norm: list[float]


_LIST_PLACES = Statement("recall.list_places", _PlaceLists)
_LIST_CONTENTS = Statement("recall.list_contents", Content)


@dataclass(slots=True, kw_only=True)
class _Memory:
    """What is remembered of one tenant."""

    deletions: int = 0
    change: int = -1
    shelf: Shelf = field(default_factory=Shelf)
    book: PlaceBook = field(default_factory=PlaceBook)

    def __len__(self) -> int:
        return len(self.shelf) + len(self.book)


class ColumnReader:
    """Reads columns, remembering up to `keep` contents and places."""

    def __init__(self, graph: Graph, keep: int, *, dormant: bool = False) -> None:
        """Read live episodes, and dormant ones too if asked to."""
        self._graph = graph
        self._keep = keep
        self._dormant = dormant
        self._memories: OrderedDict[TenantId, _Memory] = OrderedDict()

    def check(self, tenant: TenantId, *, change: int, deletions: int) -> None:
        """Forget what the tenant's counters say is not as it was read."""
        known = self._memories.setdefault(tenant, _Memory())
        if known.deletions != deletions:
            known.shelf = Shelf()
        if known.change != change:
            known.book = PlaceBook()
        known.deletions, known.change = deletions, change

    def forget(self, tenant: TenantId) -> None:
        """Forget all of a tenant that is gone."""
        self._memories.pop(tenant, None)

    async def read(
        self,
        tenant: TenantId,
        ids: Sequence[EpisodeId],
        windows: Sequence[Window],
        vector: Vector | None,
        around: Around,
    ) -> Columns:
        """Fetch episodes by id, by place in their session, and near others, each once."""
        if around.ids:
            places = await self._read_places(tenant, ids, windows, around)
        else:
            places = await self._places(tenant, ids, windows)
        shelf, gone = await self._stocked(tenant, [place.id for place in places])
        # An episode deleted between the two reads has a place but no content.
        return _columns([place for place in places if place.id not in gone], shelf, vector)

    async def vectors(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, Vector]:
        """Fetch the vectors of episodes; those that are gone are absent."""
        shelf, gone = await self._stocked(tenant, ids)
        there = [one for one in ids if one not in gone]
        return dict(zip(there, shelf.vector[shelf.slots(there)], strict=True))

    def in_parts(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Iterator[list[EpisodeId]]:
        """Cut a list of episodes into reads whose texts have a bounded length together.

        The length of a text is known once its episode's columns were read.
        """
        shelf = self._memories.get(tenant, _Memory()).shelf
        part: list[EpisodeId] = []
        stems = 0.0
        for one in ids:
            length = shelf.length_of(one)
            if part and stems + length > _STEMS_AT_ONCE:
                yield part
                part, stems = [], 0.0
            part.append(one)
            stems += length
        if part:
            yield part

    async def _places(
        self, tenant: TenantId, ids: Sequence[str], windows: Sequence[Window]
    ) -> Sequence[Place]:
        # Held on to: what is read now must not be learnt by the book of a later state.
        book = self._memories.get(tenant, _Memory()).book
        new_ids, new_windows = book.unknown(ids, windows)
        if new_ids or new_windows:
            read = await self._read_places(tenant, new_ids, new_windows, Around())
            book.learn(new_ids, new_windows, read)
        return book.read(ids, windows)

    async def _read_places(
        self, tenant: TenantId, ids: Sequence[str], windows: Sequence[Window], around: Around
    ) -> Sequence[Place]:
        (lists,) = await self._graph.run(
            _LIST_PLACES,
            tenant=tenant,
            dormant=self._dormant,
            ids=list(ids),
            around=list(around.ids),
            back=around.back,
            ahead=around.ahead,
            windows=[
                {"session": window.session, "first": window.first, "last": window.last}
                for window in windows
            ],
        )
        columns = (
            lists.session, lists.ordinal, lists.turn, lists.id,
            lists.near_length, lists.context_norm,
        )  # fmt: skip
        return [Place(*row) for row in zip(*columns, strict=True)]

    async def _stocked(self, tenant: TenantId, ids: Sequence[str]) -> tuple[Shelf, frozenset[str]]:
        """Give the tenant's shelf with all of these on it, and name those that are gone."""
        shelf = self._memories.get(tenant, _Memory()).shelf
        missing = shelf.missing(ids)
        for start in range(0, len(missing), _CONTENTS_AT_ONCE):
            part = missing[start : start + _CONTENTS_AT_ONCE]
            shelf.put(
                await self._graph.run(
                    _LIST_CONTENTS, tenant=tenant, ids=part, dormant=self._dormant
                )
            )
        self._bound(tenant)
        return shelf, frozenset(shelf.missing(missing))

    def _bound(self, tenant: TenantId) -> None:
        """Drop whole tenants, those asked longest ago first, while more is kept than may be."""
        if tenant in self._memories:
            self._memories.move_to_end(tenant)
        while sum(len(memory) for memory in self._memories.values()) > self._keep:
            self._memories.popitem(last=False)


def _columns(places: Sequence[Place], shelf: Shelf, vector: Vector | None) -> Columns:
    session, ordinal, turn, ids, near_length, context_norm = (
        zip(*places, strict=True) if places else [()] * len(Place._fields)
    )
    slots = shelf.slots(ids)
    length, facts = shelf.length[slots], shelf.facts[slots]
    at = slots.tolist()
    return Columns(
        id=ids,
        turn=np.array(turn, np.int64),
        session=tuple([one or None for one in session]),
        ordinal=np.array(ordinal, np.int64),
        speaker=tuple([shelf.speaker[slot] for slot in at]),
        role=tuple([shelf.role[slot] for slot in at]),
        occurred_ms=shelf.occurred_ms[slots],
        terms=tuple([shelf.terms[slot] for slot in at]),
        length=length[:, 0],
        near_length=np.array(near_length, np.float64),
        context_norm=np.array(context_norm, np.float64),
        length_prior=length[:, 1],
        is_question=facts[:, 0],
        time_expression=facts[:, 1],
        first_person=facts[:, 2],
        second_person=facts[:, 3],
        title=tuple([shelf.title[slot] for slot in at]),
        importance=shelf.importance[slots],
        cosine=_cosine(shelf.vector, slots, vector),
    )


def _cosine(
    stored: NDArray[np.float32], slots: IntArray, vector: Vector | None
) -> NDArray[np.float64]:
    if vector is None or not slots.size:
        return np.zeros(slots.size)
    return (stored[slots] @ vector).astype(np.float64)
