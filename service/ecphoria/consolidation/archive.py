"""The archive: move contents of dormant episodes to files, and restore them byte for byte.

A record is written, flushed to the disk and read back before anything leaves the graph. If the
process is killed in between, the record stays unreferenced, and a later cycle overwrites it.
"""

import contextlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from typing import Any, Final

import structlog

from ecphoria.consolidation.archive_files import ColdFiles
from ecphoria.consolidation.dormancy_store import DormancyStore
from ecphoria.consolidation.service import TOLD, Cycle
from ecphoria.errors import ArchiveDamaged, ArchiveUnavailable, Conflict, NotFound
from ecphoria.models.embedders import embed_all
from ecphoria.neo4j_store.encoding import stored
from ecphoria.neo4j_store.locks import change_under, count_change_beside_names, lock_tenant
from ecphoria.neo4j_store.passages import (
    CREATE_PASSAGES,
    REMOVE_PASSAGES,
    PassageRow,
    passage_groups,
)
from ecphoria.neo4j_store.rows import STAYS, Payload, from_bytes, to_bytes
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work
from ecphoria.neo4j_store.shapes import EDGES, NODES
from ecphoria.ports import Clock, Embedder
from ecphoria.records.episode import excerpt, indexed_text, opening
from ecphoria.records.ids import EpisodeId, TenantId, fresh_id
from ecphoria.records.job import Change, Lease, LeaseLost, StepOutcome
from ecphoria.records.upkeep import ArchivedMemory, ColdRecord, Located, Restored, Scrub
from ecphoria.runtime import in_parts

log = structlog.get_logger(__name__)

Due = tuple[EpisodeId, int]
"""An episode and its turn; lists are in the order of turns."""


Stub = tuple[Located, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _PayloadRow:
    id: EpisodeId
    properties: dict[str, Any]
    edges: list[dict[str, Any]]
    passages: list[dict[str, Any]]

    def content(self, encoder: str | None) -> bytes:
        return to_bytes(self.id, self.properties, self.edges, self.passages, encoder)


_LIST_DUE = Statement("cold.list_due", tuple[EpisodeId, int])
_LIST_PAYLOADS = Statement("cold.list_payloads", _PayloadRow)
_SAVE_STUBS = Statement("cold.save_stubs", EpisodeId)
_LIST_ARCHIVED = Statement("cold.list_archived", ArchivedMemory)
_LIST_STUBS = Statement("cold.list_stubs", tuple[Located, int])
_RESTORE_EPISODES = Statement("cold.restore_episodes", EpisodeId)
_RESTORE_EDGES = Statement("cold.restore_edges", Done)


_BETWEEN_EPISODES: Final = frozenset(
    name for name, kind in EDGES.items() if "Episode" in kind.tails & kind.heads
)


class ColdStore:
    """The archive's queries of the graph; its writes raise NotFound without the tenant."""

    def __init__(self, graph: Graph, embedder: Embedder | None = None) -> None:
        """Archive from a graph; `embedder` encodes records of a former model (decision 0037)."""
        self._graph = graph
        self._embedder = embedder
        self._encoder: str | None = None
        # Records from before a change of the model do not name their model (decision 0037).
        if graph.generation:
            assert embedder is not None, "the store has changed its model"
            self._encoder = f"{embedder.model} ({embedder.dimension})"

    async def due(
        self, tenant: TenantId, before: datetime, after_turn: int, limit: int
    ) -> Sequence[Due]:
        """List episodes that became dormant before an instant, by turn."""
        return await self._graph.run(
            _LIST_DUE, tenant=tenant, before=before, after_turn=after_turn, limit=limit
        )

    async def records(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Sequence[ColdRecord]:
        """Serialise the contents that archiving would take out of the graph."""
        rows = await self._payload_rows(self._graph, tenant, ids)
        return [ColdRecord(id=row.id, content=row.content(self._encoder)) for row in rows]

    async def replace(
        self,
        tenant: TenantId,
        places: Sequence[Located],
        now: datetime,
        lease: Lease | None = None,
    ) -> Sequence[EpisodeId]:
        """Replace dormant episodes by stubs if they are unchanged; return their ids.

        Raises:
            LeaseLost: Another worker has taken the job.
        """
        written = {place.id: place for place in places}

        async def leave(work: Work) -> list[EpisodeId]:
            await lock_tenant(work, tenant)
            await count_change_beside_names(work, tenant)
            rows = await self._payload_rows(work, tenant, list(written))
            stubs = [
                {"id": row.id, "stub": _stub(row.properties, written[row.id], now)}
                for row in rows
                if sha256(row.content(self._encoder)).hexdigest() == written[row.id].sha256
            ]
            # The stub keeps the properties that other writes change, so a restore can be compared
            # byte for byte (decision 0022).
            left = await work.run(_SAVE_STUBS, tenant=tenant, rows=stubs)
            gone = sorted(left)
            await work.run(REMOVE_PASSAGES, tenant=tenant, ids=gone)
            return gone

        return await change_under(self._graph, lease, "cold.replace", leave)

    async def archived(
        self,
        tenant: TenantId,
        *,
        session: str | None,
        speaker: str | None,
        after_turn: int,
        limit: int,
    ) -> Sequence[ArchivedMemory]:
        """List archived episodes that pass the filters and have not expired, by turn."""
        return await self._graph.run(
            _LIST_ARCHIVED,
            tenant=tenant,
            session=session,
            speaker=speaker,
            after_turn=after_turn,
            limit=limit,
        )

    async def stubs(self, tenant: TenantId, after_turn: int, limit: int) -> Sequence[Stub]:
        """List the locations of records, by turn."""
        return await self._graph.run(
            _LIST_STUBS, tenant=tenant, ids=None, after_turn=after_turn, limit=limit
        )

    async def stubs_of(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Sequence[Located]:
        """Read the locations of the records of these episodes; live and dormant ones have none."""
        found = await self._graph.run(
            _LIST_STUBS, tenant=tenant, ids=sorted(set(ids)), after_turn=0, limit=0
        )
        return [place for place, _ in found]

    async def restore(
        self, tenant: TenantId, records: Sequence[ColdRecord]
    ) -> Sequence[EpisodeId]:
        """Restore payloads in one transaction, which checks them byte for byte; return their ids.

        Vectors of a former model of the store are computed again from the text.

        Raises:
            ArchiveDamaged: The restored content would differ from the record; nothing was written.
            Conflict: Other content exists under one of these ids; nothing was written.
        """
        # A record of another model gets new vectors: no query may compare vectors of two models
        # (decision 0037).
        payloads = await self._current(tenant, _payloads(records))

        async def put_back(work: Work) -> list[EpisodeId]:
            return await self._put_back(work, tenant, payloads)

        return await self._graph.change("cold.restore", put_back)

    async def rehearse(
        self, tenant: TenantId, records: Sequence[ColdRecord]
    ) -> Sequence[EpisodeId]:
        """Restore, roll back, and return the ids of the episodes that would have been restored.

        Raises:
            ArchiveDamaged: The graph would hold something else.
            Conflict: The graph holds something else under an id of theirs.
        """
        payloads = _payloads(records)
        found: list[EpisodeId] = []

        async def put_back(work: Work) -> None:
            found[:] = await self._put_back(work, tenant, payloads)
            raise _Rehearsed

        with contextlib.suppress(_Rehearsed):
            await self._graph.change("cold.rehearse", put_back)
        return found

    async def _put_back(
        self, work: Work, tenant: TenantId, payloads: Mapping[EpisodeId, Payload]
    ) -> list[EpisodeId]:
        await lock_tenant(work, tenant)
        await count_change_beside_names(work, tenant)
        rows = [
            {
                "id": episode,
                "payload": payload.properties,
                "vector": None if payload.vector is None else stored(payload.vector),
            }
            for episode, payload in sorted(payloads.items())
        ]
        back = await work.run(_RESTORE_EPISODES, tenant=tenant, rows=rows, stays=sorted(STAYS))
        done = set(back)
        passages = {episode: _passages(payloads[episode]) for episode in done}
        for groups in passage_groups(passages):
            await work.run(CREATE_PASSAGES, tenant=tenant, groups=groups)
        edges = [edge for episode in sorted(done) for edge in _edges(payloads[episode])]
        await work.run(_RESTORE_EDGES, tenant=tenant, rows=edges)
        for row in await self._payload_rows(work, tenant, done):
            _check(row, payloads[row.id])
        return sorted(done)

    async def _payload_rows(
        self, graph: Graph | Work, tenant: TenantId, ids: Iterable[EpisodeId]
    ) -> list[_PayloadRow]:
        rows = await graph.run(_LIST_PAYLOADS, tenant=tenant, ids=sorted(ids))
        named = self._graph.canonical
        return [
            replace(
                row,
                properties=named(row.properties),
                passages=[named(passage) for passage in row.passages],
            )
            for row in rows
        ]

    async def _current(
        self, tenant: TenantId, payloads: Mapping[EpisodeId, Payload]
    ) -> dict[EpisodeId, Payload]:
        """Compute the vectors of another model again by the store's model."""
        other = [one.id for one in payloads.values() if one.encoder != self._encoder]
        if not other:
            return dict(payloads)
        assert self._embedder is not None, "the store has changed its model"
        stubs = await self._payload_rows(self._graph, tenant, map(EpisodeId, other))
        titles = {row.id: row.properties.get("title") for row in stubs}
        current = dict(payloads)
        for episode in map(EpisodeId, other):
            payload = payloads[episode]
            title, text = titles.get(episode), payload.properties["text"]
            spans = [text[one["start"] : one["end"]] for one in payload.passages]
            texts = [opening(title, text), *(indexed_text(title, span) for span in spans)]
            vectors = await embed_all(self._embedder, texts)
            current[episode] = replace(
                payload,
                vector=vectors[0],
                passages=[
                    {**one, "embedding": vector}
                    for one, vector in zip(payload.passages, vectors[1:], strict=True)
                ],
            )
        return current


class _Rehearsed(Exception):
    """Rolls back the transaction in which it is raised."""


def _payloads(records: Sequence[ColdRecord]) -> dict[EpisodeId, Payload]:
    try:
        payloads = {record.id: from_bytes(record.content) for record in records}
        if all(_is_own(payload, ident) for ident, payload in payloads.items()):
            return payloads
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ArchiveDamaged("a record is not of the archive's format") from error
    raise ArchiveDamaged("a record holds more than the content of its memory")


def _is_own(payload: Payload, ident: EpisodeId) -> bool:
    """Tell whether a record has only content that archiving removes from the graph.

    Files of an imported copy may have been edited: such a record could change the episode's id or
    tenant.
    """
    leaving = NODES["Episode"].properties.keys() - STAYS
    return (
        payload.id == ident
        and payload.properties.keys() <= leaving
        and all(
            edge["type"] in _BETWEEN_EPISODES
            and edge["properties"].keys() <= EDGES[edge["type"]].properties.keys()
            for edge in payload.edges
        )
    )


def _stub(properties: Mapping[str, Any], place: Located, now: datetime) -> dict[str, Any]:
    kept = {name: value for name, value in properties.items() if name in STAYS}
    return {
        **kept,
        "summary": excerpt(str(properties["text"])),
        "archived_at": now,
        "archive_file": place.file,
        "archive_offset": place.offset,
        "archive_digest": place.sha256,
    }


def _edges(payload: Payload) -> list[dict[str, Any]]:
    return [
        {
            "type": edge["type"],
            "tail": payload.id if edge["out"] else edge["other"],
            "head": edge["other"] if edge["out"] else payload.id,
            "properties": edge["properties"],
        }
        for edge in payload.edges
    ]


def _passages(payload: Payload) -> list[PassageRow]:
    return [
        PassageRow(
            id=one["id"],
            ordinal=one["ordinal"],
            start=one["start"],
            end=one["end"],
            terms=one["terms"],
            length=one["length"],
            vector=one["embedding"],
        )
        for one in payload.passages
    ]


def _check(row: _PayloadRow, payload: Payload) -> None:
    """Compare both as bytes; ignore new edges, and edges whose other end is deleted."""
    there = {_ends(edge) for edge in row.edges}
    written = {_ends(edge) for edge in payload.edges}
    expected = to_bytes(
        row.id,
        {**payload.properties, "embedding": payload.vector},
        [edge for edge in payload.edges if _ends(edge) in there],
        payload.passages,
    )
    found = to_bytes(
        row.id,
        row.properties,
        [edge for edge in row.edges if _ends(edge) in written],
        row.passages,
    )
    if found != expected:
        raise ArchiveDamaged(
            f"{row.id} would not come back as it was; nothing was changed", id=row.id
        )


def _ends(edge: Mapping[str, Any]) -> tuple[object, ...]:
    return edge["type"], edge["other"], edge["out"]


# The records of a batch are in memory with their texts and vectors; a page has only places.
_CHUNK = 200
_PAGE = 5_000
_SETTLED_S = 3_600.0
"""A younger file may belong to a cycle that is still writing it (decision 0022)."""


@dataclass
class Archiving:
    """Step that archives long dormant episodes, and overwrites unreferenced records."""

    name = "archive"
    graph: ColdStore
    files: ColdFiles
    policies: DormancyStore
    settled_s: float = _SETTLED_S

    async def run(self, cycle: Cycle) -> StepOutcome:
        """Archive the episodes that the policy names.

        Raises:
            ArchiveUnavailable: The disk is full or the folder cannot be used; episodes archived
                until then are complete, all others unchanged.
        """
        policy = await self.policies.policy(cycle.tenant)
        if policy.archive_days == "never":
            moved: Sequence[EpisodeId] = ()
        else:
            moved = await self.archive(cycle, policy.archive_days)
        return StepOutcome(
            counts={"archived": len(moved), "wiped": await self.collect(cycle)},
            changes=tuple(Change(kind="archive", id=episode) for episode in moved[:TOLD]),
        )

    async def archive(self, cycle: Cycle, days: float) -> Sequence[EpisodeId]:
        """Archive episodes that have been dormant for so many days; return their ids."""
        before = cycle.now - timedelta(days=days)
        moved: list[EpisodeId] = []
        after = 0
        while due := await self.graph.due(cycle.tenant, before, after, _CHUNK):
            after = due[-1][1]
            ids = [episode for episode, _ in due]
            moved += ids if cycle.dry_run else await self._move(cycle, ids)
        return moved

    async def _move(self, cycle: Cycle, ids: Sequence[EpisodeId]) -> Sequence[EpisodeId]:
        await cycle.reached("archive: write")
        records = await self.graph.records(cycle.tenant, ids)
        # The file comes first: a killed process leaves at most an unreferenced record (decision
        # 0022).
        places = await self.files.write(cycle.tenant, records)
        try:
            await cycle.reached("archive: replace")
            return await self.graph.replace(cycle.tenant, places, cycle.now, cycle.lease)
        except (LeaseLost, NotFound):
            # If the tenant is gone, no later cycle would find these files.
            await self.files.wipe(cycle.tenant, places)
            raise

    async def collect(self, cycle: Cycle) -> int:
        """Overwrite records that no archived memory refers to."""
        if cycle.dry_run:
            return 0
        await cycle.reached("archive: wipe")
        # List the files first: only older ones are examined, because a cycle may still be writing
        # a younger one (decision 0022).
        found = await self.files.unreferenced(cycle.tenant, frozenset(), self.settled_s)
        if not found:
            return 0
        known = {
            (place.file, place.offset) for place in await references(self.graph, cycle.tenant)
        }
        lost = [place for place in found if (place.file, place.offset) not in known]
        await self.files.wipe(cycle.tenant, lost)
        return len(lost)


class ArchiveService:
    """Archives, restores and scrubs on request; `graph` lists what is archived.

    Each call raises ArchiveUnavailable if the storage cannot be used; what it has archived or
    restored until then is complete. A failure to overwrite records afterwards is only logged.
    """

    def __init__(self, step: Archiving, graph: ColdStore, files: ColdFiles, clock: Clock) -> None:
        self._step = step
        self.graph = graph
        self._files = files
        self._clock = clock

    async def archive(self, tenant: TenantId, days: float) -> int:
        """Archive episodes that have been dormant for so many days; return their number."""
        cycle = Cycle(id=fresh_id(), tenant=tenant, now=self._clock.now())
        moved = await self._step.archive(cycle, days)
        with _left_for_a_cycle(tenant):
            await self._step.collect(cycle)
        return len(moved)

    async def restore(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Restored:
        """Make archived memories dormant again, byte for byte; ignore other ids."""
        places = await self.graph.stubs_of(tenant, ids)
        back: list[EpisodeId] = []
        damaged: list[EpisodeId] = []
        for chunk in in_parts(places, _CHUNK):
            records, unsound = await self._files.sound(tenant, chunk)
            restored, refused = await _attempt(partial(self.graph.restore, tenant), records)
            back += restored
            damaged += unsound + refused
            wanted = set(restored)
            with _left_for_a_cycle(tenant):
                await self._files.wipe(tenant, [place for place in chunk if place.id in wanted])
        lost = await self._still_archived(tenant, damaged)
        return Restored(restored=tuple(sorted(back)), damaged=lost)

    async def scrub(self, tenant: TenantId) -> Scrub:
        """Read and check every record of the tenant, and rehearse its restore; change nothing."""
        places = await references(self.graph, tenant)
        damaged: list[EpisodeId] = []
        for chunk in in_parts(places, _CHUNK):
            records, unsound = await self._files.sound(tenant, chunk)
            damaged += unsound + (await _attempt(partial(self.graph.rehearse, tenant), records))[1]
        known = {(place.file, place.offset) for place in places}
        loose = await self._files.unreferenced(tenant, known, 0.0)
        lost = await self._still_archived(tenant, damaged)
        return Scrub(records=len(places), damaged=lost, unreferenced=len(loose))

    async def forget(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> None:
        """Overwrite the records of episodes that are about to be deleted."""
        await self._files.wipe(tenant, await self.graph.stubs_of(tenant, ids))

    async def erase(self, tenant: TenantId) -> int:
        """Delete the archive of a deleted tenant; return the number of its records."""
        return await self._files.erase(tenant)

    async def _still_archived(
        self, tenant: TenantId, damaged: Sequence[EpisodeId]
    ) -> tuple[EpisodeId, ...]:
        """Leave out episodes that another call has restored or erased, and wiped, meanwhile."""
        places = await self.graph.stubs_of(tenant, damaged) if damaged else ()
        return tuple(sorted(place.id for place in places))


@contextlib.contextmanager
def _left_for_a_cycle(tenant: TenantId) -> Iterator[None]:
    """Log that records could not be overwritten; a later cycle does it.

    The graph has changed already, so the caller must not be told that nothing was done.
    """
    try:
        yield
    except ArchiveUnavailable as error:
        log.warning("archive_not_wiped", tenant_id=tenant, reason=error.message)


async def _attempt(
    work: Callable[[Sequence[ColdRecord]], Awaitable[Sequence[EpisodeId]]],
    records: Sequence[ColdRecord],
) -> tuple[list[EpisodeId], list[EpisodeId]]:
    """Try all at once, and one by one if that fails; return the done and the refused ids."""
    if not records:
        return [], []
    try:
        return list(await work(records)), []
    except (ArchiveDamaged, Conflict):
        if len(records) == 1:
            return [], [records[0].id]
    done: list[EpisodeId] = []
    refused: list[EpisodeId] = []
    for record in records:
        found = await _attempt(work, [record])
        done += found[0]
        refused += found[1]
    return done, refused


async def references(graph: ColdStore, tenant: TenantId) -> list[Located]:
    """List the locations of all records of a tenant."""
    found: list[Located] = []
    after = 0
    while page := await graph.stubs(tenant, after, _PAGE):
        found += (place for place, _ in page)
        after = page[-1][1]
    return found
