"""The calls of the asynchronous client about background jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic

from ecphoria import records, wire
from ecphoria.client.async_connection import AsyncCalls
from ecphoria.client.exchange import body_of, failure_of, late, segment

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 1.0


class AsyncJobs(AsyncCalls):
    """Background jobs, and the cycles of consolidation among them."""

    async def list(
        self, *, state: records.job.JobState | None = None, limit: int = 100
    ) -> Sequence[records.job.Job]:
        """List jobs, the newest first."""
        wanted = {"state": state, "limit": limit}
        return (await self._ask(wire.upkeep.JobList, "GET", "/v1/jobs", parameters=wanted)).items

    async def get(self, job: str) -> records.job.Job:
        """Return a job: its state, and its report once it is done."""
        return await self._ask(records.job.Job, "GET", f"/v1/jobs/{segment(job)}")

    async def wait(
        self,
        job: str,
        *,
        timeout_s: float = 600.0,
        watch: Callable[[records.job.Job], object] | None = None,
    ) -> records.job.Job:
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
            found = await self.get(job)
            if watch is not None:
                watch(found)
            if found.state is records.job.JobState.DONE:
                return found
            if found.state in records.job.ENDED:
                raise failure_of(found)
            if monotonic() > until:
                raise late(found, timeout_s)
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, _LONGEST_PAUSE_S)

    async def cancel(self, job: str) -> records.job.Job:
        """Cancel a job; a running one ends at its next checkpoint."""
        return await self._ask(records.job.Job, "POST", f"/v1/jobs/{segment(job)}/cancel")

    async def retry(self, job: str) -> records.job.Job:
        """Queue a failed, dead or cancelled job again, with fresh attempts."""
        path = f"/v1/jobs/{segment(job)}/retry"
        return await self._ask(records.job.Job, "POST", path, repeatable=False)

    async def start_consolidation(
        self, *, steps: Sequence[str] = (), dry_run: bool = False
    ) -> records.job.Job:
        """Queue a cycle of consolidation, or join the waiting one, without waiting for its end.

        Args:
            steps: Which steps to run; all if empty.
            dry_run: Tell what would change, and write nothing.
        """
        wanted = body_of(wire.upkeep.ConsolidationRequest, steps=steps, dry_run=dry_run)
        return await self._ask(records.job.Job, "POST", "/v1/consolidation", wanted)

    async def last_consolidation(self) -> records.job.ConsolidationReport:
        """Return the report of the latest cycle; NotFound before the first."""
        return await self._ask(records.job.ConsolidationReport, "GET", "/v1/consolidation")
