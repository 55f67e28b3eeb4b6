"""`ecphoria worker` as a user starts it: two beside each other, ended by SIGTERM."""

import asyncio
import json
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ecphoria.graph.executor import Graph
from ecphoria.graph.jobs import Jobs
from ecphoria.graph.tenants import Tenants
from ecphoria.model.ids import TenantId
from ecphoria.model.job import ENDED, Job, JobKind, JobState
from tests.conftest import Cypher, new_tenant
from tests.contract.memories import appended, turn, write
from tests.integration.cli.conftest import PROGRAM, STOP_WITHIN_S, CommandLine

TENANTS = 4


@dataclass(frozen=True)
class Working:
    """A worker's process, and its log."""

    process: subprocess.Popen[str]
    log: Path

    def terminate(self) -> None:
        """End it, and see that it ends well and says no error."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=STOP_WITHIN_S) == 0, self.log.read_text()
        levels = {event["level"] for event in self.events()}
        assert levels <= {"info", "debug"}, self.log.read_text()

    def events(self, name: str = "") -> list[dict[str, Any]]:
        lines = [line for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [event for event in map(json.loads, lines) if name in event["event"]]


@contextmanager
def worker(environment: dict[str, str], log: Path) -> Iterator[Working]:
    told = environment | {
        "ECPHORIA_LOG__FORMAT": "json",
        "ECPHORIA_LOG__LEVEL": "info",
        "ECPHORIA_JOBS__POLL_S": "0.1",
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


async def until(jobs: Jobs, job: Job, met: Callable[[Job], bool]) -> Job:
    async with asyncio.timeout(60):
        while True:
            found = await jobs.find(job.tenant, job.id)
            if met(found):
                return found
            await asyncio.sleep(0.01)


@pytest.fixture
async def tenants(graph: Graph) -> AsyncIterator[list[TenantId]]:
    """Tenants with something to consolidate."""
    made = [await new_tenant(graph) for _ in range(TENANTS)]
    for tenant in made:
        await write(graph, tenant, appended(*(turn(tenant, number) for number in range(1, 9))))
    yield made
    for tenant in made:
        await Tenants(graph).erase(tenant)


async def test_two_workers_share_the_jobs_and_leave_no_lease(
    ecphoria: CommandLine,
    graph: Graph,
    cypher: Cypher,
    tenants: list[TenantId],
    tmp_path: Path,
) -> None:
    jobs = Jobs(graph, keep=9)
    with ExitStack() as stack:
        one, two = (
            stack.enter_context(worker(ecphoria.environment, tmp_path / f"{n}.log"))
            for n in range(2)
        )
        queued = [await jobs.enqueue(tenant, JobKind.CONSOLIDATION) for tenant in tenants]
        done = [await until(jobs, job, lambda found: found.state in ENDED) for job in queued]
        assert {(job.state, job.attempts) for job in done} == {(JobState.DONE, 1)}

        again = await jobs.enqueue(tenants[0], JobKind.CONSOLIDATION)
        await until(jobs, again, lambda found: found.state is not JobState.QUEUED)
        one.terminate()
        last = await until(jobs, again, lambda found: found.state in ENDED)
        assert (last.state, last.attempts) == (JobState.DONE, 1), "given back, it counts once"
        two.terminate()
    ended = [event["job_id"] for each in (one, two) for event in each.events("job_ended")]
    ours = {job.id for job in [*queued, again]}
    assert sorted(set(ended) & ours) == sorted(one for one in ended if one in ours) == sorted(ours)
    held = await cypher(
        "MATCH (j:Job) WHERE j.tenant IN $tenants AND (j.lease_until IS NOT NULL"
        " OR j.slot IS NOT NULL) RETURN j.id AS id",
        tenants=tenants,
    )
    assert held == []
