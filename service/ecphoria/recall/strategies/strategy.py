"""What a strategy is given, and what it gives back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ecphoria.recall.candidates import Candidates
from ecphoria.recall.ports import RecallStore
from ecphoria.recall.seeding import Seeding
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Filters, PathStep, SeedRecord, Stimulation, Wave


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One recall under way; `now` is the instant of asking."""

    store: RecallStore
    tenant: TenantId
    seeding: Seeding
    candidates: Candidates
    filters: Filters
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranked:
    """A strategy's answer: r ranked memories, best first.

    Attributes:
        parts: [r, p]; rows add up to the score.
        part_names: p names.
        path: The way energy took to a ranked memory, by its id.
        truncated: Whether a cap of the subgraph was reached.
        stimulation: What the strategy did to memories, if it stimulates them.
    """

    ids: tuple[EpisodeId, ...]
    score: NDArray[np.float64]
    parts: NDArray[np.float64]
    part_names: tuple[str, ...]
    seeds: tuple[SeedRecord, ...]
    waves: tuple[Wave, ...]
    path: Callable[[EpisodeId], tuple[PathStep, ...]]
    truncated: bool
    stimulation: Stimulation | None = None


class Strategy(Protocol):
    """A mechanism, chosen by name."""

    name: ClassVar[str]
    seeds: ClassVar[int]
    options: ClassVar[type[Any]]
    presets: ClassVar[Mapping[str, Any]]

    async def rank(self, search: Search, options: Any) -> Ranked:
        """Rank the candidates and whatever they wake."""
        ...
