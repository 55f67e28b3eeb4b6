"""What jobs do about each other, about a memory no step can bear, and about a clock set back."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

import pytest

from ecphoria.background import build_steps
from ecphoria.consolidation.doctor import Doctor, IntegrityStore
from ecphoria.consolidation.dormancy import Dormancy
from ecphoria.consolidation.dormancy_store import DormancyStore
from ecphoria.consolidation.service import ConsolidationService, Cycle
from ecphoria.jobs.store import JobStore
from ecphoria.jobs.worker import Attempts, Watch, Worker, WorkerOptions
from ecphoria.neo4j_store.session import Graph
from ecphoria.ports import Embedder
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.records.job import (
    Claimed,
    ConsolidationReport,
    JobKind,
    JobState,
    Progress,
    StepOutcome,
)
from ecphoria.records.settings import DormancyMode
from ecphoria.tenancy.store import Tenants
from tests.conftest import Cypher, Server
from tests.contract.canonical import canonical
from tests.contract.cycles import NOWHERE, a_memory, a_service
from tests.contract.memories import START, appended, turn, write
from tests.contract.tenants import set_settings

CYCLE = JobKind.CONSOLIDATION
OPTIONS = WorkerOptions(poll_s=0.05, retries=Attempts(limit=3, first_pause_s=0.0))


@pytest.fixture(scope="module")
def jobs(graph: Graph) -> JobStore:
    return JobStore(graph, keep=9)


def steps_told(graph: Graph, told: list[tuple[TenantId, str]]) -> ConsolidationService:
    """A cycle of steps that tell whose they are, and give others time to ask."""

    class Telling:
        def __init__(self, name: str) -> None:
            self.name = name

        async def run(self, cycle: Cycle) -> StepOutcome:
            told.append((cycle.tenant, self.name))
            return StepOutcome(counts=Counter())

    return a_service(graph, [Telling(str(number)) for number in range(3)])


async def drained(worker: Worker) -> None:
    while await worker.run_one():
        pass


async def test_a_long_cycle_lets_others_go_first_after_each_step(
    jobs: JobStore, graph: Graph, tenant: TenantId, other_tenant: TenantId
) -> None:
    told: list[tuple[TenantId, str]] = []
    worker = Worker(jobs, steps_told(graph, told).run, OPTIONS)
    await drained(worker)  # jobs that other test modules left would take turns with these
    long = await jobs.enqueue(tenant, CYCLE)
    short = await jobs.enqueue(other_tenant, CYCLE, steps=["0"])
    await drained(worker)
    # Other test modules may have left jobs of their own tenants.
    ours = [(owner, name) for owner, name in told if owner in {tenant, other_tenant}]
    assert ours == [(tenant, "0"), (other_tenant, "0"), (tenant, "1"), (tenant, "2")]
    for job in (long, short):
        done = await jobs.find(job.tenant, job.id)
        assert (done.state, done.attempts) == (JobState.DONE, 1)
    whole = (await jobs.find(tenant, long.id)).report
    assert whole is not None
    assert [step.name for step in whole.steps] == ["0", "1", "2"]


async def test_a_cycle_alone_is_not_interrupted(
    jobs: JobStore, graph: Graph, tenant: TenantId
) -> None:
    told: list[tuple[TenantId, str]] = []
    job = await jobs.enqueue(tenant, CYCLE)
    await jobs.enqueue(tenant, CYCLE)
    assert await Worker(jobs, steps_told(graph, told).run, OPTIONS).run_one()
    assert [name for _, name in told] == ["0", "1", "2"]
    assert (await jobs.find(tenant, job.id)).state is JobState.DONE


async def test_a_memory_no_step_can_bear_ends_its_job_and_spoils_nothing(
    jobs: JobStore, graph: Graph, embedder: Embedder, neo4j_server: Server, cypher: Cypher
) -> None:
    options = neo4j_server.options()
    steps = build_steps(graph, options, embedder, NOWHERE)
    cycle = a_service(graph, steps)
    worker, tenant = Worker(jobs, cycle.run, OPTIONS), TenantId(fresh_id())
    await a_memory(graph, embedder, tenant)
    await jobs.enqueue(tenant, CYCLE)
    await drained(worker)
    clean = await canonical(cypher, tenant)
    await Tenants(graph).erase(tenant)

    await a_memory(graph, embedder, tenant)
    poison = "MATCH (e:Episode {tenant: $tenant, turn: 9}) SET e.importance = $importance"
    await cypher(poison, tenant=tenant, importance="much")
    job = await jobs.enqueue(tenant, CYCLE)
    await drained(worker)
    dead = await jobs.find(tenant, job.id)
    assert (dead.state, dead.attempts) == (JobState.DEAD, 3)
    assert dead.progress.place.startswith("dormancy: "), "it tells where"
    assert dead.fault is not None
    assert "much" not in dead.fault.message
    doctor = Doctor(IntegrityStore(graph), time.monotonic)
    assert (await doctor.examine(tenant)).findings == ()

    await cypher(poison, tenant=tenant, importance=0.5)
    await jobs.retry(tenant, job.id)
    await drained(worker)
    assert (await jobs.find(tenant, job.id)).state is JobState.DONE
    assert await canonical(cypher, tenant) == clean
    await Tenants(graph).erase(tenant)


async def test_a_job_goes_on_when_the_stores_clock_is_set_back(
    jobs: JobStore, tenant: TenantId, cypher: Cypher
) -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def waiting(claimed: Claimed, watch: Watch) -> ConsolidationReport:
        begun.set()
        await may_end.wait()
        await watch(Progress(place="after"))
        assert claimed.job.started_at is not None
        return ConsolidationReport(
            cycle=fresh_id(), started_at=claimed.job.started_at, seconds=0.0, steps=()
        )

    job = await jobs.enqueue(tenant, CYCLE)
    working = asyncio.create_task(Worker(jobs, waiting, OPTIONS).run_one())
    await begun.wait()
    # A clock an hour back is a store whose every instant lies an hour ahead.
    ahead = " ".join(f"j.{name} = j.{name} + $hour," for name in ("run_after", "lease_until"))
    await cypher(
        f"MATCH (j:Job {{id: $job}}) SET {ahead} j.started_at = j.started_at + $hour",
        job=job.id, hour=timedelta(hours=1),
    )  # fmt: skip
    assert job.id not in await jobs.due(1_000)
    assert await jobs.claim(job.id, 60.0) is None
    may_end.set()
    assert await working
    done = await jobs.find(tenant, job.id)
    assert (done.state, done.attempts) == (JobState.DONE, 1)


@pytest.mark.parametrize("mode", [DormancyMode.BUDGET, DormancyMode.THRESHOLD])
async def test_a_clock_set_back_puts_nothing_to_sleep(
    graph: Graph, tenant: TenantId, mode: DormancyMode
) -> None:
    await write(graph, tenant, appended(*(turn(tenant, number) for number in range(1, 7))))
    store = DormancyStore(graph)
    await set_settings(graph, tenant, dormancy={"mode": mode, "budget": 1, "quiet_days": 0})

    async def faded(days: float) -> Sequence[int]:
        cycle = Cycle(id=fresh_id(), tenant=tenant, now=START + timedelta(days=days), dry_run=True)
        counts = (await Dormancy(store).run(cycle)).counts
        return counts["faded"], counts["dormant"]

    assert await faded(-1) == (0, 0)
    assert (await faded(400))[0] == 6
