"""Records of a recall: what its reads return, and what is found in them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.arrays import FloatArray, IntArray
from ecphoria.records.episode import Episode
from ecphoria.records.fact import FactKey
from ecphoria.records.ids import EpisodeId, FactId
from ecphoria.records.tenant import Gate, Scale
from ecphoria.text.asking import Asking, read_asking
from ecphoria.text.statements import Statement, read_statements


@dataclass(frozen=True, slots=True, kw_only=True)
class FactStanding:
    """The state of a claimed fact at an instant.

    Attributes:
        ended: Whether it held and holds no more, or somebody decided that it is wrong.
        ended_at: The end of its last spell before the instant, or the time of this decision.
        current: The facts of the same key that hold instead.
    """

    episode: EpisodeId
    fact: FactId
    key: FactKey
    holds: bool
    ended: bool
    ended_at: datetime | None = None
    current: tuple[FactId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """When the last fact of a memory ended, and the current facts.

    Attributes:
        holders: Other ranked memories that claim a current fact of its keys.
    """

    at: datetime
    by: tuple[FactId, ...]
    keys: frozenset[FactKey]
    holders: frozenset[EpisodeId] = frozenset()

    def at_for(self, episode: Episode) -> datetime:
        """Give the instant in the calendar of a memory, which may have another day than UTC."""
        return self.at.astimezone(episode.occurred_at.tzinfo)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Statistics of a tenant that ranking needs.

    Attributes:
        items: Episodes that are not deleted, dormant and archived ones too.
        mean_length: Mean number of stems an item has.
        titles: Those with a title; if 0, there are no ABOUT edges.
        stated: Names and facts that episodes state; if 0, there is no fact to find.
        participants: The tenant's speakers, most frequent first.
        change: The tenant's change counter; equal counters mean equal graphs.
        gate: The tenant's own gate, None for the shipped one.
        timed: Whether any fact has a timeline; if not, none was ever superseded.
        turn: The number of episodes that the tenant ever appended.
        learned: Whether its recalls ever changed memories.
        expired: Whether there may be expired episodes that are not erased yet.
        passages: Passages of the long ones; 0 if none is long.
        stored: Live episodes of all tenants, which share the indexes.
        scale: The usual evidence of its recalls, None with too few recalls.
    """

    items: int
    mean_length: float
    titles: int
    stated: int
    participants: tuple[str, ...]
    change: int
    turn: int
    learned: bool = False
    expired: bool = False
    gate: Gate | None = None
    timed: bool = False
    passages: int = 0
    stored: int = 0
    scale: Scale | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedRow:
    """An episode found by an index, and its position."""

    id: EpisodeId
    session: str | None
    ordinal: int | None
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageSeed(SeedRow):
    """An episode of which an index found a passage; `part` is the passage's place in it."""

    part: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementSeed(SeedRow):
    """An episode that states a fact near the cue; `score` is the cosine of the fact."""

    fact: FactId


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementColumns:
    """The facts that episodes state, as parallel columns, ordered by episode; s rows.

    Attributes:
        subject: Normalised.
        statement: The fact in one line.
        cosine: Exact cosine to the cue's vector, 0 without one; of an episode nearest first.
    """

    episode: tuple[EpisodeId, ...]
    fact: tuple[FactId, ...]
    subject: tuple[str, ...]
    statement: tuple[str, ...]
    cosine: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPassage:
    """A row of a passage; an episode without passages has a row of None values."""

    episode: str
    part: int | None
    start: int
    end: int
    terms: str
    length: int
    vector: NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageColumns:
    """Passages as parallel columns, ordered by (episode, part); n rows.

    Attributes:
        start, end: Character offsets into the episode's text; `end` is exclusive.
        terms: Stems of the title and the passage with repeats, joined by one blank.
        cosine: Exact cosine to the cue's vector, 0 without one.
    """

    episode: tuple[EpisodeId, ...]
    part: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    terms: tuple[str, ...]
    length: NDArray[np.float64]
    cosine: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class TermCount:
    """Number of items with a stem."""

    stem: str
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundConcept:
    """A concept named in the cue; `lower` if its name is also an ordinary word."""

    id: str
    name: str
    normalised: str
    kind: str
    mentions: int
    abouts: int
    lower: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NearConcept:
    """A concept near a cue in meaning."""

    id: str
    name: str
    cosine: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedConcept:
    """A concept whose name holds a word of the cue."""

    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """Statistics of a cue's words in a tenant, read in one query; unknown words are absent."""

    profile: Profile
    terms: Sequence[TermCount]
    concepts: Sequence[FoundConcept]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A run of a session's turns, both ends included."""

    session: str
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """Turns with their neighbours in the session, `back` before and `ahead` after."""

    ids: tuple[EpisodeId, ...] = ()
    back: int = 0
    ahead: int = 0


@dataclass(slots=True)
class Spoken:
    """The text of a turn. The rules read it when it is first used, once, as this takes long.

    Attributes:
        text: Without its caption; empty if it is no turn, or too long to be only a question.
    """

    text: str
    _asking: Asking | None = field(default=None, compare=False)
    _statements: tuple[Statement, ...] | None = field(default=None, compare=False)

    @property
    def asking(self) -> Asking:
        """Whether the text states, asks, or says that nobody knows."""
        if self._asking is None:
            self._asking = read_asking(self.text)
        return self._asking

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements of the text."""
        if self._statements is None:
            self._statements = read_statements(self.text)
        return self._statements


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Episodes as parallel columns, ordered by (session, ordinal, turn); n rows.

    Attributes:
        vector: [n, d] unit vectors of the texts.
        cosine: Exact cosine to the cue's vector, 0 without one.
        occurred_ms: Epoch milliseconds, UTC.
        local_ms: The same in the offset of the episode, so that days are those of its calendar.
        session: None for documents and notes.
        ordinal: -1 without a session.
        terms: Stems with repeats, joined by one blank.
        title: A document's title.
        importance: As its author gave it, 0 to 1.
        spoken: The text of a turn, which may only ask, or only say that it does not know.
        own: Different stems of this text that tell something.
    """

    id: tuple[EpisodeId, ...]
    turn: NDArray[np.int64]
    session: tuple[str | None, ...]
    ordinal: NDArray[np.int64]
    speaker: tuple[str | None, ...]
    role: tuple[str | None, ...]
    occurred_ms: NDArray[np.int64]
    local_ms: NDArray[np.int64]
    terms: tuple[str, ...]
    length: NDArray[np.float64]
    is_question: NDArray[np.bool_]
    time_expression: NDArray[np.bool_]
    first_person: NDArray[np.bool_]
    second_person: NDArray[np.bool_]
    title: tuple[str | None, ...]
    importance: NDArray[np.float64]
    vector: NDArray[np.float32]
    cosine: NDArray[np.float64]
    spoken: tuple[Spoken, ...]
    own: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptEdges:
    """MENTIONS and ABOUT edges between episodes and concepts, as parallel columns.

    Attributes:
        is_about: ABOUT rather than MENTIONS.
        label: The concept's name.
        mentions, abouts: Episodes that mention the concept, and that are about it.
    """

    episode: tuple[EpisodeId, ...]
    concept: tuple[str, ...]
    is_about: NDArray[np.bool_]
    label: tuple[str, ...]
    mentions: NDArray[np.int64]
    abouts: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptArcs:
    """RELATED and SYNONYM edges that leave concepts, in either direction, as parallel columns.

    Attributes:
        edge: RELATED or SYNONYM.
        label: The head's name.
        mentions, abouts: Episodes that mention the head, and that are about it.
    """

    tail: tuple[str, ...]
    head: tuple[str, ...]
    edge: tuple[str, ...]
    weight: NDArray[np.float64]
    label: tuple[str, ...]
    mentions: NDArray[np.int64]
    abouts: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class NearFacts:
    """The concepts at the ends of the facts nearest to a cue, as parallel columns.

    Attributes:
        fact: The fact's id; twice if it has a concept at either end.
        cosine: Of the fact to the cue; nearest first.
        edge: SUBJECT or OBJECT.
        label: The concept's name.
    """

    fact: tuple[str, ...]
    statement: tuple[str, ...]
    cosine: NDArray[np.float64]
    edge: tuple[str, ...]
    concept: tuple[str, ...]
    label: tuple[str, ...]
    mentions: NDArray[np.int64]
    abouts: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class FanLimits:
    """The edges that one expansion of a frontier lists.

    Attributes:
        fan: Edges per node and type, the strongest.
        floor: Lightest edge; the server prunes lighter ones.
        associated: Whether concepts lead to concepts that are mentioned together with them.
        related: Whether concepts lead to concepts that a fact joins to them.
        kinds: Whether concepts lead to what they are a kind of, and to their own kinds.
        merged: Whether concepts lead to concepts that were accepted as the same.
        window: Number of consecutive turns that also mention each other's concepts; 0 for none.
    """

    fan: int = 32
    floor: float = 0.05
    associated: bool = False
    related: bool = False
    kinds: bool = False
    merged: bool = False
    window: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Arcs:
    """Edges that leave a frontier, as parallel columns; m rows.

    Attributes:
        edge: NEXT, MENTIONS, ABOUT or SIMILAR.
        forward: Whether the stored direction is tail to head.
        degree: The tail's number of edges of this type, listed or not.
        head_kind: `episode` or `concept`.
        head_label: The concept's name, or the episode's speaker or title, to read.
    """

    tail: tuple[str, ...]
    head: tuple[str, ...]
    edge: tuple[str, ...]
    forward: NDArray[np.bool_]
    weight: NDArray[np.float64]
    degree: NDArray[np.int64]
    head_kind: tuple[str, ...]
    head_label: tuple[str, ...]

    def followed_by(self, other: "Arcs") -> "Arcs":
        """Give these edges and then the others."""
        return Arcs(
            tail=self.tail + other.tail,
            head=self.head + other.head,
            edge=self.edge + other.edge,
            forward=np.concatenate((self.forward, other.forward)),
            weight=np.concatenate((self.weight, other.weight)),
            degree=np.concatenate((self.degree, other.degree)),
            head_kind=self.head_kind + other.head_kind,
            head_label=self.head_label + other.head_label,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StatedFacts:
    """s statements of the rows of a frame; a fact that several rows state is there for each.

    Attributes:
        row: [s] the row that states it.
        fact: Its id.
        subject: Normalised.
        statement: In one line.
        cosine: [s] to the cue.
        counts: [s, q] how often it has each stem of the cue.
    """

    row: IntArray
    fact: tuple[FactId, ...]
    subject: tuple[str, ...]
    statement: tuple[str, ...]
    cosine: FloatArray
    counts: FloatArray

    def added(self, own: FloatArray) -> FloatArray:
        """Count the stems that each row's statements have and its `own` [n, q] lack."""
        found = np.zeros_like(own)
        np.add.at(found, self.row, self.counts)
        return np.where(own > 0.0, 0.0, found)

    def nearest(self, own: FloatArray, share: float) -> FloatArray:
        """Take `share` of the cosine of a row's nearest statement where that is larger, [n]."""
        found = own.copy()
        if share > 0.0:
            np.maximum.at(found, self.row, share * self.cosine)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo:
    """A turn that is no evidence for the cue; see `recall.echoes`.

    Attributes:
        terms: Its distinct stems.
        length: Stems, repeats counted.
        visible: Whether it may be a hit.
        lends: Whether its words still count in the reply to it.
    """

    id: EpisodeId
    session: str | None
    ordinal: int
    terms: frozenset[str]
    length: float
    cosine: float
    visible: bool
    lends: bool
