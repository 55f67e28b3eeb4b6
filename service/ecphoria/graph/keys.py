"""API keys, known by the hash of their secret."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ecphoria.errors import NotFound
from ecphoria.graph.executor import Done, Graph, Statement, Work
from ecphoria.graph.tenant_lock import lock_tenant
from ecphoria.model.ids import KeyId, TenantId
from ecphoria.model.tenant import ApiKey, Principal, Scope

__all__ = ["Keys"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _PrincipalRow:
    id: str
    tenant: str | None
    scopes: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeyRow:
    id: str
    tenant: str | None
    name: str
    prefix: str
    scopes: list[str]
    created_at: datetime
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Revoked:
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Admins:
    admins: int


_CREATE_KEY = Statement("keys.create_key", Done)
_FIND_PRINCIPAL = Statement("keys.find_principal", _PrincipalRow)
_LIST_KEYS = Statement("keys.list_keys", _KeyRow)
_REVOKE_KEY = Statement("keys.revoke_key", _Revoked)
_COUNT_ADMINS = Statement("keys.count_admins", _Admins)


class Keys:
    """Who may ask; implements `ports.tenants.KeyStore`.

    An operator's key belongs to the empty tenant in the store, so that an index finds it.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def create(self, key: ApiKey, secret_hash: str) -> None:
        """Store a key under its secret's hash; NotFound without the tenant."""

        async def add(work: Work) -> None:
            if key.tenant is not None:
                # Held until the commit, so that an erasure either sees this key or prevents it.
                await lock_tenant(work, key.tenant)
            await work.run(
                _CREATE_KEY,
                id=key.id,
                tenant=key.tenant or "",
                name=key.name,
                prefix=key.prefix,
                scopes=sorted(scope.value for scope in key.scopes),
                hash=secret_hash,
                created_at=key.created_at,
            )

        await self._graph.change("keys.create", add)

    async def find(self, secret_hash: str) -> Principal | None:
        """Look up the principal of a live key."""
        row = await self._graph.run_one(_FIND_PRINCIPAL, hash=secret_hash)
        if row is None:
            return None
        return Principal(
            key=KeyId(row.id), tenant=_to_tenant(row.tenant), scopes=_to_scopes(row.scopes)
        )

    async def list(self, tenant: TenantId | None) -> Sequence[ApiKey]:
        """List the keys of a tenant, or the operator's with None."""
        return [
            ApiKey(
                id=KeyId(row.id),
                tenant=_to_tenant(row.tenant),
                name=row.name,
                prefix=row.prefix,
                scopes=_to_scopes(row.scopes),
                created_at=row.created_at,
                revoked_at=row.revoked_at,
            )
            for row in await self._graph.run(_LIST_KEYS, tenant=tenant or "")
        ]

    async def revoke(self, key: KeyId, revoked_at: datetime) -> None:
        """End a key; NotFound if there is none."""
        if not await self._graph.run(_REVOKE_KEY, id=key, revoked_at=revoked_at):
            raise NotFound("there is no such key", key=key)

    async def count_admins(self) -> int:
        """Count live operator keys with the admin scope."""
        (row,) = await self._graph.run(_COUNT_ADMINS)
        return row.admins


def _to_tenant(stored: str | None) -> TenantId | None:
    return None if stored is None else TenantId(stored)


def _to_scopes(stored: Sequence[str]) -> frozenset[Scope]:
    return frozenset(Scope(scope) for scope in stored)
