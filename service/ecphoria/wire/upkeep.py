"""Bodies of upkeep: jobs, consolidation, dormancy, archive, integrity."""

from datetime import time
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from ecphoria.records.calibration import Calibration
from ecphoria.records.episode import Engram, EngramKind
from ecphoria.records.job import (
    ConsolidationReport,
    JobFault,
    JobKind,
    JobState,
    Schedule,
    Trigger,
)
from ecphoria.records.upkeep import (
    ArchivedMemory,
    DormancyMode,
    DormancyPolicy,
    ExpiryPolicy,
    Sleeper,
    Stability,
)
from ecphoria.wire.base import (
    Answer,
    FewFaults,
    Instant,
    Key,
    Listing,
    Parameters,
    Request,
    StrictBool,
    StrictFloat,
    StrictInt,
    TurnCursor,
)


class ArchiveRequest(Request):
    """Episodes to archive now."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"days": 30}]})

    days: Annotated[StrictFloat, Field(ge=0, le=36_500, allow_inf_nan=False)] = 90.0
    """Only what has slept for so many days."""


class ArchiveAnswer(Answer):
    """The number of archived episodes."""

    archived: int
    """Number of memories."""


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
    """Search dormant memories too when the gate refuses a cue."""
    stability: Stability = Stability.UNIFORM
    """Days that a memory lasts which was never recalled: `uniform`, 30; `by_kind`, 30 for turns
    and notes (episodic), 150 for documents (semantic), 300 for what a tool said (procedural);
    `printed`, 1, 5 and 10. Each recall adds in proportion."""

    def to_model(self) -> DormancyPolicy:
        """Hand over the policy."""
        return DormancyPolicy(**{name: getattr(self, name) for name in type(self).model_fields})


class ExpiryRequest(Request):
    """The default life of a tenant's episodes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"days": 365}]})

    days: Annotated[StrictFloat, Field(gt=0, le=36_500, allow_inf_nan=False)] | None
    """Days from its append until an episode expires that came without `expires_at`; null for
    never. Episodes that are stored already keep theirs."""

    def to_model(self) -> ExpiryPolicy:
        """Hand over the policy."""
        return ExpiryPolicy(days=self.days)


class SleeperQuery(Parameters):
    """Page of dormant episodes."""

    cursor: TurnCursor | None = None
    """`next_cursor` of the page before."""
    limit: int = Field(default=100, ge=1, le=1_000)
    """Size of the page."""


class SleeperPage(Listing[Sleeper]):
    """Dormant episodes, in the order of their append."""


class ArchivedQuery(SleeperQuery):
    """Filter and page of archived episodes."""

    session: Key | None = None
    """Only those of this session."""
    speaker: Key | None = None
    """Only those of this speaker, in any case of letters."""


class ArchivedPage(Listing[ArchivedMemory]):
    """Archived episodes, in the order of their append."""


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


class EngramQuery(Parameters):
    """Filter and page of engrams."""

    kind: EngramKind | None = None
    """Only those of sessions, or of clusters."""
    cursor: str | None = None
    """`next_cursor` of the page before."""
    limit: int = Field(default=100, ge=1, le=1_000)
    """Size of the page."""


class EngramPage(Listing[Engram]):
    """Engrams by id."""


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
    """Steps that ended."""
    total: int
    """Steps in all; 0 before the first."""


class JobAnswer(Answer):
    """A piece of background work, as it stands."""

    id: str
    """Its id."""
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
    created_at: Instant
    """Time at which it was queued."""
    run_after: Instant | None = None
    """From when a worker may take it: the end of a pause, or of the present lease."""
    started_at: Instant | None = None
    """Time of the first attempt."""
    finished_at: Instant | None = None
    """Time of its end."""
    cancelling: bool
    """Whether it was cancelled and stops at its next checkpoint."""
    progress: ProgressAnswer
    """Its progress."""
    report: ConsolidationReport | None = None
    """Report of a cycle, once it is done."""
    calibration: Calibration | None = None
    """The fitted gate of a calibration, once it is done."""
    fault: JobFault | None = None
    """Why its latest attempt failed."""


class JobList(Listing[JobAnswer]):
    """Jobs, the newest first."""


class ScheduleRequest(Request):
    """When to run a cycle without being asked; each that is set asks for one, none means never."""

    model_config = ConfigDict(json_schema_extra={"examples": [_SCHEDULE]})

    every_episodes: StrictInt | None = Field(default=None, ge=1, le=1_000_000_000)
    """Run a cycle after this number of appended episodes."""
    every_hours: StrictFloat | None = Field(default=None, ge=0.01, le=8_760, allow_inf_nan=False)
    """Run a cycle this number of hours after the last one that time started."""
    daily_at: str | None = Field(default=None, pattern=r"^([01]\d|2[0-3]):[0-5]\d$")
    """At this time of each day in UTC, as `03:30`."""
    idle_minutes: StrictFloat | None = Field(default=None, ge=0.1, le=10_080, allow_inf_nan=False)
    """Minutes without an append or a recall, after which one cycle runs for new memories."""
    light_episodes: StrictInt | None = Field(default=None, ge=1, le=1_000_000_000)
    """Run a light cycle after this number of appended episodes: `expire`, `merge`, `engrams`,
    `associate`, `supersede`."""

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
    """The schedule of cycles."""

    own: bool
    """Whether it is the tenant's own; else the service's."""
    every_episodes: int | None = None
    """Run a cycle after this number of appended episodes; absent: off."""
    every_hours: float | None = None
    """Run a cycle this number of hours after the last one that time started; absent: off."""
    daily_at: str | None = None
    """Run a cycle at this time of each day in UTC; absent: off."""
    idle_minutes: float | None = None
    """Minutes without an append or a recall before a cycle; absent: off."""
    light_episodes: int | None = None
    """Run a light cycle after this number of appended episodes; absent: off."""
    next_at: Instant | None = None
    """Time of the next cycle; absent without a schedule by time."""
    episodes_since: int
    """Episodes appended since a whole cycle was last due."""
