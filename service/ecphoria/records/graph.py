"""The graph as a reader sees it: nodes with labels, concepts, and the surroundings of a node."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ecphoria.records.answered import answered
from ecphoria.records.episode import State
from ecphoria.records.fact import Merge
from ecphoria.records.traced import NodeKind


class ConceptSort(StrEnum):
    """The order of a list of concepts."""

    MENTIONS = "mentions"
    NAME = "name"
    LAST = "last"


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """A person, place, thing or topic that memories speak of."""

    id: str
    """Its id."""
    name: str
    """Its name as it was written first."""
    normalised: str
    """Its name as it is compared: in lower case, without marks."""
    kind: str | None = None
    """Its type, if it is known."""
    cognitive: str | None = None
    """Its role, if a memory states it: `identity`, `preference`, `event`, `technical` or
    `person`."""
    description: str | None = None
    """A few words that explain it, from the memory that holds it most important."""
    importance: int | None = None
    """The greatest importance that a memory gives it, 1 to 5."""
    mentions: int
    """Number of memories that speak of it."""
    first_occurred_at: datetime
    """Time of the first of them."""
    last_occurred_at: datetime
    """Time of the last."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptNeighbour:
    """Another concept at the end of an edge."""

    id: str
    """Its id."""
    name: str
    """Its name."""
    edge: str
    """The relationship's type: `RELATED` (a fact), `ASSOCIATED` (mentioned together), `SYNONYM`
    (nearly the same words) or `SAME_AS` (an accepted merge)."""
    weight: float
    """The edge's weight."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptView:
    """A concept with what is around it."""

    concept: Concept
    """The concept."""
    neighbours: tuple[ConceptNeighbour, ...]
    """Related concepts, the strongest first, at most 100."""
    merges: tuple[Merge, ...]
    """Proposed, accepted and rejected merges with other concepts."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class NodeColumns:
    """n nodes, a column a field."""

    id: tuple[str, ...]
    """Their ids."""
    kind: tuple[NodeKind, ...]
    """`episode` or `concept`."""
    label: tuple[str, ...]
    """Labels to read."""
    hop: tuple[int, ...]
    """Number of edges from the centre; 0 for the centre itself."""
    speaker: tuple[str | None, ...]
    """Speakers of memories."""
    session: tuple[str | None, ...]
    """Their sessions."""
    ordinal: tuple[int | None, ...]
    """Their places in the session."""
    occurred_at: tuple[datetime | None, ...]
    """Their times."""
    state: tuple[State | None, ...]
    """`live` or `dormant`."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeColumns:
    """m edges, a column a field."""

    tail: tuple[int, ...]
    """Place of the start among the nodes, from 0."""
    head: tuple[int, ...]
    """Place of the end."""
    type: tuple[str, ...]
    """The relationships' types."""
    weight: tuple[float, ...]
    """Their weights."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """The nodes around a memory, a concept or a session; without places in a picture."""

    nodes: NodeColumns
    """The nodes, the centre first."""
    edges: EdgeColumns
    """The edges that lead from the centre to them."""
    left_out: int
    """Number of nodes that were met and did not fit; they may have further neighbours."""
