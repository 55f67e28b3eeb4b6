"""Tenants own memories; keys open them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ecphoria.model.ids import KeyId, TenantId

__all__ = ["TENANT_NAME", "ApiKey", "Principal", "Scope", "Tenant", "TenantStats"]


TENANT_NAME = "[a-z0-9][a-z0-9_-]{0,63}"
"""Regular expression of a tenant's whole name."""


class Scope(StrEnum):
    """What a key may do; a wider scope does not include a narrower one."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """An owner of memories; all data belong to exactly one."""

    id: TenantId
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key as it is stored: the secret's hash never leaves the store.

    Attributes:
        tenant: None for an operator's key, which may act for every tenant.
        prefix: The first characters of the key, to tell keys apart.
    """

    id: KeyId
    tenant: TenantId | None
    name: str
    prefix: str
    scopes: frozenset[Scope]
    created_at: datetime
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who is asking."""

    key: KeyId | None
    tenant: TenantId | None
    scopes: frozenset[Scope]


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantStats:
    """Counts of one tenant's graph by kind."""

    episodes: int
    dormant: int
    archived: int
    passages: int
    sessions: int
    speakers: int
    concepts: int
    mentions: int
    abouts: int
    next_edges: int
    terms: int
    traces: int
    change: int
    first_occurred_at: datetime | None
    last_occurred_at: datetime | None
