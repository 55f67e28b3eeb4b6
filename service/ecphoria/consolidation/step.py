"""What a step of consolidation is, and the cycle it belongs to."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from ecphoria.model.consolidation import Lease, Outcome
from ecphoria.model.ids import TenantId

__all__ = ["TOLD", "Cycle", "Skipped", "Step"]

T = TypeVar("T")

TOLD = 100
"""Changes that a step tells one by one."""


class Skipped(Exception):
    """A step cannot be done here; the message tells why and what would help."""


async def _go_on(_: str) -> None:
    """Let a cycle pass that nobody watches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """One pass over a tenant's memory.

    Attributes:
        id: Names it in what it writes.
        now: The one instant at which it judges ages, aware UTC.
        lease: The right every write is checked against, in the write's own transaction; None
            where no job stands behind the cycle.
        dry_run: Whether to tell what would change, and write nothing.
        reached: Called between chunks with the name of the place. Who watches the cycle tells
            its progress there, renews the lease, and may end it by raising.
    """

    id: str
    tenant: TenantId
    now: datetime
    lease: Lease | None = None
    dry_run: bool = False
    reached: Callable[[str], Awaitable[None]] = _go_on

    async def chunks(
        self, items: Sequence[T], size: int, place: str
    ) -> AsyncIterator[Sequence[T]]:
        """Go through items in parts, each after the place is reached."""
        for first in range(0, len(items), size):
            await self.reached(place)
            yield items[first : first + size]


class Step(Protocol):
    """One pass over a tenant's graph; running it again changes nothing.

    It writes in chunks, each a transaction that leaves a valid graph, so that a cycle cut
    short anywhere is completed by running it again.
    """

    name: str

    async def run(self, cycle: Cycle) -> Outcome:
        """Do it, or in a dry run find out what would be done.

        Raises:
            Skipped: It cannot be done here.
            LeaseLost: Another worker has taken the job; nothing more was written.
        """
        ...
