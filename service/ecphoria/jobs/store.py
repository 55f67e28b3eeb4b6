"""Store of jobs and of their reports.

A stored report names concepts by id. A name in it would be a copy that nobody finds when the
episodes that have the name are erased.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final

from ecphoria.errors import Conflict, EcphoriaError, NotFound
from ecphoria.neo4j_store.locks import lock_tenant
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work
from ecphoria.records.ids import JobId, TenantId, fresh_id
from ecphoria.records.job import (
    Change,
    Claimed,
    ConsolidationReport,
    Degrees,
    Gap,
    GraphSize,
    Job,
    JobFault,
    JobKind,
    JobState,
    Lease,
    LeaseLost,
    Progress,
    StepReport,
    StepStatus,
    Trigger,
)

_OF_CONCEPTS: Final = "propose"
_ID: Final = re.compile(r"\b[0-9a-f]{32}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class _ConceptName:
    id: str
    name: str


_LIST_CONCEPT_NAMES = Statement("jobs.list_concept_names", _ConceptName)


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
    rows = await graph.run(_LIST_CONCEPT_NAMES, tenant=tenant, ids=sorted(ids))
    names = {row.id: row.name for row in rows}
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


def text_of(report: ConsolidationReport) -> str:
    """Write a report as JSON."""
    plain = asdict(report) | {"started_at": report.started_at.isoformat()}
    return json.dumps(plain, ensure_ascii=False)


def report_of(text: str) -> ConsolidationReport:
    """Read a report."""
    stored = json.loads(text)
    return ConsolidationReport(
        **{
            **stored,
            "started_at": datetime.fromisoformat(stored["started_at"]),
            "steps": tuple(step_of(step) for step in stored["steps"]),
            "before": size_of(stored.get("before")),
            "after": size_of(stored.get("after")),
            "degrees": {edge: Degrees(**one) for edge, one in stored.get("degrees", {}).items()},
            "gaps": tuple(_gap_of(gap) for gap in stored.get("gaps", ())),
        }
    )


def size_of(stored: Mapping[str, Any] | None) -> GraphSize | None:
    """Read the size of a graph."""
    return GraphSize(**stored) if stored else None


def _gap_of(stored: Mapping[str, Any]) -> Gap:
    return Gap(refused=stored["refused"], traces=tuple(stored["traces"]))


def step_of(stored: Mapping[str, Any]) -> StepReport:
    """Read the report of a step."""
    changes = tuple(Change(**change) for change in stored["changes"])
    typed = {"status": StepStatus(stored["status"]), "changes": changes}
    return StepReport(**{**stored, **typed, "degraded": tuple(stored.get("degraded", ()))})


_TRIES: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Id:
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _JobKey:
    job: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    token: int
    tenant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Owner:
    tenant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    cancelling: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Count:
    state: str
    jobs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _JobRow:
    id: str
    tenant: str
    kind: str
    state: str
    trigger: str
    steps: list[str]
    attempts: int
    created_at: datetime
    run_after: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    cancelling: bool
    place: str
    done: int
    total: int
    ended: list[str]
    before: str | None
    report: str | None
    code: str | None
    message: str | None


_ADD_JOB = Statement("jobs.add_job", _Id)
_LIST_DUE_JOBS = Statement("jobs.list_due_jobs", _Id)
_CLAIM_JOB = Statement("jobs.claim_job", _Taken)
_RENEW_LEASE = Statement("jobs.renew_lease", _Held)
_FINISH_JOB = Statement("jobs.finish_job", _Owner)
_RELEASE_JOB = Statement("jobs.release_job", _JobKey)
_DROP_OLD_JOBS = Statement("jobs.drop_old_jobs", Done)
_LIST_JOBS = Statement("jobs.list_jobs", _JobRow)
_CANCEL_JOB = Statement("jobs.cancel_job", _JobKey)
_RETRY_JOB = Statement("jobs.retry_job", _JobKey)
_COUNT_JOBS = Statement("jobs.count_jobs", _Count)


class JobStore:
    """The queue of background work."""

    def __init__(self, graph: Graph, keep: int) -> None:
        """Keep the newest `keep` ended jobs of each tenant."""
        self._graph = graph
        self._keep = keep

    async def enqueue(
        self,
        tenant: TenantId,
        kind: JobKind,
        *,
        steps: Sequence[str] = (),
        trigger: Trigger = Trigger.REQUEST,
    ) -> Job:
        """Queue a job, or join the one of its kind that waits; NotFound without the tenant."""

        async def add(work: Work) -> Job:
            # Held until the commit, so that an erasure either sees this job or prevents it.
            await lock_tenant(work, tenant)
            return await add_job(work, tenant, kind, steps, trigger)

        return await self._graph.change("jobs.enqueue", add)

    async def due(self, limit: int) -> Sequence[JobId]:
        """List jobs a worker may take now, the longest due first."""
        return [JobId(row.id) for row in await self._graph.run(_LIST_DUE_JOBS, limit=limit)]

    async def claim(self, job: JobId, lease_s: float) -> Claimed | None:
        """Claim a job for a number of seconds; None if another worker has it."""

        async def take(work: Work) -> Claimed | None:
            taken = await work.run_one(
                _CLAIM_JOB, job=job, seconds=lease_s, generation=work.generation
            )
            if taken is None:
                return None
            return Claimed(
                job=await _found(work, TenantId(taken.tenant), job),
                lease=Lease(job=job, token=taken.token),
            )

        return await self._graph.change("jobs.claim", take)

    async def renew(self, lease: Lease, lease_s: float, progress: Progress) -> bool:
        """Hold a job longer, tell whether it is to be cancelled; LeaseLost if it is over."""
        held = await self._graph.run_one(
            _RENEW_LEASE,
            job=lease.job,
            token=lease.token,
            seconds=lease_s,
            place=progress.place,
            done=progress.done,
            total=progress.total,
            ended=[] if progress.ended is None else [json.dumps(asdict(progress.ended))],
            before=progress.before and json.dumps(asdict(progress.before)),
        )
        if held is None:
            raise LeaseLost
        return held.cancelling

    async def finish(
        self,
        lease: Lease,
        state: JobState,
        *,
        report: ConsolidationReport | None = None,
        fault: JobFault | None = None,
    ) -> None:
        """End a job and drop the tenant's oldest; LeaseLost if another worker has taken it."""

        async def end(work: Work) -> None:
            owner = await work.run_one(
                _FINISH_JOB,
                job=lease.job,
                token=lease.token,
                state=state.value,
                report=None if report is None else text_of(report),
                code=fault and fault.code,
                message=fault and fault.message,
            )
            if owner is None:
                raise LeaseLost
            await work.run(_DROP_OLD_JOBS, tenant=owner.tenant, keep=self._keep)

        await self._graph.change("jobs.finish", end)

    async def release(
        self, lease: Lease, *, pause_s: float, counted: bool, fault: JobFault | None = None
    ) -> None:
        """Give a job back, to be taken again after a pause; LeaseLost if another has it."""
        released = await self._graph.run(
            _RELEASE_JOB,
            job=lease.job,
            token=lease.token,
            seconds=pause_s,
            attempts=0 if counted else -1,
            code=fault and fault.code,
            message=fault and fault.message,
        )
        if not released:
            raise LeaseLost

    async def find(self, tenant: TenantId, job: JobId) -> Job:
        """Find a job; NotFound if it is not this tenant's, or was dropped."""
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
        rows = await self._graph.run(
            _LIST_JOBS, tenant=tenant, job=None, kind=kind and kind.value,
            state=state and state.value, limit=limit,
        )  # fmt: skip
        return await with_names(self._graph, tenant, [_to_job(row) for row in rows])

    async def cancel(self, tenant: TenantId, job: JobId) -> Job:
        """End a job that waits, ask one that runs to end; NotFound, or Conflict if it ended."""
        return await self._changed(_CANCEL_JOB, tenant, job, "the job has ended")

    async def retry(self, tenant: TenantId, job: JobId) -> Job:
        """Queue a job again that ended without being done; NotFound, or Conflict."""
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
        rows = await self._graph.run(_COUNT_JOBS)
        return dict.fromkeys(JobState, 0) | {JobState(row.state): row.jobs for row in rows}

    async def _changed(
        self, statement: Statement[_JobKey], tenant: TenantId, job: JobId, refusal: str
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
    """Queue a job, or join the one that waits, in a transaction that holds the tenant."""
    for _ in range(_TRIES):
        added = await work.run_one(
            _ADD_JOB, id=fresh_id(), tenant=tenant, kind=kind.value, steps=list(steps),
            trigger=trigger.value,
        )  # fmt: skip
        if added is not None:
            return await _found(work, tenant, JobId(added.id))
    raise EcphoriaError("the queue changed too often meanwhile; try again")


async def _found(graph: Graph | Work, tenant: TenantId, job: JobId) -> Job:
    row = await graph.run_one(_LIST_JOBS, tenant=tenant, job=job, kind=None, state=None, limit=1)
    if row is None:
        raise NotFound("there is no such job, or it was dropped", job=job)
    return _to_job(row)


def _to_job(row: _JobRow) -> Job:
    return Job(
        id=JobId(row.id),
        tenant=TenantId(row.tenant),
        kind=JobKind(row.kind),
        state=JobState(row.state),
        trigger=Trigger(row.trigger),
        steps=tuple(row.steps),
        attempts=row.attempts,
        created_at=row.created_at,
        run_after=row.run_after,
        started_at=row.started_at,
        finished_at=row.finished_at,
        cancelling=row.cancelling,
        progress=Progress(place=row.place, done=row.done, total=row.total),
        ended=tuple(step_of(json.loads(text)) for text in row.ended),
        before=size_of(None if row.before is None else json.loads(row.before)),
        report=None if row.report is None else report_of(row.report),
        fault=None if row.code is None else JobFault(code=row.code, message=row.message or ""),
    )
