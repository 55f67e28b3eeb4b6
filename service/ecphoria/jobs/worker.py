"""Work on jobs: claim, renew, retry, report."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Final

import structlog

from ecphoria.errors import EcphoriaError, Unavailable
from ecphoria.jobs.store import JobStore
from ecphoria.records.job import (
    Claimed,
    ConsolidationReport,
    Job,
    JobFault,
    JobState,
    LeaseLost,
    Progress,
)


def crash_at(named: str | None) -> Callable[[str], None]:
    """Make a function that kills this process at the named checkpoint, for tests of crashes."""

    def pass_by(place: str) -> None:
        if place == named:
            os.kill(os.getpid(), signal.SIGKILL)

    return pass_by


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryIn:
    """Try once more after so many seconds."""

    pause_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUp:
    """Make no further attempt."""

    state: JobState


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """The number of attempts of a job, and the pauses between them.

    After attempt n, counted from 1, it rests `min(first_pause_s * 2^(n - 1), longest_pause_s)`
    seconds: 5, 10, 20, 40 with the defaults.

    Attributes:
        limit: Attempts in all.
    """

    limit: int = 5
    first_pause_s: float = 5.0
    longest_pause_s: float = 3_600.0

    def exhausted(self, attempts: int) -> bool:
        """Tell whether a job that was begun so often must not be run."""
        return attempts > self.limit

    def after(self, attempts: int, error: Exception) -> RetryIn | GiveUp:
        """Decide after a failure; a refused job is not tried again."""
        refused = isinstance(error, EcphoriaError) and not isinstance(error, Unavailable)
        if refused and type(error) is not EcphoriaError:
            return GiveUp(state=JobState.FAILED)
        if attempts >= self.limit:
            return GiveUp(state=JobState.DEAD)
        pause = self.first_pause_s * 2.0 ** min(attempts - 1, 60)
        return RetryIn(pause_s=min(pause, self.longest_pause_s))


def fault_of(error: Exception) -> JobFault:
    """Tell an error to whoever asks for the job; of a foreign one its class alone."""
    if isinstance(error, EcphoriaError):
        return JobFault(code=error.code, message=error.message)
    return JobFault(
        code=EcphoriaError.code,
        message=f"An unexpected {type(error).__name__}; the log of the worker has its frames.",
    )


Watch = Callable[[Progress], Awaitable[None]]
"""Told each place a job reaches; raises where the job must end."""
Handler = Callable[[Claimed, Watch], Awaitable[ConsolidationReport]]
Ended = Callable[[Job, JobState, ConsolidationReport | None], None]

_LOOK: Final = 16
_BEATS_A_LEASE: Final = 3
_DIED = JobFault(
    code=EcphoriaError.code,
    message="Its workers ended without a word, as if killed; their logs may tell why.",
)

log = structlog.get_logger(__name__)


class _Cancelled(Exception):
    """The job is to be cancelled."""


class _Rests(Exception):
    """The job is given back at a checkpoint; the next worker resumes it there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """Options of a worker.

    Attributes:
        lease_s: How long a job is safe from others when its worker falls silent, in seconds.
        poll_s: Interval of the search for jobs queued by other processes, in seconds.
        grace_s: How long to wait at the end for jobs to reach a place where they can rest.
        retries: What becomes of failures.
    """

    lease_s: float = 60.0
    poll_s: float = 1.0
    grace_s: float = 10.0
    retries: Retries = field(default_factory=Retries)


class Worker:
    """Takes jobs from the store until it is stopped; several may, in several processes.

    A worker that falls silent loses its job when the lease ends. What it then still tries to
    write is refused, so the one that takes the job over is alone. At the end of a step a job
    lets those that wait go first, so that nobody waits for more than a step of each other.
    """

    def __init__(
        self,
        store: JobStore,
        handler: Handler,
        options: WorkerOptions,
        *,
        ended: Ended = lambda _job, _state, _report: None,
        fault: Callable[[str], None] = lambda _place: None,
    ) -> None:
        """Make a worker that does nothing yet.

        Args:
            store: Where the jobs are.
            handler: Does one.
            options: How to work.
            ended: Told how each job ended.
            fault: Told each place before anything else; tests kill the process there.
        """
        self._store = store
        self._handler = handler
        self._options = options
        self._ended = ended
        self._fault = fault
        self._woken = asyncio.Event()
        self._stopping = False
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, concurrency: int) -> None:
        """Take up to so many jobs at once from now on."""
        self._tasks |= {asyncio.create_task(self._take()) for _ in range(concurrency)}

    def wake(self) -> None:
        """Look for jobs at once."""
        self._woken.set()

    async def stop(self) -> None:
        """Take no more jobs, and give back running ones at their next checkpoint."""
        self._stopping = True
        self._woken.set()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=self._options.grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()

    async def run_one(self) -> bool:
        """Take the longest due job and do it; tell whether there was one.

        Raises:
            Unavailable: The store does not answer.
        """
        for job in await self._store.due(_LOOK):
            claimed = await self._store.claim(job, self._options.lease_s)
            if claimed is not None:
                with structlog.contextvars.bound_contextvars(
                    job_id=job, tenant_id=claimed.job.tenant
                ):
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
                    await asyncio.wait_for(self._woken.wait(), self._options.poll_s)
                self._woken.clear()

    async def _work(self, claimed: Claimed) -> None:
        if self._options.retries.exhausted(claimed.job.attempts):
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
            await self._fail(claimed, error)
        else:
            await self._finish(claimed, JobState.DONE, report=report)

    async def _attempt(self, claimed: Claimed) -> ConsolidationReport:
        latest = claimed.job.progress
        lease, lease_s = claimed.lease, self._options.lease_s

        async def watch(progress: Progress) -> None:
            nonlocal latest
            latest = replace(progress, ended=None)
            self._fault(progress.place)
            if await self._store.renew(lease, lease_s, progress):
                raise _Cancelled
            if self._stopping or await self._is_awaited(progress):
                raise _Rests

        async def beat() -> None:
            while True:
                await asyncio.sleep(lease_s / _BEATS_A_LEASE)
                try:
                    await self._store.renew(lease, lease_s, latest)
                except LeaseLost:
                    return
                except EcphoriaError as error:
                    log.warning("lease_not_renewed", code=error.code)

        beating = asyncio.create_task(beat())
        try:
            return await self._handler(claimed, watch)
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)

    async def _is_awaited(self, progress: Progress) -> bool:
        """Tell whether others wait for a turn that a job may leave them here."""
        ends = progress.ended is not None and progress.done < progress.total
        at_rest = ends or progress.may_rest
        return at_rest and bool(await self._store.due(1))

    async def _fail(self, claimed: Claimed, error: Exception) -> None:
        decision = self._options.retries.after(claimed.job.attempts, error)
        fault = fault_of(error)
        log.error("job_attempt_failed", attempt=claimed.job.attempts, code=fault.code,
                  exc_info=error)  # fmt: skip
        if isinstance(decision, RetryIn):
            pause_s = decision.pause_s

            async def release(waited_s: float) -> None:
                await self._store.release(
                    claimed.lease, pause_s=max(0.0, pause_s - waited_s), counted=True, fault=fault
                )

            await self._settle(release)
        else:
            await self._finish(claimed, decision.state, fault=fault)

    async def _release(self, claimed: Claimed) -> None:
        log.info("job_given_back")
        await self._settle(
            lambda _: self._store.release(claimed.lease, pause_s=0.0, counted=False)
        )

    async def _finish(
        self,
        claimed: Claimed,
        state: JobState,
        *,
        report: ConsolidationReport | None = None,
        fault: JobFault | None = None,
    ) -> None:
        async def finish(_: float) -> None:
            await self._store.finish(claimed.lease, state, report=report, fault=fault)
            self._ended(claimed.job, state, report)
            log.info("job_ended", kind=claimed.job.kind.value, state=state.value)

        await self._settle(finish)

    async def _settle(self, write: Callable[[float], Awaitable[None]]) -> None:
        """Write how an attempt ended, given the seconds waited for the store to answer.

        A job that were not given back because the store is away would wait for its lease's end.
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
                await asyncio.sleep(self._options.poll_s)
                continue
            return
