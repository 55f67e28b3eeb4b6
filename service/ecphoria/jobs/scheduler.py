"""The scheduler: queues cycles when tenants' schedules say so, among any number of its kind."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from ecphoria.errors import EcphoriaError
from ecphoria.graph.jobs import JobStore
from ecphoria.graph.schedules import ScheduleStore
from ecphoria.model.job import JobState
from ecphoria.model.schedule import Mark, Schedule, Standing

__all__ = ["Scheduler", "SchedulerOptions", "marked", "next_due"]

_NEVER = Schedule()

log = structlog.get_logger(__name__)


def next_due(schedule: Schedule, after: datetime) -> datetime | None:
    """Tell the first instant after `after` at which a schedule is due by time.

    >>> from datetime import UTC, time
    >>> noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    >>> str(next_due(Schedule(every_hours=6, daily_at=time(3, 30)), noon))
    '2026-03-01 18:00:00+00:00'
    >>> str(next_due(Schedule(daily_at=time(3, 30)), noon))
    '2026-03-02 03:30:00+00:00'
    """
    instants = []
    if schedule.every_hours is not None:
        instants.append(after + timedelta(hours=schedule.every_hours))
    if schedule.daily_at is not None:
        today = datetime.combine(after.date(), schedule.daily_at, tzinfo=after.tzinfo)
        instants.append(today if today > after else today + timedelta(days=1))
    return min(instants, default=None)


def marked(standing: Standing, schedule: Schedule, light: Sequence[str] = ()) -> Mark | None:
    """Decide what is due of a schedule; None if nothing changes.

    What came due several times while nobody looked is due once, and a whole cycle stands for a
    light one. A schedule by time that is new is first due at its next instant, not now.

    Args:
        standing: How it stands.
        schedule: The tenant's, or the service's.
        light: The steps of a light cycle.
    """
    coming = next_due(schedule, standing.now)
    due_at = None if coming is None else standing.due_at
    by_time = due_at is not None and standing.now >= due_at
    appended = standing.turn - standing.scheduled_turn
    if by_time or _is_enough(appended, schedule.every_episodes) or _is_idle(standing, schedule):
        return Mark(
            is_due=True,
            scheduled_turn=standing.turn,
            light_turn=standing.turn,
            due_at=coming if by_time else due_at or coming,
        )
    is_light = _is_enough(standing.turn - standing.light_turn, schedule.light_episodes)
    if is_light or (standing.due_at is None) is not (coming is None):
        return Mark(
            is_due=is_light,
            scheduled_turn=standing.scheduled_turn,
            light_turn=standing.turn if is_light else standing.light_turn,
            due_at=due_at or coming,
            steps=tuple(light) if is_light else (),
        )
    return None


def _is_enough(appended: int, every: int | None) -> bool:
    return every is not None and appended >= every


def _is_idle(standing: Standing, schedule: Schedule) -> bool:
    """Tell whether all is quiet, and there is something that no whole cycle was due for."""
    if schedule.idle_minutes is None or standing.active_at is None:
        return False
    quiet = standing.now - standing.active_at
    is_new = standing.turn > standing.scheduled_turn
    return is_new and quiet >= timedelta(minutes=schedule.idle_minutes)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerOptions:
    """How a scheduler works.

    Attributes:
        default: The schedule of tenants without their own.
        light: The steps of a light cycle.
        tick_s: How often to look, in seconds.
    """

    default: Schedule = _NEVER
    light: tuple[str, ...] = ()
    tick_s: float = 10.0


class Scheduler:
    """Looks now and then which schedules are due; the store keeps what it decided."""

    def __init__(
        self,
        schedules: ScheduleStore,
        jobs: JobStore,
        options: SchedulerOptions,
        *,
        queued: Callable[[], None] = lambda: None,
        counted: Callable[[Mapping[JobState, int]], None] = lambda _: None,
    ) -> None:
        """Make a scheduler that does nothing yet.

        Args:
            schedules: Where the schedules are.
            jobs: Where the jobs are.
            options: How to work.
            queued: Told when a job was queued.
            counted: Told at each look how many jobs there are by state.
        """
        self._schedules = schedules
        self._jobs = jobs
        self._options = options
        self._queued = queued
        self._counted = counted
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Look from now on."""
        self._task = asyncio.create_task(self._look())

    async def stop(self) -> None:
        """Look no more; what is half done is undone by the store."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def tick(self) -> int:
        """Queue what is due; tell how many cycles that was.

        Raises:
            Unavailable: The store does not answer.
        """
        default = self._options.default

        def decide(standing: Standing) -> Mark | None:
            schedule = default if standing.own is None else standing.own
            return marked(standing, schedule, self._options.light)

        queued = 0
        for standing in await self._schedules.standings(own_only=default == _NEVER):
            if decide(standing) is not None:
                job = await self._schedules.advance(standing.tenant, decide)
                if job is not None:
                    log.info("cycle_scheduled", job_id=job.id, tenant_id=job.tenant)
                    queued += 1
        if queued:
            self._queued()
        return queued

    async def _look(self) -> None:
        while True:
            try:
                await self.tick()
                self._counted(await self._jobs.count())
            except EcphoriaError as error:
                log.warning("schedules_out_of_reach", code=error.code)
            except Exception as error:
                log.error("scheduler_failed", exc_info=error)  # noqa: TRY400 (frames only)
            await asyncio.sleep(self._options.tick_s)
