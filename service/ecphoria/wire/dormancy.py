"""Bodies of dormancy."""

from typing import Annotated

from pydantic import ConfigDict, Field

from ecphoria.model.dormancy import DormancyMode, DormancyPolicy
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

__all__ = [
    "DormancyPolicyAnswer",
    "DormancyPolicyRequest",
    "IdsAnswer",
    "IdsRequest",
    "SleeperAnswer",
    "SleeperPage",
    "SleeperQuery",
]

Days = Annotated[StrictFloat, Field(ge=0, le=36_500, allow_inf_nan=False)]


class DormancyPolicyRequest(Request):
    """How a tenant forgets; what is left out takes its default."""

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
    """How a tenant forgets."""

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
    """Which page of what sleeps to list."""

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
    """What sleeps, in the order it was appended."""

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
