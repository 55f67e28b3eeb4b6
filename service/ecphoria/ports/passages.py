"""Passages of long episodes: rows, and reading them in a recall."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ecphoria.model.ids import EpisodeId, TenantId
from ecphoria.model.recall import Filters
from ecphoria.ports.world import Vector

__all__ = ["PassageColumns", "PassageReads", "PassageRow", "PassageSeed"]


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
