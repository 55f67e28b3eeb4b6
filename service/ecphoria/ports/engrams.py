"""What making engrams needs: turns of sessions and of clusters, and a place for summaries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ecphoria.model.consolidation import Lease
from ecphoria.model.ids import TenantId
from ecphoria.ports.associations import Association
from ecphoria.ports.world import Vector

__all__ = ["ClusterStore", "EngramRow", "EngramStore", "Member", "TouchedSession"]


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
    """A turn, as far as a summary needs it; `length` is its number of stems."""

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
    summary: str
    members: int
    evidence: tuple[str, ...]
    method: str
    formula: int


class EngramStore(Protocol):
    """Reads sessions, and keeps what they come to."""

    async def touched_sessions(self, tenant: TenantId, formula: str) -> Sequence[TouchedSession]:
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
        *,
        final: bool,
    ) -> None:
        """Put an engram, or none, in the place of those of a session; take its mark if final.

        In one transaction under the tenant's write lock. If a turn in its evidence is gone,
        the mark stays and no engram is left.

        Raises:
            LeaseLost: The lease is over; nothing was written.
        """
        ...

    async def keep_engram(
        self, tenant: TenantId, lease: Lease | None, session: TouchedSession
    ) -> None:
        """Take the mark of a session away whose engram is the right one.

        Raises:
            LeaseLost: The lease is over; nothing was written.
        """
        ...

    async def save_formula(self, tenant: TenantId, lease: Lease | None, formula: str) -> None:
        """Record by which formula all engrams of a tenant are made.

        Raises:
            LeaseLost: The lease is over; nothing was written.
        """
        ...


class ClusterStore(Protocol):
    """Reads which memories are alike, and keeps what clusters of them come to."""

    async def similar_pairs(self, tenant: TenantId) -> Sequence[Association]:
        """List every pair joined by nearness, asleep or awake, with that part of its weight."""
        ...

    async def cluster_engrams(self, tenant: TenantId) -> Sequence[str]:
        """List the ids of the engrams of clusters."""
        ...

    async def members_of(self, tenant: TenantId, episodes: Sequence[str]) -> Sequence[Member]:
        """Find memories with what a summary needs, in the order they occurred."""
        ...

    async def save_cluster(
        self, tenant: TenantId, lease: Lease | None, engram: EngramRow, members: Sequence[str]
    ) -> None:
        """Store the engram of a cluster, under the tenant's write lock.

        If a member is gone meanwhile nothing is stored.

        Raises:
            LeaseLost: The lease is over; nothing was written.
        """
        ...

    async def remove_cluster_engrams(
        self, tenant: TenantId, lease: Lease | None, engrams: Sequence[str]
    ) -> None:
        """Delete engrams of clusters, in one transaction.

        Raises:
            LeaseLost: The lease is over; nothing was written.
        """
        ...
