"""Workers are killed at every place of a cycle and in the middle of every write of it.

Whatever died before, the cycle in the end leaves the graph that an undisturbed one leaves.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ecphoria.background import build_steps
from ecphoria.consolidation.doctor import Doctor, IntegrityStore
from ecphoria.jobs.store import JobStore
from ecphoria.jobs.worker import Attempts, Worker, WorkerOptions
from ecphoria.neo4j_store.queries import Mode
from ecphoria.neo4j_store.session import Graph, GraphOptions
from ecphoria.ports import Embedder
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.records.job import ENDED, Job, JobKind, JobState, Progress
from ecphoria.tenancy.store import Tenants
from tests.cable import Cable
from tests.conftest import Cypher, Server, drop_queued_jobs
from tests.contract.canonical import canonical
from tests.contract.cycles import BUDGET, NOWHERE, a_memory, a_service

PROGRAM = Path(__file__).with_name("mortal_worker.py")

Kill = Callable[[Job, str | None], int]


@pytest.fixture
def kill(neo4j_server: Server) -> Iterator[Kill]:
    """Let a worker of its own process do a job and die at a place; tells how it ended."""
    drop_queued_jobs(neo4j_server)  # the worker would do them first
    environment = {
        **{name: text for name, text in os.environ.items() if "ECPHORIA" not in name},  # noqa: TID251
        "ECPHORIA_NEO4J__URI": neo4j_server.uri,
        "ECPHORIA_NEO4J__USER": neo4j_server.user,
        "ECPHORIA_NEO4J__PASSWORD": neo4j_server.password,
    }
    with subprocess.Popen(
        [sys.executable, str(PROGRAM)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def ask(job: Job, fault: str | None) -> int:
            asked = {"job": job.id, "tenant": job.tenant, "fault": fault}
            process.stdin.write(json.dumps(asked) + "\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            return int(process.stdout.readline())  # type: ignore[union-attr]

        yield ask
        process.stdin.close()


async def places_of(
    options: GraphOptions, embedder: Embedder, jobs: JobStore, job: Job
) -> list[str]:
    """Do a job undisturbed and tell, in order, its places and the writes it made."""
    seen: dict[str, None] = {}

    claimed = await jobs.claim(job.id, 60.0)
    assert claimed is not None
    lease = claimed.lease

    async def watch(progress: Progress) -> None:
        seen.setdefault(progress.place)
        await jobs.renew(lease, 60.0, progress)

    async with Graph.connect(options, on_query=lambda name, _: seen.setdefault(name)) as graph:
        steps = build_steps(graph, options, embedder, NOWHERE)
        report = await a_service(graph, steps).run(claimed, watch)
        await JobStore(graph, 9).finish(lease, JobState.DONE, report=report)
        reads = {name for name, query in graph.queries.items() if query.mode is Mode.READ}
    return [place for place in seen if place not in reads]


async def test_however_its_workers_die_a_cycle_leaves_the_same_graph(
    graph: Graph, embedder: Embedder, options: GraphOptions, cypher: Cypher, kill: Kill
) -> None:
    tenant, jobs = TenantId(fresh_id()), JobStore(graph, 9)
    await a_memory(graph, embedder, tenant)
    untouched = await canonical(cypher, tenant)
    first = await jobs.enqueue(tenant, JobKind.CONSOLIDATION)
    places = await places_of(options, embedder, jobs, first)
    clean = await canonical(cypher, tenant)
    assert {step.status for step in (await jobs.find(tenant, first.id)).report.steps} == {"done"}  # type: ignore[union-attr]
    assert sum("LiveEpisode" in line for line in clean) <= BUDGET
    assert clean != untouched

    await Tenants(graph).erase(tenant)
    await a_memory(graph, embedder, tenant)
    assert await canonical(cypher, tenant) == untouched
    job = await jobs.enqueue(tenant, JobKind.CONSOLIDATION)
    doctor = Doctor(IntegrityStore(graph), time.monotonic)
    for place in places:
        assert kill(job, place) == -signal.SIGKILL, place
        assert (await doctor.examine(tenant)).findings == (), place
        await cypher(
            "MATCH (j:Job {id: $job}) WHERE j.lease_until IS NOT NULL"
            " SET j.lease_until = datetime.realtime(), j.run_after = datetime.realtime()",
            job=job.id,
        )
    assert places[-1] == "jobs.finish"  # the last of them dies when the job has ended
    assert kill(job, None) == 0
    done = await jobs.find(tenant, job.id)
    assert (done.state, done.attempts) == (JobState.DONE, len(places))
    assert await canonical(cypher, tenant) == clean
    await Tenants(graph).erase(tenant)


@pytest.fixture
def cable(neo4j_server: Server) -> Iterator[Cable]:
    """A cable to Neo4j."""
    address = urlsplit(neo4j_server.uri)
    made = Cable(address.hostname or "127.0.0.1", address.port or 7687)
    yield made
    made.close()


async def test_neo4j_out_of_reach_in_the_middle_only_delays_a_cycle(
    graph: Graph, embedder: Embedder, neo4j_server: Server, cypher: Cypher, cable: Cable
) -> None:
    tenant, jobs = TenantId(fresh_id()), JobStore(graph, 9)
    far = GraphOptions(
        uri=f"bolt://127.0.0.1:{cable.port}", user=neo4j_server.user,
        password=neo4j_server.password, retry_s=0.5, connect_timeout_s=2.0,
    )  # fmt: skip
    pulled = asyncio.Event()

    def pull(place: str) -> None:
        if place == "prior: save concepts" and not pulled.is_set():
            pulled.set()
            cable.pull()
            asyncio.get_running_loop().call_later(5.0, cable.plug)

    def worker_of(store: Graph, options: GraphOptions) -> Worker:
        cycle = a_service(store, build_steps(store, options, embedder, NOWHERE))
        retries = Attempts(limit=50, first_pause_s=0.1, longest_pause_s=0.5)
        how = WorkerOptions(lease_s=5.0, poll_s=0.1, retries=retries)
        return Worker(JobStore(store, 9), cycle.run, how, fault=pull)

    await a_memory(graph, embedder, tenant)
    job = await jobs.enqueue(tenant, JobKind.CONSOLIDATION)
    async with Graph.connect(far) as through:
        worker = worker_of(through, far)
        worker.start(1)
        async with asyncio.timeout(60):
            while True:
                done = await jobs.find(tenant, job.id)
                if done.state in ENDED:
                    break
                await asyncio.sleep(0.1)
        await worker.stop()
    assert pulled.is_set()
    assert done.state is JobState.DONE
    assert done.attempts > 1
    disturbed = await canonical(cypher, tenant)
    await Tenants(graph).erase(tenant)

    await a_memory(graph, embedder, tenant)
    again = await jobs.enqueue(tenant, JobKind.CONSOLIDATION)
    near = neo4j_server.options()
    assert await worker_of(graph, near).run_one()
    assert (await jobs.find(tenant, again.id)).state is JobState.DONE
    assert await canonical(cypher, tenant) == disturbed
    await Tenants(graph).erase(tenant)
