"""Jobs, their schedules and reports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from ecphoria.records.answered import Internal, answered
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
    """The end of a step: done or skipped."""

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


@answered("place", "done", "total")
@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a job."""

    place: str = ""
    """The step and what it is at, as `prior: save episodes`; empty before the first."""
    done: int = 0
    """Steps that ended."""
    total: int = 0
    """Steps in all; 0 before the first."""
    ended: Internal[StepReport | None] = None
    """The step that has just ended, where one has."""
    before: Internal[GraphSize | None] = None
    """The graph before the first step, when it was just measured."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class JobFault:
    """Why the latest attempt failed."""

    code: str
    """Code of the error; `GET /errors/{code}` explains it."""
    message: str
    """The failure and its remedy."""


_UNTOLD: Final = TenantId("")
"""The owner of a job in a client, which is not told it."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A piece of background work, as it stands; instants are the store's own."""

    id: JobId
    """Its id."""
    tenant: Internal[TenantId] = _UNTOLD
    """Its owner."""
    kind: JobKind
    """`consolidation`, `dry-run`, which writes nothing, or `calibration` of the gate."""
    state: JobState
    """`queued` (also between attempts), `running`, `done`, `cancelled`, `failed` (refused: another
    attempt would end the same) or `dead` (failed as often as it was allowed to)."""
    trigger: Trigger
    """Origin: `request` or `schedule`."""
    steps: tuple[str, ...]
    """Steps of a cycle that it runs; all if empty."""
    attempts: int
    """Number of attempts."""
    created_at: datetime
    """Time at which it was queued."""
    run_after: datetime | None = None
    """From when a worker may take it: the end of a pause, or of the present lease."""
    started_at: datetime | None = None
    """Time of the first attempt."""
    finished_at: datetime | None = None
    """Time of its end."""
    cancelling: bool
    """Whether it was cancelled and stops at its next checkpoint."""
    progress: Progress
    """Its progress."""
    ended: Internal[tuple[StepReport, ...]] = ()
    """Steps that earlier attempts brought to their end; a new attempt goes on after them."""
    before: Internal[GraphSize | None] = None
    """The graph before the first step, once an attempt has measured it."""
    report: ConsolidationReport | None = None
    """Report of a cycle, once it is done."""
    calibration: Calibration | None = None
    """The fitted gate of a calibration, once it is done."""
    calibration_options: Internal[CalibrationOptions | None] = None
    """Options of a calibration; None for other kinds of jobs."""
    fault: JobFault | None = None
    """Why its latest attempt failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A job that a worker holds."""

    job: Job
    lease: Lease
