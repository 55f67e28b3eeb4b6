"""Background work, as calls of the asynchronous client: queue, wait, list, cancel, retry."""

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic

from ecphoria.client.async_sending import AsyncSender
from ecphoria.client.exchange import Call, body_of, failure_of, late, segment
from ecphoria.model.job import ENDED, JobState
from ecphoria.wire.consolidation import ConsolidationAnswer
from ecphoria.wire.jobs import (
    ConsolidationRequest,
    JobAnswer,
    ScheduleAnswer,
    ScheduleRequest,
)

__all__ = ["AsyncJobs"]

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 1.0


class AsyncJobs(AsyncSender):
    """Jobs, and the cycle of consolidation that runs as one."""

    async def consolidate(
        self,
        *,
        steps: Sequence[str] = (),
        dry_run: bool = False,
        timeout_s: float = 600.0,
        watch: Callable[[JobAnswer], object] | None = None,
    ) -> ConsolidationAnswer:
        """Run a cycle of consolidation over the tenant's memory, and tell what it did.

        Running it again changes nothing, so a call that was cut short can simply be repeated.

        Args:
            steps: Which steps to run; all if empty.
            dry_run: Tell what would change, and write nothing.
            timeout_s: Longest to wait for the end; it takes longer the larger the memory.
            watch: Told how the job stands, each time it is asked for.
        """
        queued = await self.start_consolidation(steps=steps, dry_run=dry_run)
        done = await self.wait_for_job(queued.id, timeout_s=timeout_s, watch=watch)
        assert done.report is not None, "a job that is done has a report"
        return done.report

    async def start_consolidation(
        self, *, steps: Sequence[str] = (), dry_run: bool = False
    ) -> JobAnswer:
        """Queue a cycle of consolidation, or join the one that waits, and do not wait for it.

        Args:
            steps: Which steps to run; all if empty.
            dry_run: Tell what would change, and write nothing.
        """
        wanted = body_of(ConsolidationRequest, {"steps": tuple(steps), "dry_run": dry_run})
        return await self._post("/v1/consolidation", wanted, JobAnswer, repeatable=True)

    async def start_passages(self) -> JobAnswer:
        """Queue the job that cuts long episodes from before there were passages, or join it.

        New episodes get their passages when they are appended.
        """
        call = Call(method="POST", path="/v1/passages", repeatable=True)
        return JobAnswer.model_validate_json((await self._send(call)).content)

    async def last_consolidation(self) -> ConsolidationAnswer:
        """Tell what the latest cycle did; NotFound before the first."""
        return await self._get("/v1/consolidation", ConsolidationAnswer)

    async def jobs(
        self, *, state: JobState | None = None, limit: int = 100
    ) -> Sequence[JobAnswer]:
        """List jobs, the newest first."""
        return await self._get_all("/v1/jobs", JobAnswer, state=state, limit=limit)

    async def job(self, job: str) -> JobAnswer:
        """Tell how a job stands, and once it is done what it did."""
        return await self._get(f"/v1/jobs/{segment(job)}", JobAnswer)

    async def wait_for_job(
        self,
        job: str,
        *,
        timeout_s: float = 600.0,
        watch: Callable[[JobAnswer], object] | None = None,
    ) -> JobAnswer:
        """Wait until a job is done.

        Args:
            job: Its id.
            timeout_s: Longest to wait.
            watch: Told how the job stands, each time it is asked for.

        Raises:
            Timeout: It has not ended by then; it goes on all the same.
            Conflict: It was cancelled.
            EcphoriaError: It failed; the error is the one it failed with.
        """
        until, pause = monotonic() + timeout_s, _FIRST_PAUSE_S
        while True:
            found = await self.job(job)
            if watch is not None:
                watch(found)
            if found.state is JobState.DONE:
                return found
            if found.state in ENDED:
                raise failure_of(found)
            if monotonic() > until:
                raise late(found, timeout_s)
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, _LONGEST_PAUSE_S)

    async def cancel_job(self, job: str) -> JobAnswer:
        """End a job that waits; one that runs ends at the next place it reaches."""
        call = Call(method="POST", path=f"/v1/jobs/{segment(job)}/cancel", repeatable=True)
        return JobAnswer.model_validate_json((await self._send(call)).content)

    async def retry_job(self, job: str) -> JobAnswer:
        """Queue a job again that failed, died or was cancelled, with fresh attempts."""
        call = Call(method="POST", path=f"/v1/jobs/{segment(job)}/retry", repeatable=False)
        return JobAnswer.model_validate_json((await self._send(call)).content)

    async def schedule(self) -> ScheduleAnswer:
        """Tell when cycles of the tenant run without being asked."""
        return await self._get("/v1/consolidation/schedule", ScheduleAnswer)

    async def set_schedule(
        self,
        *,
        every_episodes: int | None = None,
        every_hours: float | None = None,
        daily_at: str | None = None,
        idle_minutes: float | None = None,
        light_episodes: int | None = None,
    ) -> ScheduleAnswer:
        """Give the tenant its own schedule; needs the scope admin.

        Each that is given asks for a cycle; with none, nothing runs unasked.

        Args:
            every_episodes: After so many appended episodes.
            every_hours: So many hours after the last by time.
            daily_at: At this time of each day in UTC, as `03:30`.
            idle_minutes: When for so many minutes nothing was appended or recalled.
            light_episodes: A light cycle after so many appended episodes.
        """
        given = {
            "every_episodes": every_episodes,
            "every_hours": None if every_hours is None else float(every_hours),
            "daily_at": daily_at,
            "idle_minutes": None if idle_minutes is None else float(idle_minutes),
            "light_episodes": light_episodes,
        }
        wanted = body_of(ScheduleRequest, given)
        call = Call(method="PUT", path="/v1/consolidation/schedule", repeatable=True, body=wanted)
        return ScheduleAnswer.model_validate_json((await self._send(call)).content)

    async def reset_schedule(self) -> ScheduleAnswer:
        """Go back to the service's schedule."""
        call = Call(method="DELETE", path="/v1/consolidation/schedule", repeatable=True)
        return ScheduleAnswer.model_validate_json((await self._send(call)).content)
