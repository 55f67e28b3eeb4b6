"""Cache the columns of episodes that recall reads.

An episode is immutable: only its place among its neighbours moves. So contents (terms, vector,
speaker, flags) are read only of episodes this process has not seen lately, and places only of
those it has not seen since the tenant's last change. The database stays the only truth: every
recall reads the tenant's counters first, places are dropped when anything changed, and contents
when an episode was deleted.

One shelf a tenant: an episode has a slot in every column, so that the rows a recall wants are
taken out of each at once.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.ports import Vector
from ecphoria.recall.ports import Around, Columns, Window
from ecphoria.records.ids import EpisodeId, TenantId

_FIRST_SLOTS = 256

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """One episode's immutable columns, as the store gives them."""

    id: str
    speaker: str
    role: str
    occurred_ms: int
    terms: str
    length: float
    length_prior: float
    is_question: bool
    time_expression: bool
    first_person: bool
    second_person: bool
    title: str | None
    importance: float
    vector: NDArray[np.float32]


class ContentCache:
    """Columns of the episodes put on it, in the order they came; nothing is taken off singly."""

    def __init__(self) -> None:
        self._slots: dict[str, int] = {}
        self.speaker: list[str | None] = []
        self.role: list[str | None] = []
        self.terms: list[str] = []
        self.title: list[str | None] = []
        self.occurred_ms = np.zeros(_FIRST_SLOTS, np.int64)
        self.length = np.zeros((_FIRST_SLOTS, 2))
        self.facts = np.zeros((_FIRST_SLOTS, 4), np.bool_)
        self.importance = np.zeros(_FIRST_SLOTS)
        self.vector = np.zeros((_FIRST_SLOTS, 0), np.float32)

    def __len__(self) -> int:
        return len(self._slots)

    def missing(self, episodes: Sequence[str]) -> list[str]:
        """List the ids that are not cached."""
        return [episode for episode in episodes if episode not in self._slots]

    def slots(self, episodes: Sequence[str]) -> IntArray:
        """Find the slots of episodes that are all here."""
        return np.array([self._slots[episode] for episode in episodes], np.int64)

    def length_of(self, episode: str) -> float:
        """Tell how many stems the text of an episode has; 0 if it is not here."""
        slot = self._slots.get(episode)
        return 0.0 if slot is None else float(self.length[slot, 0])

    def put(self, contents: Sequence[Content]) -> None:
        """Give each episode that is not here yet the next slot."""
        fresh = list(self._fresh(contents))
        if not fresh:
            return
        first = len(self._slots)
        self._grow(first + len(fresh), fresh[0].vector.size)
        for slot, content in enumerate(fresh, first):
            self._slots[content.id] = slot
            self.speaker.append(content.speaker or None)
            self.role.append(content.role or None)
            self.terms.append(content.terms)
            self.title.append(content.title)
            self.occurred_ms[slot] = content.occurred_ms
            self.length[slot] = content.length, content.length_prior
            self.facts[slot] = (
                content.is_question,
                content.time_expression,
                content.first_person,
                content.second_person,
            )
            self.importance[slot] = content.importance
            self.vector[slot] = content.vector

    def _fresh(self, contents: Sequence[Content]) -> Iterator[Content]:
        seen: set[str] = set()
        for content in contents:
            if content.id not in self._slots and content.id not in seen:
                seen.add(content.id)
                yield content

    def _grow(self, wanted: int, dimension: int) -> None:
        room = len(self.occurred_ms)
        if not self.vector.shape[1]:
            self.vector = np.zeros((room, dimension), np.float32)
        if wanted <= room:
            return
        more = max(wanted, 2 * room) - room
        self.occurred_ms = np.pad(self.occurred_ms, (0, more))
        self.length = np.pad(self.length, ((0, more), (0, 0)))
        self.facts = np.pad(self.facts, ((0, more), (0, 0)))
        self.importance = np.pad(self.importance, (0, more))
        self.vector = np.pad(self.vector, ((0, more), (0, 0)))


K = TypeVar("K")


class Place(NamedTuple):
    """The columns of an episode that depend on its neighbours, in the order of columns.

    `session` is empty and `ordinal` -1 for documents and notes.
    """

    session: str
    ordinal: int
    turn: int
    id: str
    near_length: float
    context_norm: float


class PositionCache:
    """The positions of a tenant's episodes at one state of the graph, gaps included."""

    def __init__(self) -> None:
        self._by_id: dict[str, Place | None] = {}
        self._by_session: dict[str, dict[int, Place | None]] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def unknown(
        self, ids: Sequence[str], windows: Sequence[Window]
    ) -> tuple[list[str], list[Window]]:
        """Find the ids and the runs of ordinals that must be read."""
        wanted = [episode for episode in ids if episode not in self._by_id]
        return wanted, [run for window in windows for run in self._runs(window)]

    def learn(
        self, ids: Sequence[str], windows: Sequence[Window], places: Sequence[Place]
    ) -> None:
        """Keep the read ids and windows; absent ids do not exist."""
        for episode in ids:
            self._note(self._by_id, episode, None)
        for window in windows:
            session = self._by_session.setdefault(window.session, {})
            for ordinal in range(window.first, window.last + 1):
                self._note(session, ordinal, None)
        wanted = set(ids)
        for place in places:
            if place.id in wanted:
                self._by_id[place.id] = place
            if place.session:
                session = self._by_session.setdefault(place.session, {})
                self._note(session, place.ordinal, place)
                session[place.ordinal] = place

    def read(self, ids: Sequence[str], windows: Sequence[Window]) -> list[Place]:
        """List the episodes there, each once, by session, ordinal and turn."""
        found = [self._by_id[episode] for episode in ids]
        for window in windows:
            session = self._by_session[window.session]
            found += [session[at] for at in range(window.first, window.last + 1)]
        once = {place.id: place for place in found if place is not None}
        return sorted(once.values())

    def _runs(self, window: Window) -> Iterator[Window]:
        known = self._by_session.get(window.session, {})
        first: int | None = None
        for ordinal in range(window.first, window.last + 2):
            missing = ordinal <= window.last and ordinal not in known
            if missing and first is None:
                first = ordinal
            elif not missing and first is not None:
                yield Window(session=window.session, first=first, last=ordinal - 1)
                first = None

    def _note(self, known: dict[K, Place | None], key: K, place: Place | None) -> None:
        if key not in known:
            known[key] = place
            self._size += 1


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
    """The cached rows of one tenant."""

    deletions: int = 0
    change: int = -1
    shelf: ContentCache = field(default_factory=ContentCache)
    book: PositionCache = field(default_factory=PositionCache)

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
        """Drop the cached rows that the tenant's counters show to be outdated."""
        known = self._memories.setdefault(tenant, _Memory())
        if known.deletions != deletions:
            known.shelf = ContentCache()
        if known.change != change:
            known.book = PositionCache()
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
        """Fetch the vectors of episodes; deleted ones are absent."""
        shelf, gone = await self._stocked(tenant, ids)
        there = [episode for episode in ids if episode not in gone]
        return dict(zip(there, shelf.vector[shelf.slots(there)], strict=True))

    def in_parts(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Iterator[list[EpisodeId]]:
        """Split a list of episodes into reads of texts of a bounded total length.

        The length of a text is known once its episode's columns were read.
        """
        shelf = self._memories.get(tenant, _Memory()).shelf
        part: list[EpisodeId] = []
        stems = 0.0
        for episode in ids:
            length = shelf.length_of(episode)
            if part and stems + length > _STEMS_AT_ONCE:
                yield part
                part, stems = [], 0.0
            part.append(episode)
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

    async def _stocked(
        self, tenant: TenantId, ids: Sequence[str]
    ) -> tuple[ContentCache, frozenset[str]]:
        """Give the tenant's cache with all of these in it, and the ids of deleted ones."""
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
        """Drop whole tenants, the least recently used first, until the cache fits its bound."""
        if tenant in self._memories:
            self._memories.move_to_end(tenant)
        while sum(len(memory) for memory in self._memories.values()) > self._keep:
            self._memories.popitem(last=False)


def _columns(places: Sequence[Place], shelf: ContentCache, vector: Vector | None) -> Columns:
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
