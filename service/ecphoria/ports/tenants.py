"""What administration needs: tenants, keys, listings, health."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ecphoria.model.engram import Engram, EngramKind
from ecphoria.model.episode import Episode
from ecphoria.model.gate import Gate
from ecphoria.model.ids import EpisodeId, KeyId, TenantId
from ecphoria.model.session import Session
from ecphoria.model.tenant import ApiKey, Principal, Tenant, TenantStats

__all__ = ["Archive", "Health", "KeyStore", "TenantStore"]


class Archive(Protocol):
    """Reading what is stored, without a cue."""

    async def episode(self, tenant: TenantId, episode: EpisodeId) -> Episode:
        """Fetch one episode; NotFound if it is not this tenant's."""
        ...

    async def list_episodes(
        self,
        tenant: TenantId,
        *,
        session: str | None,
        concept: str | None,
        occurred_from: datetime | None,
        occurred_before: datetime | None,
        after_turn: int,
        limit: int,
    ) -> Sequence[Episode]:
        """List episodes by turn, from after `after_turn` on (the page's cursor)."""
        ...

    async def list_sessions(
        self, tenant: TenantId, *, after: str | None, limit: int
    ) -> Sequence[Session]:
        """List sessions by name, from after `after` on."""
        ...

    async def list_engrams(
        self, tenant: TenantId, *, kind: EngramKind | None, after: str | None, limit: int
    ) -> Sequence[Engram]:
        """List engrams by id, from after `after` on."""
        ...

    async def stats(self, tenant: TenantId) -> TenantStats:
        """Count the tenant's graph by kind."""
        ...


class TenantStore(Protocol):
    """Owners of memories."""

    async def create(self, tenant: Tenant) -> Tenant:
        """Create a tenant; Conflict if the name is taken."""
        ...

    async def find(self, name: str) -> Tenant:
        """Find a tenant by name; NotFound if there is none."""
        ...

    async def list(self) -> Sequence[Tenant]:
        """List tenants by name."""
        ...

    async def gate(self, tenant: TenantId) -> Gate | None:
        """Find the tenant's own gate, None for the shipped one; NotFound without the tenant."""
        ...

    async def set_gate(self, tenant: TenantId, gate: Gate | None) -> None:
        """Give the tenant its own gate, or the shipped one with None; the next recall uses it."""
        ...

    async def erase(self, tenant: TenantId) -> Mapping[str, int]:
        """Remove a tenant with everything it owns, in bounded transactions; counts per kind."""
        ...


class KeyStore(Protocol):
    """Who may ask; the secret itself is never stored."""

    async def create(self, key: ApiKey, secret_hash: str) -> None:
        """Store a key under its secret's hash; NotFound without the tenant."""
        ...

    async def find(self, secret_hash: str) -> Principal | None:
        """Look up the principal of a live key."""
        ...

    async def list(self, tenant: TenantId | None) -> Sequence[ApiKey]:
        """List the keys of a tenant, or the operator's with None."""
        ...

    async def revoke(self, key: KeyId, revoked_at: datetime) -> None:
        """End a key; NotFound if there is none."""
        ...

    async def count_admins(self) -> int:
        """Count live operator keys with the admin scope."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What the store is and can do.

    Attributes:
        gds: Version of the Graph Data Science plugin, None without it.
        missing: What Ecphoria needs and does not find, as remedies; empty when ready.
    """

    neo4j: str
    edition: str
    gds: str | None
    missing: tuple[str, ...]
