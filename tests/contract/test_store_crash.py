"""Neo4j itself is killed in the middle of a cycle, and started again."""

import asyncio
import os
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import neo4j
import pytest

from ecphoria import background
from ecphoria.consolidation.doctor import Doctor
from ecphoria.engine import Endpoint, Engine, EngineSettings
from ecphoria.errors import StoreUnavailable
from ecphoria.graph.doctor import GraphPatient
from ecphoria.graph.driver import GraphOptions
from ecphoria.graph.executor import Graph
from ecphoria.graph.jobs import Jobs
from ecphoria.graph.migrate import migrate
from ecphoria.graph.tenants import Tenants
from ecphoria.jobs.retries import Retries
from ecphoria.jobs.worker import Worker, WorkerOptions
from ecphoria.model.ids import TenantId, fresh_id
from ecphoria.model.job import ENDED, Job, JobKind, JobState
from ecphoria.ports.world import Embedder
from tests.conftest import CACHE, Cypher, Rows
from tests.contract.canonical import canonical
from tests.contract.test_crashes import NOWHERE, a_memory, a_service

pytestmark = [pytest.mark.engine, pytest.mark.outage]

PLACE = "prior: save concepts"
STEPS = ("associate", "prior", "dormancy")
"""Before, at and after the place; a server that has just started plans each query anew."""
PATIENT = WorkerOptions(
    lease_s=5.0,
    poll_s=0.1,
    retries=Retries(limit=100, first_pause_s=0.1, longest_pause_s=0.5),
)


def free_port() -> int:
    """Find one that no outgoing connection is given while the server is away."""
    for port in range(20_000 + os.getpid() % 10_000, 32_000):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


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


@asynccontextmanager
async def asking(options: GraphOptions) -> AsyncIterator[Cypher]:
    auth = (options.user, options.password)
    async with neo4j.AsyncGraphDatabase.driver(options.uri, auth=auth) as driver:

        async def ask(query: str, **params: object) -> Rows:
            answer = await driver.execute_query(query, params)
            return [row.data() for row in answer.records]

        yield ask


async def ended(jobs: Jobs, job: Job) -> Job:
    async with asyncio.timeout(120):
        while True:
            with suppress(StoreUnavailable):
                found = await jobs.find(job.tenant, job.id)
                if found.state in ENDED:
                    return found
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("end", [kill, Engine.down], ids=["killed", "stopped"])
async def test_a_cycle_outlives_the_end_of_neo4j(
    tmp_path: Path, embedder: Embedder, end: End
) -> None:
    home = EngineSettings(
        home=tmp_path / "home", cache=CACHE, heap_mb=768, page_cache_mb=128, bolt_port=free_port()
    )
    engine = Engine(home)
    endpoint = await asyncio.to_thread(engine.up)
    options = GraphOptions(
        uri=endpoint.bolt_uri, user=endpoint.user, password=endpoint.password, retry_s=1.0,
        connect_timeout_s=2.0,
    )  # fmt: skip
    outage = Outage(engine, end)
    try:
        async with Graph.connect(options) as graph, asking(options) as cypher:
            await migrate(graph, embedder.model, embedder.dimension)
            tenant, jobs = TenantId(fresh_id()), Jobs(graph, keep=9)
            steps = background.steps_of(graph, options, embedder, NOWHERE)
            cycle = a_service(graph, steps)
            await a_memory(graph, embedder, tenant)
            first = await jobs.enqueue(tenant, JobKind.CONSOLIDATION, steps=STEPS)
            assert await Worker(jobs, cycle.run, PATIENT).run_one()
            assert (await jobs.find(tenant, first.id)).state is JobState.DONE
            clean = await canonical(cypher, tenant)
            await Tenants(graph).erase(tenant)

            await a_memory(graph, embedder, tenant)
            job = await jobs.enqueue(tenant, JobKind.CONSOLIDATION, steps=STEPS)
            worker = Worker(jobs, cycle.run, PATIENT, fault=outage.pass_by)
            worker.start(1)
            try:
                done = await ended(jobs, job)
            finally:
                await worker.stop()
            assert outage.over is not None
            assert (await outage.over).pid != endpoint.pid
            assert done.state is JobState.DONE
            assert done.attempts > 1
            assert await canonical(cypher, tenant) == clean
            doctor = Doctor(GraphPatient(graph), time.monotonic)
            assert (await doctor.examine(tenant)).findings == ()
    finally:
        await asyncio.to_thread(engine.down)
