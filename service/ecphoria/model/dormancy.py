"""How a tenant forgets, and what sleeps."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ecphoria.model.ids import EpisodeId

__all__ = ["DormancyMode", "DormancyPolicy", "Sleeper"]


class DormancyMode(StrEnum):
    """When consolidation puts memories to sleep."""

    OFF = "off"
    BUDGET = "budget"
    THRESHOLD = "threshold"


@dataclass(frozen=True, slots=True, kw_only=True)
class DormancyPolicy:
    """How a tenant forgets.

    Attributes:
        mode: `budget` keeps the live memories at `budget`, the most worth keeping; `threshold`
            puts to sleep what can hardly be called back, however few there are.
        budget: Live memories to keep.
        quiet_days: Younger memories, and those that a recall woke since, stay awake.
        archive_days: After so many days asleep a memory goes to the archive; None for never.
        second_look: Look among what sleeps when the gate refuses a cue.
    """

    mode: DormancyMode = DormancyMode.BUDGET
    budget: int = 10_000
    quiet_days: float = 7.0
    archive_days: float | None = 90.0
    second_look: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sleeper:
    """A dormant memory, and why it sleeps."""

    id: EpisodeId
    turn: int
    text: str
    speaker: str | None
    session: str | None
    occurred_at: datetime
    dormant_at: datetime
    reason: str
