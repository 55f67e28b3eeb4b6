"""The job service: list, cancel and retry jobs."""

from collections.abc import Callable, Sequence
from datetime import datetime

from ecphoria.errors import InvalidInput, ModelMissing, NotFound
from ecphoria.jobs.scheduler import ScheduleStore, next_due
from ecphoria.jobs.store import JobStore
from ecphoria.records.calibration import CalibrationOptions
from ecphoria.records.ids import JobId, TenantId
from ecphoria.records.job import ConsolidationReport, Job, JobKind, JobState
from ecphoria.records.settings import Schedule


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
        """Build the service.

        Args:
            store: The store of jobs.
            schedules: The store of schedules.
            default: The schedule of tenants without their own.
            steps: Names of the steps of a cycle, in their order.
            wake: Wakes a worker of this process, if there is one.
            need_model: Steps that cannot run because no language model is set.
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
        """Queue a cycle, or join the waiting one (decision 0017).

        Args:
            tenant: The tenant.
            steps: Which steps to run, in the cycle's order; all if empty.
            dry_run: Report changes and write nothing.

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

    async def calibrate(self, tenant: TenantId, options: CalibrationOptions) -> Job:
        """Queue a calibration of the tenant's gate, or join the same one that waits.

        Raises:
            Conflict: Another calibration waits.
        """
        job = await self._store.enqueue_calibration(tenant, options)
        self._wake()
        return job

    async def find(self, tenant: TenantId, job: JobId) -> Job:
        """Find a job; NotFound if it belongs to another tenant, or was dropped."""
        return await self._store.find(tenant, job)

    async def list(
        self, tenant: TenantId, *, state: JobState | None = None, limit: int
    ) -> Sequence[Job]:
        """List jobs, the newest first."""
        return await self._store.list(tenant, state=state, limit=limit)

    async def last_report(self, tenant: TenantId) -> ConsolidationReport:
        """Find the report of the latest finished cycle; NotFound if there is none."""
        found = await self._store.list(
            tenant, kind=JobKind.CONSOLIDATION, state=JobState.DONE, limit=1
        )
        if not found or found[0].report is None:
            raise NotFound(
                "No consolidation of this tenant is done yet; POST /v1/consolidation runs one."
            )
        return found[0].report

    async def cancel(self, tenant: TenantId, job: JobId) -> Job:
        """Cancel a job, a running one at its next checkpoint; NotFound, Conflict if it ended."""
        return await self._store.cancel(tenant, job)

    async def retry(self, tenant: TenantId, job: JobId) -> Job:
        """Queue a failed or cancelled job again; NotFound, Conflict if it has another state."""
        job_again = await self._store.retry(tenant, job)
        self._wake()
        return job_again

    async def schedule(self, tenant: TenantId) -> tuple[Schedule, datetime | None]:
        """Find the schedule in force and the next time of a cycle; NotFound without the tenant."""
        standing = await self._schedules.find(tenant)
        schedule = self._default if standing.own is None else standing.own
        coming = next_due(schedule, standing.now)
        return schedule, coming and (standing.due_at or coming)
