"""`ecphoria worker` as a user starts it: two beside each other, ended by SIGTERM."""

import asyncio
import json
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ecphoria.jobs.store import JobStore
from ecphoria.neo4j_store.session import Graph
from ecphoria.records.ids import TenantId
from ecphoria.records.job import ENDED, Job, JobKind, JobState
from ecphoria.tenancy.store import Tenants
from tests.conftest import Cypher, new_tenant
from tests.contract.memories import appended, turn, write
from tests.integration.cli.conftest import PROGRAM, STOP_WITHIN_S, CommandLine

TENANTS = 3
PAUSED = {"job_lost", "job_attempt_failed", "lease_not_renewed", "jobs_out_of_reach"}
"""What workers say of one paused: it slept through its lease, or holds a lock all the while."""


@dataclass(frozen=True)
class Working:
    """A worker's process, and its log."""

    process: subprocess.Popen[str]
    log: Path

    def terminate(self) -> None:
        """End it, and see that it ends well and says no error."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=STOP_WITHIN_S) == 0, self.log.read_text()
        bad = {event["event"] for event in self.events() if event["level"] != "info"}
        assert bad <= PAUSED, self.log.read_text()

    async def said(self, name: str) -> None:
        """Wait until its log has an event."""
        async with asyncio.timeout(60):
            while True:
                if self.events(name):
                    return
                await asyncio.sleep(0.05)

    def events(self, name: str = "") -> list[dict[str, Any]]:
        lines = [line for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [event for event in map(json.loads, lines) if name in event["event"]]


@contextmanager
def worker(environment: dict[str, str], log: Path) -> Iterator[Working]:
    told = environment | {
        "ECPHORIA_LOG__FORMAT": "json",
        "ECPHORIA_LOG__LEVEL": "info",
        "ECPHORIA_TEST_JOBS__POLL_S": "0.1",
        # Who is paused within a transaction keeps its locks for so long.
        "ECPHORIA_NEO4J__QUERY_TIMEOUT_S": "10",
    }
    with (
        log.open("w") as errors,
        subprocess.Popen(
            [*PROGRAM, "worker"], env=told, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        assert process.stdout is not None
        try:
            assert "taking jobs" in process.stdout.readline(), log.read_text()
            yield Working(process, log)
        finally:
            process.kill()


async def until(jobs: JobStore, job: Job, met: Callable[[Job], bool]) -> Job:
    async with asyncio.timeout(60):
        while True:
            found = await jobs.find(job.tenant, job.id)
            if met(found):
                return found
            await asyncio.sleep(0.01)


@pytest.fixture(scope="module")
def jobs(graph: Graph) -> JobStore:
    return JobStore(graph, keep=9)


@pytest.fixture
async def tenants(graph: Graph) -> AsyncIterator[list[TenantId]]:
    """Tenants with something to consolidate."""
    made = [await new_tenant(graph) for _ in range(TENANTS)]
    for tenant in made:
        await write(graph, tenant, appended(*(turn(tenant, number) for number in range(1, 9))))
    yield made
    for tenant in made:
        await Tenants(graph).erase(tenant)


@pytest.fixture(scope="module")
def workers(
    ecphoria: CommandLine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Working, Working]]:
    """Two workers beside each other; the last test ends them."""
    logs = tmp_path_factory.mktemp("workers")
    with (
        worker(ecphoria.environment, logs / "one.log") as one,
        worker(ecphoria.environment, logs / "two.log") as two,
    ):
        yield one, two


async def test_two_workers_share_the_jobs(
    workers: tuple[Working, Working], jobs: JobStore, tenants: list[TenantId]
) -> None:
    queued = [await jobs.enqueue(tenant, JobKind.CONSOLIDATION) for tenant in tenants]
    done = [await until(jobs, job, lambda found: found.state in ENDED) for job in queued]
    assert {(job.state, job.attempts) for job in done} == {(JobState.DONE, 1)}
    ours = sorted(job.id for job in queued)

    def logged() -> list[str]:
        ended = [event["job_id"] for each in workers for event in each.events("job_ended")]
        return sorted(job for job in ended if job in ours)

    # A worker logs the end of a job after the store has it.
    for _ in range(6_000):
        if len(logged()) < len(ours):
            await asyncio.sleep(0.01)
    assert logged() == ours


async def test_who_wakes_after_its_lease_leaves_the_job_to_the_other(
    workers: tuple[Working, Working], jobs: JobStore, tenants: list[TenantId], cypher: Cypher
) -> None:
    first, second = workers
    second.process.send_signal(signal.SIGSTOP)
    job = await jobs.enqueue(tenants[0], JobKind.CONSOLIDATION)
    await until(jobs, job, lambda found: bool(found.progress.place))
    first.process.send_signal(signal.SIGSTOP)
    await cypher(
        "MATCH (j:Job {id: $job}) WHERE j.lease_until IS NOT NULL"
        " SET j.lease_until = datetime.realtime(), j.run_after = datetime.realtime()",
        job=job.id,
    )
    second.process.send_signal(signal.SIGCONT)
    done = await until(jobs, job, lambda found: found.state in ENDED)
    first.process.send_signal(signal.SIGCONT)
    assert done.state is JobState.DONE
    # The first may have been paused with a lock in its hands, and an attempt of the second failed.
    assert done.attempts >= 2
    await first.said("job_lost")
    assert await jobs.find(job.tenant, job.id) == done
    assert job.id not in {event["job_id"] for event in first.events("job_ended")}


async def test_who_is_terminated_gives_its_job_back_and_holds_no_lease(
    workers: tuple[Working, Working], jobs: JobStore, tenants: list[TenantId], cypher: Cypher
) -> None:
    first, second = workers
    job = await jobs.enqueue(tenants[0], JobKind.CONSOLIDATION)
    await until(jobs, job, lambda found: found.state is not JobState.QUEUED)
    first.terminate()
    last = await until(jobs, job, lambda found: found.state in ENDED)
    assert (last.state, last.attempts) == (JobState.DONE, 1), "given back, it counts once"
    second.terminate()
    held = await cypher(
        "MATCH (j:Job) WHERE j.tenant IN $tenants AND (j.lease_until IS NOT NULL"
        " OR j.slot IS NOT NULL) RETURN j.id AS id",
        tenants=tenants,
    )
    assert held == []
