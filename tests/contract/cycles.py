"""A memory that gives every step of a cycle something to do, and the cycle."""

import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from ecphoria.consolidation.archive_disk import Disk
from ecphoria.consolidation.archive_files import ColdFiles
from ecphoria.consolidation.service import ConsolidationService, GraphSurvey, Step
from ecphoria.ingest.service import IngestService
from ecphoria.ingest.store import IngestStore
from ecphoria.neo4j_store.session import Graph
from ecphoria.ports import Embedder
from ecphoria.records.episode import NewEpisode, Receipt
from ecphoria.records.ids import TenantId
from ecphoria.records.tenant import Tenant
from ecphoria.tenancy.store import Tenants
from tests.conftest import WallClock
from tests.contract.memories import START
from tests.contract.tenants import set_settings

NOWHERE = ColdFiles(Disk(Path(__file__).parent / "no-archive"))
TURNS = 24
NAMES = ("Marek Novak", "Ilse Brandt", "Tomas Rivera", "Novak Marek")
THINGS = ("the old boat", "the boat house by the pier", "the hotel kitchen")
BUDGET = 20


async def a_memory(graph: Graph, embedder: Embedder, tenant: TenantId) -> None:
    """A memory that gives every step something to do; the same one whenever it is made."""
    owner = Tenant(id=tenant, name=f"t-{tenant}", created_at=WallClock().now())
    await Tenants(graph).create(owner)
    turns = [
        NewEpisode(
            text=f"{NAMES[n % 4]} painted {THINGS[n % 3]}; {NAMES[(n + 1 + n // 6) % 4]} helped.",
            speaker=NAMES[n % 2],
            session=f"s{n // 12}",
            occurred_at=START + timedelta(hours=n),
            idempotency_key=str(n),
        )
        for n in range(TURNS)
    ]
    page = NewEpisode(
        text="Marek Novak paints boats in Trieste.", title="Marek Novak", occurred_at=START
    )
    ingest = IngestService(store=IngestStore(graph), embedder=embedder, clock=WallClock())
    receipts = await ingest.append_batch(tenant, [*turns, page])
    assert all(isinstance(one, Receipt) for one in receipts)
    await set_settings(graph, tenant, dormancy={"budget": BUDGET, "quiet_days": 0})


def a_service(graph: Graph, steps: Sequence[Step]) -> ConsolidationService:
    return ConsolidationService(steps=steps, survey=GraphSurvey(graph), monotonic=time.monotonic)
