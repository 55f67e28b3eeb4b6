"""Store of jobs and of their reports.

A stored report has ids of concepts, not names. An erasure of episodes would not find names in
reports.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ecphoria.errors import Conflict, EcphoriaError, NotFound
from ecphoria.neo4j_store.locks import lock_tenant
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work
from ecphoria.records.answered import to_json
from ecphoria.records.calibration import CalibrationOptions
from ecphoria.records.ids import ID_FORM, JobId, TenantId, fresh_id
from ecphoria.records.job import (
    Claimed,
    Job,
    JobFault,
    JobKind,
    JobReport,
    JobState,
    Lease,
    LeaseLost,
    Progress,
    StepReport,
    Trigger,
)

_OF_CONCEPTS: Final = "propose"
_ID: Final = re.compile(rf"\b{ID_FORM}\b")


_LIST_CONCEPT_NAMES = Statement("jobs.list_concept_names", tuple[str, str])


async def with_names(graph: Graph, tenant: TenantId, jobs: Sequence[Job]) -> list[Job]:
    """Replace the ids of existing concepts by their names."""
    ids = {
        ident
        for job in jobs
        for step in _steps(job)
        for change in step.changes
        if change.kind == _OF_CONCEPTS
        for ident in _ID.findall(f"{change.id} {change.detail}")
    }
    if not ids:
        return list(jobs)
    names = dict(await graph.run(_LIST_CONCEPT_NAMES, tenant=tenant, ids=sorted(ids)))
    return [_named(job, names) for job in jobs]


def _steps(job: Job) -> Iterator[StepReport]:
    yield from job.ended
    if job.report is not None:
        yield from job.report.steps


def _named(job: Job, names: Mapping[str, str]) -> Job:
    def told(text: str) -> str:
        return _ID.sub(lambda found: names.get(found[0], found[0]), text)

    def named(step: StepReport) -> StepReport:
        changes = (
            replace(change, id=told(change.id), detail=told(change.detail))
            if change.kind == _OF_CONCEPTS
            else change
            for change in step.changes
        )
        return replace(step, changes=tuple(changes))

    report = job.report and replace(job.report, steps=tuple(map(named, job.report.steps)))
    return replace(job, ended=tuple(map(named, job.ended)), report=report)


# A worker may take the waiting job between the look and the lock; then another one is queued.
_TRIES: Final = 5


_ADD_JOB = Statement("jobs.add_job", JobId)
_LIST_DUE_JOBS = Statement("jobs.list_due_jobs", JobId)
_CLAIM_JOB = Statement("jobs.claim_job", tuple[int, TenantId])
_RENEW_LEASE = Statement("jobs.renew_lease", bool)
_RELEASE_JOB = Statement("jobs.release_job", TenantId)
_DROP_OLD_JOBS = Statement("jobs.drop_old_jobs", Done)
_LIST_JOBS = Statement("jobs.list_jobs", Job)
_CANCEL_JOB = Statement("jobs.cancel_job", JobId)
_RETRY_JOB = Statement("jobs.retry_job", JobId)
_COUNT_JOBS = Statement("jobs.count_jobs", tuple[JobState, int])


class JobStore:
    """The queue of background work."""

    def __init__(self, graph: Graph, keep: int) -> None:
        """Keep the newest `keep` ended jobs of each tenant."""
        self._graph = graph
        self._keep = keep

    async def enqueue(self, tenant: TenantId, kind: JobKind, *, steps: Sequence[str] = ()) -> Job:
        """Queue a job, or join the waiting one of its kind; NotFound without the tenant."""

        async def add(work: Work) -> Job:
            # Held until the commit, so that an erasure either sees this job or prevents it.
            await lock_tenant(work, tenant)
            return await add_job(work, tenant, kind, steps, Trigger.REQUEST)

        return await self._graph.change("jobs.enqueue", add)

    async def enqueue_calibration(self, tenant: TenantId, options: CalibrationOptions) -> Job:
        """Queue a calibration, or join the same one that waits.

        Raises:
            Conflict: Another calibration of the tenant waits.
            NotFound: There is no such tenant.
        """
        kind = JobKind.CALIBRATION

        async def add(work: Work) -> Job:
            await lock_tenant(work, tenant)
            waiting = await work.run(
                _LIST_JOBS, tenant=tenant, job=None, kind=kind.value,
                state=JobState.QUEUED.value, limit=1,
            )  # fmt: skip
            if waiting and waiting[0].calibration_options != options:
                raise Conflict(
                    "another calibration waits; let it end or cancel it", job=waiting[0].id
                )
            return await add_job(work, tenant, kind, [to_json(options)], Trigger.REQUEST)

        return await self._graph.change("jobs.enqueue_calibration", add)

    async def due(self, limit: int) -> Sequence[JobId]:
        """List the jobs that a worker may take now, the longest due first."""
        return await self._graph.run(_LIST_DUE_JOBS, limit=limit)

    async def claim(self, job: JobId, lease_s: float) -> Claimed | None:
        """Claim a job for a number of seconds; None if another worker has it."""

        async def take(work: Work) -> Claimed | None:
            # The server's clock decides in the same transaction: an expired lease stays expired
            # (decision 0017).
            taken = await work.run_one(
                _CLAIM_JOB, job=job, seconds=lease_s, generation=work.generation
            )
            if taken is None:
                return None
            token, tenant = taken
            return Claimed(job=await _found(work, tenant, job), lease=Lease(job=job, token=token))

        return await self._graph.change("jobs.claim", take)

    async def renew(self, lease: Lease, lease_s: float, progress: Progress) -> bool:
        """Extend a lease; return whether to cancel the job; LeaseLost if the lease is over."""
        # The lease is compared with the server's clock in the transaction: clocks of two machines
        # need not agree (decision 0017).
        cancelling = await self._graph.run_one(
            _RENEW_LEASE,
            job=lease.job,
            token=lease.token,
            seconds=lease_s,
            place=progress.place,
            done=progress.done,
            total=progress.total,
            ended=[] if progress.ended is None else [to_json(progress.ended)],
            before=progress.before and to_json(progress.before),
        )
        if cancelling is None:
            raise LeaseLost
        return cancelling

    async def finish(
        self,
        lease: Lease,
        state: JobState,
        *,
        report: JobReport | None = None,
        fault: JobFault | None = None,
    ) -> None:
        """End a job and drop the tenant's oldest; LeaseLost if another worker has taken it."""

        async def end(work: Work) -> None:
            told = None if report is None else to_json(report)
            owner = await _release(work, lease, state, report=told, fault=fault)
            await work.run(_DROP_OLD_JOBS, tenant=owner, keep=self._keep)

        await self._graph.change("jobs.finish", end)

    async def release(
        self, lease: Lease, *, pause_s: float, counted: bool, fault: JobFault | None = None
    ) -> None:
        """Give a job back, to be taken again after a pause; LeaseLost if another has it."""
        attempts = 0 if counted else -1
        await _release(
            self._graph, lease, JobState.QUEUED, pause_s=pause_s, attempts=attempts, fault=fault
        )

    async def find(self, tenant: TenantId, job: JobId) -> Job:
        """Find a job; NotFound if it belongs to another tenant, or was dropped."""
        (found,) = await with_names(self._graph, tenant, [await _found(self._graph, tenant, job)])
        return found

    async def list(
        self,
        tenant: TenantId,
        *,
        kind: JobKind | None = None,
        state: JobState | None = None,
        limit: int,
    ) -> Sequence[Job]:
        """List jobs, the newest first."""
        found = await self._graph.run(
            _LIST_JOBS, tenant=tenant, job=None, kind=kind and kind.value,
            state=state and state.value, limit=limit,
        )  # fmt: skip
        return await with_names(self._graph, tenant, found)

    async def cancel(self, tenant: TenantId, job: JobId) -> Job:
        """Cancel a waiting job, or tell a running one to stop; NotFound, Conflict if it ended."""
        return await self._changed(_CANCEL_JOB, tenant, job, "the job has ended")

    async def retry(self, tenant: TenantId, job: JobId) -> Job:
        """Queue a failed or cancelled job again; NotFound, or Conflict in another state."""
        try:
            return await self._changed(
                _RETRY_JOB, tenant, job, "only a job that failed, died or was cancelled is retried"
            )
        except Conflict as error:
            if error.__cause__ is None:
                raise
            raise Conflict("another job of its kind waits already; that one will do") from error

    async def count(self) -> Mapping[JobState, int]:
        """Count the jobs of all tenants by state."""
        return dict.fromkeys(JobState, 0) | dict(await self._graph.run(_COUNT_JOBS))

    async def _changed(
        self, statement: Statement[JobId], tenant: TenantId, job: JobId, refusal: str
    ) -> Job:
        async def change(work: Work) -> Job:
            changed = await work.run(statement, tenant=tenant, job=job)
            found = await _found(work, tenant, job)
            if not changed:
                raise Conflict(refusal, job=job, state=found.state)
            return found

        return await self._graph.change(statement.name, change)


async def add_job(
    work: Work, tenant: TenantId, kind: JobKind, steps: Sequence[str], trigger: Trigger
) -> Job:
    """Queue a job, or join the waiting one, in a transaction with the tenant's lock."""
    for _ in range(_TRIES):
        added = await work.run_one(
            _ADD_JOB, id=fresh_id(), tenant=tenant, kind=kind.value, steps=list(steps),
            trigger=trigger.value,
        )  # fmt: skip
        if added is not None:
            return await _found(work, tenant, added)
    raise EcphoriaError("the queue changed too often meanwhile; try again")


async def _release(
    graph: Graph | Work,
    lease: Lease,
    state: JobState,
    *,
    pause_s: float = 0.0,
    attempts: int = 0,
    report: str | None = None,
    fault: JobFault | None = None,
) -> TenantId:
    """Give a job back or end it; return its tenant, or raise LeaseLost."""
    owner = await graph.run_one(
        _RELEASE_JOB,
        job=lease.job,
        token=lease.token,
        state=state.value,
        seconds=pause_s,
        attempts=attempts,
        report=report,
        code=fault and fault.code,
        message=fault and fault.message,
    )
    if owner is None:
        raise LeaseLost
    return owner


async def _found(graph: Graph | Work, tenant: TenantId, job: JobId) -> Job:
    row = await graph.run_one(_LIST_JOBS, tenant=tenant, job=job, kind=None, state=None, limit=1)
    if row is None:
        raise NotFound("there is no such job, or it was dropped", job=job)
    return row
