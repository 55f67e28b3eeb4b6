"""Jobs, their schedules and reports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from ecphoria.records.answered import answered
from ecphoria.records.calibration import Calibration, CalibrationOptions
from ecphoria.records.ids import JobId, TenantId
from ecphoria.records.settings import Schedule, TenantSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleState:
    """The stored state of a tenant's schedule, at an instant of the store's clock.

    Attributes:
        settings: The tenant's settings, if it has any of its own.
        turn: Episodes appended so far.
        scheduled_turn: What `turn` was when a whole cycle was last due.
        light_turn: What it was when a cycle was last due, whole or light.
        due_at: When the next is due by time; None before it is reckoned.
        active_at: When something was last appended or recalled; None if nothing was.
        now: The store's clock.
    """

    tenant: TenantId
    settings: TenantSettings | None
    turn: int
    scheduled_turn: int
    light_turn: int
    due_at: datetime | None
    active_at: datetime | None
    now: datetime

    @property
    def own(self) -> Schedule | None:
        """The tenant's own schedule; None for the service's."""
        return None if self.settings is None else self.settings.schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleMark:
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


@answered("detail")
@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change that a step made, or would make."""

    kind: str
    """The action, a verb."""
    id: str
    """Id of the changed node."""
    detail: str = ""
    """From what to what, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutcome:
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


@answered("counts", "reason")
@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """The report of a step; of a dry run, the planned changes."""

    name: str
    """The step: `expire` erases what has reached the end of its life, `extract` reads names and
    facts by a language model, `embed` gives concepts vectors, `merge` proposes concepts that are
    likely one, `engrams` summarises sessions, `associate` joins what is alike, `prior` ranks every
    node by PageRank, `decay` weakens what was learned and not used, `prune` removes what a node
    has too much of, `dormancy` and `archive` forget, `supersede` lays out facts in time, `replay`
    looks at a sample again, `clusters` summarises what is alike."""
    status: StepStatus
    """`done`, or `skipped` with its `reason`."""
    seconds: float
    """Duration, in seconds."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Counts of its work, by kind."""
    changes: tuple[Change, ...] = ()
    """The first hundred changes, one by one, where the step tells them."""
    reason: str = ""
    """Why it was skipped and what helps; empty when done."""
    degraded: tuple[str, ...] = ()
    """Reduced work, with the reason."""


@answered("nodes", "edges", "faulty_edges")
@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSize:
    """The size of the graph; a dry run and a cycle of some steps give the turn only."""

    turn: int
    """Episodes appended until then."""
    nodes: Mapping[str, int] = field(default_factory=dict)
    """Nodes by label; one has several."""
    edges: Mapping[str, int] = field(default_factory=dict)
    """Edges by type, those of traces left out."""
    faulty_edges: int = 0
    """Edges without weight or family: 0, or the doctor has something to say."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Degrees:
    """Associations of one type that a live node has: the least number so many stay within."""

    p50: int
    """Half of the nodes."""
    p90: int
    """Nine tenths."""
    p99: int
    """All but one in a hundred."""
    most: int
    """All."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """One cue that was refused again and again."""

    refused: int
    """Number of times."""
    traces: tuple[str, ...]
    """The latest of these recalls, the newest first; each trace has the cue."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationReport:
    """The report of a cycle; of a dry run, the planned changes."""

    cycle: str
    """Its id; what it wrote bears it."""
    started_at: datetime
    """Time of its start."""
    seconds: float
    """Working time in seconds, steps of earlier attempts included."""
    steps: tuple[StepReport, ...]
    """Its steps in their order."""
    before: GraphSize | None = None
    """The graph when the first attempt began."""
    after: GraphSize | None = None
    """The graph when the last step had ended."""
    degrees: Mapping[str, Degrees] = field(default_factory=dict)
    """Associations of a node at the end, by type."""
    gaps: tuple[Gap, ...] = ()
    """Cues refused three times or more since the last cycle of all steps, the most refused
    first."""

    degraded: tuple[str, ...] = ()
    """Skipped or reduced work, by step, with the reason."""

    def __post_init__(self) -> None:
        """Gather the missing parts from the steps."""
        missing = (
            f"{step.name}: {reason}"
            for step in self.steps
            for reason in ((step.reason,) if step.reason else step.degraded)
        )
        object.__setattr__(self, "degraded", tuple(missing))


JobReport = ConsolidationReport | Calibration
"""The report of a finished job; its class depends on the kind of the job."""


class JobKind(StrEnum):
    """The kind of a job; a tenant runs one job of a kind at a time."""

    CONSOLIDATION = "consolidation"
    DRY_RUN = "dry-run"
    CALIBRATION = "calibration"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a job.

    Attributes:
        place: The step and what it is at, as `prior: save episodes`.
        done: Steps that ended.
        total: Steps in all.
        ended: The step that has just ended, where one has.
        before: The graph before the first step, when it was just measured.
    """

    place: str = ""
    done: int = 0
    total: int = 0
    ended: StepReport | None = None
    before: GraphSize | None = None


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class JobFault:
    """Why the latest attempt failed."""

    code: str
    """Code of the error; `GET /errors/{code}` explains it."""
    message: str
    """The failure and its remedy."""


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
        report: What a cycle did, once it is done.
        calibration: What a calibration found, once it is done.
        calibration_options: How to calibrate; None of other kinds.
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
    calibration: Calibration | None = None
    calibration_options: CalibrationOptions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A job that a worker holds."""

    job: Job
    lease: Lease
