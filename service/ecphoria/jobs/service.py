"""Jobs and schedules: queue, list, cancel and retry jobs, and queue the cycles that are due."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta

import structlog

from ecphoria.errors import EcphoriaError, InvalidInput, ModelMissing, NotFound
from ecphoria.jobs.store import JobStore, add_job
from ecphoria.neo4j_store.locks import LOCK_TENANT, no_tenant
from ecphoria.neo4j_store.session import Done, Statement, Store, Work
from ecphoria.records.calibration import CalibrationOptions
from ecphoria.records.ids import JobId, TenantId
from ecphoria.records.job import (
    ConsolidationReport,
    Job,
    JobKind,
    JobState,
    ScheduleMark,
    ScheduleState,
    Trigger,
)
from ecphoria.records.settings import Schedule

_LIST_SCHEDULES = Statement("jobs.list_schedules", ScheduleState)
_MARK_SCHEDULE = Statement("jobs.mark_schedule", Done)


class ScheduleStore(Store):
    """Stores the schedules of tenants."""

    async def find(self, tenant: TenantId) -> ScheduleState:
        """Find a tenant's schedule; NotFound without the tenant."""
        standing = await self._graph.run_one(_LIST_SCHEDULES, tenant=tenant, own_only=False)
        if standing is None:
            raise no_tenant(tenant)
        return standing

    async def standings(self, *, own_only: bool) -> Sequence[ScheduleState]:
        """List the schedules of all tenants, or of tenants with their own."""
        return await self._graph.run(_LIST_SCHEDULES, tenant=None, own_only=own_only)

    async def advance(
        self, tenant: TenantId, decide: Callable[[ScheduleState], ScheduleMark | None]
    ) -> Job | None:
        """Check a schedule under the tenant's lock, mark it, and queue its cycle."""

        async def look(work: Work) -> Job | None:
            await work.run(LOCK_TENANT, tenant=tenant)
            standing = await work.run_one(_LIST_SCHEDULES, tenant=tenant, own_only=False)
            mark = None if standing is None else decide(standing)
            if mark is None:
                return None
            await work.run(
                _MARK_SCHEDULE,
                tenant=tenant,
                turn=mark.scheduled_turn,
                light_turn=mark.light_turn,
                due_at=mark.due_at,
            )
            if not mark.is_due:
                return None
            return await add_job(work, tenant, JobKind.CONSOLIDATION, mark.steps, Trigger.SCHEDULE)

        return await self._graph.change("jobs.advance_schedule", look)


_NEVER = Schedule()

log = structlog.get_logger(__name__)


def next_due(schedule: Schedule, after: datetime) -> datetime | None:
    """Tell the first instant after `after` at which a schedule is due by time.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    >>> str(next_due(Schedule(every_hours=6, daily_at="03:30"), noon))
    '2026-03-01 18:00:00+00:00'
    >>> str(next_due(Schedule(daily_at="03:30"), noon))
    '2026-03-02 03:30:00+00:00'
    """
    instants = []
    if schedule.every_hours is not None:
        instants.append(after + timedelta(hours=schedule.every_hours))
    if schedule.daily_at is not None:
        at = time.fromisoformat(schedule.daily_at)
        today = datetime.combine(after.date(), at, tzinfo=after.tzinfo)
        instants.append(today if today > after else today + timedelta(days=1))
    return min(instants, default=None)


def marked(
    standing: ScheduleState, schedule: Schedule, light: Sequence[str] = ()
) -> ScheduleMark | None:
    """Decide which cycles of a schedule are due; None if nothing changes.

    A time that was missed repeatedly is due once (decision 0017). A full cycle replaces a light
    one. A new schedule by time is first due at its next instant, not now.
    """
    coming = next_due(schedule, standing.now)
    due_at = None if coming is None else standing.due_at
    # Both times are of the store's clock; the clock of the process decides nothing (decision
    # 0017).
    by_time = due_at is not None and standing.now >= due_at
    appended = standing.turn - standing.scheduled_turn
    is_new = standing.turn > standing.scheduled_turn
    is_idle = is_new and _is_quiet(standing, schedule.idle_minutes)
    if by_time or _is_enough(appended, schedule.every_episodes) or is_idle:
        return ScheduleMark(
            is_due=True,
            scheduled_turn=standing.turn,
            light_turn=standing.turn,
            due_at=coming if by_time else due_at or coming,
        )
    is_light = _is_enough(standing.turn - standing.light_turn, schedule.light_episodes) and (
        schedule.light_idle_minutes is None or _is_quiet(standing, schedule.light_idle_minutes)
    )
    if is_light or (standing.due_at is None) is not (coming is None):
        return ScheduleMark(
            is_due=is_light,
            scheduled_turn=standing.scheduled_turn,
            light_turn=standing.turn if is_light else standing.light_turn,
            due_at=due_at or coming,
            steps=tuple(light) if is_light else (),
        )
    return None


def _is_enough(appended: int, every: int | None) -> bool:
    return every is not None and appended >= every


def _is_quiet(standing: ScheduleState, minutes: float | None) -> bool:
    """Tell whether nothing was appended or recalled for so long; never without a bound."""
    if minutes is None or standing.active_at is None:
        return False
    return standing.now - standing.active_at >= timedelta(minutes=minutes)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerOptions:
    """Options of a scheduler.

    Attributes:
        default: The schedule of tenants without their own.
        light: The steps of a light cycle.
        tick_s: How often to look, in seconds.
    """

    default: Schedule = _NEVER
    light: tuple[str, ...] = ()
    tick_s: float = 10.0


@dataclass(slots=True)
class Scheduler:
    """Checks at intervals which schedules are due; the state is in the store.

    Attributes:
        queued: Called after a job was queued.
        counted: Called at each check with the number of jobs by state.
        expire: Erases expired episodes at each check, and returns their number.
    """

    schedules: ScheduleStore
    jobs: JobStore
    options: SchedulerOptions
    queued: Callable[[], None] = lambda: None
    counted: Callable[[Mapping[JobState, int]], None] = lambda _: None
    expire: Callable[[], Awaitable[int]] | None = None
    _task: asyncio.Task[None] | None = field(init=False, default=None)

    def start(self) -> None:
        """Start checking."""
        self._task = asyncio.create_task(self._look())

    async def stop(self) -> None:
        """Stop checking; the store rolls back an unfinished write."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def tick(self) -> int:
        """Queue due cycles; return their number; Unavailable if the store does not answer."""
        default = self.options.default

        def decide(standing: ScheduleState) -> ScheduleMark | None:
            schedule = default if standing.own is None else standing.own
            return marked(standing, schedule, self.options.light)

        queued = 0
        for standing in await self.schedules.standings(own_only=default == _NEVER):
            if decide(standing) is not None:
                job = await self.schedules.advance(standing.tenant, decide)
                if job is not None:
                    log.info("cycle_scheduled", job_id=job.id, tenant_id=job.tenant)
                    queued += 1
        if queued:
            self.queued()
        return queued

    async def _look(self) -> None:
        while True:
            try:
                await self.tick()
                if self.expire is not None and (erased := await self.expire()):
                    log.info("episodes_expired", episodes=erased)
                self.counted(await self.jobs.count())
            except EcphoriaError as error:
                log.warning("schedules_out_of_reach", code=error.code)
            except Exception as error:
                log.error("scheduler_failed", exc_info=error)  # noqa: TRY400 (frames only)
            await asyncio.sleep(self.options.tick_s)


@dataclass(slots=True)
class JobService:
    """Queues jobs for the workers.

    Attributes:
        store: Finds, lists and cancels jobs too.
        default: The schedule of tenants without their own.
        steps: Names of the steps of a cycle, in their order.
        wake: Wakes a worker of this process, if there is one.
        need_model: Steps that cannot run because no language model is set.
    """

    store: JobStore
    schedules: ScheduleStore
    default: Schedule
    steps: Sequence[str]
    wake: Callable[[], None]
    need_model: Sequence[str] = ()

    async def consolidate(
        self, tenant: TenantId, *, steps: Sequence[str] = (), dry_run: bool = False
    ) -> Job:
        """Queue a cycle of these steps, or of all, or join the waiting one (decision 0017).

        Raises:
            InvalidInput: There is no such step.
            ModelMissing: A step needs a language model, and none is set.
        """
        if unknown := sorted(set(steps) - set(self.steps)):
            raise InvalidInput(
                f"There is no step {', '.join(unknown)}; there are {', '.join(self.steps)}.",
                field="steps",
            )
        if set(steps).intersection(self.need_model):
            raise ModelMissing
        kind = JobKind.DRY_RUN if dry_run else JobKind.CONSOLIDATION
        wanted = [name for name in self.steps if name in set(steps)]
        job = await self.store.enqueue(tenant, kind, steps=wanted)
        self.wake()
        return job

    async def calibrate(self, tenant: TenantId, options: CalibrationOptions) -> Job:
        """Queue a calibration of the tenant's gate, or join the same one that waits.

        Raises:
            Conflict: Another calibration waits.
        """
        job = await self.store.enqueue_calibration(tenant, options)
        self.wake()
        return job

    async def last_report(self, tenant: TenantId) -> ConsolidationReport:
        """Find the report of the latest finished cycle; NotFound if there is none."""
        found = await self.store.list(
            tenant, kind=JobKind.CONSOLIDATION, state=JobState.DONE, limit=1
        )
        if not found or found[0].report is None:
            raise NotFound(
                "No consolidation of this tenant is done yet; POST /v1/consolidation runs one."
            )
        return found[0].report

    async def retry(self, tenant: TenantId, job: JobId) -> Job:
        """Queue a failed or cancelled job again; NotFound, Conflict if it has another state."""
        job_again = await self.store.retry(tenant, job)
        self.wake()
        return job_again

    async def schedule(self, tenant: TenantId) -> tuple[Schedule, datetime | None]:
        """Find the schedule in force and the next time of a cycle; NotFound without the tenant."""
        standing = await self.schedules.find(tenant)
        schedule = self.default if standing.own is None else standing.own
        coming = next_due(schedule, standing.now)
        return schedule, coming and (standing.due_at or coming)
