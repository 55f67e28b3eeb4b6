"""Parameters and pages of traces, concepts and the graph around a node."""

from typing import Annotated

from pydantic import Field

from ecphoria.records.asked import Instant
from ecphoria.records.graph import Concept, ConceptSort
from ecphoria.records.recall import Verdict
from ecphoria.records.trace import TraceSummary
from ecphoria.records.traced import NodeKind
from ecphoria.wire.base import Listing, Parameters

TraceCursor = Annotated[str, Field(pattern=r"^[0-9]{1,18}\.[0-9a-f]{32}$")]
"""Cursor of a list of traces; opaque text to a caller."""
ConceptCursor = Annotated[str, Field(pattern=r"^-?[0-9]{1,18}\.")]
"""Cursor of a list of concepts; opaque text to a caller."""


def place_of(cursor: str | None) -> tuple[int, str] | None:
    """Read a cursor: a number and a name."""
    if cursor is None:
        return None
    number, _, name = cursor.partition(".")
    return int(number), name


class TraceQuery(Parameters):
    """Filter and page of traces."""

    strategy: str | None = None
    """Only recalls by this strategy."""
    verdict: Verdict | None = None
    """Only recalls with this verdict."""
    cursor: TraceCursor | None = None
    """`next_cursor` of the page before."""
    limit: int = Field(default=100, ge=1, le=1_000)
    """Size of the page."""


class TracePage(Listing[TraceSummary]):
    """Traces, the newest first."""


class ConceptQuery(Parameters):
    """Filter and page of concepts."""

    q: str | None = None
    """Only concepts whose name has this, in any spelling."""
    sort: ConceptSort = ConceptSort.MENTIONS
    """The order: `mentions` (the most mentioned first), `name`, or `last` (the last mentioned
    first)."""
    cursor: ConceptCursor | None = None
    """`next_cursor` of the page before, with the same `sort`."""
    limit: int = Field(default=100, ge=1, le=1_000)
    """Size of the page."""


class ConceptPage(Listing[Concept]):
    """Concepts in the order asked for."""


class GraphQuery(Parameters):
    """The part of the graph to show."""

    around: str = Field(min_length=1)
    """Id of a memory or of a concept, `concept:` and a name, or `session:` and a name."""
    hops: int = Field(default=1, ge=1, le=2)
    """Number of edges to walk from there, 1 or 2."""
    kinds: tuple[NodeKind, ...] = ()
    """Kinds of nodes to walk to, `episode` or `concept`; both if absent."""
    as_of: Instant | None = None
    """Only what had occurred by then, and facts that held then."""
    limit: int = Field(default=200, ge=1, le=2_000)
    """Greatest number of nodes, the strongest edges first."""
