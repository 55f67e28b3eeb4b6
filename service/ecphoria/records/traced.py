"""Parts of a trace: its nodes, the limits of its verdict, and the filters of the question."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from ecphoria.records.answered import answered
from ecphoria.records.episode import MetadataCondition, State
from ecphoria.records.ids import EpisodeId


class NodeKind(StrEnum):
    """The kind of a node."""

    EPISODE = "episode"
    CONCEPT = "concept"
    FACT = "fact"


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A memory, a concept or a fact, with a label to read."""

    id: str
    """Its id."""
    kind: NodeKind
    """`episode`, `concept` or `fact`."""
    label: str
    """A memory's title, or its speaker and the start of its text; a concept's name; a fact's
    words."""
    speaker: str | None = None
    """Of a memory: its speaker."""
    session: str | None = None
    """Of a memory: its session."""
    ordinal: int | None = None
    """Of a memory: its place in the session, from 0."""
    occurred_at: datetime | None = None
    """Of a memory: the time of the event."""
    state: State | None = None
    """Of a memory: `live`, `dormant` or `archived`."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class TracedFilters:
    """The filters of a recall as they were sent."""

    session: str | None = None
    """Only this session."""
    sessions: tuple[str, ...] = ()
    """Only these sessions."""
    speaker: str | None = None
    """Only this speaker."""
    role: str | None = None
    """Only speakers of this role."""
    occurred_from: datetime | None = None
    """Only what occurred then or later."""
    occurred_before: datetime | None = None
    """Only what occurred before."""
    exclude: tuple[EpisodeId, ...] = ()
    """Memories that were left out."""
    metadata: Mapping[str, MetadataCondition] = field(default_factory=dict)
    """Conditions on the metadata."""


class GateKind(StrEnum):
    """Origin of a gate: of the tenant, shipped, or part of the strategy."""

    OWN = "own"
    SHIPPED = "shipped"
    SCALED = "scaled"
    STRATEGY = "strategy"


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The gate of a verdict and its two limits."""

    gate: GateKind
    """`own` if the tenant has a gate of its own, `strategy` if the strategy judged, `scaled` if
    the shipped gate weighed evidence on the scale of the tenant's recalls, else `shipped`."""
    threshold: float
    """Below this confidence the verdict is `refuse`."""
    verify_below: float
    """Below this it is `verify`, from here on `answer`."""
