"""Jobs, their schedules and reports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, time
from enum import StrEnum

from ecphoria.records.ids import JobId, TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When to run a cycle; each that is set asks for one, and none means never.

    Attributes:
        every_episodes: After so many appended episodes.
        every_hours: So long after the last by time.
        daily_at: At this time of each day, in UTC.
        idle_minutes: When so long nothing was appended or recalled, once for what is new.
        light_episodes: After so many appended episodes a light cycle, of the steps that are about
            what is new.
    """

    every_episodes: int | None = None
    every_hours: float | None = None
    daily_at: time | None = None
    idle_minutes: float | None = None
    light_episodes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The stored state of a tenant's schedule, at an instant of the store's clock.

    Attributes:
        own: The tenant's own schedule; None for the service's.
        turn: Episodes appended so far.
        scheduled_turn: What `turn` was when a whole cycle was last due.
        light_turn: What it was when a cycle was last due, whole or light.
        due_at: When the next is due by time; None before it is reckoned.
        active_at: When something was last appended or recalled; None if nothing was.
        now: The store's clock.
    """

    tenant: TenantId
    own: Schedule | None
    turn: int
    scheduled_turn: int
    light_turn: int
    due_at: datetime | None
    active_at: datetime | None
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The next state of a tenant's schedule.

    Attributes:
        is_due: Whether a cycle is to be queued.
        steps: Which steps it runs; all if empty.
    """

    is_due: bool
    scheduled_turn: int
    light_turn: int
    due_at: datetime | None
    steps: tuple[str, ...] = ()


class LeaseLost(Exception):
    """A write came after its job's lease was over; another worker has the job, or may take it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to write for a job, until it expires or another worker takes the job.

    Attributes:
        token: Grows each time the job is claimed, so that an earlier holder is told apart.
    """

    job: str
    token: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing a step did, or would do.

    Attributes:
        kind: What happens to it, a verb: `retire`, `link`, `prune`.
        id: What is changed.
        detail: From what to what and why, in words; ids, no memory's text and no name. Who reads
            the report of a job is told the names that the concepts have then.
    """

    kind: str
    id: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The counts of a step; of a dry run, the planned ones.

    Attributes:
        counts: What was touched, by kind.
        changes: The first of the changes, one by one; a step tells a hundred at most.
        degraded: What was done in a lesser way, and why.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    degraded: tuple[str, ...] = ()


class StepStatus(StrEnum):
    """The end of a step: done, skipped or failed."""

    DONE = "done"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """The report of one step.

    Attributes:
        counts: What it touched, by kind.
        changes: The first of the changes, one by one.
        reason: Why it was skipped, with the remedy; empty when done.
        degraded: What it did in a lesser way, and why.
    """

    name: str
    status: StepStatus
    seconds: float
    counts: Mapping[str, int] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    reason: str = ""
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSize:
    """The size of a tenant's graph.

    Attributes:
        turn: Episodes appended until then.
        nodes: By label; a node has several. Empty in a cycle of some steps, and in a dry run.
        edges: By type, those of traces left out.
        faulty_edges: Of these the ones without weight or family.
    """

    turn: int
    nodes: Mapping[str, int] = field(default_factory=dict)
    edges: Mapping[str, int] = field(default_factory=dict)
    faulty_edges: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Degrees:
    """Associations of one type that live nodes have: the least number that so many stay within.

    Attributes:
        p50, p90, p99: Half of the nodes, nine tenths, all but one in a hundred.
        most: All.
    """

    p50: int
    p90: int
    p99: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """One cue that was refused again and again; who may read the traces finds its text there.

    Attributes:
        refused: How often.
        traces: The latest of these recalls, the newest first.
    """

    refused: int
    traces: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationReport:
    """The report of one cycle, step by step.

    Attributes:
        seconds: Of work, that of steps which earlier attempts ended included.
        before: The graph when the first attempt began; None in reports of older versions.
        after: The graph when the last step had ended.
        degrees: By type of association, at the end.
        gaps: Cues refused three times or more since the last whole cycle, the most refused first.
    """

    cycle: str
    started_at: datetime
    seconds: float
    steps: tuple[StepReport, ...]
    before: GraphSize | None = None
    after: GraphSize | None = None
    degrees: Mapping[str, Degrees] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()

    @property
    def degraded(self) -> tuple[str, ...]:
        """List what was missing, by step: the step was skipped, or done in a reduced way."""
        return tuple(
            f"{step.name}: {reason}"
            for step in self.steps
            for reason in ((step.reason,) if step.reason else step.degraded)
        )


class JobKind(StrEnum):
    """The kind of a job; a tenant runs one job of a kind at a time."""

    CONSOLIDATION = "consolidation"
    DRY_RUN = "dry-run"
    PASSAGES = "passages"


class JobState(StrEnum):
    """The state of a job; `failed` would fail again, `dead` failed too often."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DEAD = "dead"


ENDED = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED, JobState.DEAD})


class Trigger(StrEnum):
    """The origin of a job."""

    REQUEST = "request"
    SCHEDULE = "schedule"
    START = "start"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a job.

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
