"""A memory with an archive of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ecphoria.consolidation.archive import ArchiveService, Archiving, ColdStore
from ecphoria.consolidation.archive_disk import Disk
from ecphoria.consolidation.archive_files import ColdFiles
from ecphoria.consolidation.doctor import Doctor, IntegrityStore
from ecphoria.consolidation.dormancy import ForgettingService
from ecphoria.consolidation.dormancy_store import DormancyStore
from ecphoria.consolidation.service import Cycle
from ecphoria.ingest.service import IngestService
from ecphoria.ingest.store import IngestStore
from ecphoria.neo4j_store.session import Graph
from ecphoria.ports import Embedder
from ecphoria.records.ids import EpisodeId, TenantId, fresh_id
from ecphoria.records.upkeep import ColdRecord
from tests.conftest import WallClock

LATER = timedelta(days=100)


@dataclass
class World:
    """A memory with an archive of its own."""

    graph: Graph
    folder: Path
    files: ColdFiles
    cold: ColdStore
    step: Archiving
    archive: ArchiveService
    forgetting: ForgettingService
    ingest: IngestService
    doctor: Doctor

    async def archive_records(self, tenant: TenantId) -> list[ColdRecord]:
        """Read all records of a tenant."""
        return [
            ColdRecord(id=place.id, content=await self.files.read(tenant, place))
            for place, _ in await self.cold.stubs(tenant, 0, 100)
        ]


def world_of(graph: Graph, embedder: Embedder, folder: Path) -> World:
    """Build the services of one process."""
    store, files, cold = DormancyStore(graph), ColdFiles(Disk(folder)), ColdStore(graph)
    step = Archiving(cold, files, store, settled_s=0.0)
    archive = ArchiveService(step, cold, files, WallClock())
    ingest = IngestService(
        store=IngestStore(graph), embedder=embedder, clock=WallClock(), archive=archive
    )
    return World(
        graph=graph,
        folder=folder,
        files=files,
        cold=cold,
        step=step,
        archive=archive,
        forgetting=ForgettingService(store, archive, ingest.wake, WallClock()),
        ingest=ingest,
        doctor=Doctor(IntegrityStore(graph), lambda: 0.0, archive),
    )


def a_cycle(tenant: TenantId, **how: object) -> Cycle:
    return Cycle(id=fresh_id(), tenant=tenant, now=datetime.now(UTC) + LATER, **how)  # type: ignore[arg-type]


async def archived(world: World, tenant: TenantId, ids: Sequence[EpisodeId]) -> None:
    await world.forgetting.sleep(tenant, ids)
    assert (await world.step.run(a_cycle(tenant))).counts["archived"] == len(ids)
