"""Owners of memories: made, found, and erased with all they own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog

from ecphoria.errors import Conflict, EcphoriaError, NotFound
from ecphoria.graph.executor import Done, Graph, Statement, Work
from ecphoria.graph.gates import gate_of, gate_text
from ecphoria.graph.tenant_lock import find_setting, no_tenant, save_setting
from ecphoria.model.gate import Gate
from ecphoria.model.ids import TenantId
from ecphoria.model.tenant import Tenant

__all__ = ["Tenants"]

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
    "sessions", "speakers", "names", "terms", "words", "keys",
)  # fmt: skip


class Tenants:
    """Owners of memories; implements `ports.tenants.TenantStore`."""

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
