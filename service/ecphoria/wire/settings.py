"""Bodies of settings: a patch of a tenant's own, and those in force."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, Strict, model_validator
from pydantic.config import JsonDict

from ecphoria.records.asked import (
    Flat,
    Instant,
    Share,
    StrictBool,
    StrictFloat,
    StrictInt,
    told_as,
)
from ecphoria.records.settings import (
    Choice,
    DormancyMode,
    DormancyPolicy,
    EpisodeCount,
    ExpiryPolicy,
    Hours,
    LearningSwitch,
    Minutes,
    Schedule,
    Stability,
    TimeOfDay,
    Trial,
)
from ecphoria.records.strategy import ShadowReport
from ecphoria.records.tenant import Gate, known_evidence
from ecphoria.wire.base import Answer, Patch, Request

_GATE: JsonDict = {
    "weights": {"share": 8.1, "coverage": 1.9, "unheard": -1.2},
    "bias": -0.4,
    "threshold": 0.24,
    "verify_below": 0.4,
}
_PATCH: JsonDict = {
    "dormancy": {"budget": 5_000, "second_look": True},
    "schedule": {"every_episodes": 200, "daily_at": "03:30"},
    "expiry": None,
}


Weight = Annotated[StrictFloat, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
Days = Annotated[StrictFloat, Field(ge=0, le=36_500, allow_inf_nan=False)]


class FitBody(Request):
    """The origin of a gate, and its quality on questions left out of the fit."""

    questions: StrictInt = Field(ge=1)
    """Questions it was fitted on."""
    unanswerable: StrictInt = Field(ge=1)
    """Of these, questions without an answer."""
    auroc: Share
    """Share of pairs of a question with an answer and one without in which the one with an
    answer has the higher confidence."""
    refused: Share
    """Share of the questions without an answer that the threshold refuses."""
    false_refusals: Share
    """Share of the questions with an answer that the threshold refuses."""
    data_sha256: str = Field(pattern="^[0-9a-f]{64}$")
    """SHA-256 of the labelled file."""
    fitted_at: Instant
    """Time of the fit."""


class GateRequest(Request, json_schema_extra={"examples": [_GATE]}):
    """A gate of the tenant's own; `ecphoria calibrate` writes one."""

    weights: Annotated[dict[str, Weight], AfterValidator(known_evidence)] = Field(min_length=1)
    """Weights, by the names in the `evidence` of a recall."""
    bias: Weight
    """Log-odds of an answer without any evidence."""
    threshold: Share
    """Below this confidence a recall is refused."""
    verify_below: Share
    """Below this the answer should quote its evidence; at least `threshold`."""
    fit: FitBody | None = None
    """Origin of the gate, and its quality."""

    @model_validator(mode="after")
    def _cuts_in_order(self) -> Self:
        if self.verify_below < self.threshold:
            raise ValueError("`verify_below` must be at least `threshold`")
        return self


class DormancyRequest(Request):
    """The rules of dormancy; a change applies from the next consolidation."""

    mode: DormancyMode | None = None
    """`off`; `budget`: consolidation keeps at most `budget` memories live, those most worth
    keeping; `threshold`: it makes memories dormant that a recall would hardly find."""
    budget: Annotated[StrictInt, Field(ge=1, le=100_000_000)] | None = None
    """Live memories to keep; 10,000 by default."""
    quiet_days: Days | None = None
    """Memories stay live for this many days after their append and after a recall woke them; 7 by
    default."""
    archive_days: (
        Annotated[
            Days | Literal["never"], told_as("Send a number of days from 0 to 36,500, or `never`.")
        ]
        | None
    ) = None
    """After this many days as dormant a memory goes to the archive; 90 by default."""
    second_look: StrictBool | None = None
    """Search dormant memories too when the gate refuses a cue."""
    stability: Stability | None = None
    """Days that a memory lasts if it is never recalled: `uniform`, 30; `by_kind`, 30 for turns
    and notes (episodic), 150 for documents (semantic), 300 for what a tool said (procedural);
    `printed`, 1, 5 and 10. Each recall adds in proportion."""


class ExpiryRequest(Request):
    """The default life of a tenant's episodes; it applies from the next append."""

    days: Annotated[StrictFloat, Field(gt=0, le=36_500, allow_inf_nan=False)] | None = None
    """An episode that is appended without `expires_at` expires after this many days; null for
    never. Stored episodes keep their own end."""


class LearningRequest(Request):
    """Learning from recalls."""

    on: StrictBool | None = None
    """Whether recalls change the memories that they return. When it is switched off, what was
    learned stays, and recalls that wait to be learned from are dropped."""


class ScheduleRequest(Request):
    """The tenant's own schedule; an empty one runs no cycles, null is the service's."""

    every_episodes: Annotated[EpisodeCount, Strict()] | None = None
    """Run a cycle after this number of appended episodes."""
    every_hours: Annotated[Hours, Strict()] | None = None
    """Run a cycle this number of hours after the last one that time started."""
    daily_at: TimeOfDay | None = None
    """Run a cycle at this time of each day in UTC, such as `03:30`."""
    idle_minutes: Annotated[Minutes, Strict()] | None = None
    """Minutes without an append or a recall, after which one cycle runs for new memories."""
    light_episodes: Annotated[EpisodeCount, Strict()] | None = None
    """Run a light cycle after this number of appended episodes: `expire`, `merge`, `engrams`,
    `associate`, `supersede`."""
    light_idle_minutes: Annotated[Minutes, Strict()] | None = None
    """Minutes without an append or a recall that a light cycle waits for."""


class TrialRequest(Request):
    """A strategy to try in the shadow of the live one; its report begins anew."""

    strategy: str = Field(min_length=1)
    """Name of the strategy; `GET /v1/strategies` lists them."""
    options: dict[str, Flat] = Field(default_factory=dict)
    """The strategy's own parameters, `preset` among them."""
    share: Share = 0.1
    """Share of the cues to run it on. The same cue is always in it, or never."""


class SettingsRequest(Patch, json_schema_extra={"examples": [_PATCH]}):
    """A change of a tenant's own settings (JSON merge patch).

    A section changes the fields that it has; null resets a field, or a whole section, to the
    default. `gate` and `trial` are replaced as a whole.
    """

    gate: GateRequest | None = None
    """The gate that judges the tenant's recalls; null for the shipped ones."""
    dormancy: DormancyRequest | None = None
    """The rules by which memories become dormant and go to the archive."""
    expiry: ExpiryRequest | None = None
    """The default life of new episodes."""
    learning: LearningRequest | None = None
    """Learning from recalls."""
    schedule: ScheduleRequest | None = None
    """When consolidation runs; an empty object for never, null for the service's schedule."""
    trial: TrialRequest | None = None
    """The strategy to try in the shadow of the live one; null for none."""

    def values(self) -> Mapping[str, Any]:
        """Give what was sent, as JSON."""
        return self.model_dump(mode="json", exclude_unset=True)


class SettingsAnswer(Answer):
    """The settings in force."""

    gate: Gate
    """The gate that judges the tenant's recalls; the shipped one judges cues that name a
    speaker, and a second one the others."""
    dormancy: DormancyPolicy
    """The rules by which memories become dormant and go to the archive."""
    expiry: ExpiryPolicy
    """The default life of new episodes."""
    learning: LearningSwitch
    """Learning from recalls."""
    schedule: Schedule
    """When consolidation runs."""
    trial: Trial | None = None
    """The strategy in the shadow of the live one."""
    own: tuple[str, ...]
    """Keys of what the tenant has set, such as `dormancy.budget`; all else is the default."""
    next_cycle_at: Instant | None = None
    """Time of the next cycle; null without a schedule by time."""


class TrialAnswer(Answer):
    """The tenant's default strategy, and the one on trial."""

    live: Choice
    """Strategy of recalls that name none."""
    promoted: tuple[Choice, ...]
    """Promoted strategies, the latest last; empty for the service's default."""
    trial: Trial | None = None
    """Strategy on trial; null for none."""
    report: ShadowReport
    """Comparison of the two."""
