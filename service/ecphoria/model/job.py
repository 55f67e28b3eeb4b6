"""Jobs: work on a tenant's memory that outlives a request."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ecphoria.model.consolidation import ConsolidationReport, GraphSize, Lease, StepReport
from ecphoria.model.ids import JobId, TenantId

__all__ = ["ENDED", "Claimed", "Job", "JobFault", "JobKind", "JobState", "Progress", "Trigger"]


class JobKind(StrEnum):
    """What a job does; a tenant runs one of a kind at a time."""

    CONSOLIDATION = "consolidation"
    DRY_RUN = "dry-run"
    PASSAGES = "passages"


class JobState(StrEnum):
    """Where a job stands; `failed` would fail again, `dead` failed too often."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DEAD = "dead"


ENDED = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED, JobState.DEAD})


class Trigger(StrEnum):
    """What asked for a job."""

    REQUEST = "request"
    SCHEDULE = "schedule"
    START = "start"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a job has come.

    Attributes:
        place: The step and what it is at, as `prior: save episodes`.
        done: Steps that ended; of the job `passages` the turn that it has reached.
        total: Steps, or turns, in all.
        ended: The step that has just ended, where one has.
        before: The graph before the first step, when it was just measured.
        may_rest: Whether the job may be given back here, to go on later; at the end of a step it
            may in any case.
    """

    place: str = ""
    done: int = 0
    total: int = 0
    ended: StepReport | None = None
    before: GraphSize | None = None
    may_rest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFault:
    """Why the latest attempt at a job failed.

    Attributes:
        code: That of the error's class.
        message: What happened and what helps; no memory's text.
    """

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One piece of work, as it stands in the store; instants are the store's own.

    Attributes:
        steps: Which steps of a cycle to run; empty for all.
        attempts: How often a worker began.
        run_after: From when a worker may take it: the end of a pause, or of the lease; None at
            its end.
        started_at: When the first attempt began.
        cancelling: Whether it is to end at the next place it reaches.
        ended: Steps that earlier attempts brought to their end; a new attempt goes on after them.
        before: The graph before the first step, once an attempt has measured it.
        report: What was done, once it is.
        fault: What went wrong at the latest attempt, None if nothing did.
    """

    id: JobId
    tenant: TenantId
    kind: JobKind
    state: JobState
    trigger: Trigger
    steps: tuple[str, ...]
    attempts: int
    created_at: datetime
    run_after: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    cancelling: bool
    progress: Progress
    ended: tuple[StepReport, ...]
    before: GraphSize | None
    report: ConsolidationReport | None
    fault: JobFault | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A job that a worker holds."""

    job: Job
    lease: Lease
