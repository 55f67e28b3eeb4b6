"""What proposing and deciding merges needs: names alike, and a place for proposals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ecphoria.model.consolidation import Lease
from ecphoria.model.ids import TenantId
from ecphoria.model.merge import Merge, MergeStatus

__all__ = ["AlikeNames", "Compared", "MergeStore"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlikeNames:
    """Two concepts with nearly the same words, not compared yet, by their normalised names."""

    one: str
    other: str
    kind: str
    other_kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What came of comparing two names; `reason` is empty if they are two."""

    names: AlikeNames
    cosine: float
    reason: str


class MergeStore(Protocol):
    """Reads names that are alike, and keeps what is proposed and decided about them."""

    async def alike(self, tenant: TenantId) -> Sequence[AlikeNames]:
        """List the pairs not compared yet, in order."""
        ...

    async def propose(
        self, tenant: TenantId, lease: Lease | None, compared: Sequence[Compared]
    ) -> None:
        """Record comparisons and propose the merges among them, in one transaction.

        Raises:
            LeaseLost: The lease is over; nothing was written.
        """
        ...

    async def merges(
        self,
        tenant: TenantId,
        *,
        status: MergeStatus | None,
        after: tuple[str, str],
        limit: int,
    ) -> Sequence[Merge]:
        """List merges by their names, from after a pair on."""
        ...

    async def decide(
        self, tenant: TenantId, one: str, other: str, status: MergeStatus
    ) -> Merge | None:
        """Accept or reject a merge, or undo that, and mark the facts told of either.

        None if there is no such proposal.

        Raises:
            NotFound: There is no such tenant.
        """
        ...
