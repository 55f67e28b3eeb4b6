"""The queue on the real server: who gets a job, until when, and what becomes of it."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from ecphoria.errors import Conflict, InvalidInput, NotFound, StoreUnavailable
from ecphoria.jobs.store import JobStore
from ecphoria.jobs.worker import Attempts, Handler, Watch, Worker, WorkerOptions
from ecphoria.neo4j_store.locks import change_under, find_property
from ecphoria.neo4j_store.session import Graph, Work
from ecphoria.records.calibration import Bin, Calibration, CalibrationOptions, Judged
from ecphoria.records.ids import JobId, TenantId
from ecphoria.records.job import (
    Change,
    Claimed,
    ConsolidationReport,
    Degrees,
    Gap,
    GraphSize,
    Job,
    JobKind,
    JobState,
    Lease,
    LeaseLost,
    Progress,
    StepReport,
    StepStatus,
)
from ecphoria.records.tenant import SHIPPED
from ecphoria.tenancy.store import Tenants
from tests.conftest import Cypher, new_tenant

CYCLE = JobKind.CONSOLIDATION
SIZE = GraphSize(turn=3, nodes={"Episode": 3}, edges={"NEXT": 2}, faulty_edges=1)
LONG = 60.0
SHORT = 0.6


@pytest.fixture(scope="module")
def jobs(graph: Graph) -> JobStore:
    return JobStore(graph, keep=3)


def report(claimed: Claimed) -> ConsolidationReport:
    """A report with one of everything."""
    assert claimed.job.started_at is not None
    return ConsolidationReport(
        cycle="c" * 32,
        started_at=claimed.job.started_at,
        seconds=1.5,
        steps=(
            StepReport(
                name="prior",
                status=StepStatus.DONE,
                seconds=1.25,
                counts={"episodes": 3},
                changes=(Change(kind="link", id="e1", detail="né à Paris"),),
            ),
            StepReport(
                name="extract",
                status=StepStatus.SKIPPED,
                seconds=0.0,
                reason="no model",
                degraded=("by rules",),
            ),
        ),
        before=SIZE,
        after=GraphSize(turn=4),
        degrees={"SIMILAR": Degrees(p50=0, p90=1, p99=2, most=3)},
        gaps=(Gap(refused=3, traces=("t2", "t1")),),
    )


async def taken(jobs: JobStore, job: Job) -> Claimed:
    claimed = await jobs.claim(job.id, LONG)
    assert claimed is not None
    return claimed


async def write(graph: Graph, lease: Lease) -> str:
    async def work(_: Work) -> str:
        return "written"

    return await change_under(graph, lease, "test.write", work)


async def end_lease(cypher: Cypher, job: Job) -> None:
    """End a lease now, as if its time had passed: no test waits for it."""
    (lease,) = await cypher(
        "MATCH (j:Job {id: $job})"
        " WITH j, duration.inSeconds(j.held_at, j.lease_until).seconds AS seconds"
        " SET j.lease_until = datetime.realtime(), j.run_after = datetime.realtime()"
        " RETURN seconds",
        job=job.id,
    )
    assert LONG / 2 < lease["seconds"] <= LONG


def a_worker(jobs: JobStore, handler: Handler, **changed: object) -> Worker:
    options = {"lease_s": LONG, "poll_s": 0.05, **changed}
    return Worker(jobs, handler, WorkerOptions(**options))  # type: ignore[arg-type]


async def until(jobs: JobStore, job: Job, met: Callable[[Job], bool]) -> Job:
    async with asyncio.timeout(10):
        while True:
            found = await jobs.find(job.tenant, job.id)
            if met(found):
                return found
            await asyncio.sleep(0.02)


def is_under_way(job: Job) -> bool:
    return job.state is JobState.RUNNING and bool(job.progress.place)


async def quiet(claimed: Claimed, _: Watch) -> ConsolidationReport:
    return report(claimed)


async def test_a_job_goes_from_queued_to_done(jobs: JobStore, tenant: TenantId) -> None:
    queued = await jobs.enqueue(tenant, CYCLE, steps=["prior"])
    assert (queued.state, queued.steps, queued.attempts) == (JobState.QUEUED, ("prior",), 0)
    assert queued.id in await jobs.due(1_000)
    claimed = await taken(jobs, queued)
    assert (claimed.job.state, claimed.job.attempts) == (JobState.RUNNING, 1)
    assert queued.id not in await jobs.due(1_000)
    assert not await jobs.renew(claimed.lease, LONG, Progress(place="p", done=1, total=2))
    running = await jobs.find(tenant, queued.id)
    assert running.progress == Progress(place="p", done=1, total=2)
    await jobs.finish(claimed.lease, JobState.DONE, report=report(claimed))
    done = await jobs.find(tenant, queued.id)
    assert (done.state, done.run_after, done.fault) == (JobState.DONE, None, None)
    assert done.report == report(claimed)
    assert done.created_at <= done.started_at <= done.finished_at  # type: ignore[operator]
    assert await jobs.claim(queued.id, LONG) is None


async def test_the_next_attempt_learns_which_steps_ended(jobs: JobStore, tenant: TenantId) -> None:
    queued = await jobs.enqueue(tenant, CYCLE)
    first = await taken(jobs, queued)
    steps = report(first).steps
    await jobs.renew(first.lease, LONG, Progress(place="p", before=SIZE))
    for step in (None, *steps, None):
        await jobs.renew(first.lease, LONG, Progress(place="p", ended=step))
    await jobs.release(first.lease, pause_s=0, counted=True)
    second = await taken(jobs, queued)
    assert (second.job.ended, second.job.before) == (steps, SIZE)
    await jobs.finish(second.lease, JobState.FAILED)
    await jobs.retry(tenant, queued.id)
    third = (await taken(jobs, queued)).job
    assert (third.ended, third.before) == ((), None)


async def test_one_of_a_kind_waits_and_one_is_begun(jobs: JobStore, tenant: TenantId) -> None:
    first = await jobs.enqueue(tenant, CYCLE, steps=["prior"])
    assert (await jobs.enqueue(tenant, CYCLE, steps=["prior"])) == first
    joined = await jobs.enqueue(tenant, CYCLE, steps=["merge"])
    assert (joined.id, joined.steps) == (first.id, ())
    dry = await jobs.enqueue(tenant, JobKind.DRY_RUN)
    assert dry.id != first.id
    claimed = await taken(jobs, first)
    second = await jobs.enqueue(tenant, CYCLE)
    assert second.id != first.id
    assert (await jobs.enqueue(tenant, CYCLE)).id == second.id
    assert await jobs.claim(second.id, LONG) is None
    assert second.id not in await jobs.due(1_000)
    await taken(jobs, dry)
    await jobs.finish(claimed.lease, JobState.DONE)
    assert second.id in await jobs.due(1_000)
    assert (await taken(jobs, second)).lease.token == 1


async def test_of_eight_claimers_one_gets_the_job(jobs: JobStore, graph: Graph) -> None:
    tenants = [await new_tenant(graph) for _ in range(5)]
    for tenant in tenants:
        queued = await jobs.enqueue(tenant, CYCLE)
        claims = await asyncio.gather(*(jobs.claim(queued.id, LONG) for _ in range(8)))
        (won,) = [one for one in claims if one is not None]
        assert (won.lease.token, won.job.attempts) == (1, 1)
        await Tenants(graph).erase(tenant)


async def test_eight_triggers_queue_one_job(jobs: JobStore, tenant: TenantId) -> None:
    queued = await asyncio.gather(*(jobs.enqueue(tenant, CYCLE) for _ in range(8)))
    assert len({job.id for job in queued}) == 1


async def test_who_wakes_after_the_lease_may_not_write(
    jobs: JobStore, graph: Graph, tenant: TenantId, cypher: Cypher
) -> None:
    queued = await jobs.enqueue(tenant, CYCLE)
    paused = await taken(jobs, queued)
    assert await write(graph, paused.lease) == "written"
    await end_lease(cypher, queued)
    with pytest.raises(LeaseLost):
        await write(graph, paused.lease)
    with pytest.raises(LeaseLost):
        await jobs.renew(paused.lease, LONG, Progress())
    assert queued.id in await jobs.due(1_000)
    other = await taken(jobs, queued)
    assert (other.lease.token, other.job.attempts) == (2, 2)
    assert other.job.started_at == paused.job.started_at
    for refused in (
        write(graph, paused.lease),
        jobs.renew(paused.lease, LONG, Progress()),
        jobs.release(paused.lease, pause_s=0, counted=True),
        jobs.finish(paused.lease, JobState.DONE),
    ):
        with pytest.raises(LeaseLost):
            await refused
    assert await write(graph, other.lease) == "written"
    assert (await jobs.find(tenant, queued.id)).state is JobState.RUNNING


async def test_a_worker_that_slept_through_its_lease_leaves_the_job_to_the_next(
    jobs: JobStore, graph: Graph, tenant: TenantId, cypher: Cypher
) -> None:
    slept, may_wake = asyncio.Event(), asyncio.Event()
    wrote: list[str] = []

    async def sleepy(claimed: Claimed, watch: Watch) -> ConsolidationReport:
        await watch(Progress(place="asleep"))
        slept.set()
        await may_wake.wait()
        wrote.append(await write(graph, claimed.lease))
        return report(claimed)

    queued = await jobs.enqueue(tenant, CYCLE)
    first = asyncio.create_task(a_worker(jobs, sleepy).run_one())
    await slept.wait()
    await end_lease(cypher, queued)
    other = await taken(jobs, queued)
    may_wake.set()
    assert await first
    assert wrote == []
    running = await jobs.find(tenant, queued.id)
    assert (running.state, running.attempts) == (JobState.RUNNING, 2)
    await jobs.finish(other.lease, JobState.DONE)


async def test_a_failure_is_retried_after_growing_pauses_until_the_job_is_dead(
    jobs: JobStore, tenant: TenantId, cypher: Cypher
) -> None:
    async def poisoned(_: Claimed, __: Watch) -> ConsolidationReport:
        raise ZeroDivisionError("a memory's text")

    queued = await jobs.enqueue(tenant, CYCLE)
    worker = a_worker(jobs, poisoned, retries=Attempts(limit=3, first_pause_s=50))
    for attempt, pause in ((1, 50), (2, 100)):
        assert await worker.run_one()
        rested = await jobs.find(tenant, queued.id)
        assert (rested.state, rested.attempts) == (JobState.QUEUED, attempt)
        assert rested.fault is not None
        assert "a memory's text" not in rested.fault.message
        (left,) = await cypher(
            "MATCH (j:Job {id: $job})"
            " RETURN duration.inSeconds(j.held_at, j.run_after).seconds AS s",
            job=queued.id,
        )
        assert left["s"] == pytest.approx(pause, abs=1)
        assert await jobs.claim(queued.id, LONG) is None
        await cypher(
            "MATCH (j:Job {id: $job}) SET j.run_after = datetime.realtime()", job=queued.id
        )
    assert await worker.run_one()
    dead = await jobs.find(tenant, queued.id)
    assert (dead.state, dead.attempts, dead.run_after) == (JobState.DEAD, 3, None)
    assert [job.id for job in await jobs.list(tenant, state=JobState.DEAD, limit=9)] == [dead.id]
    assert (await jobs.count())[JobState.DEAD] >= 1

    again = await jobs.retry(tenant, dead.id)
    assert (again.state, again.attempts, again.fault) == (JobState.QUEUED, 0, None)
    assert await a_worker(jobs, quiet).run_one()
    assert (await jobs.find(tenant, dead.id)).state is JobState.DONE


async def test_a_job_that_kills_its_workers_dies(
    jobs: JobStore, tenant: TenantId, cypher: Cypher
) -> None:
    queued = await jobs.enqueue(tenant, CYCLE)
    for _ in range(2):
        await taken(jobs, queued)
        await end_lease(cypher, queued)
    assert await a_worker(jobs, quiet, retries=Attempts(limit=2)).run_one()
    dead = await jobs.find(tenant, queued.id)
    assert (dead.state, dead.report) == (JobState.DEAD, None)
    assert dead.fault is not None
    assert "killed" in dead.fault.message


async def test_what_is_refused_fails_at_once(jobs: JobStore, tenant: TenantId) -> None:
    async def refused(_: Claimed, __: Watch) -> ConsolidationReport:
        raise InvalidInput("no such step")

    queued = await jobs.enqueue(tenant, CYCLE)
    assert await a_worker(jobs, refused).run_one()
    failed = await jobs.find(tenant, queued.id)
    assert (failed.state, failed.attempts) == (JobState.FAILED, 1)
    assert failed.fault is not None
    assert (failed.fault.code, failed.fault.message) == ("invalid-input", "no such step")


async def test_a_job_that_waits_is_cancelled_at_once(jobs: JobStore, tenant: TenantId) -> None:
    queued = await jobs.enqueue(tenant, CYCLE)
    assert (await jobs.cancel(tenant, queued.id)).state is JobState.CANCELLED
    assert await jobs.claim(queued.id, LONG) is None
    with pytest.raises(Conflict, match="has ended"):
        await jobs.cancel(tenant, queued.id)
    assert (await jobs.enqueue(tenant, CYCLE)).id != queued.id
    with pytest.raises(Conflict, match="waits already"):
        await jobs.retry(tenant, queued.id)


async def test_a_job_that_runs_is_cancelled_at_the_next_place(
    jobs: JobStore, tenant: TenantId
) -> None:
    places: list[str] = []

    async def endless(_: Claimed, watch: Watch) -> ConsolidationReport:
        while True:
            places.append("one more")
            await watch(Progress(place="one more"))
            await asyncio.sleep(0.01)

    queued = await jobs.enqueue(tenant, CYCLE)
    worker = a_worker(jobs, endless)
    worker.start(1)
    await until(jobs, queued, lambda job: job.progress.place == "one more")
    assert (await jobs.cancel(tenant, queued.id)).cancelling
    ended = await until(jobs, queued, lambda job: job.state is not JobState.RUNNING)
    assert ended.state is JobState.CANCELLED
    await worker.stop()
    with pytest.raises(Conflict, match="only a job"):
        await jobs.retry(tenant, (await jobs.enqueue(tenant, CYCLE)).id)


async def test_a_worker_that_stops_gives_its_job_back(jobs: JobStore, tenant: TenantId) -> None:
    async def endless(_: Claimed, watch: Watch) -> ConsolidationReport:
        while True:
            await watch(Progress(place="one more"))
            await asyncio.sleep(0.01)

    async def stuck(_: Claimed, watch: Watch) -> ConsolidationReport:
        await watch(Progress(place="stuck"))
        await asyncio.sleep(LONG)
        raise AssertionError

    queued = await jobs.enqueue(tenant, CYCLE)
    for handler, grace in ((endless, LONG), (stuck, 0.1)):
        worker = a_worker(jobs, handler, grace_s=grace)
        worker.start(1)
        await until(jobs, queued, is_under_way)
        await worker.stop()
        back = await jobs.find(tenant, queued.id)
        assert (back.state, back.attempts) == (JobState.QUEUED, 0)
    assert await a_worker(jobs, quiet).run_one()
    assert (await jobs.find(tenant, queued.id)).state is JobState.DONE


async def test_a_long_step_keeps_its_lease_and_a_wake_up_is_heard(
    jobs: JobStore, tenant: TenantId
) -> None:
    async def slow(claimed: Claimed, _: Watch) -> ConsolidationReport:
        await asyncio.sleep(2 * SHORT)
        return report(claimed)

    worker = a_worker(jobs, slow, lease_s=SHORT, poll_s=LONG)
    worker.start(1)
    await asyncio.sleep(0.05)
    queued = await jobs.enqueue(tenant, CYCLE)
    worker.wake()
    done = await until(jobs, queued, lambda job: job.state is JobState.DONE)
    assert done.attempts == 1
    await worker.stop()


@pytest.mark.parametrize("fails", [True, False], ids=["the attempt failed", "it was done"])
async def test_a_job_waits_for_the_store_and_not_for_its_lease(
    graph: Graph, tenant: TenantId, fails: bool
) -> None:
    away = 3

    class Away(JobStore):
        async def release(self, *how: Any, **told: Any) -> None:
            self.answer()
            await super().release(*how, **told)

        async def finish(self, *how: Any, **told: Any) -> None:
            self.answer()
            await super().finish(*how, **told)

        def answer(self) -> None:
            nonlocal away
            away -= 1
            if away >= 0:
                raise StoreUnavailable

    async def once(claimed: Claimed, _: Watch) -> ConsolidationReport:
        if fails and claimed.job.attempts == 1:
            raise StoreUnavailable
        return report(claimed)

    jobs = Away(graph, keep=3)
    queued = await jobs.enqueue(tenant, CYCLE)
    worker = a_worker(jobs, once, retries=Attempts(first_pause_s=0.1))
    worker.start(1)
    done = await until(jobs, queued, lambda job: job.state is JobState.DONE)
    await worker.stop()
    assert (done.attempts, away < 0) == (1 + fails, True)


@pytest.mark.parametrize(("pause", "rests"), [(50, range(40, 49)), (1, range(1))])
async def test_the_time_that_a_failed_job_waits_for_the_store_is_part_of_its_pause(
    graph: Graph, tenant: TenantId, cypher: Cypher, pause: float, rests: range
) -> None:
    away_s = 1.2
    begun: float | None = None

    class Away(JobStore):
        async def release(self, *how: Any, **told: Any) -> None:
            nonlocal begun
            now = asyncio.get_running_loop().time()
            begun = now if begun is None else begun
            if now - begun < away_s:
                raise StoreUnavailable
            await super().release(*how, **told)

    async def fails(_: Claimed, __: Watch) -> ConsolidationReport:
        raise StoreUnavailable

    jobs = Away(graph, keep=3)
    queued = await jobs.enqueue(tenant, CYCLE)
    worker = a_worker(jobs, fails, retries=Attempts(first_pause_s=pause, longest_pause_s=60))
    assert await worker.run_one()
    (row,) = await cypher(
        "MATCH (j:Job {id: $job}) RETURN duration.between(j.held_at, j.run_after) AS rest",
        job=queued.id,
    )
    assert row["rest"].seconds in rests
    assert (await jobs.find(tenant, queued.id)).attempts == 1


async def test_a_store_out_of_reach_ends_no_worker(jobs: JobStore, tenant: TenantId) -> None:
    class Flickering(JobStore):
        refusals = 2

        async def due(self, limit: int) -> list[JobId]:
            if self.refusals:
                self.refusals -= 1
                raise StoreUnavailable
            return list(await super().due(limit))

    queued = await jobs.enqueue(tenant, CYCLE)
    worker = a_worker(Flickering(jobs._graph, keep=3), quiet, poll_s=0.02)
    worker.start(1)
    await until(jobs, queued, lambda job: job.state is JobState.DONE)
    await worker.stop()


async def test_the_newest_are_kept(jobs: JobStore, tenant: TenantId) -> None:
    made = []
    for _ in range(5):
        queued = await jobs.enqueue(tenant, CYCLE)
        await jobs.finish((await taken(jobs, queued)).lease, JobState.DONE)
        made.append(queued.id)
    waiting = await jobs.enqueue(tenant, CYCLE)
    assert [job.id for job in await jobs.list(tenant, limit=9)] == [waiting.id, *made[:1:-1]]
    assert [job.id for job in await jobs.list(tenant, limit=2)] == [waiting.id, made[-1]]
    with pytest.raises(NotFound):
        await jobs.find(tenant, made[0])


async def test_tenants_do_not_see_each_others_jobs(
    jobs: JobStore, tenant: TenantId, other_tenant: TenantId
) -> None:
    queued = await jobs.enqueue(tenant, CYCLE)
    assert await jobs.list(other_tenant, limit=9) == []
    calls: tuple[Callable[[TenantId, JobId], Awaitable[Job]], ...]
    calls = (jobs.find, jobs.cancel, jobs.retry)
    for call in calls:
        with pytest.raises(NotFound):
            await call(other_tenant, queued.id)


async def test_an_erased_tenant_has_no_jobs_and_its_worker_writes_no_more(
    jobs: JobStore, graph: Graph
) -> None:
    tenant = await new_tenant(graph)
    claimed = await taken(jobs, await jobs.enqueue(tenant, CYCLE))
    assert (await Tenants(graph).erase(tenant))["jobs"] == 1
    with pytest.raises(LeaseLost):
        await write(graph, claimed.lease)
    with pytest.raises(NotFound):
        await jobs.enqueue(tenant, CYCLE)


async def test_a_job_whose_tenant_is_erased_meanwhile_is_no_fault(
    jobs: JobStore, graph: Graph
) -> None:
    tenant = await new_tenant(graph)

    async def erased(claimed: Claimed, _: Watch) -> ConsolidationReport:
        await Tenants(graph).erase(tenant)
        await find_property(graph, tenant, "settings")
        return report(claimed)

    await jobs.enqueue(tenant, CYCLE)
    with capture_logs() as logs:
        assert await a_worker(jobs, erased).run_one()
    assert [(one["event"], one["log_level"]) for one in logs] == [("job_lost", "warning")]


async def test_the_stores_clock_decides(jobs: JobStore, tenant: TenantId) -> None:
    queued = await jobs.enqueue(tenant, CYCLE)
    claimed = await taken(jobs, queued)
    assert claimed.job.run_after is not None
    assert claimed.job.started_at is not None
    lease = claimed.job.run_after - claimed.job.started_at
    assert lease == timedelta(seconds=LONG)


async def test_a_calibration_keeps_its_options_and_its_gate(
    jobs: JobStore, tenant: TenantId
) -> None:
    wanted = CalibrationOptions(memories=30, seed=7, false_refusals=0.1)
    queued = await jobs.enqueue_calibration(tenant, wanted)
    assert (queued.kind, queued.steps) == (JobKind.CALIBRATION, ())
    assert (await jobs.enqueue_calibration(tenant, wanted)).id == queued.id
    with pytest.raises(Conflict, match="another calibration waits"):
        await jobs.enqueue_calibration(tenant, CalibrationOptions())
    claimed = await taken(jobs, queued)
    assert claimed.job.calibration_options == wanted
    found = Calibration(
        gate=SHIPPED, by_group=False, auroc=0.9, shipped_auroc=0.8, group_auroc={},
        refused={"0.05": 0.5}, ece=0.1, findings={"odd": 1},
        reliability=(Bin(low=0.0, high=0.1, n=1, weight=1.0, confidence=0.0, right=0.0),),
        judged=(Judged(confidence=0.5, answerable=True, group="a", evidence={"gap": 0.1}),),
    )  # fmt: skip
    await jobs.finish(claimed.lease, JobState.DONE, report=found)
    done = await jobs.find(tenant, queued.id)
    assert (done.calibration, done.report) == (found, None)
    assert (await jobs.list(tenant, kind=JobKind.CALIBRATION, limit=5)) == [done]
