"""Passages of long episodes: what writing, recall and the job that cuts older episodes need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ecphoria.model.consolidation import Lease
from ecphoria.model.ids import EpisodeId, TenantId
from ecphoria.model.recall import Filters
from ecphoria.ports.world import Vector

__all__ = [
    "CuttingStart",
    "CuttingStore",
    "PassageColumns",
    "PassageReads",
    "PassageRow",
    "PassageSeed",
    "Uncut",
    "UncutPage",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageRow:
    """One passage to create.

    Attributes:
        ordinal: Its place among the passages of its episode, from 0 on.
        start, end: Character offsets into the episode's text; `end` is exclusive.
        terms: Stems of the title and the passage with repeats, joined by one blank.
        length: Number of stems.
    """

    id: str
    ordinal: int
    start: int
    end: int
    terms: str
    length: int
    vector: Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageSeed:
    """A passage found by an index.

    Attributes:
        session, ordinal: Where its episode stands.
        part: Its place among the passages of its episode.
    """

    passage: str
    episode: EpisodeId
    session: str | None
    ordinal: int | None
    part: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageColumns:
    """Passages as parallel columns, ordered by (episode, part); n rows.

    Attributes:
        start, end: Character offsets into the episode's text; `end` is exclusive.
        terms: Stems of the title and the passage with repeats, joined by one blank.
        cosine: Exact cosine to the cue's vector, 0 without one.
    """

    episode: tuple[EpisodeId, ...]
    part: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    terms: tuple[str, ...]
    length: NDArray[np.float64]
    cosine: NDArray[np.float64]


class PassageReads(Protocol):
    """What recall reads of passages."""

    async def passages_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the vector index; score is the cosine; best first, ties by turn, then part."""
        ...

    async def passages_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the text index for any of the stems; best first, ties by turn, then part."""
        ...

    async def passages_of(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], vector: Vector | None
    ) -> PassageColumns:
        """Fetch all passages of episodes; an episode without passages is absent."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncut:
    """An episode that has no passages and may need some."""

    id: EpisodeId
    title: str | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UncutPage:
    """Some episodes in the order of their turns.

    Attributes:
        last_turn: The last turn looked at; None behind the last episode.
        found: Those of them that may need passages.
    """

    last_turn: int | None
    found: Sequence[Uncut]


@dataclass(frozen=True, slots=True, kw_only=True)
class CuttingStart:
    """Where the job that cuts older episodes goes on, and the tenant's turn when it begins."""

    after: int
    turn: int


class CuttingStore(Protocol):
    """Where the job that cuts older episodes reads, writes, and keeps how far it has come."""

    async def tenants(self) -> Sequence[TenantId]:
        """List the tenants whose older episodes are not cut yet."""
        ...

    async def begin(self, tenant: TenantId, lease: Lease) -> CuttingStart:
        """Find where to go on; NotFound without the tenant.

        Raises:
            LeaseLost: Another worker has taken the job.
        """
        ...

    async def page(self, tenant: TenantId, after_turn: int, limit: int) -> UncutPage:
        """Look at the next `limit` episodes by turn."""
        ...

    async def save(
        self,
        tenant: TenantId,
        lease: Lease,
        passages: Mapping[EpisodeId, Sequence[PassageRow]],
        after: int | None,
    ) -> None:
        """Write passages, and up to which turn all is cut; None: to the end.

        Episodes that are gone, archived or cut meanwhile are left as they are.

        Raises:
            LeaseLost: Another worker has taken the job; nothing was written.
        """
        ...
