"""Neo4j itself ends in the middle of a cycle, killed or stopped, and is started again."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from ecphoria.background import build_steps
from ecphoria.consolidation.doctor import Doctor, IntegrityStore
from ecphoria.consolidation.service import ConsolidationService
from ecphoria.engine import Endpoint, Engine
from ecphoria.errors import StoreUnavailable
from ecphoria.jobs.store import JobStore
from ecphoria.jobs.worker import Attempts, Worker, WorkerOptions
from ecphoria.neo4j_store.schema import migrate
from ecphoria.neo4j_store.session import Graph, GraphOptions
from ecphoria.ports import Embedder
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.records.job import ENDED, Job, JobKind, JobState
from ecphoria.tenancy.store import Tenants
from scripts.archive_classes import with_schema
from tests.conftest import Cypher, asking, free_ports, quick_engine
from tests.contract.canonical import canonical
from tests.contract.cycles import NOWHERE, a_memory, a_service

pytestmark = [pytest.mark.engine, pytest.mark.outage]

PLACE = "prior: save concepts"
STEPS = ("associate", "prior", "dormancy")
"""Before, at and after the place; a server that has just started plans each query anew."""
HOW = WorkerOptions(lease_s=600.0, poll_s=0.1, retries=Attempts(limit=100, first_pause_s=0.1))
"""A lease that nobody can wait for the end of."""

End = Callable[[Engine], object]


def kill(engine: Engine) -> None:
    endpoint = engine.status().endpoint
    assert endpoint is not None
    os.kill(endpoint.pid, signal.SIGKILL)


class Outage:
    """Ends the server once, at a place, and has it started again."""

    def __init__(self, engine: Engine, end: End) -> None:
        self._engine = engine
        self._end = end
        self.over: asyncio.Future[Endpoint] | None = None

    def pass_by(self, place: str) -> None:
        if place == PLACE and self.over is None:
            self._end(self._engine)
            self.over = asyncio.get_running_loop().run_in_executor(None, self._engine.up)


@dataclass(frozen=True)
class World:
    """A server of its own, and the graph that an undisturbed cycle leaves."""

    engine: Engine
    graph: Graph
    cypher: Cypher
    jobs: JobStore
    cycle: ConsolidationService
    tenant: TenantId
    clean: Sequence[str]


@asynccontextmanager
async def served(home: Path) -> AsyncIterator[tuple[Engine, GraphOptions]]:
    engine = Engine(replace(quick_engine(home), bolt_port=free_ports(1)[0]))
    endpoint = await asyncio.to_thread(engine.up)
    options = GraphOptions(
        uri=endpoint.bolt_uri, user=endpoint.user, password=endpoint.password, retry_s=1.0,
        connect_timeout_s=2.0,
    )  # fmt: skip
    try:
        yield engine, options
    finally:
        await asyncio.to_thread(engine.down)


@pytest.fixture(scope="module")
async def world(
    tmp_path_factory: pytest.TempPathFactory, embedder: Embedder
) -> AsyncIterator[World]:
    async with (
        served(with_schema(tmp_path_factory.mktemp("engine"))) as (engine, options),
        Graph.connect(options) as graph,
        asking(options) as cypher,
    ):
        await migrate(graph, embedder.model, embedder.dimension)
        tenant, jobs = TenantId(fresh_id()), JobStore(graph, keep=9)
        cycle = a_service(graph, build_steps(graph, options, embedder, NOWHERE))
        await a_memory(graph, embedder, tenant)
        first = await jobs.enqueue(tenant, JobKind.CONSOLIDATION, steps=STEPS)
        assert await Worker(jobs, cycle.run, HOW).run_one()
        assert (await jobs.find(tenant, first.id)).state is JobState.DONE
        clean = await canonical(cypher, tenant)
        await Tenants(graph).erase(tenant)
        yield World(engine, graph, cypher, jobs, cycle, tenant, clean)


async def ended(jobs: JobStore, job: Job) -> Job:
    async with asyncio.timeout(300):
        while True:
            with suppress(StoreUnavailable):
                found = await jobs.find(job.tenant, job.id)
                if found.state in ENDED:
                    return found
            await asyncio.sleep(0.5)


@pytest.mark.parametrize("end", [kill, Engine.down], ids=["killed", "stopped"])
async def test_a_cycle_outlives_the_end_of_neo4j(
    world: World, embedder: Embedder, end: End
) -> None:
    graph, tenant = world.graph, world.tenant
    before = world.engine.status().endpoint
    assert before is not None
    await a_memory(graph, embedder, tenant)
    job = await world.jobs.enqueue(tenant, JobKind.CONSOLIDATION, steps=STEPS)
    outage = Outage(world.engine, end)
    worker = Worker(world.jobs, world.cycle.run, HOW, fault=outage.pass_by)
    worker.start(1)
    try:
        done = await ended(world.jobs, job)
    finally:
        await worker.stop()
    assert outage.over is not None
    assert (await outage.over).pid != before.pid
    assert done.state is JobState.DONE
    assert done.attempts > 1
    assert await canonical(world.cypher, tenant) == world.clean
    doctor = Doctor(IntegrityStore(graph), time.monotonic)
    assert (await doctor.examine(tenant)).findings == ()
    await Tenants(graph).erase(tenant)
