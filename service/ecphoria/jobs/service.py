"""The job service: list, cancel and retry jobs."""

from collections.abc import Callable, Sequence
from datetime import datetime

from ecphoria.errors import InvalidInput, ModelMissing, NotFound
from ecphoria.jobs.scheduler import ScheduleStore, next_due
from ecphoria.jobs.store import JobStore
from ecphoria.records.ids import JobId, TenantId
from ecphoria.records.job import (
    ConsolidationReport,
    Job,
    JobKind,
    JobState,
    Schedule,
    Standing,
    Trigger,
)


class JobService:
    """Queues jobs and reports their state; workers run them."""

    def __init__(
        self,
        store: JobStore,
        schedules: ScheduleStore,
        *,
        default: Schedule,
        steps: Sequence[str],
        wake: Callable[[], None],
        need_model: Sequence[str] = (),
    ) -> None:
        """Serve callers.

        Args:
            store: Where the jobs are.
            schedules: Where the schedules are.
            default: The schedule of tenants without their own.
            steps: Names of the steps of a cycle, in their order.
            wake: Tells a worker of this process, if there is one, that a job waits.
            need_model: Steps that cannot run, because they need a language model.
        """
        self._need_model = frozenset(need_model)
        self._store = store
        self._schedules = schedules
        self._default = default
        self._steps = tuple(steps)
        self._wake = wake

    async def consolidate(
        self, tenant: TenantId, *, steps: Sequence[str] = (), dry_run: bool = False
    ) -> Job:
        """Queue a cycle, or join the one that waits already.

        Args:
            tenant: Whose memory.
            steps: Which steps to run, in the cycle's order; all if empty.
            dry_run: Whether to tell what would change, and write nothing.

        Raises:
            InvalidInput: There is no such step.
            ModelMissing: A step needs a language model, and none is set.
        """
        if unknown := sorted(set(steps) - set(self._steps)):
            raise InvalidInput(
                f"There is no step {', '.join(unknown)}; there are {', '.join(self._steps)}.",
                field="steps",
            )
        if self._need_model.intersection(steps):
            raise ModelMissing
        kind = JobKind.DRY_RUN if dry_run else JobKind.CONSOLIDATION
        wanted = [name for name in self._steps if name in set(steps)]
        job = await self._store.enqueue(tenant, kind, steps=wanted)
        self._wake()
        return job

    async def cut_older(self, tenant: TenantId, *, trigger: Trigger = Trigger.REQUEST) -> Job:
        """Queue the job that gives passages to older episodes, or join the one that waits."""
        job = await self._store.enqueue(tenant, JobKind.PASSAGES, trigger=trigger)
        self._wake()
        return job

    async def find(self, tenant: TenantId, job: JobId) -> Job:
        """Find a job; NotFound if it is not this tenant's, or was dropped."""
        return await self._store.find(tenant, job)

    async def list(
        self, tenant: TenantId, *, state: JobState | None = None, limit: int
    ) -> Sequence[Job]:
        """List jobs, the newest first."""
        return await self._store.list(tenant, state=state, limit=limit)

    async def last_report(self, tenant: TenantId) -> ConsolidationReport:
        """Find the report of the latest cycle that is done; NotFound if there is none."""
        found = await self._store.list(
            tenant, kind=JobKind.CONSOLIDATION, state=JobState.DONE, limit=1
        )
        if not found or found[0].report is None:
            raise NotFound(
                "No consolidation of this tenant is done yet; POST /v1/consolidation runs one."
            )
        return found[0].report

    async def cancel(self, tenant: TenantId, job: JobId) -> Job:
        """End a job, at the next place it reaches if it runs; NotFound, Conflict if it ended."""
        return await self._store.cancel(tenant, job)

    async def retry(self, tenant: TenantId, job: JobId) -> Job:
        """Queue a job again that ended without being done; NotFound, Conflict if it cannot be."""
        job_again = await self._store.retry(tenant, job)
        self._wake()
        return job_again

    async def schedule(self, tenant: TenantId) -> Standing:
        """Find a tenant's schedule and how it stands; NotFound without the tenant."""
        return await self._schedules.find(tenant)

    async def set_schedule(self, tenant: TenantId, own: Schedule | None) -> Standing:
        """Give a tenant its own schedule, or the service's; NotFound without the tenant."""
        return await self._schedules.save(tenant, own)

    def kept_by(self, standing: Standing) -> tuple[Schedule, datetime | None]:
        """Tell which schedule a tenant keeps, and when it is due next by time."""
        schedule = self._default if standing.own is None else standing.own
        coming = next_due(schedule, standing.now)
        return schedule, coming and (standing.due_at or coming)
