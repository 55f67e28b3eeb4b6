"""The settings of a tenant: one record with a section for each concern."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field

from ecphoria.records.answered import answered
from ecphoria.records.asked import told_as
from ecphoria.records.recall import OptionValue
from ecphoria.records.tenant import Gate

Never = Literal["never"]

EpisodeCount = Annotated[int, Field(ge=1, le=1_000_000_000)]
Hours = Annotated[float, Field(ge=0.01, le=8_760, allow_inf_nan=False)]
TimeOfDay = Annotated[
    str,
    Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$"),
    told_as("Write a time of the day from 00:00 to 23:59, such as 03:30."),
]
Minutes = Annotated[float, Field(ge=0.1, le=10_080, allow_inf_nan=False)]
"""Values of a schedule, from the API and from the environment."""


@answered("options")
@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A strategy with its options."""

    strategy: str
    """Its name."""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    """Its parameters that were set."""


class DormancyMode(StrEnum):
    """The mode of dormancy: when consolidation makes memories dormant."""

    OFF = "off"
    BUDGET = "budget"
    THRESHOLD = "threshold"


class Stability(StrEnum):
    """Days until a memory that was never recalled can be called back with 1/e."""

    UNIFORM = "uniform"
    """30 for every memory."""
    BY_KIND = "by_kind"
    """30 for episodic, 150 for semantic, 300 for procedural memories."""
    PRINTED = "printed"
    """1, 5 and 10: NeuromemoryAI 3.5."""


@answered("mode", "budget", "quiet_days", "archive_days", "second_look", "stability")
@dataclass(frozen=True, slots=True, kw_only=True)
class DormancyPolicy:
    """The rules by which memories become dormant and go to the archive."""

    mode: DormancyMode = DormancyMode.BUDGET
    """`off`, `budget` or `threshold`."""
    budget: int = 10_000
    """Live memories to keep."""
    quiet_days: float = 7.0
    """Younger memories, and those that a recall woke since, stay awake."""
    archive_days: float | Never = 90.0
    """After so many days asleep a memory goes to the archive, or `never`."""
    second_look: bool = False
    """Whether dormant memories are searched after the gate refuses a cue."""
    stability: Stability = Stability.UNIFORM
    """`uniform`, `by_kind` or `printed`: how long a memory of each kind lasts."""


@answered("days")
@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryPolicy:
    """The default life of a tenant's episodes."""

    days: float | None = None
    """Days from its append until an episode expires that came without `expires_at`; null for
    never."""


@answered("on")
@dataclass(frozen=True, slots=True, kw_only=True)
class LearningSwitch:
    """Learning from recalls."""

    on: bool = False
    """Whether recalls change the memories that they return."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When to run a cycle; each field that is set starts cycles, and without any none runs."""

    every_episodes: int | None = None
    """Run a cycle after this number of appended episodes; null: off."""
    every_hours: float | None = None
    """Run a cycle this number of hours after the last one that time started; null: off."""
    daily_at: str | None = None
    """Run a cycle at this time of each day in UTC, as `03:30`; null: off."""
    idle_minutes: float | None = None
    """Minutes without an append or a recall, after which one cycle runs for new memories; null:
    off."""
    light_episodes: int | None = None
    """Run a light cycle, of the steps that read only new episodes, after this number of appended
    episodes; null: off."""
    light_idle_minutes: float | None = None
    """Minutes without an append or a recall that a light cycle waits for; null: it does not
    wait."""


@answered("options", "share")
@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A strategy on trial: it runs in the shadow of the live one, and answers nothing."""

    strategy: str
    """Its name."""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    """Its parameters that were set."""
    share: float = 0.1
    """Share of the cues it runs on, 0 to 1; a cue is always in it or never."""

    @property
    def choice(self) -> Choice:
        """The strategy without its share."""
        return Choice(strategy=self.strategy, options=self.options)


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantSettings:
    """The settings of a tenant; what it has not set is the default.

    Attributes:
        gate: None for the shipped gates.
        schedule: None for the service's.
        trial: None if no strategy is on trial.
        promoted: Strategies that were promoted, the latest last and in force; the service's
            default if there is none.
    """

    gate: Gate | None = None
    dormancy: DormancyPolicy = DormancyPolicy()
    expiry: ExpiryPolicy = ExpiryPolicy()
    learning: LearningSwitch = LearningSwitch()
    schedule: Schedule | None = None
    trial: Trial | None = None
    promoted: tuple[Choice, ...] = ()

    @property
    def live(self) -> Choice | None:
        """The strategy promoted last; None means the service's default."""
        return self.promoted[-1] if self.promoted else None


Values = Mapping[str, object]
"""An object of JSON."""

WHOLE: Final = frozenset({"gate", "trial", "promoted"})
"""Sections that a patch replaces, because their parts only make sense together."""


def merge(own: Values, patch: Values) -> Values:
    """Merge a patch into a tenant's own settings (RFC 7396): null removes a member.

    >>> merge({"dormancy": {"budget": 5}}, {"dormancy": {"mode": "off", "budget": None}})
    {'dormancy': {'mode': 'off'}}
    >>> merge({"schedule": {"every_hours": 6}}, {"schedule": None, "learning": {"on": True}})
    {'learning': {'on': True}}
    """
    merged = dict(own)
    for name, values in patch.items():
        if name in WHOLE or not isinstance(values, Mapping):
            merged[name] = values
        else:
            before = own.get(name)
            both = {**before, **values} if isinstance(before, Mapping) else values
            merged[name] = {key: value for key, value in both.items() if value is not None}
    # An empty schedule runs no cycles; any other empty section is the default.
    return {
        name: values
        for name, values in merged.items()
        if values or (name == "schedule" and values is not None)
    }


def keys_of(own: Values) -> tuple[str, ...]:
    """List the keys of settings, such as `dormancy.budget`; a section set as a whole has one.

    >>> keys_of({"gate": {"bias": 1.0}, "expiry": {"days": 9.0}, "schedule": {}})
    ('expiry.days', 'gate', 'schedule')
    """
    keys = (
        [f"{section}.{name}" for name in values]
        if isinstance(values, Mapping) and values and section not in WHOLE
        else [section]
        for section, values in own.items()
        if section != "promoted"
    )
    return tuple(sorted(key for some in keys for key in some))
