"""The archive: move contents of dormant episodes to files, and restore them byte for byte.

A record is written, flushed to the disk and read back before anything leaves the graph. If the
process is killed in between, the record stays unreferenced, and a later cycle wipes it.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial

from ecphoria.consolidation.archive_files import ColdFiles
from ecphoria.consolidation.archive_store import ColdStore
from ecphoria.consolidation.dormancy_store import DormancyStore
from ecphoria.consolidation.service import TOLD, Cycle
from ecphoria.errors import ArchiveDamaged, Conflict, NotFound
from ecphoria.ports import Clock
from ecphoria.records.ids import EpisodeId, TenantId, fresh_id
from ecphoria.records.job import Change, LeaseLost, StepOutcome
from ecphoria.records.upkeep import ArchivedMemory, ColdRecord, Located, Restored, Scrub

# The records of a batch are in memory with their texts and vectors; a page has only places.
_CHUNK = 200
_PAGE = 5_000
_SETTLED_S = 3_600.0
"""A younger file may belong to a cycle that is still writing it (decision 0022)."""


class Archiving:
    """Step that archives long dormant episodes, and wipes unreferenced records."""

    name = "archive"

    def __init__(
        self,
        graph: ColdStore,
        files: ColdFiles,
        policies: DormancyStore,
        *,
        settled_s: float = _SETTLED_S,
    ) -> None:
        self._graph = graph
        self._files = files
        self._policies = policies
        self._settled_s = settled_s

    async def run(self, cycle: Cycle) -> StepOutcome:
        """Archive the episodes that the policy names.

        Raises:
            ArchiveUnavailable: The disk is full or the folder cannot be used; episodes archived
                until then are complete, all others unchanged.
        """
        policy = await self._policies.policy(cycle.tenant)
        if policy.archive_days == "never":
            return StepOutcome(counts={"archived": 0, "wiped": await self._collect(cycle)})
        return await self.archive(cycle, policy.archive_days)

    async def archive(self, cycle: Cycle, days: float) -> StepOutcome:
        """Archive episodes that have been dormant for so many days."""
        before = cycle.now - timedelta(days=days)
        moved: list[EpisodeId] = []
        after = 0
        while due := await self._graph.due(cycle.tenant, before, after, _CHUNK):
            after = due[-1][1]
            ids = [episode for episode, _ in due]
            moved += ids if cycle.dry_run else await self._move(cycle, ids)
        return StepOutcome(
            counts={"archived": len(moved), "wiped": await self._collect(cycle)},
            changes=tuple(Change(kind="archive", id=episode) for episode in moved[:TOLD]),
        )

    async def _move(self, cycle: Cycle, ids: Sequence[EpisodeId]) -> Sequence[EpisodeId]:
        await cycle.reached("archive: write")
        records = await self._graph.records(cycle.tenant, ids)
        # The file comes first: a killed process leaves at most an unreferenced record (decision
        # 0022).
        places = await self._files.write(cycle.tenant, records)
        try:
            await cycle.reached("archive: replace")
            return await self._graph.replace(cycle.tenant, places, cycle.now, cycle.lease)
        except (LeaseLost, NotFound):
            # If the tenant is gone, no later cycle would find these files.
            await self._files.wipe(cycle.tenant, places)
            raise

    async def _collect(self, cycle: Cycle) -> int:
        """Wipe records that no archived memory refers to."""
        if cycle.dry_run:
            return 0
        await cycle.reached("archive: wipe")
        # List the files first: only older ones are examined, because a cycle may still be writing
        # a younger one (decision 0022).
        found = await self._files.unreferenced(cycle.tenant, frozenset(), self._settled_s)
        if not found:
            return 0
        known = {
            (place.file, place.offset) for place in await references(self._graph, cycle.tenant)
        }
        lost = [place for place in found if (place.file, place.offset) not in known]
        await self._files.wipe(cycle.tenant, lost)
        return len(lost)


class ArchiveService:
    """Archives, restores and scrubs on request."""

    def __init__(self, step: Archiving, graph: ColdStore, files: ColdFiles, clock: Clock) -> None:
        self._step = step
        self._graph = graph
        self._files = files
        self._clock = clock

    async def archive(self, tenant: TenantId, days: float) -> int:
        """Archive episodes that have been dormant for so many days; return their number.

        Raises:
            ArchiveUnavailable: The disk is full or the folder cannot be used.
        """
        cycle = Cycle(id=fresh_id(), tenant=tenant, now=self._clock.now())
        return (await self._step.archive(cycle, days)).counts["archived"]

    async def archived(
        self,
        tenant: TenantId,
        *,
        session: str | None,
        speaker: str | None,
        after_turn: int,
        limit: int,
    ) -> Sequence[ArchivedMemory]:
        """List archived episodes that pass the filters, by turn."""
        return await self._graph.archived(
            tenant, session=session, speaker=speaker, after_turn=after_turn, limit=limit
        )

    async def restore(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Restored:
        """Make archived memories dormant again, byte for byte; ignore other ids.

        Raises:
            ArchiveUnavailable: The folder cannot be read.
        """
        places = await self._graph.stubs_of(tenant, ids)
        back: list[EpisodeId] = []
        damaged: list[EpisodeId] = []
        for first in range(0, len(places), _CHUNK):
            chunk = places[first : first + _CHUNK]
            records = await self._sound(tenant, chunk, damaged)
            restored, refused = await _attempt(partial(self._graph.restore, tenant), records)
            back += restored
            damaged += refused
            wanted = set(restored)
            await self._files.wipe(tenant, [place for place in chunk if place.id in wanted])
        return Restored(restored=tuple(sorted(back)), damaged=tuple(sorted(damaged)))

    async def scrub(self, tenant: TenantId) -> Scrub:
        """Read and check every record of the tenant, and rehearse its restore; change nothing.

        Raises:
            ArchiveUnavailable: The folder cannot be read.
        """
        places = await references(self._graph, tenant)
        damaged: list[EpisodeId] = []
        for first in range(0, len(places), _CHUNK):
            records = await self._sound(tenant, places[first : first + _CHUNK], damaged)
            damaged += (await _attempt(partial(self._graph.rehearse, tenant), records))[1]
        known = {(place.file, place.offset) for place in places}
        loose = await self._files.unreferenced(tenant, known, 0.0)
        return Scrub(records=len(places), damaged=tuple(sorted(damaged)), unreferenced=len(loose))

    async def forget(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> None:
        """Wipe the records of episodes that are about to be deleted.

        Raises:
            ArchiveUnavailable: The folder cannot be written.
        """
        await self._files.wipe(tenant, await self._graph.stubs_of(tenant, ids))

    async def erase(self, tenant: TenantId) -> int:
        """Delete the archive of a deleted tenant; return the number of its records.

        Raises:
            ArchiveUnavailable: The folder cannot be written.
        """
        return await self._files.erase(tenant)

    async def _sound(
        self, tenant: TenantId, places: Sequence[Located], damaged: list[EpisodeId]
    ) -> list[ColdRecord]:
        """Read records; list the unreadable ones."""
        sound: list[ColdRecord] = []
        for place in places:
            try:
                content = await self._files.read(tenant, place)
            except ArchiveDamaged:
                damaged.append(place.id)
            else:
                sound.append(ColdRecord(id=place.id, content=content))
        return sound


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
