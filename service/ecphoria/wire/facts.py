"""Bodies of facts, merges and feedback."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from ecphoria.records.asked import Instant, Key
from ecphoria.records.fact import (
    Decision,
    FactHistory,
    FactSort,
    FactView,
    Interval,
    ListedDecision,
    MergeStatus,
    MergeView,
    Predicate,
    PredicateClass,
    Quote,
    Standing,
)
from ecphoria.records.history import FeedbackResult
from ecphoria.records.traced import Node
from ecphoria.wire.base import Answer, Listing, Parameters, PlaceCursor, Request, TurnCursor


class HistoryQuery(Parameters):
    """From when to look."""

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
    limit: int = Field(default=100, ge=1, le=1_000)
    """Size of the page."""


class FactAnswer(Answer):
    """A fact with what is known of its times."""

    id: str
    """Its id."""
    subject: str
    """The person or thing it is about, in lower case."""
    predicate: str
    """The predicate, in lower case."""
    object: str
    """The other end, in lower case."""
    subject_name: str
    """The person or thing, as it was written first."""
    object_name: str
    """The other end, as it was written first; in lower case if it is not a name."""
    subject_concept: str | None = None
    """Id of the concept of the subject, if there is one."""
    object_concept: str | None = None
    """Id of the concept of the other end, if there is one."""
    qualifier: str
    """Qualifier, if there are several; empty for the only one."""
    polarity: Literal["positive", "negative"]
    """`negative` says that it is not so, or no longer."""
    predicate_class: PredicateClass
    """Number of values: `functional` one at a time, `immutable` one ever, `multi` many."""
    standing: Standing
    """`held`, `denial`, `contested`, `candidate` or `retracted`."""
    valid: bool
    """Whether it held at the instant asked for."""
    intervals: tuple[Interval, ...]
    """Time in which it held."""
    evidence: float
    """`1 - prod (1 - reliability)` over its episodes; .5 and more decides."""
    confidence: float
    """The same; times .3 if it is contested."""
    contested_by: str | None = None
    """The fact with better evidence for the same time."""
    episodes: tuple[str, ...]
    """Ids of the episodes that claim it."""
    quotes: tuple[Quote, ...] = ()
    """Their words, where the place of these is known: those that a language model read."""

    @classmethod
    def of(cls, view: FactView, names: Mapping[str, Node]) -> "FactAnswer":
        """Write a fact as it is sent; `names` has the concepts by normalised name."""
        fact = view.fact
        subject, other = names.get(fact.subject), names.get(fact.object)
        return cls(
            id=fact.id,
            subject=fact.subject,
            predicate=fact.predicate,
            object=fact.object,
            subject_name=fact.subject if subject is None else subject.label,
            object_name=fact.object if other is None else other.label,
            subject_concept=subject and subject.id,
            object_concept=other and other.id,
            qualifier=fact.qualifier,
            polarity="negative" if fact.negated else "positive",
            predicate_class=view.predicate_class,
            standing=view.standing,
            valid=view.valid,
            intervals=view.intervals,
            evidence=view.evidence,
            confidence=view.confidence,
            contested_by=view.contested_by,
            episodes=view.episodes,
            quotes=view.quotes,
        )


class FactPageAnswer(Listing[FactAnswer]):
    """Facts in the order asked for."""


class PredicateList(Listing[Predicate]):
    """Predicates by name."""


class DecisionQuery(Parameters):
    """Page of decisions."""

    cursor: TurnCursor | None = None
    """`next_cursor` of the page before."""
    limit: int = Field(default=100, ge=1, le=1_000)
    """Size of the page."""


class DecisionPage(Listing[ListedDecision]):
    """Decisions, the latest first."""


class DecisionRequest(Request):
    """A decision about a fact."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"ruling": "retract", "why": "It was said in jest."}]}
    )

    ruling: Literal["retract", "keep_open", "set_interval"]
    """It is wrong; it holds beside `other`; it held from `valid_from` to `valid_to`."""
    other: str | None = None
    """The fact to keep open with it."""
    valid_from: Instant | None = None
    """Beginning of the interval to set."""
    valid_to: Instant | None = None
    """End of the interval to set; open if absent."""
    why: str = Field(default="", max_length=1_000)
    """The reason, kept with the decision."""


class UndoRequest(Request):
    """Why a decision is taken back."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"why": "It was true after all."}]})

    why: str = Field(default="", max_length=1_000)
    """The reason, kept with the undo."""


class ClassRequest(Request):
    """The class to give a predicate."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"predicate_class": "functional"}]})

    predicate_class: PredicateClass
    """`functional` one value at a time, `immutable` one ever, `multi` many side by side."""
    why: str = Field(default="", max_length=1_000)
    """The reason, kept with the decision."""


class HistoryAnswer(Answer):
    """All that was ever claimed of a subject and predicate, and decided about it."""

    subject: str
    """The person or thing it is about, in lower case."""
    relation: str
    """The predicate, in lower case."""
    qualifier: str
    """Qualifier, if there are several."""
    predicate_class: PredicateClass
    """Number of values that the subject has."""
    facts: tuple[FactAnswer, ...]
    """By the beginning of their first interval; those that never held come last."""
    decisions: tuple[Decision, ...]
    """In the order they were made, undone ones too."""

    @classmethod
    def of(cls, history: FactHistory) -> "HistoryAnswer":
        """Write a history as it is sent."""
        return cls(
            subject=history.key.subject,
            relation=history.key.relation,
            qualifier=history.key.qualifier,
            predicate_class=history.predicate_class,
            facts=tuple(FactAnswer.of(view, history.names) for view in history.facts),
            decisions=history.decisions,
        )


class MergeQuery(Parameters):
    """Filter and page of merges."""

    status: MergeStatus | None = None
    """Only `proposed`, `accepted` or `rejected` ones."""
    cursor: str | None = None
    """`next_cursor` of the page before."""
    limit: int = Field(default=100, ge=1, le=1_000)
    """Size of the page."""


class MergeRequest(Request):
    """A decision about a proposed merge."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"one": "ana ruiz", "other": "anna ruiz", "status": "accepted"}]
        }
    )

    one: Key = Field(min_length=1, max_length=400)
    """The name of one concept, as `GET /v1/merges` lists it."""
    other: Key = Field(min_length=1, max_length=400)
    """The name of the other."""
    status: MergeStatus
    """`accepted`, `rejected`, or `proposed` to undo either."""


class MergePage(Listing[MergeView]):
    """Merges by name."""


_MOST = 200
_Hits = Annotated[tuple[str, ...], Field(max_length=_MOST)]


class FeedbackRequest(Request):
    """Feedback on hits of a recall: useful or not; other hits stay open."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"useful": ["0f3c..."], "not_useful": ["77ab..."]}]}
    )

    useful: _Hits = ()
    """Ids of episodes it returned that were."""
    not_useful: _Hits = ()
    """Ids of episodes it returned that were not."""


class FeedbackAnswer(Answer):
    """The state of the memories after feedback."""

    episodes: tuple[FeedbackResult, ...]
    """In the order of the recall; those erased meanwhile are left out."""
