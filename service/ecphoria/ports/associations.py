"""What associating needs: who is near whom, what is mentioned together, which edges there are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ecphoria.model.consolidation import Lease
from ecphoria.model.ids import TenantId

__all__ = [
    "Association",
    "AssociationStore",
    "Companion",
    "Crowd",
    "Near",
    "NearReader",
    "Progress",
    "Touched",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a tenant is associated.

    Attributes:
        turn: Its last turn now.
        items: Its episodes now.
        associated_turn: Episodes up to this turn have been associated.
        associated_total: The total the lifts were computed with.
    """

    turn: int
    items: int
    associated_turn: int
    associated_total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """A node whose surroundings changed since it was associated.

    Attributes:
        turn: Of an episode; 0 of a concept.
        mark: The mark that a write left on it; a later write leaves another. Empty if it is new.
    """

    id: str
    turn: int
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A live episode beside another.

    Attributes:
        of, of_turn: The other.
    """

    of: str
    of_turn: int
    id: str
    turn: int
    cosine: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """How many episodes are near one, and what it takes to be among its nearest.

    Attributes:
        size: No fewer than are near it, or more than its nearest can be: not all of many are
            fetched, and one that comes back is counted again.
        cosine, turn: Of the last among its nearest, if there are others behind it; else None.
    """

    id: str
    size: int
    cosine: float | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """A concept mentioned together with another.

    Attributes:
        joint: Episodes that mention both.
        mentions: Episodes that mention the one.
        other_mentions: Episodes that mention the other.
    """

    of: str
    id: str
    joint: int
    mentions: int
    other_mentions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Association:
    """An edge between two nodes of a kind, the smaller id first, and one part of its weight."""

    one: str
    other: str
    part: float


class NearReader(Protocol):
    """Reads the surroundings of episodes."""

    async def near(
        self, tenant: TenantId, episodes: Sequence[str], *, fetch: int, above: float
    ) -> Sequence[Near]:
        """Search around live episodes: `fetch` each, of these the ones with enough cosine.

        By episode as asked, then nearest first, ties by turn. None is its own neighbour.
        """
        ...

    async def similar(self, tenant: TenantId, episodes: Sequence[str]) -> Sequence[Association]:
        """List the edges of these episodes to live ones that have a part by nearness."""
        ...

    async def crowds(self, tenant: TenantId, episodes: Sequence[str]) -> Sequence[Crowd]:
        """Read what was stored of the crowds of these; whoever was never searched has none."""
        ...


class AssociationStore(NearReader, Protocol):
    """Reads the surroundings of nodes, and keeps the edges that come of them."""

    async def progress(self, tenant: TenantId) -> Progress:
        """Tell how far the tenant is associated."""
        ...

    async def touched_episodes(self, tenant: TenantId, after: int) -> Sequence[Touched]:
        """List episodes after a turn, and those that a write has marked, by turn."""
        ...

    async def touched_concepts(self, tenant: TenantId, *, every: bool) -> Sequence[Touched]:
        """List the concepts that a write has marked, or every one, by id."""
        ...

    async def companions(
        self, tenant: TenantId, concepts: Sequence[str], *, least: int, most: int
    ) -> Sequence[Companion]:
        """List what is mentioned `least` times together with each of these concepts.

        Concepts with more than `most` mentions have no companions and are none.
        """
        ...

    async def associated(self, tenant: TenantId, concepts: Sequence[str]) -> Sequence[Association]:
        """List the edges of these concepts that have a part by lift."""
        ...

    async def save_similar(
        self,
        tenant: TenantId,
        lease: Lease | None,
        *,
        now: datetime,
        edges: Sequence[Association],
        crowds: Sequence[Crowd] = (),
        done: Sequence[Touched] = (),
    ) -> None:
        """Give edges their part by nearness, in one transaction, and count the nodes as done.

        A part of 0 removes the edge unless something was learned on it. A mark that changed
        meanwhile stays. An end that is gone takes its edge along.

        Raises:
            LeaseLost: The lease is over; nothing was written.
        """
        ...

    async def save_associated(
        self,
        tenant: TenantId,
        lease: Lease | None,
        *,
        now: datetime,
        edges: Sequence[Association],
        done: Mapping[str, str],
    ) -> None:
        """Do the same for concepts and their part by lift; `done` are the marks by concept.

        Raises:
            LeaseLost: The lease is over; nothing was written.
        """
        ...

    async def save_total(self, tenant: TenantId, lease: Lease | None, total: int) -> None:
        """Record that every lift was computed with this total.

        Raises:
            LeaseLost: The lease is over; nothing was written.
        """
        ...
