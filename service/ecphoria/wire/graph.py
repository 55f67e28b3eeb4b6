"""Parameters and pages of traces, concepts and the graph around a node."""

from pydantic import Field

from ecphoria.records.asked import Instant, Name
from ecphoria.records.episode import Bucket, BucketKind
from ecphoria.records.graph import Concept, ConceptSort
from ecphoria.records.recall import TraceSummary, Verdict
from ecphoria.records.traced import NodeKind
from ecphoria.wire.base import IdCursor, Listing, PageSize, Parameters, PlaceCursor


class TraceQuery(Parameters):
    """Filter and page of traces."""

    strategy: str | None = None
    """Only recalls by this strategy."""
    verdict: Verdict | None = None
    """Only recalls with this verdict."""
    cursor: IdCursor | None = None
    """`next_cursor` of the page before."""
    limit: PageSize = 100
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
    cursor: PlaceCursor | None = None
    """`next_cursor` of the page before, with the same `sort`."""
    limit: PageSize = 100
    """Size of the page."""


class ConceptPage(Listing[Concept]):
    """Concepts in the order asked for."""


class TimelineQuery(Parameters):
    """Filter and page of the counts of episodes over time."""

    by: BucketKind = BucketKind.DAY
    """Count by `session`, `day` or `month`. Days and months are those of the offset that came with
    an episode."""
    speaker: Name | None = None
    """Only what this speaker said, named in any case."""
    cursor: PlaceCursor | None = None
    """`next_cursor` of the page before, with the same `by`."""
    limit: int = Field(default=1_000, ge=1, le=10_000)
    """Size of the page."""


class TimelinePage(Listing[Bucket]):
    """Counts of episodes, in the order of time."""


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
