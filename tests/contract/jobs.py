"""Jobs and a schedule in each of their states."""

from datetime import UTC, datetime

from ecphoria.jobs.service import ScheduleStore
from ecphoria.jobs.store import JobStore
from ecphoria.neo4j_store.session import Graph
from ecphoria.records.ids import TenantId
from ecphoria.records.job import (
    ConsolidationReport,
    GraphSize,
    JobFault,
    JobKind,
    JobState,
    Progress,
    ScheduleMark,
    StepReport,
    StepStatus,
)
from tests.contract.tenants import set_settings

NOW = datetime(2024, 3, 1, tzinfo=UTC)


async def jobs_of(graph: Graph, tenant: TenantId) -> None:
    """A job that rests after a fault, is cancelled while it runs, and ends; a schedule."""
    jobs, schedules = JobStore(graph, keep=5), ScheduleStore(graph)
    await set_settings(graph, tenant, schedule={"every_hours": 1.0})
    await schedules.advance(
        tenant,
        lambda standing: ScheduleMark(
            is_due=False, scheduled_turn=1, light_turn=1, due_at=standing.now
        ),
    )
    queued = await jobs.enqueue(tenant, JobKind.CONSOLIDATION)
    for _ in range(2):
        claimed = await jobs.claim(queued.id, 60.0)
        assert claimed is not None
        step = StepReport(name="prior", status=StepStatus.DONE, seconds=0.0)
        progress = Progress(place="p", ended=step, before=GraphSize(turn=1))
        await jobs.renew(claimed.lease, 60.0, progress)
        fault = JobFault(code="internal", message="m")
        await jobs.release(claimed.lease, pause_s=0.0, counted=True, fault=fault)
    last = await jobs.claim(queued.id, 60.0)
    assert last is not None
    await jobs.cancel(tenant, queued.id)
    report = ConsolidationReport(cycle="c", started_at=NOW, seconds=0.0, steps=())
    await jobs.finish(last.lease, JobState.DONE, report=report)
