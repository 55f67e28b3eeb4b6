"""Facts by time: which hold now, which held, and as of when."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ecphoria.model.fact import FactKey, KeyRecord, PredicateClass
from ecphoria.model.ids import EpisodeId, FactId, TenantId

__all__ = ["ClaimedFact", "FactStanding", "PastReads", "RelatingFact"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedFact:
    """A fact that an episode claims, and among which facts it may be contradicted."""

    episode: EpisodeId
    fact: FactId
    key: FactKey


@dataclass(frozen=True, slots=True, kw_only=True)
class FactStanding:
    """How a fact that an episode claims stands at an instant.

    Attributes:
        ended: Whether it held, and holds no more.
        ended_at: The end of its last spell before the instant.
        current: The facts of the same key that hold instead.
    """

    episode: EpisodeId
    fact: FactId
    key: FactKey
    holds: bool
    ended: bool
    ended_at: datetime | None = None
    current: tuple[FactId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatingFact:
    """A fact behind a RELATED edge between two concepts, seen from either."""

    tail: str
    head: str
    fact: FactId
    key: FactKey


class PastReads(Protocol):
    """What a recall as of an earlier time reads beside the rest."""

    async def happened(
        self,
        tenant: TenantId,
        ids: Sequence[EpisodeId],
        happened_by: datetime,
        known_at: datetime | None,
    ) -> frozenset[EpisodeId]:
        """Tell which of these had happened by an instant, and were recorded by another."""
        ...

    async def claimed(
        self, tenant: TenantId, episodes: Sequence[EpisodeId]
    ) -> Sequence[ClaimedFact]:
        """List the facts that these episodes claim."""
        ...

    async def relating(
        self, tenant: TenantId, concepts: Sequence[str], hub: int
    ) -> Sequence[RelatingFact]:
        """List the facts behind the RELATED edges of these concepts."""
        ...

    async def keys_of(self, tenant: TenantId, facts: Sequence[FactId]) -> Mapping[FactId, FactKey]:
        """Find the keys of facts."""
        ...

    async def timelines(
        self, tenant: TenantId, keys: Sequence[FactKey]
    ) -> tuple[Mapping[str, PredicateClass], Sequence[KeyRecord]]:
        """Load the tenant's own classes and all that is stored of these keys."""
        ...
