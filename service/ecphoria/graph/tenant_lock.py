"""A tenant's write lock, the counters under it, and the change that every cache hangs on."""

from dataclasses import dataclass

from ecphoria.errors import NotFound
from ecphoria.graph.executor import Done, Statement, Work
from ecphoria.model.ids import TenantId

__all__ = ["LOCK_TENANT", "UPDATE_TENANT", "Counters", "count_change", "lock_tenant", "no_tenant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """What a tenant counts, read under its lock."""

    change: int
    turn: int
    stated: int
    timed: bool
    classes: str | None
    recalls: int


LOCK_TENANT = Statement("ingest.lock_tenant", Counters)
UPDATE_TENANT = Statement("ingest.update_tenant", Done)


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
