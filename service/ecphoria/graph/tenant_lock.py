"""A tenant's own node: its write lock, its counters and its settings."""

from dataclasses import dataclass

from ecphoria.errors import NotFound
from ecphoria.graph.executor import Done, Graph, Statement, Work
from ecphoria.model.ids import TenantId

__all__ = [
    "LOCK_TENANT",
    "UPDATE_TENANT",
    "Counters",
    "count_change",
    "find_setting",
    "lock_tenant",
    "no_tenant",
    "save_setting",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """What a tenant counts, read under its lock."""

    change: int
    turn: int
    stated: int
    timed: bool
    classes: str | None
    recalls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _TenantKey:
    id: str


LOCK_TENANT = Statement("ingest.lock_tenant", Counters)
UPDATE_TENANT = Statement("ingest.update_tenant", Done)
_FIND_SETTING = Statement("tenants.find_setting", _Setting)
_SAVE_SETTING = Statement("tenants.save_setting", _TenantKey)


def no_tenant(tenant: TenantId) -> NotFound:
    """Make the error of a tenant that does not exist, or is being erased."""
    return NotFound("there is no such tenant", tenant=tenant)


async def lock_tenant(work: Work, tenant: TenantId) -> Counters:
    """Hold the tenant's write lock until the transaction ends; NotFound without the tenant."""
    counters = await work.run_one(LOCK_TENANT, tenant=tenant)
    if counters is None:
        raise no_tenant(tenant)
    return counters


async def count_change(work: Work, tenant: TenantId) -> None:
    """Take the tenant's lock, and tell every cache that what recall reads is about to change."""
    nothing = dict.fromkeys(("turns", "items", "titles", "length", "stated"), 0)
    await work.run(UPDATE_TENANT, tenant=tenant, near_length=0.0, **nothing)


async def find_setting(graph: Graph, tenant: TenantId, setting: str) -> str | None:
    """Find a setting that the tenant keeps as text; NotFound without the tenant."""
    row = await graph.run_one(_FIND_SETTING, tenant=tenant, setting=setting)
    if row is None:
        raise no_tenant(tenant)
    return row.value


async def save_setting(
    graph: Graph | Work, tenant: TenantId, setting: str, value: str | None
) -> None:
    """Keep a setting, or none; NotFound without the tenant."""
    if not await graph.run(_SAVE_SETTING, tenant=tenant, setting=setting, value=value):
        raise no_tenant(tenant)
