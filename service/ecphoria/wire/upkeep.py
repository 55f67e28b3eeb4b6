"""Bodies of upkeep: jobs, consolidation, dormancy, archive, integrity."""

from datetime import time
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from ecphoria.records.job import JobKind, JobState, Schedule, StepStatus, Trigger
from ecphoria.records.upkeep import DormancyMode, DormancyPolicy, EngramKind, Rule
from ecphoria.wire.base import (
    Answer,
    FewFaults,
    Instant,
    Parameters,
    Request,
    StrictBool,
    StrictFloat,
    StrictInt,
)


class ArchiveRequest(Request):
    """Episodes to archive now."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"days": 30}]})

    days: Annotated[StrictFloat, Field(ge=0, le=36_500, allow_inf_nan=False)] = 90.0
    """Only what has slept for so many days."""


class ArchiveAnswer(Answer):
    """The number of archived episodes."""

    archived: int
    """How many memories."""


class RestoreAnswer(Answer):
    """The restored episodes; they are dormant, as before."""

    restored: tuple[str, ...]
    """Ids of what came back."""
    damaged: tuple[str, ...]
    """Ids of what cannot: the record is missing or not as it was written."""


class ScrubAnswer(Answer):
    """The result of verifying the archive."""

    records: int
    """Archived memories looked at."""
    damaged: tuple[str, ...]
    """Ids of those whose record is missing or not as it was written."""
    unreferenced: int
    """Records that no memory refers to; consolidation wipes them."""


class ChangeAnswer(Answer):
    """One thing a step did, or would do."""

    kind: str
    """What happens to it, a verb."""
    id: str
    """What is changed."""
    detail: str
    """From what to what, and why."""


class StepAnswer(Answer):
    """The report of a step; of a dry run, the planned changes."""

    name: str
    """The step: `merge` proposes concepts that are likely one, `engrams` summarises sessions,
    `associate` joins what is alike, `prior` ranks every node by PageRank, `decay` weakens what
    was learned and not used, `prune` removes what a node has too much of, `dormancy` and `archive`
    forget, `supersede` lays out facts in time, `replay` looks at a sample again,
    `clusters` summarises what is alike."""
    status: StepStatus
    """`done`, or `skipped` with its `reason`."""
    seconds: float
    """How long it took."""
    counts: dict[str, int]
    """What it touched, by kind."""
    changes: tuple[ChangeAnswer, ...] = ()
    """The first hundred changes, one by one, where the step tells them."""
    reason: str
    """Why it was skipped and what helps; empty when done."""
    degraded: tuple[str, ...] = ()
    """What it did in a lesser way, and why."""


class GraphSizeAnswer(Answer):
    """The size of the graph; a dry run and a cycle of some steps give the turn only."""

    turn: int
    """Episodes appended until then."""
    nodes: dict[str, int]
    """Nodes by label; one has several."""
    edges: dict[str, int]
    """Edges by type, those of traces left out."""
    faulty_edges: int
    """Edges without weight or family: 0, or the doctor has something to say."""


class DegreesAnswer(Answer):
    """Associations of one type that a live node has: the least number so many stay within."""

    p50: int
    """Half of the nodes."""
    p90: int
    """Nine tenths."""
    p99: int
    """All but one in a hundred."""
    most: int
    """All."""


class GapAnswer(Answer):
    """One cue that was refused again and again."""

    refused: int
    """How often."""
    traces: tuple[str, ...]
    """The latest of these recalls, the newest first; each trace has the cue."""


class ConsolidationAnswer(Answer):
    """The report of a cycle; of a dry run, the planned changes."""

    cycle: str
    """Its id; what it wrote bears it."""
    started_at: Instant
    """When it began."""
    seconds: float
    """How long its last attempt took."""
    steps: tuple[StepAnswer, ...]
    """Its steps in their order."""
    before: GraphSizeAnswer | None = None
    """The graph when the first attempt began."""
    after: GraphSizeAnswer | None = None
    """The graph when the last step had ended."""
    degrees: dict[str, DegreesAnswer] = Field(default_factory=dict)
    """Associations of a node at the end, by type."""
    degraded: tuple[str, ...] = ()
    """What was missing, by step: it was left out, or done in a lesser way."""
    gaps: tuple[GapAnswer, ...] = ()
    """Cues refused three times or more since the last cycle of all steps, the most refused
    first."""


class SymptomAnswer(Answer):
    """One place where a rule is broken."""

    id: str
    """A node's id, a name, a stem or a total."""
    detail: str
    """What is wrong with it."""


class FindingAnswer(Answer):
    """A rule that is broken somewhere."""

    rule: Rule
    """Which one: `GET /v1/doctor` checks them all."""
    found: int
    """How many places there are."""
    symptoms: tuple[SymptomAnswer, ...]
    """The first of them."""


class CheckupAnswer(Answer):
    """The result of a check of the graph."""

    is_healthy: bool
    """Tell whether every rule holds."""
    episodes: int
    """How many episodes were looked at."""
    settled: bool
    """Whether nothing was written meanwhile; else findings may be of the moment: ask again."""
    seconds: float
    """How long it took."""
    findings: tuple[FindingAnswer, ...]
    """What is wrong, by rule."""


Days = Annotated[StrictFloat, Field(ge=0, le=36_500, allow_inf_nan=False)]


class DormancyPolicyRequest(Request):
    """The dormancy policy of a tenant; omitted fields take their defaults."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"mode": "budget", "budget": 5_000, "second_look": True}]}
    )

    mode: DormancyMode = DormancyMode.BUDGET
    """`off`; `budget`: consolidation keeps at most `budget` memories live, the most worth
    keeping; `threshold`: it puts to sleep what can hardly be called back."""
    budget: StrictInt = Field(default=10_000, ge=1, le=100_000_000)
    """Live memories to keep."""
    quiet_days: Days = 7.0
    """Younger memories, and those that a recall woke since, stay awake."""
    archive_days: Days | None = 90.0
    """After so many days asleep a memory goes to the archive; null for never."""
    second_look: StrictBool = False
    """Look among what sleeps when the gate refuses a cue."""

    def to_model(self) -> DormancyPolicy:
        """Hand over the policy."""
        return DormancyPolicy(**{name: getattr(self, name) for name in type(self).model_fields})


class DormancyPolicyAnswer(Answer):
    """The dormancy policy of a tenant."""

    mode: DormancyMode
    """`off`, `budget` or `threshold`."""
    budget: int
    """Live memories to keep."""
    quiet_days: float
    """Younger memories, and those that a recall woke since, stay awake."""
    archive_days: float | None = None
    """After so many days asleep a memory goes to the archive; absent for never."""
    second_look: bool
    """Whether what sleeps is looked at when the gate refuses a cue."""


class SleeperQuery(Parameters):
    """Page of dormant episodes."""

    cursor: int = Field(default=0, ge=0, le=2**62)
    """`next_cursor` of the page before."""
    limit: int = Field(default=100, ge=1, le=1_000)
    """Size of the page."""


class SleeperAnswer(Answer):
    """A dormant memory."""

    id: str
    """Its id."""
    text: str
    """What it says."""
    speaker: str | None = None
    """Who said it."""
    session: str | None = None
    """The session it belongs to."""
    occurred_at: Instant
    """When it was so."""
    dormant_at: Instant
    """When it was put to sleep."""
    reason: str
    """Why."""


class SleeperPage(Answer):
    """Dormant episodes, in the order of their append."""

    sleepers: tuple[SleeperAnswer, ...]
    """The page."""
    next_cursor: int | None = None
    """Send it as `cursor` for the next page; absent on the last."""


class IdsRequest(Request):
    """Episodes by id."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"ids": ["0b6e2f7c9d4a4c1f8e3b5a7d9c0e1f2a"]}]}
    )

    ids: Annotated[tuple[str, ...], FewFaults] = Field(min_length=1)
    """At most 1,000."""


class IdsAnswer(Answer):
    """The episodes that were changed; those that were so already, or are unknown, are not."""

    ids: tuple[str, ...]
    """Their ids."""


class EngramAnswer(Answer):
    """A summary of a session, or of a cluster of similar memories."""

    id: str
    """Its id, a hash of what it is of: the same members have the same."""
    kind: EngramKind
    """`session` or `cluster`."""
    session: str | None = None
    """The session; absent for a cluster."""
    summary: str
    """A few lines."""
    members: int
    """How many memories it stands for."""
    evidence: tuple[str, ...]
    """The episodes whose words are in it, in the order they were appended."""
    method: str
    """How it was made: `extractive`, or `llm:` and the model's name."""
    recorded_at: Instant
    """When it was made."""


class EngramQuery(Parameters):
    """Filter and page of engrams."""

    kind: EngramKind | None = None
    """Only those of sessions, or of clusters."""
    cursor: str | None = None
    """`next_cursor` of the page before."""
    limit: int = Field(default=100, ge=1, le=1_000)
    """Size of the page."""


class EngramPage(Answer):
    """Engrams by id."""

    engrams: tuple[EngramAnswer, ...]
    """The page."""
    next_cursor: str | None = None
    """Send it as `cursor` for the next page; absent on the last."""


_EXAMPLE: JsonDict = {"dry_run": True}
_SCHEDULE: JsonDict = {"every_episodes": 200, "daily_at": "03:30"}


class ConsolidationRequest(Request):
    """The cycle to run."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    dry_run: StrictBool = False
    """Tell what would change, and write nothing."""
    steps: tuple[str, ...] = Field(default=(), max_length=32)
    """Steps to run, in the cycle's own order; all if empty."""


class ProgressAnswer(Answer):
    """The progress of a job."""

    place: str
    """The step and what it is at, as `prior: save episodes`; empty before the first."""
    done: int
    """Steps that ended; of `passages` the turn that it has reached."""
    total: int
    """Steps, or turns, in all; 0 before the first."""


class FaultAnswer(Answer):
    """Why the latest attempt failed."""

    code: str
    """That of the error; `GET /errors/{code}` explains it."""
    message: str
    """What happened and what helps."""


class JobAnswer(Answer):
    """A piece of background work, as it stands."""

    id: str
    """Its id."""
    kind: JobKind
    """`consolidation`, `dry-run`, which writes nothing, or `passages`, which cuts long episodes
    from before there were passages."""
    state: JobState
    """`queued` (also between attempts), `running`, `done`, `cancelled`, `failed` (refused: another
    attempt would end the same) or `dead` (failed as often as it was allowed to)."""
    trigger: Trigger
    """What asked for it: `request`, `schedule`, or `start`: the service did when it started."""
    steps: tuple[str, ...]
    """Steps it runs; all if empty."""
    attempts: int
    """How often a worker began it."""
    created_at: Instant
    """When it was queued."""
    run_after: Instant | None = None
    """From when a worker may take it: the end of a pause, or of the present lease."""
    started_at: Instant | None = None
    """When it was first begun."""
    finished_at: Instant | None = None
    """When it ended."""
    cancelling: bool
    """Whether it ends at the next place it reaches."""
    progress: ProgressAnswer
    """How far it has come."""
    report: ConsolidationAnswer | None = None
    """What it did, once it is done."""
    fault: FaultAnswer | None = None
    """Why its latest attempt failed."""


class ScheduleRequest(Request):
    """When to run a cycle without being asked; each that is set asks for one, none means never."""

    model_config = ConfigDict(json_schema_extra={"examples": [_SCHEDULE]})

    every_episodes: StrictInt | None = Field(default=None, ge=1, le=1_000_000_000)
    """After so many appended episodes."""
    every_hours: StrictFloat | None = Field(default=None, ge=0.01, le=8_760, allow_inf_nan=False)
    """So many hours after the last by time."""
    daily_at: str | None = Field(default=None, pattern=r"^([01]\d|2[0-3]):[0-5]\d$")
    """At this time of each day in UTC, as `03:30`."""
    idle_minutes: StrictFloat | None = Field(default=None, ge=0.1, le=10_080, allow_inf_nan=False)
    """When for so many minutes nothing was appended or recalled, once for what is new."""
    light_episodes: StrictInt | None = Field(default=None, ge=1, le=1_000_000_000)
    """After so many appended episodes a light cycle: `merge`, `engrams`, `associate`,
    `supersede`."""

    def to_model(self) -> Schedule:
        """Hand over the schedule."""
        return Schedule(
            every_episodes=self.every_episodes,
            every_hours=self.every_hours,
            daily_at=None if self.daily_at is None else time.fromisoformat(self.daily_at),
            idle_minutes=self.idle_minutes,
            light_episodes=self.light_episodes,
        )


class ScheduleAnswer(Answer):
    """When cycles run without being asked."""

    own: bool
    """Whether it is the tenant's own; else the service's."""
    every_episodes: int | None = None
    """After so many appended episodes; absent: however many."""
    every_hours: float | None = None
    """So many hours after the last by time; absent: never by that."""
    daily_at: str | None = None
    """At this time of each day in UTC; absent: never by that."""
    idle_minutes: float | None = None
    """When so long nothing was appended or recalled; absent: never by that."""
    light_episodes: int | None = None
    """A light cycle after so many appended episodes; absent: however many."""
    next_at: Instant | None = None
    """When the next is due by time; absent without a schedule by time."""
    episodes_since: int
    """Episodes appended since a whole cycle was last due."""
