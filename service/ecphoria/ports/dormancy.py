"""What dormancy needs: what decides over a memory, and a place for its state."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ecphoria.model.consolidation import Lease
from ecphoria.model.dormancy import DormancyPolicy, Sleeper
from ecphoria.model.ids import EpisodeId, TenantId

__all__ = ["Candidate", "DormancyStore"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A live memory that nobody pinned; instants are milliseconds since 1970.

    Attributes:
        prior: None without an edge, or before the first cycle.
        stability, used_ms: Days it lasts, and its last use; None before the first.
        working, lasting, chain_ms: The memory chain and when it held; None before the first use.
        woken_ms: The latest kept recall that woke it, if any.
        facts: Live facts it is evidence of, each with the number of live episodes that are.
    """

    id: EpisodeId
    turn: int
    occurred_ms: int
    importance: float
    prior: float | None
    stability: float | None
    used_ms: int | None
    working: float | None
    lasting: float | None
    chain_ms: int | None
    woken_ms: int | None
    facts: Sequence[tuple[str, int]]


class DormancyStore(Protocol):
    """Keeps what sleeps apart from what is live."""

    async def policy(self, tenant: TenantId) -> DormancyPolicy:
        """Find how the tenant forgets; NotFound without the tenant."""
        ...

    async def set_policy(self, tenant: TenantId, policy: DormancyPolicy) -> None:
        """Keep how the tenant forgets; NotFound without the tenant."""
        ...

    async def count_live(self, tenant: TenantId) -> int:
        """Count the live episodes."""
        ...

    async def candidates(
        self, tenant: TenantId, before: datetime, after_turn: int, limit: int
    ) -> Sequence[Candidate]:
        """List live episodes recorded before an instant that nobody pinned, by turn."""
        ...

    async def put_to_sleep(
        self,
        tenant: TenantId,
        reasons: Sequence[tuple[EpisodeId, str]],
        now: datetime,
        lease: Lease | None = None,
    ) -> Sequence[EpisodeId]:
        """Make live episodes dormant in one transaction; name those that were.

        Raises:
            NotFound: There is no such tenant, or it is being erased; nothing was written.
            LeaseLost: The lease is over; nothing was written.
        """
        ...

    async def sleepers(self, tenant: TenantId, after_turn: int, limit: int) -> Sequence[Sleeper]:
        """List what sleeps, by turn."""
        ...

    async def pin(self, tenant: TenantId, episode: EpisodeId, *, pinned: bool) -> None:
        """Never put an episode to sleep, or no longer mind; NotFound without it."""
        ...
