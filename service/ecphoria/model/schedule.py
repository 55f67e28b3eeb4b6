"""Schedules: when a tenant's memory is consolidated without being asked."""

from dataclasses import dataclass
from datetime import datetime, time

from ecphoria.model.ids import TenantId

__all__ = ["Mark", "Schedule", "Standing"]


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
    """What of a tenant's schedule the store keeps, at one instant of its clock.

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
    """What to keep of a schedule from now on.

    Attributes:
        is_due: Whether a cycle is to be queued.
        steps: Which steps it runs; all if empty.
    """

    is_due: bool
    scheduled_turn: int
    light_turn: int
    due_at: datetime | None
    steps: tuple[str, ...] = ()
