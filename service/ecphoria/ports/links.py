"""What keeping association edges in bounds needs: what they learned, and which are too many."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ecphoria.model.consolidation import Lease
from ecphoria.model.ids import TenantId

__all__ = ["LearnedLink", "Link", "LinkStore", "Weakened"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An association edge: `edge` is its type, the smaller id stands first."""

    edge: str
    one: str
    other: str
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedLink:
    """An association edge on which something was learned.

    Attributes:
        similar: Its part by nearness.
        lift: Its part by mentions together.
        learned: What was learned, as it was when last used.
        age_days: Since it was last used.
        weight: As it was last written.
    """

    edge: str
    one: str
    other: str
    similar: float
    lift: float
    learned: float
    age_days: float
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Weakened:
    """What an edge has left.

    Attributes:
        link: The edge, with its new weight.
        was: What was learned when it was read; if that has changed, it is left alone.
        learned: What is left of it, as of the last use.
    """

    link: Link
    was: float
    learned: float


class LinkStore(Protocol):
    """Reads association edges, and weakens and removes them."""

    async def learned(self, tenant: TenantId, now: datetime) -> Sequence[LearnedLink]:
        """List the edges on which something was learned, by type and ends."""
        ...

    async def weaken(
        self, tenant: TenantId, lease: Lease | None, links: Sequence[Weakened]
    ) -> None:
        """Store what edges have left, in one transaction.

        Raises:
            LeaseLost: The lease is over; nothing was written.
        """
        ...

    async def surplus(self, tenant: TenantId, keep: int) -> Sequence[Link]:
        """List the edges outside the `keep` strongest of either end, weakest first.

        Edges are ordered by weight, by when they were last used or else made, and by id; those
        of weight 0 take nobody's place.
        """
        ...

    async def expired(self, tenant: TenantId, before: datetime) -> Sequence[Link]:
        """List the edges of weight 0, which only count, not used since an instant."""
        ...

    async def remove(self, tenant: TenantId, lease: Lease | None, links: Sequence[Link]) -> None:
        """Remove edges, in one transaction.

        Raises:
            LeaseLost: The lease is over; nothing was written.
        """
        ...
