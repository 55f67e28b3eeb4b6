"""Facts with their validity, and proposals to merge concepts."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field

from ecphoria.records.answered import Internal, answered
from ecphoria.records.asked import Instant, asked
from ecphoria.records.ids import EpisodeId, FactId

KIND_OF: Final = "is a kind of"
"""Predicate of a fact that tells what its subject is a kind of."""

UNENDING = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
"""Stored as the end of what has not ended, so that ranges compare."""


class PredicateClass(StrEnum):
    """The class of a predicate: one value at a time, one value ever, or many at once."""

    FUNCTIONAL = "functional"
    IMMUTABLE = "immutable"
    MULTI = "multi"


class Ruling(StrEnum):
    """The decisions that a person can make; the list of decisions only grows."""

    RETRACT = "retract"
    KEEP_OPEN = "keep_open"
    SET_CLASS = "set_class"
    SET_INTERVAL = "set_interval"
    UNDO = "undo"


class Standing(StrEnum):
    """The state of a fact among the facts of its key."""

    HELD = "held"
    """It holds, or held for a time."""
    DENIAL = "denial"
    """It says that something is not so, and is believed."""
    CONTESTED = "contested"
    """A better evidenced fact speaks of the same time."""
    CANDIDATE = "candidate"
    """There is too little evidence for it to decide anything."""
    RETRACTED = "retracted"
    """Somebody decided that it is wrong."""


class FactSort(StrEnum):
    """The order of a list of facts."""

    ID = "id"
    TIME = "time"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class FactKey:
    """The key of facts that may contradict each other: subject and relation, normalised."""

    subject: str
    relation: str
    qualifier: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFact:
    """A fact as it stands in the graph, with the place in time it was last given."""

    id: FactId
    subject: str
    predicate: str
    object: str
    qualifier: str
    negated: bool
    standing: Standing | None = None
    valid_to: datetime | None = None
    superseded_by: FactId | None = None
    contested_by: FactId | None = None


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """The words of an episode that state a fact."""

    episode: EpisodeId
    """Id of the episode."""
    start: int
    """Start of the words in its text, in characters."""
    end: int
    """End of the words, exclusive."""
    by: str | None = None
    """The language model that found them; absent if the caller did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredClaim:
    """One episode's word for a fact; times are None where it states none."""

    fact: FactId
    episode: EpisodeId
    valid_from: datetime | None
    valid_to: datetime | None
    reliability: float
    occurred_at: datetime
    recorded_at: datetime
    quote: Quote | None = None


@asked({"ruling": "retract", "why": "It was said in jest."})
@dataclass(frozen=True, slots=True, kw_only=True)
class NewDecision:
    """A decision about a fact."""

    ruling: Literal["retract", "keep_open", "set_interval"]
    """It is wrong; it holds beside `other`; it held from `valid_from` to `valid_to`."""
    other: FactId | None = None
    """The fact to keep open with it."""
    valid_from: Instant | None = None
    """Beginning of the interval to set."""
    valid_to: Instant | None = None
    """End of the interval to set; open if absent."""
    why: Annotated[str, Field(max_length=1_000)] = ""
    """The reason, kept with the decision."""


@answered("why")
@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One row of the list of decisions; rows are only ever added."""

    id: str
    """The id to undo it by."""
    number: int
    """Its place in the tenant's list."""
    recorded_at: datetime
    """Time of the decision."""
    ruling: Ruling
    """`retract`, `keep_open`, `set_interval`, `set_class` or `undo`."""
    fact: FactId | None = None
    """The fact it is about."""
    other: FactId | None = None
    """The second fact of a pair."""
    relation: str | None = None
    """The predicate it is about, in lower case."""
    predicate_class: PredicateClass | None = None
    """The class it gives."""
    valid_from: datetime | None = None
    """Beginning of the interval it sets."""
    valid_to: datetime | None = None
    """End of the interval it sets."""
    undoes: str | None = None
    """The decision it takes back."""
    by: str | None = None
    """Id of the key that decided; absent with authentication off."""
    why: str = ""
    """The reason given."""


@answered("why")
@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDecision(Decision):
    """A decision in the list of all, with its fact in words."""

    statement: str | None = None
    """The fact it is about, in words."""
    other_statement: str | None = None
    """The second fact of a pair, in words."""
    undone: bool
    """Whether it was taken back, and that still counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRecord:
    """All that is stored of one key; facts in the order of their ids, decisions of theirs."""

    key: FactKey
    facts: tuple[StoredFact, ...]
    claims: tuple[StoredClaim, ...]
    decisions: tuple[Decision, ...] = ()


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A time in which a fact held."""

    valid_from: datetime
    """Its beginning."""
    valid_to: datetime | None = None
    """Its end, exclusive; absent while open."""
    superseded_by: FactId | None = None
    """The fact that came after, or denied it."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate:
    """A predicate that has a class of its own, by default or by the tenant's decision."""

    relation: str
    """The predicate, in lower case."""
    predicate_class: PredicateClass
    """Its class."""
    own: bool
    """Whether the tenant gave it that class."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class FactView:
    """A fact with what is known of its times."""

    id: FactId
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
    contested_by: FactId | None = None
    """The fact with better evidence for the same time."""
    episodes: tuple[EpisodeId, ...]
    """Ids of the episodes that claim it."""
    quotes: tuple[Quote, ...] = ()
    """Their words, where the place of these is known: those that a language model read."""
    place: Internal[int] = 0
    """The number that it is sorted by in a list."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class FactHistory:
    """All that was ever claimed of a subject and predicate, and decided about it."""

    subject: str
    """The person or thing it is about, in lower case."""
    relation: str
    """The predicate, in lower case."""
    qualifier: str
    """Qualifier, if there are several."""
    predicate_class: PredicateClass
    """Number of values that the subject has."""
    facts: tuple[FactView, ...]
    """By the beginning of their first interval; those that never held come last."""
    decisions: tuple[Decision, ...]
    """In the order they were made, undone ones too."""


class MergeStatus(StrEnum):
    """The status of a proposed merge."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Two concepts that are likely one."""

    one: str
    """The name of one, the first in the alphabet, in lower case."""
    other: str
    """The name of the other."""
    kind: str
    """Kind of both concepts."""
    cosine: float
    """Of the vectors of the two names, or of the two concepts."""
    reason: str
    """Why they are likely one."""
    status: MergeStatus
    """Whether the merge is `proposed`, `accepted` or `rejected`."""
    decided_at: datetime | None = None
    """Time of acceptance or rejection."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """The words of a memory around a name."""

    episode: EpisodeId
    """Id of the memory."""
    speaker: str | None = None
    """Its speaker."""
    occurred_at: datetime
    """Its time."""
    text: str
    """At most 160 characters of its text."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class MergeSide:
    """One of the two concepts of a merge."""

    id: str
    """Its id."""
    name: str
    """Its name as it was written first."""
    mentions: int
    """Number of memories that speak of it."""
    facts: int
    """Number of facts about it."""
    samples: tuple[Snippet, ...]
    """The latest two of the memories."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class MergeView(Merge):
    """Two concepts that are likely one, with their memories and facts."""

    sides: tuple[MergeSide, MergeSide]
    """The concept `one`, then `other`."""
    memories: int
    """Number of memories that speak of either."""
    predicates: tuple[str, ...]
    """Predicates of which both have facts; a merge puts these on one timeline."""
