"""Rows that an ingest reads, and the changes that it writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from ecphoria.graph.facts import EvidenceRow, FactRow
from ecphoria.model.episode import MetadataValue
from ecphoria.model.ids import ConceptId, EpisodeId
from ecphoria.ports.passages import PassageRow
from ecphoria.ports.world import Vector

__all__ = [
    "AboutRow",
    "Body",
    "ConceptRow",
    "EpisodeRow",
    "IngestChanges",
    "MentionRow",
    "MovedRow",
    "NameState",
    "NextRow",
    "Placed",
    "SegmentStart",
    "StatedBy",
    "SynonymRow",
    "TermDelta",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A turn already in a session, as ordering and derivation need it.

    Attributes:
        terms: The turn's stems with repeats; None while they are in the archive.
    """

    id: EpisodeId
    ordinal: int
    occurred_at: datetime
    position: int | None
    turn: int
    terms: tuple[str, ...] | None
    near_length: float
    context_norm: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentStart:
    """From where on a session's turns are wanted: those after (occurred_at, position)."""

    session: str
    occurred_at: datetime
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The text of a stored episode, for extraction to look at again.

    Attributes:
        mentions: The concepts (normalised) it mentions so far.
    """

    id: EpisodeId
    title: str | None
    text: str
    mentions: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NameState:
    """What a tenant knows of one name (a candidate for, or already, a concept).

    Attributes:
        normalised: Lower case letters and digits, single spaces.
        surface: How it was written when first seen.
        titles: Number of documents with this title.
        candidates: Number of items whose body has it as a candidate.
        live: Whether it is a concept node.
        stated: Number of items that came with it as a name they state.
    """

    normalised: str
    surface: str
    kind: str
    titles: int
    candidates: int
    live: bool
    stated: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRow:
    """One episode to create, with the columns derived from its text and its place.

    Attributes:
        terms: Stems with repeats, joined by one blank; what the text index holds.
        words: The body's normalised words, joined by one blank; names are looked up in them.
        length: Number of stems, repeats counted.
        near_length: Stems that reach it over NEXT, weighted (`L_i` of BM25).
        context_norm: Norm of `e_i + .6 e_(i-1) + .3 e_(i+1)`; 1 for a document.
        length_prior, is_question, time_expression: Turn priors, 0 for a document.
        first_person, second_person: Pronouns the text has.
        passages: Its parts, if the text is too long for one vector.
    """

    id: EpisodeId
    turn: int
    text: str
    title: str | None
    speaker: str | None
    role: str | None
    session: str | None
    ordinal: int | None
    position: int | None
    occurred_at: datetime
    recorded_at: datetime
    source: str | None
    metadata: Mapping[str, MetadataValue]
    importance: float
    body_hash: str
    idempotency_key: str | None
    terms: str
    words: str
    length: int
    near_length: float
    context_norm: float
    length_prior: float
    is_question: bool
    time_expression: bool
    first_person: bool
    second_person: bool
    vector: Vector
    passages: tuple[PassageRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedRow:
    """New derived columns of a stored turn whose neighbours changed."""

    id: EpisodeId
    ordinal: int
    near_length: float
    context_norm: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NextRow:
    """A NEXT edge; weight `exp(-.01 * gap_days)` (SYNAPSE, rho per day)."""

    tail: EpisodeId
    head: EpisodeId
    gap_days: float
    weight: float


class TermDelta(NamedTuple):
    """Change of one stem's document frequencies: in items, and within NEXT reach of items."""

    stem: str
    items: int
    near: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptRow:
    """A name that becomes a concept node."""

    id: ConceptId
    normalised: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionRow:
    """A MENTIONS edge, episode to concept; `stated` if the episode came with the name."""

    episode: EpisodeId
    concept: str
    weight: float
    stated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutRow:
    """An ABOUT edge, concept to the episode whose title it is."""

    episode: EpisodeId
    concept: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SynonymRow:
    """A SYNONYM edge between two concepts; weight is the cosine of their words."""

    one: str
    other: str
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedBy:
    """What an episode came with: names that are edges to concepts, and a number of facts."""

    names: frozenset[str]
    facts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestChanges:
    """Everything one transaction writes; concepts are named by their normalised name.

    `turns`, `items`, `titles`, `length` and `near_length` are added to the tenant's totals.
    Names carry deltas: `names[i].titles` and `.candidates` are added to what is stored. `words`
    has the change of the number of items with each word in lower case.
    Concept counts (`mentions`, `abouts`) follow the edges added and removed; a fact goes with
    its last evidence. `stated` is added to the tenant's number of stated names and facts.
    """

    turns: int = 0
    items: int = 0
    titles: int = 0
    length: int = 0
    near_length: float = 0.0
    episodes: tuple[EpisodeRow, ...] = ()
    removed: tuple[EpisodeId, ...] = ()
    moved: tuple[MovedRow, ...] = ()
    next_removed: tuple[tuple[EpisodeId, EpisodeId], ...] = ()
    next_added: tuple[NextRow, ...] = ()
    speakers: tuple[tuple[str, int], ...] = ()
    terms: tuple[TermDelta, ...] = ()
    words: Mapping[str, int] = field(default_factory=dict)
    names: tuple[NameState, ...] = ()
    concepts_made: tuple[ConceptRow, ...] = ()
    concepts_unmade: tuple[str, ...] = ()
    mentions_added: tuple[MentionRow, ...] = ()
    mentions_removed: tuple[tuple[EpisodeId, str], ...] = ()
    abouts_added: tuple[AboutRow, ...] = ()
    synonyms_added: tuple[SynonymRow, ...] = ()
    stated: int = 0
    facts_made: tuple[FactRow, ...] = ()
    evidence_added: tuple[EvidenceRow, ...] = ()
    woken: tuple[EpisodeId, ...] = ()
