"""Cache the columns of episodes that recall reads, and of the passages of long ones.

An episode never changes, except its position in the session. So contents (terms, vector, speaker,
flags) and passages are read once and cached, and positions are cached until the tenant's next
change. Every recall reads the tenant's counters first: positions are dropped when anything
changed, and contents and passages when an episode was deleted.

A tenant has one cache, in columns: an episode has the same slot in each, so that numpy selects the
rows of a recall in one operation a column. The cache of a large tenant is halved when it is full.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.arrays import IntArray, unit_vectors
from ecphoria.neo4j_store.encoding import encoded
from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.ports import Vector
from ecphoria.recall.ports import Around, Columns, PassageColumns, Spoken, StoredPassage, Window
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.runtime import Bounded, in_parts
from ecphoria.text.asking import LONGEST_ASKING, own_stems
from ecphoria.text.cue import without_caption
from ecphoria.text.tokens import stems

_FIRST_ROWS: Final = 256


class Rows:
    """Numbers and the stored vector of each row, in columns that grow together.

    Attributes:
        held: By the name of a column; `vector` has the vectors.
    """

    def __init__(self, **types: Any) -> None:
        self.held: dict[str, NDArray[Any]] = {
            name: np.zeros(0, dtype) for name, dtype in types.items()
        }
        self.held["vector"] = np.zeros((0, 0), np.int8)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, rows: Sequence[Any]) -> range:
        """Add rows by their attributes of the columns' names; return their places."""
        first, last = self._size, self._size + len(rows)
        for name, column in self.held.items():
            values = np.array([getattr(row, name) for row in rows], column.dtype)
            if last > len(column):
                room = max(_FIRST_ROWS, last, 2 * len(column))
                grown = np.zeros((room, *values.shape[1:]), column.dtype)
                grown[:first] = column[:first] if first else 0
                self.held[name] = grown
            self.held[name][first:last] = values
        self._size = last
        return range(first, last)

    def select(self, places: Sequence[int]) -> "Rows":
        """Copy some rows, in the given order."""
        chosen = Rows()
        chosen.held = {name: column[places] for name, column in self.held.items()}
        chosen._size = len(places)
        return chosen


class Place(NamedTuple):
    """The columns of an episode that depend on its neighbours, in the order of columns.

    `session` is empty and `ordinal` -1 for documents and notes.
    """

    session: str
    ordinal: int
    turn: int
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A row of one episode's immutable columns, and its place when it was read.

    Attributes:
        brief: The text; empty if it is too long to be only a question.
    """

    id: str
    turn: int
    session: str
    ordinal: int
    speaker: str
    role: str
    occurred_ms: int
    local_ms: int
    terms: str
    length: float
    is_question: bool
    time_expression: bool
    first_person: bool
    second_person: bool
    title: str | None
    importance: float
    brief: str
    vector: NDArray[np.int8]

    @property
    def place(self) -> Place:
        """Its place at the time of reading."""
        return Place(self.session, self.ordinal, self.turn, self.id)

    @property
    def spoken(self) -> str:
        """The text of a turn without its caption; empty for a document."""
        return "" if self.title else without_caption(self.brief)

    @property
    def own(self) -> int:
        """The number of different stems of this text that tell something."""
        spoken = self.spoken
        if spoken != self.brief:
            return own_stems(stems(spoken))
        # The stems stand in front of further terms.
        return own_stems(self.terms.split()[: int(self.length)])


class ContentCache:
    """Columns of cached episodes in the order of reading; single episodes are never removed.

    Attributes:
        sessions: Sessions of which turns were read.
        texts: The columns that are no numbers, by name.
    """

    def __init__(self) -> None:
        self.sessions: set[str] = set()
        # The episodes that were used last are at the end.
        self._slots: dict[str, int] = {}
        self._session: list[str] = []
        self.texts: dict[str, list[Any]] = {
            name: [] for name in ("speaker", "role", "terms", "title", "spoken")
        }
        self.rows = Rows(
            occurred_ms=np.int64, local_ms=np.int64, length=np.float64, importance=np.float64,
            own=np.int64, is_question=np.bool_, time_expression=np.bool_, first_person=np.bool_,
            second_person=np.bool_,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self._slots)

    def missing(self, episodes: Sequence[str]) -> list[str]:
        """List the ids that are not cached."""
        return [episode for episode in episodes if episode not in self._slots]

    def slots(self, episodes: Sequence[str]) -> IntArray:
        """Find the slots of cached episodes, which are now the last used ones."""
        used = {episode: self._slots.pop(episode) for episode in dict.fromkeys(episodes)}
        self._slots.update(used)
        return np.array([used[episode] for episode in episodes], np.int64)

    def length_of(self, episode: str) -> float:
        """Count the stems of a cached episode; 0 if it is not cached."""
        slot = self._slots.get(episode)
        return 0.0 if slot is None else float(self.rows.held["length"][slot])

    def put(self, contents: Sequence[Content]) -> None:
        """Add episodes that are not cached yet, each in the next slot."""
        fresh = {one.id: one for one in contents if one.id not in self._slots}
        if not fresh:
            return
        self._slots.update(zip(fresh, self.rows.add(list(fresh.values())), strict=True))
        self._session += [one.session for one in fresh.values()]
        self.sessions.update(self._session[-len(fresh) :])
        for one in fresh.values():
            spoken = Spoken(one.spoken)
            row = (one.speaker or None, one.role or None, one.terms, one.title, spoken)
            for column, text in zip(self.texts.values(), row, strict=True):
                column.append(text)

    def last_used(self, most: int) -> "ContentCache":
        """Copy the episodes that were used last."""
        kept = ContentCache()
        chosen = list(self._slots.items())[-most:]
        slots = [slot for _, slot in chosen]
        kept._slots = {episode: slot for slot, (episode, _) in enumerate(chosen)}
        kept._session = [self._session[slot] for slot in slots]
        kept.sessions = set(kept._session)
        kept.texts = {name: [each[slot] for slot in slots] for name, each in self.texts.items()}
        kept.rows = self.rows.select(slots)
        return kept


class PassageCache:
    """Columns of cached passages in the order of reading; passages of an episode are adjacent."""

    def __init__(self) -> None:
        self._slots: dict[str, range] = {}
        self._terms: list[str] = []
        self._rows = Rows(part=np.int64, start=np.int64, end=np.int64, length=np.float64)

    def __len__(self) -> int:
        return len(self._rows)

    def missing(self, episodes: Sequence[str]) -> list[str]:
        """List the episodes whose passages are unknown."""
        return [episode for episode in dict.fromkeys(episodes) if episode not in self._slots]

    def put(self, passages: Sequence[StoredPassage]) -> None:
        """Add passages; the passages of an episode are adjacent, in their order."""
        grouped: dict[str, list[StoredPassage]] = {}
        for passage in passages:
            here = grouped.setdefault(passage.episode, [])
            if passage.part is not None:
                here.append(passage)
        for episode, rows in grouped.items():
            if episode not in self._slots:
                self._slots[episode] = self._rows.add(rows) if rows else range(0)
                self._terms += [row.terms for row in rows]

    def columns(self, episodes: Sequence[str], vector: Vector | None) -> PassageColumns:
        """Select the passages of episodes, ordered by episode and part."""
        slots: list[int] = []
        owners: list[EpisodeId] = []
        for episode in sorted(set(episodes)):
            here = self._slots.get(episode, range(0))
            slots += here
            owners += [EpisodeId(episode)] * len(here)
        found = {name: column[slots] for name, column in self._rows.held.items()}
        return PassageColumns(
            episode=tuple(owners),
            terms=tuple([self._terms[slot] for slot in slots]),
            cosine=_cosine(unit_vectors(found.pop("vector")), vector),
            **found,
        )


K = TypeVar("K")


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
        """List the cached episodes, each once, by session, ordinal and turn."""
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
# Only data that never change are cached between recalls; positions only until the tenant's change
# counter changes (docs/evaluation/speed.md).
_CONTENTS_AT_ONCE = 500
_WINDOWS_AT_ONCE = 50
"""Windows whose turns are read at once; a window of one seed has ten turns."""
_PASSAGES_AT_ONCE = 50
"""Episodes whose passages are read at once."""
_POSITIONS = 10
"""Number of positions that take as much memory as the contents of an episode."""
_STEMS_AT_ONCE = 100_000
"""Stems of the texts of one read: a megabyte, or 5,000 usual turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlaceLists:
    id: list[str]
    turn: list[int]
    session: list[str]
    ordinal: list[int]


_LIST_PLACES = Statement("recall.list_places", _PlaceLists)
_LIST_CONTENTS = Statement("recall.list_contents", Content)
_LIST_PASSAGES_OF = Statement("recall.list_passages_of", StoredPassage)


@dataclass(slots=True, kw_only=True)
class _Memory:
    """The cached rows of one tenant."""

    deletions: int = 0
    change: int = -1
    contents: ContentCache = field(default_factory=ContentCache)
    passages: PassageCache = field(default_factory=PassageCache)
    positions: PositionCache = field(default_factory=PositionCache)

    def __len__(self) -> int:
        return len(self.contents) + len(self.passages) + len(self.positions) // _POSITIONS

    def shrink(self, most: int) -> None:
        """Drop all rows but the `most` contents that were used last."""
        # Recalls that run keep the caches that they have, so new ones take their place.
        self.contents = self.contents.last_used(most)
        self.passages, self.positions = PassageCache(), PositionCache()


class ColumnReader:
    """Reads columns, and caches up to `keep` contents and passages, and ten times the positions.

    The tenants that were read last are kept. If one tenant alone has more, it keeps the half that
    was used last.
    """

    def __init__(self, graph: Graph, keep: int, *, dormant: bool = False) -> None:
        """Read live episodes, and dormant ones too if `dormant`."""
        self._graph = graph
        self._dormant = dormant
        self._keep = keep
        self._memories = Bounded[TenantId, _Memory](keep, len)

    def check(self, tenant: TenantId, *, change: int, deletions: int) -> None:
        """Drop the cached rows that the tenant's counters show to be outdated."""
        known = self._memories.setdefault(tenant, _Memory())
        if known.deletions != deletions:
            known.contents, known.passages = ContentCache(), PassageCache()
        if known.change != change:
            known.positions = PositionCache()
        known.deletions, known.change = deletions, change

    def forget(self, tenant: TenantId) -> None:
        """Drop everything of a deleted tenant."""
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
        contents, gone = await self._loaded(tenant, [place.id for place in places])
        # An episode deleted between the two reads has a place but no content.
        return _columns([place for place in places if place.id not in gone], contents, vector)

    async def vectors(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, Vector]:
        """Fetch the vectors of episodes; deleted ones are absent."""
        contents, gone = await self._loaded(tenant, ids)
        there = [episode for episode in ids if episode not in gone]
        found = unit_vectors(contents.rows.held["vector"][contents.slots(there)])
        return dict(zip(there, found, strict=True))

    async def passages(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], vector: Vector | None
    ) -> PassageColumns:
        """Fetch all passages of episodes; an episode without passages is absent."""
        passages = self._memories.get(tenant, _Memory()).passages
        missing = passages.missing(episodes)
        for part in in_parts(missing, _PASSAGES_AT_ONCE):
            passages.put(
                await self._graph.run(
                    _LIST_PASSAGES_OF, tenant=tenant, ids=part, dormant=self._dormant
                )
            )
        found = passages.columns(episodes, vector)
        self._bound(tenant)
        return found

    def by_length(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Iterator[list[EpisodeId]]:
        """Split a list of episodes into reads of texts of a bounded total length.

        The length of a text is known once its episode's columns were read.
        """
        contents = self._memories.get(tenant, _Memory()).contents
        part: list[EpisodeId] = []
        stems = 0.0
        for episode in ids:
            length = contents.length_of(episode)
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
        # Keep a cache in a variable while it is filled: what is read now must not enter the cache
        # of a later state.
        memory = self._memories.get(tenant, _Memory())
        positions, contents = memory.positions, memory.contents
        _, new_windows = positions.unknown(ids, windows)
        # Of sessions that nobody read, the contents are wanted too: one query gives both.
        unread = [window for window in new_windows if window.session not in contents.sessions]
        parts = list(in_parts(unread, _WINDOWS_AT_ONCE))
        read = await asyncio.gather(*(self._contents(tenant, windows=part) for part in parts))
        for part, rows in zip(parts, read, strict=True):
            contents.put(rows)
            positions.learn([], part, [row.place for row in rows])
        new_ids, new_windows = positions.unknown(ids, windows)
        if new_ids or new_windows:
            places = await self._read_places(tenant, new_ids, new_windows, Around())
            positions.learn(new_ids, new_windows, places)
        return positions.read(ids, windows)

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
            windows=[encoded(window) for window in windows],
        )
        columns = (lists.session, lists.ordinal, lists.turn, lists.id)
        return [Place(*row) for row in zip(*columns, strict=True)]

    async def _loaded(
        self, tenant: TenantId, ids: Sequence[str]
    ) -> tuple[ContentCache, frozenset[str]]:
        """Load missing episodes; return the tenant's cache, and the ids of deleted episodes."""
        contents = self._memories.get(tenant, _Memory()).contents
        missing = contents.missing(ids)
        for part in in_parts(missing, _CONTENTS_AT_ONCE):
            contents.put(await self._contents(tenant, ids=part))
        self._bound(tenant)
        return contents, frozenset(contents.missing(missing))

    def _bound(self, tenant: TenantId) -> None:
        """Make a tenant the last used one, and drop what is too much."""
        memory = self._memories.get(tenant)
        if memory is not None and len(memory) > self._keep:
            memory.shrink(self._keep // 2)
        self._memories.touch(tenant)

    async def _contents(
        self, tenant: TenantId, *, ids: Sequence[str] = (), windows: Sequence[Window] = ()
    ) -> Sequence[Content]:
        return await self._graph.run(
            _LIST_CONTENTS,
            tenant=tenant,
            ids=list(ids),
            windows=[encoded(window) for window in windows],
            dormant=self._dormant,
            longest=LONGEST_ASKING,
        )


def _columns(places: Sequence[Place], contents: ContentCache, vector: Vector | None) -> Columns:
    session, ordinal, turn, ids = (
        zip(*places, strict=True) if places else [()] * len(Place._fields)
    )
    slots = contents.slots(ids)
    found: dict[str, Any] = {name: column[slots] for name, column in contents.rows.held.items()}
    found["vector"] = unit_vectors(found["vector"])
    for name, texts in contents.texts.items():
        found[name] = tuple([texts[slot] for slot in slots.tolist()])
    return Columns(
        id=ids,
        turn=np.array(turn, np.int64),
        session=tuple([one or None for one in session]),
        ordinal=np.array(ordinal, np.int64),
        cosine=_cosine(found["vector"], vector),
        **found,
    )


def _cosine(stored: NDArray[np.float32], vector: Vector | None) -> NDArray[np.float64]:
    if vector is None or not len(stored):
        return np.zeros(len(stored))
    return (stored @ vector).astype(np.float64)
