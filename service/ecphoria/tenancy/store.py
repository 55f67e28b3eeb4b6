"""Store of tenants and API keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog

from ecphoria.errors import Conflict, EcphoriaError, NotFound
from ecphoria.neo4j_store.locks import find_setting, lock_tenant, no_tenant, save_setting
from ecphoria.neo4j_store.rows import gate_of, gate_text
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work
from ecphoria.records.ids import KeyId, TenantId
from ecphoria.records.tenant import ApiKey, Gate, Principal, Scope, Tenant

# Small enough that a batch of episodes with all their edges stays far below the heap.
_BATCH: Final = 1_000
# What is left after one round was written by somebody who does not take the tenant's lock.
_ROUNDS: Final = 5

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TenantRow:
    id: str
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _TenantKey:
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Deleted:
    deleted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Remaining:
    label: str
    nodes: int


class _Left(Exception):
    """Something of the tenant is there: its node must not go yet."""

    def __init__(self, rows: Sequence[_Remaining]) -> None:
        self.counts = {row.label: row.nodes for row in rows}
        super().__init__()


_CREATE_TENANT = Statement("tenants.create_tenant", Done)
_FIND_TENANT = Statement("tenants.find_tenant", _TenantRow)
_LIST_TENANTS = Statement("tenants.list_tenants", _TenantRow)
_START_ERASING = Statement("tenants.start_erasing", _TenantKey)
_DELETE_TENANT = Statement("tenants.delete_tenant", _Deleted)
_COUNT_REMAINING = Statement("tenants.count_remaining", _Remaining)
_ERASE_KIND = Statement("tenants.erase_kind", _Deleted)
# Jobs go first: without its job a worker may write no more. Then traces, whose edges lead to
# nearly everything else.
_KINDS: Final = (
    "jobs", "traces", "engrams", "decisions", "facts", "passages", "episodes", "tombstones",
    "sessions", "speakers", "names", "terms", "words", "items", "keys",
)  # fmt: skip


class Tenants:
    """Store of tenants: owners of memories."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def create(self, tenant: Tenant) -> Tenant:
        """Create a tenant; Conflict if the name is taken."""
        try:
            await self._graph.run(
                _CREATE_TENANT, id=tenant.id, name=tenant.name, created_at=tenant.created_at
            )
        except Conflict as error:
            raise Conflict("a tenant with this name exists", name=tenant.name) from error
        return tenant

    async def find(self, name: str) -> Tenant:
        """Find a tenant by name; NotFound if there is none."""
        row = await self._graph.run_one(_FIND_TENANT, name=name)
        if row is None:
            raise NotFound("there is no tenant with this name", name=name)
        return _to_tenant(row)

    async def list(self) -> Sequence[Tenant]:
        """List tenants by name."""
        return [_to_tenant(row) for row in await self._graph.run(_LIST_TENANTS)]

    async def gate(self, tenant: TenantId) -> Gate | None:
        """Find the tenant's own gate, None for the shipped one; NotFound without the tenant."""
        text = await find_setting(self._graph, tenant, "gate")
        return None if text is None else gate_of(text)

    async def set_gate(self, tenant: TenantId, gate: Gate | None) -> None:
        """Give the tenant its own gate, or the shipped one with None."""
        text = None if gate is None else gate_text(gate)
        await save_setting(self._graph, tenant, "gate", text)

    async def erase(self, tenant: TenantId) -> Mapping[str, int]:
        """Remove a tenant with everything it owns, in bounded transactions; counts per kind.

        From the first step on the tenant takes no more writes; a call that was cut short is
        finished by calling again. The tenant's own node goes last, in a transaction that finds
        nothing else of it under any label.

        Returns:
            The number of nodes deleted by kind, and under `remaining` what that count found: 0.

        Raises:
            NotFound: There is no such tenant.
        """
        if not await self._graph.run(_START_ERASING, tenant=tenant):
            raise no_tenant(tenant)
        counts = dict.fromkeys(_KINDS, 0)
        for _ in range(_ROUNDS):
            for kind in _KINDS:
                counts[kind] += await self._erase(tenant, kind)
            try:
                tenants = await self._delete(tenant)
            except _Left as left:
                log.warning("tenant_not_empty", tenant=tenant, left=left.counts)
            else:
                return {**counts, "tenants": tenants, "remaining": 0}
        raise EcphoriaError("somebody goes on writing for the tenant; erase it again")

    async def _delete(self, tenant: TenantId) -> int:
        """Delete the tenant's node; _Left, and nothing done, if it owns anything."""

        async def delete(work: Work) -> int:
            (last,) = await work.run(_DELETE_TENANT, tenant=tenant)
            if rows := await work.run(_COUNT_REMAINING, tenant=tenant):
                raise _Left(rows)
            return last.deleted

        return await self._graph.change("tenants.delete", delete)

    async def _erase(self, tenant: TenantId, kind: str) -> int:
        total = 0
        while True:
            (batch,) = await self._graph.run(_ERASE_KIND, tenant=tenant, kind=kind, batch=_BATCH)
            total += batch.deleted
            if batch.deleted < _BATCH:
                return total


def _to_tenant(row: _TenantRow) -> Tenant:
    return Tenant(id=TenantId(row.id), name=row.name, created_at=row.created_at)


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
    """Store of API keys, each under the hash of its secret.

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
            key=KeyId(row.id), tenant=_to_owner(row.tenant), scopes=_to_scopes(row.scopes)
        )

    async def list(self, tenant: TenantId | None) -> Sequence[ApiKey]:
        """List the keys of a tenant, or the operator's with None."""
        return [
            ApiKey(
                id=KeyId(row.id),
                tenant=_to_owner(row.tenant),
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


def _to_owner(stored: str | None) -> TenantId | None:
    return None if stored is None else TenantId(stored)


def _to_scopes(stored: Sequence[str]) -> frozenset[Scope]:
    return frozenset(Scope(scope) for scope in stored)
