"""Write for a job only while its lease holds, checked in the write's own transaction."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from ecphoria.graph.executor import Graph, Statement, Work
from ecphoria.model.consolidation import Lease, LeaseLost

__all__ = ["change_under"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    job: str


_HOLD_LEASE = Statement("jobs.hold_lease", _Held)


async def change_under(
    graph: Graph, lease: Lease | None, name: str, work: Callable[[Work], Awaitable[T]]
) -> T:
    """Run `work` in one write transaction, which holds the job's lease until it commits.

    Whoever would take the job waits for the commit, so no write of an earlier holder lands
    after a later one began.

    Raises:
        LeaseLost: The lease is over; nothing was written.
        StoreUnavailable: The server does not answer; nothing was written.
    """

    async def held(inner: Work) -> T:
        if lease is not None and not await inner.run(
            _HOLD_LEASE, job=lease.job, token=lease.token
        ):
            raise LeaseLost
        return await work(inner)

    return await graph.change(name, held)
