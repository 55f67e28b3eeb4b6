"""What background work needs: a queue that outlives every process."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from ecphoria.model.consolidation import ConsolidationReport, Lease
from ecphoria.model.ids import JobId, TenantId
from ecphoria.model.job import Claimed, Job, JobFault, JobKind, JobState, Progress, Trigger
from ecphoria.model.schedule import Mark, Schedule, Standing

__all__ = ["JobStore", "ScheduleStore"]


class JobStore(Protocol):
    """Jobs of all tenants. Its own clock alone decides what is due and which lease holds.

    Of each kind a tenant has at most one job that waits and one that was begun.
    """

    async def enqueue(
        self,
        tenant: TenantId,
        kind: JobKind,
        *,
        steps: Sequence[str] = (),
        trigger: Trigger = Trigger.REQUEST,
    ) -> Job:
        """Queue a job, or join the one of its kind that waits.

        Where the two ask for different steps the job runs all of them.

        Raises:
            NotFound: There is no such tenant.
        """
        ...

    async def due(self, limit: int) -> Sequence[JobId]:
        """List jobs a worker may take now, the longest due first."""
        ...

    async def claim(self, job: JobId, lease_s: float) -> Claimed | None:
        """Take a job for so many seconds; None if somebody else was faster."""
        ...

    async def renew(self, lease: Lease, lease_s: float, progress: Progress) -> bool:
        """Hold a job for so many seconds from now; tell whether it is to be cancelled.

        Raises:
            LeaseLost: The lease is over.
        """
        ...

    async def finish(
        self,
        lease: Lease,
        state: JobState,
        *,
        report: ConsolidationReport | None = None,
        fault: JobFault | None = None,
    ) -> None:
        """End a job.

        Raises:
            LeaseLost: Another worker has taken it.
        """
        ...

    async def release(
        self, lease: Lease, *, pause_s: float, counted: bool, fault: JobFault | None = None
    ) -> None:
        """Give a job back, to be taken again after a pause.

        Args:
            lease: That of the job.
            pause_s: Seconds to leave it alone.
            counted: Whether the attempt counts.
            fault: Why it failed, if it did.

        Raises:
            LeaseLost: Another worker has taken it.
        """
        ...

    async def find(self, tenant: TenantId, job: JobId) -> Job:
        """Find a job; NotFound if it is not this tenant's, or was dropped."""
        ...

    async def list(
        self,
        tenant: TenantId,
        *,
        kind: JobKind | None = None,
        state: JobState | None = None,
        limit: int,
    ) -> Sequence[Job]:
        """List jobs, the newest first."""
        ...

    async def cancel(self, tenant: TenantId, job: JobId) -> Job:
        """End a job that waits; one that runs ends at the next place it reaches.

        Raises:
            NotFound: It is not this tenant's, or was dropped.
            Conflict: It has ended.
        """
        ...

    async def retry(self, tenant: TenantId, job: JobId) -> Job:
        """Queue a job again that failed, died or was cancelled, with fresh attempts.

        Raises:
            NotFound: It is not this tenant's, or was dropped.
            Conflict: It has not failed, or another of its kind waits already.
        """
        ...

    async def count(self) -> Mapping[JobState, int]:
        """Count the jobs of all tenants by state, every state."""
        ...


class ScheduleStore(Protocol):
    """Schedules of all tenants, and when each is due next."""

    async def find(self, tenant: TenantId) -> Standing:
        """Find a tenant's schedule; NotFound without the tenant."""
        ...

    async def save(self, tenant: TenantId, own: Schedule | None) -> Standing:
        """Give a tenant its own schedule, or the service's; NotFound without the tenant."""
        ...

    async def standings(self, *, own_only: bool) -> Sequence[Standing]:
        """List the schedules of all tenants, or of those who have their own."""
        ...

    async def advance(
        self, tenant: TenantId, decide: Callable[[Standing], Mark | None]
    ) -> Job | None:
        """Look at a schedule, mark it and queue its cycle in one transaction.

        Who else looks meanwhile waits and then sees the mark, so nothing is due twice.

        Args:
            tenant: Whose.
            decide: Told how the schedule stands; what to keep, or None to leave it. It may be
                asked again.

        Returns:
            The job queued, or joined; None if nothing was due.
        """
        ...
