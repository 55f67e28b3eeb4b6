"""What making engrams needs: the turns of sessions that changed, and a place for summaries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ecphoria.model.consolidation import Lease
from ecphoria.model.ids import TenantId
from ecphoria.ports.world import Vector

__all__ = ["EngramRow", "EngramStore", "Member", "TouchedSession"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchedSession:
    """A session that changed since its engram was made.

    Attributes:
        mark: The mark a write left on it; empty if none did.
        last_occurred_at: Of its last turn.
        engram: The id of its engram, if it has one.
    """

    name: str
    mark: str
    last_occurred_at: datetime
    engram: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A turn of a session, as far as a summary needs it; `length` is its number of stems."""

    id: str
    body_hash: str
    speaker: str
    text: str
    length: int
    vector: Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class EngramRow:
    """An engram to store.

    Attributes:
        members: How many turns it stands for.
        evidence: The turns whose words are in the summary.
        method: How it was made.
        formula: By which version of that.
    """

    id: str
    session: str
    summary: str
    members: int
    evidence: tuple[str, ...]
    method: str
    formula: int


class EngramStore(Protocol):
    """Reads sessions, and keeps what they come to."""

    async def touched_sessions(self, tenant: TenantId, formula: int) -> Sequence[TouchedSession]:
        """List the sessions that changed, by name; every one if the formula is another."""
        ...

    async def members(self, tenant: TenantId, session: str) -> Sequence[Member]:
        """List a session's turns in order."""
        ...

    async def save_engram(
        self,
        tenant: TenantId,
        lease: Lease | None,
        session: TouchedSession,
        engram: EngramRow | None,
    ) -> None:
        """Put an engram, or none, in the place of those of a session, and take its mark away.

        In one transaction under the tenant's write lock. If a turn in its evidence is gone,
        the mark stays and no engram is left.

        Raises:
            LeaseLost: The lease is over; nothing was written.
        """
        ...

    async def save_formula(self, tenant: TenantId, lease: Lease | None, formula: int) -> None:
        """Record by which formula all engrams of a tenant are made.

        Raises:
            LeaseLost: The lease is over; nothing was written.
        """
        ...
