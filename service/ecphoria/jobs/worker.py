"""Run jobs: claim, renew, retry, report."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Final

import structlog

from ecphoria.errors import EcphoriaError, NotFound, Unavailable
from ecphoria.jobs.store import JobStore
from ecphoria.records.job import Claimed, Job, JobFault, JobReport, JobState, LeaseLost, Progress
from ecphoria.runtime import work_for


def crash_at(named: str | None) -> Callable[[str], None]:
    """Make a function that kills this process at the named checkpoint, for crash tests."""

    def pass_by(place: str) -> None:
        if place == named:
            os.kill(os.getpid(), signal.SIGKILL)

    return pass_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """The number of attempts of a job, and the pauses between them.

    After attempt n (from 1) the pause is `min(first_pause_s * 2^(n - 1), longest_pause_s)`
    seconds: 5, 10, 20, 40 by default.

    Attributes:
        limit: Number of attempts.
    """

    limit: int = 5
    first_pause_s: float = 5.0
    longest_pause_s: float = 3_600.0

    def exhausted(self, attempts: int) -> bool:
        """Tell whether the attempt with this number is one too many."""
        return attempts > self.limit

    def after(self, attempts: int, error: Exception) -> float | JobState:
        """Give the pause after a failure, or the state in which the job ends.

        A refused job is not retried.
        """
        refused = isinstance(error, EcphoriaError) and not isinstance(error, Unavailable)
        if refused and type(error) is not EcphoriaError:
            return JobState.FAILED
        if attempts >= self.limit:
            return JobState.DEAD
        pause = self.first_pause_s * 2.0 ** min(attempts - 1, 60)
        return min(pause, self.longest_pause_s)


def fault_of(error: Exception) -> JobFault:
    """Describe an error in the job's record; of a foreign error only the class."""
    if isinstance(error, EcphoriaError):
        return JobFault(code=error.code, message=error.message)
    return JobFault(
        code=EcphoriaError.code,
        message=f"An unexpected {type(error).__name__}; the log of the worker has its frames.",
    )


Watch = Callable[[Progress], Awaitable[None]]
"""Called at each checkpoint of a job; raises an error if the job must end there."""
Handler = Callable[[Claimed, Watch], Awaitable[JobReport]]
Ended = Callable[[Job, JobState, JobReport | None], None]

# Several, because other workers may take the first ones at the same moment.
_LOOK: Final = 16
# One renewal may fail, and the next still comes before the lease ends.
_BEATS_A_LEASE: Final = 3
_DIED = JobFault(
    code=EcphoriaError.code,
    message="Its workers ended without a word, as if killed; their logs may tell why.",
)

log = structlog.get_logger(__name__)


class _Cancelled(Exception):
    """The job must be cancelled."""


class _Rests(Exception):
    """The job was released at a checkpoint, where the next worker resumes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """Options of a worker.

    Attributes:
        lease_s: Seconds for which a silent worker keeps its job.
        poll_s: Seconds between searches for jobs that other processes queued.
        grace_s: Seconds to wait at the end until running jobs reach a checkpoint.
        retries: Attempts and pauses after failures.
    """

    lease_s: float = 60.0
    poll_s: float = 1.0
    grace_s: float = 10.0
    retries: Attempts = field(default_factory=Attempts)


@dataclass(slots=True)
class Worker:
    """Takes jobs from the store until it is stopped; several processes may have workers.

    A silent worker loses its job when the lease ends. Its later writes are refused, so the next
    worker is alone. At the end of a step a job lets waiting jobs go first. So a job waits for at
    most one step of each other job.

    Attributes:
        ended: Called with the end of each job.
        fault: Called first at each checkpoint; tests kill the process there.
    """

    store: JobStore
    handler: Handler
    options: WorkerOptions
    ended: Ended = lambda _job, _state, _report: None
    fault: Callable[[str], None] = lambda _place: None
    _woken: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    _stopping: bool = field(init=False, default=False)
    _tasks: set[asyncio.Task[None]] = field(init=False, default_factory=set)

    def start(self, concurrency: int) -> None:
        """Start taking jobs, up to a number at once."""
        self._tasks |= {asyncio.create_task(self._take()) for _ in range(concurrency)}

    def wake(self) -> None:
        """Search for jobs now."""
        self._woken.set()

    async def stop(self) -> None:
        """Take no more jobs, and release running jobs at their next checkpoint."""
        self._stopping = True
        self._woken.set()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=self.options.grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()

    async def run_one(self) -> bool:
        """Take and run the longest due job; return whether there was one.

        Raises:
            Unavailable: The store does not answer.
        """
        for job in await self.store.due(_LOOK):
            claimed = await self.store.claim(job, self.options.lease_s)
            if claimed is not None:
                with structlog.contextvars.bound_contextvars(
                    job_id=job, tenant_id=claimed.job.tenant
                ):
                    work_for(claimed.job.tenant)
                    await self._work(claimed)
                return True
        return False

    async def _take(self) -> None:
        while not self._stopping:
            found = False
            try:
                found = await self.run_one()
            except EcphoriaError as error:
                log.warning("jobs_out_of_reach", code=error.code)
            except Exception as error:
                log.error("worker_failed", exc_info=error)  # noqa: TRY400 (frames only)
            if not found and not self._stopping:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._woken.wait(), self.options.poll_s)
                self._woken.clear()

    async def _work(self, claimed: Claimed) -> None:
        # An attempt counts when it begins, so a job that kills its worker ends as dead too
        # (decision 0017).
        if self.options.retries.exhausted(claimed.job.attempts):
            await self._finish(claimed, JobState.DEAD, fault=claimed.job.fault or _DIED)
            return
        try:
            report = await self._attempt(claimed)
        except LeaseLost:
            log.warning("job_lost", attempt=claimed.job.attempts)
        except _Cancelled:
            await self._finish(claimed, JobState.CANCELLED)
        except _Rests:
            await self._release(claimed)
        except asyncio.CancelledError:
            await asyncio.shield(self._release(claimed))
            raise
        except Exception as error:  # noqa: BLE001 (the top of the job)
            if isinstance(error, NotFound) and error.fields.get("tenant") == claimed.job.tenant:
                # The tenant is being erased, and soon its jobs: that is no fault.
                await self._finish(claimed, JobState.CANCELLED)
            else:
                await self._fail(claimed, error)
        else:
            await self._finish(claimed, JobState.DONE, report=report)

    async def _attempt(self, claimed: Claimed) -> JobReport:
        latest = claimed.job.progress
        lease, lease_s = claimed.lease, self.options.lease_s

        async def watch(progress: Progress) -> None:
            nonlocal latest
            latest = replace(progress, ended=None)
            self.fault(progress.place)
            if await self.store.renew(lease, lease_s, progress):
                raise _Cancelled
            # The next attempt continues after the finished steps, so a job loses nothing by
            # resting here (decision 0017).
            if self._stopping or await self._is_awaited(progress):
                raise _Rests

        async def beat() -> None:
            while True:
                await asyncio.sleep(lease_s / _BEATS_A_LEASE)
                try:
                    await self.store.renew(lease, lease_s, latest)
                except LeaseLost:
                    return
                except EcphoriaError as error:
                    log.warning("lease_not_renewed", code=error.code)

        beating = asyncio.create_task(beat())
        try:
            return await self.handler(claimed, watch)
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)

    async def _is_awaited(self, progress: Progress) -> bool:
        """Tell whether a job may stop here and let waiting jobs go first."""
        ends = progress.ended is not None and progress.done < progress.total
        return ends and bool(await self.store.due(1))

    async def _fail(self, claimed: Claimed, error: Exception) -> None:
        pause_or_end = self.options.retries.after(claimed.job.attempts, error)
        fault = fault_of(error)
        log.error("job_attempt_failed", attempt=claimed.job.attempts, code=fault.code,
                  exc_info=error)  # fmt: skip
        if isinstance(pause_or_end, JobState):
            await self._finish(claimed, pause_or_end, fault=fault)
            return
        await self._settle(
            lambda waited_s: self.store.release(
                claimed.lease, pause_s=max(0.0, pause_or_end - waited_s), counted=True, fault=fault
            )
        )

    async def _release(self, claimed: Claimed) -> None:
        log.info("job_given_back")
        await self._settle(lambda _: self.store.release(claimed.lease, pause_s=0.0, counted=False))

    async def _finish(
        self,
        claimed: Claimed,
        state: JobState,
        *,
        report: JobReport | None = None,
        fault: JobFault | None = None,
    ) -> None:
        async def finish(_: float) -> None:
            await self.store.finish(claimed.lease, state, report=report, fault=fault)
            self.ended(claimed.job, state, report)
            log.info("job_ended", kind=claimed.job.kind.value, state=state.value)

        await self._settle(finish)

    async def _settle(self, write: Callable[[float], Awaitable[None]]) -> None:
        """Store the end of an attempt, and retry until the store answers.

        Otherwise the job would stay locked until its lease expires.
        """
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while True:
            try:
                await write(loop.time() - begun)
            except LeaseLost:
                log.warning("job_lost")
            except Unavailable as error:
                if self._stopping:
                    raise
                log.warning("jobs_out_of_reach", code=error.code)
                await asyncio.sleep(self.options.poll_s)
                continue
            return
