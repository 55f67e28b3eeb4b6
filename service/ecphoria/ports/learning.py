"""What learning needs: traces that wait, what recalls left on memories, one transaction."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeVar

from ecphoria.model.ids import EpisodeId, TenantId, TraceId
from ecphoria.model.learning import Charge, Learning, Link, Use
from ecphoria.model.recall import Trace

__all__ = [
    "Effects",
    "Histories",
    "Judgement",
    "LearningStore",
    "LearningTransaction",
    "Woken",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What one recall changes: the state of memories as it is afterwards.

    Attributes:
        recalls: 1 if the tenant's count of recalls grows, 0 if the recall found nothing.
    """

    recalls: int = 0
    uses: Mapping[EpisodeId, Use] = field(default_factory=dict)
    links: Sequence[Link] = ()
    charges: Mapping[EpisodeId, Charge] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Woken:
    """A hit of a trace whose memory is still there.

    Attributes:
        useful: How it was judged before, None if it was not.
        counted: Whether the recall counts its first hits as used, or did.
        role: Who stated it: user, assistant, tool, system.
        salience: As it is now.
        rewards, penalties: Judgements so far that it was useful, and that it was not.
        on: Whether the tenant learns.
    """

    id: EpisodeId
    rank: int
    useful: bool | None
    counted: bool
    role: str | None
    salience: float
    rewards: int
    penalties: int
    on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """How a hit is judged, and what that makes of the memory.

    Attributes:
        first: Reliability before any judgement.
    """

    id: EpisodeId
    useful: bool
    first: float
    rewards: int
    penalties: int
    salience: float


class Histories(Protocol):
    """Reading what recalls left on memories."""

    async def uses(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, Use]:
        """Tell how episodes were used; those that are gone are absent."""
        ...

    async def charges(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, Charge]:
        """Tell the charges of episodes; those never stimulated are absent."""
        ...


class LearningTransaction(Protocol):
    """One transaction under the tenant's write lock."""

    @property
    def recalls(self) -> int:
        """Recalls the tenant learned from before."""
        ...

    async def trace(self, trace: TraceId) -> Trace | None:
        """Load a trace; None if its effects are not due: applied, dropped, or switched off."""
        ...

    async def hits(self, trace: TraceId) -> frozenset[EpisodeId]:
        """Tell what a trace returned, erased memories too; NotFound without the trace."""
        ...

    async def woken(self, trace: TraceId) -> Sequence[Woken]:
        """List the hits of a trace whose memories are there, best first."""
        ...

    async def judge(
        self, trace: TraceId, judgements: Sequence[Judgement], uses: Mapping[EpisodeId, Use]
    ) -> None:
        """Store judgements, and the uses they count as."""
        ...

    async def uses(self, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, Use]:
        """Tell how episodes were used; those that are gone are absent."""
        ...

    async def links(self, ids: Sequence[EpisodeId]) -> Sequence[Link]:
        """List the links with something learned at these episodes, and all between them."""
        ...

    async def charges(
        self, ids: Sequence[EpisodeId], fresh: Callable[[int], Charge]
    ) -> Mapping[EpisodeId, Charge]:
        """Tell the charges of episodes, those never stimulated as `fresh` makes them of a turn."""
        ...

    async def write(self, trace: Trace, effects: Effects) -> None:
        """Store the effects and take the trace off the queue."""
        ...


class LearningStore(Protocol):
    """The queue of traces and the state that recalls leave."""

    async def find(self, tenant: TenantId) -> Learning:
        """Tell whether the tenant learns; NotFound without the tenant."""
        ...

    async def switch(self, tenant: TenantId, *, on: bool, now: datetime) -> None:
        """Let recalls from now on be learned from, or none; off also empties the queue.

        Raises:
            NotFound: There is no such tenant.
        """
        ...

    async def waiting(self) -> Sequence[TenantId]:
        """List the tenants with traces on the queue."""
        ...

    async def pending(self, tenant: TenantId, limit: int) -> Sequence[TraceId]:
        """List the traces on a tenant's queue, oldest first."""
        ...

    async def change(
        self, tenant: TenantId, work: Callable[[LearningTransaction], Awaitable[T]]
    ) -> T:
        """Run `work` in one transaction under the tenant's write lock.

        It is run again from the start when the server asks for a retry, and committed when it
        returns.

        Raises:
            NotFound: There is no such tenant.
            Unavailable: The store does not answer; nothing was written.
        """
        ...

    async def give_up(self, tenant: TenantId, trace: TraceId) -> None:
        """Take a trace off the queue whose effects cannot be told."""
        ...
