"""Bodies of jobs."""

from datetime import time

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from ecphoria.model.job import JobKind, JobState, Trigger
from ecphoria.model.schedule import Schedule
from ecphoria.wire.base import Answer, Instant, Request, StrictBool, StrictFloat, StrictInt
from ecphoria.wire.consolidation import ConsolidationAnswer

__all__ = [
    "ConsolidationRequest",
    "FaultAnswer",
    "JobAnswer",
    "ProgressAnswer",
    "ScheduleAnswer",
    "ScheduleRequest",
]

_EXAMPLE: JsonDict = {"dry_run": True}
_SCHEDULE: JsonDict = {"every_episodes": 200, "daily_at": "03:30"}


class ConsolidationRequest(Request):
    """Which cycle to run."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    dry_run: StrictBool = False
    """Tell what would change, and write nothing."""
    steps: tuple[str, ...] = Field(default=(), max_length=32)
    """Steps to run, in the cycle's own order; all if empty."""


class ProgressAnswer(Answer):
    """How far a job has come."""

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
