"""Stores of tenants and keys, and the health of the server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ecphoria.model.gate import Gate
from ecphoria.model.ids import KeyId, TenantId
from ecphoria.model.tenant import ApiKey, Principal, Tenant

__all__ = ["Health", "KeyStore", "TenantStore"]


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
