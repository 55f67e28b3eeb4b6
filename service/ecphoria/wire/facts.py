"""Bodies of facts, merges and feedback."""

from typing import Annotated

from pydantic import Field

from ecphoria.records.asked import Instant, Key
from ecphoria.records.fact import (
    FactSort,
    FactView,
    ListedDecision,
    MergeStatus,
    MergeView,
    Predicate,
    PredicateClass,
    Standing,
)
from ecphoria.records.history import FeedbackResult
from ecphoria.records.recall import MOST_HITS
from ecphoria.wire.base import Answer, Listing, PageSize, Parameters, PlaceCursor, Request


class HistoryQuery(Parameters):
    """The times to look at."""

    as_of: Instant | None = None
    """Tell which facts held then; now if absent."""
    known_at: Instant | None = None
    """Look only at what was recorded and decided by then."""


class FactListQuery(HistoryQuery):
    """Filter and page of facts."""

    concept: str | None = None
    """Only facts with this name at an end."""
    predicate: str | None = None
    """Only facts of this predicate."""
    standing: Standing | None = None
    """Only those that are `held`, a `denial`, `contested`, a `candidate` or `retracted`."""
    sort: FactSort = FactSort.ID
    """The order: `id`, or `time` (the last stated first)."""
    cursor: PlaceCursor | None = None
    """`next_cursor` of the page before, with the same `sort`."""
    limit: PageSize = 100
    """Size of the page."""


class FactPage(Listing[FactView]):
    """Facts in the order asked for."""


class PredicateList(Listing[Predicate]):
    """Predicates by name."""


class DecisionPage(Listing[ListedDecision]):
    """Decisions, the latest first."""


class UndoRequest(Request, json_schema_extra={"examples": [{"why": "It was true after all."}]}):
    """Why a decision is taken back."""

    why: str = Field(default="", max_length=1_000)
    """The reason, kept with the undo."""


class ClassRequest(Request, json_schema_extra={"examples": [{"predicate_class": "functional"}]}):
    """The class to give a predicate."""

    predicate_class: PredicateClass
    """`functional` one value at a time, `immutable` one ever, `multi` many side by side."""
    why: str = Field(default="", max_length=1_000)
    """The reason, kept with the decision."""


class MergeQuery(Parameters):
    """Filter and page of merges."""

    status: MergeStatus | None = None
    """Only `proposed`, `accepted` or `rejected` ones."""
    cursor: str | None = None
    """`next_cursor` of the page before."""
    limit: PageSize = 100
    """Size of the page."""


class MergeRequest(
    Request,
    json_schema_extra={
        "examples": [{"one": "ana ruiz", "other": "anna ruiz", "status": "accepted"}]
    },
):
    """A decision about a proposed merge."""

    one: Key = Field(min_length=1, max_length=1_500)
    """The name of one concept, in any spelling."""
    other: Key = Field(min_length=1, max_length=1_500)
    """The name of the other."""
    status: MergeStatus
    """`accepted`, `rejected`, or `proposed` to undo either."""


class MergePage(Listing[MergeView]):
    """Merges by name."""


_Hits = Annotated[tuple[str, ...], Field(max_length=MOST_HITS)]


class FeedbackRequest(
    Request, json_schema_extra={"examples": [{"useful": ["0f3c..."], "not_useful": ["77ab..."]}]}
):
    """Feedback on hits of a recall: useful or not; other hits stay open."""

    useful: _Hits = ()
    """Ids of hits that were useful."""
    not_useful: _Hits = ()
    """Ids of hits that were not useful."""


class FeedbackAnswer(Answer):
    """The state of the memories after feedback."""

    episodes: tuple[FeedbackResult, ...]
    """In the order of the recall; those erased meanwhile are left out."""
