"""Locks of a tenant and leases of a job."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ecphoria.errors import NotFound
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work, require_generation
from ecphoria.records.ids import EpisodeId, JobId, TenantId
from ecphoria.records.job import Lease, LeaseLost
from ecphoria.records.settings import TenantSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """The counters of a tenant, read under its lock.

    Attributes:
        change: Number of changes, by which caches tell whether they are current.
        named: Number of changes that may have changed names, concepts or words in lower case.
        sequence: Number of the last append.
        stated: Number of names and facts that its episodes state.
        timed: Whether any fact has a timeline.
        classes: The tenant's own classes of predicates, as JSON; None if it has none.
        recalls: Number of recalls that were learned from.
        settings: The tenant's settings, if it has any of its own.
        generation: The generation of vectors that the store uses.
        load, loaded: Name of its first load, and the number of items that are done.
    """

    change: int
    named: int
    sequence: int
    stated: int
    timed: bool
    classes: str | None
    recalls: int
    settings: TenantSettings | None
    generation: int
    load: str | None
    loaded: int


LOCK_TENANT = Statement("ingest.lock_tenant", Counters)
UPDATE_TENANT = Statement("ingest.update_tenant", Done)
_FIND_PROPERTY = Statement("tenants.find_property", str)
_SAVE_PROPERTY = Statement("tenants.save_property", TenantId)


def no_tenant(tenant: TenantId) -> NotFound:
    """Make the error of a tenant that does not exist, or is being erased."""
    return NotFound("there is no such tenant", tenant=tenant)


async def lock_tenant(work: Work, tenant: TenantId) -> Counters:
    """Hold the tenant's write lock until the transaction ends (decision 0001).

    Raises:
        NotFound: There is no such tenant.
        EmbedderChanged: The store has changed its embedding model.
    """
    counters = await work.run_one(LOCK_TENANT, tenant=tenant)
    if counters is None:
        raise no_tenant(tenant)
    require_generation(work, counters.generation)
    return counters


async def count_change_beside_names(work: Work, tenant: TenantId) -> None:
    """Take the tenant's lock, and invalidate every cache of its data but the table of names.

    The write must leave every name with its counts, every concept and every word in lower case as
    it is, because the next append uses the same table. Only `apply_changes` writes these.
    """
    nothing = dict.fromkeys(("appended", "items", "titles", "length", "stated"), 0)
    await work.run(UPDATE_TENANT, tenant=tenant, kept=1, **nothing)


async def find_property(graph: Graph | Work, tenant: TenantId, name: str) -> str | None:
    """Find a property that the tenant keeps as text; NotFound without the tenant."""
    found = await graph.run(_FIND_PROPERTY, tenant=tenant, property=name)
    if not found:
        raise no_tenant(tenant)
    return found[0]


async def save_property(work: Work, tenant: TenantId, name: str, value: str) -> None:
    """Keep a property of the tenant as text; NotFound without the tenant."""
    if not await work.run(_SAVE_PROPERTY, tenant=tenant, property=name, value=value):
        raise no_tenant(tenant)


T = TypeVar("T")


_HOLD_LEASE = Statement("jobs.hold_lease", JobId)


async def change_under(
    graph: Graph, lease: Lease | None, name: str, work: Callable[[Work], Awaitable[T]]
) -> T:
    """Run `work` in one write transaction that holds the job's lease until it commits.

    Another worker that claims the job waits for the commit. So no write of a former holder happens
    after the next holder began.

    Raises:
        LeaseLost: The lease is over; nothing was written.
        StoreUnavailable: The server does not answer; nothing was written.
    """

    async def held(inner: Work) -> T:
        await hold_lease(inner, lease)
        return await work(inner)

    return await graph.change(name, held)


async def hold_lease(work: Work, lease: Lease | None) -> None:
    """Hold a job's lease until the transaction ends; LeaseLost if another worker has it."""
    if lease is not None and not await work.run(_HOLD_LEASE, job=lease.job, token=lease.token):
        raise LeaseLost


_MARK_AROUND = Statement("ingest.mark_around", Done)


async def mark_around(work: Work, tenant: TenantId, leaving: Sequence[EpisodeId]) -> None:
    """Mark the neighbours of episodes that are being deleted or made dormant.

    `associate` then computes their nearest neighbours again. Call this before a deletion, but
    after a change of the label.
    """
    await work.run(_MARK_AROUND, tenant=tenant, ids=leaving)
