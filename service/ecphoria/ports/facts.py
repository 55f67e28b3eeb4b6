"""What facts need: all that is stored of a key, and a place for its timeline."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from ecphoria.model.consolidation import Lease
from ecphoria.model.fact import (
    DEFAULT_RELIABILITY,
    Decision,
    FactKey,
    KeyRecord,
    PredicateClass,
    Standing,
)
from ecphoria.model.ids import EpisodeId, FactId, TenantId
from ecphoria.ports.world import Vector

__all__ = [
    "EvidenceRow",
    "FactQuery",
    "FactRow",
    "FactStore",
    "FactTransaction",
    "TimelineRow",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRow:
    """A fact nobody had stated before, and the concepts at its ends.

    Attributes:
        subject, object, qualifier: Normalised.
        relation: The predicate, normalised.
        subject_concept, object_concept: The same where that names a concept, else None.
        statement: What is embedded.
    """

    id: FactId
    subject: str
    predicate: str
    object: str
    subject_concept: str | None
    object_concept: str | None
    statement: str
    vector: Vector
    relation: str
    qualifier: str = ""
    negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRow:
    """An EVIDENCE edge, fact to the episode that came with it.

    Attributes:
        valid_from, valid_to: As stated; None where nothing was said.
        reliability: How far it is to be trusted, 0 to 1.
    """

    fact: FactId
    episode: EpisodeId
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    reliability: float = DEFAULT_RELIABILITY


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """What is kept of a fact's place in time; nothing where its key needs no timeline.

    Attributes:
        held_from, held_until: Its spells, in order.
        superseded_by: The fact that ended the last of them.
    """

    fact: FactId
    standing: Standing | None = None
    held_from: tuple[datetime, ...] = ()
    held_until: tuple[datetime, ...] = ()
    superseded_by: FactId | None = None
    contested_by: FactId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactQuery:
    """Which facts to list: those with this name at an end, of this relation, after a cursor."""

    concept: str | None = None
    relation: str | None = None
    after: FactId | None = None
    limit: int = 100


class FactTransaction(Protocol):
    """Reads and writes under the tenant's write lock."""

    @property
    def classes(self) -> Mapping[str, PredicateClass]:
        """The tenant's own classes by relation."""
        ...

    @property
    def number(self) -> int:
        """The tenant's change counter, which numbers the next decision."""
        ...

    async def records(self, keys: Sequence[FactKey]) -> Sequence[KeyRecord]:
        """Load all that is stored of these keys, in their order; empty ones are left out."""
        ...

    async def save_timelines(self, rows: Sequence[TimelineRow]) -> None:
        """Keep where facts stand in time; they are no longer touched."""
        ...

    async def decide(self, decision: Decision) -> None:
        """Append to the list of decisions."""
        ...

    async def class_decisions(self) -> Sequence[Decision]:
        """List the decisions about classes, and what undoes them, in order."""
        ...

    async def set_classes(self, classes: Mapping[str, PredicateClass], relation: str) -> None:
        """Keep the tenant's own classes, and mark the facts of a relation as touched."""
        ...

    async def changed(self) -> None:
        """Count one more change of the tenant."""
        ...


class FactStore(Protocol):
    """Facts of a tenant."""

    async def change(
        self,
        tenant: TenantId,
        work: Callable[[FactTransaction], Awaitable[T]],
        lease: Lease | None = None,
    ) -> T:
        """Run `work` in one transaction under the tenant's write lock.

        Raises:
            LeaseLost: The lease is over; nothing was written.
            NotFound: There is no such tenant.
        """
        ...

    async def keys(self, tenant: TenantId, query: FactQuery) -> Sequence[tuple[FactId, FactKey]]:
        """List facts and their keys by id."""
        ...

    async def key_of(self, tenant: TenantId, fact: FactId) -> FactKey | None:
        """Find the key of a fact; None if there is no such fact."""
        ...

    async def read(
        self, tenant: TenantId, keys: Sequence[FactKey]
    ) -> tuple[Mapping[str, PredicateClass], Sequence[KeyRecord]]:
        """Load the tenant's own classes and all that is stored of these keys.

        Raises:
            NotFound: There is no such tenant.
        """
        ...

    async def touched(self, tenant: TenantId, limit: int) -> Sequence[FactKey]:
        """List keys whose timelines are to be laid out anew."""
        ...

    async def decision(self, tenant: TenantId, decision: str) -> Decision | None:
        """Find a decision."""
        ...

    async def class_decisions(self, tenant: TenantId) -> Sequence[Decision]:
        """List the decisions about classes, and what undoes them, in order."""
        ...
