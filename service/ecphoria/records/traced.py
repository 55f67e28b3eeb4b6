"""Parts of a trace: its nodes, the limits of its verdict, and the filters of the question."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from ecphoria.records.answered import answered
from ecphoria.records.episode import MemoryKind, MetadataCondition, State
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
    kind: MemoryKind | None = None
    """Only memories of this kind."""
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


class Stream(StrEnum):
    """The look-up that found a seed."""

    TEXT = "text"
    VECTOR = "vector"
    NAME = "name"
    FACT = "fact"
    RANK = "rank"
    SESSION = "session"


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class SeedRecord:
    """An entry node."""

    node: str
    """Its id."""
    kind: str
    """`episode` or `concept`."""
    stream: Stream
    """The stream that found it."""
    label: str
    """To read."""
    energy: float
    """Energy at the start; 0 for a hit that an index found and that sent none."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class WaveArc:
    """Energy carried along one edge in one wave."""

    tail: str
    """Node it left."""
    head: str
    """Node it reached."""
    edge: str
    """The relationship's type."""
    weight: float
    """The edge's weight."""
    energy: float
    """Energy it carried."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A remark of a mechanism on a node in a wave: cut by a threshold, fired, drawn in."""

    node: str
    """Its id."""
    says: str
    """Why it was cut, or that it fired, or which hop drew it in."""
    value: float
    """The level that decided."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Wave:
    """One step of spreading."""

    number: int
    """From 1."""
    active: int
    """Nodes awake after it."""
    energy: float
    """Their energy together."""
    arcs: tuple[WaveArc, ...]
    """Edges that carried energy, strongest first: those on the paths of the hits, and with
    `explain` others, 2,000 in all waves at most."""
    arcs_left_out: int
    """Arcs not listed."""
    marks: tuple[Mark, ...] = ()
    """Remarks of the mechanism on single nodes."""
