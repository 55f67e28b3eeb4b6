"""The reads of recall: live, with dormant memories, or as of a moment."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ecphoria.neo4j_store.passages import Neighbour, PassageReads
from ecphoria.ports import Vector
from ecphoria.records.episode import Episode
from ecphoria.records.fact import FactKey
from ecphoria.records.history import Charge, Use
from ecphoria.records.ids import EpisodeId, FactId, TenantId
from ecphoria.records.recall import Filters
from ecphoria.records.tenant import Gate
from ecphoria.text.asking import Asking


@dataclass(frozen=True, slots=True, kw_only=True)
class FactStanding:
    """The state of a claimed fact at an instant.

    Attributes:
        ended: Whether it held, and holds no more.
        ended_at: The end of its last spell before the instant.
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
class Profile:
    """Statistics of a tenant that ranking needs.

    Attributes:
        items: Live episodes.
        mean_length: Mean number of stems an item has.
        titles: Live episodes with a title; if 0, there are no ABOUT edges.
        stated: Names and facts that episodes state; if 0, there is no fact to find.
        participants: The tenant's speakers, most frequent first.
        change: The tenant's change counter; equal counters mean equal graphs.
        gate: The tenant's own gate, None for the shipped one.
        timed: Whether any fact has a timeline; if not, none was ever superseded.
        turn: The number of episodes that the tenant ever appended.
        learned: Whether its recalls ever changed memories.
        expired: Whether there may be expired episodes that are not erased yet.
        passages: Passages of its long episodes; 0: none is long.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedRow:
    """An episode found by an index, and its position."""

    id: EpisodeId
    session: str | None
    ordinal: int | None
    score: float


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
        asking: Whether it only asks, or only says that it does not know.
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
    asking: tuple[Asking, ...]


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
        window: Number of consecutive turns that also mention each other's concepts; 0 for none.
    """

    fan: int = 32
    floor: float = 0.05
    associated: bool = False
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


class Figures(Protocol):
    """Reads of memories that are known to be in scope; missing ones are absent."""

    async def uses(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, Use]:
        """Read the uses of episodes."""
        ...

    async def charges(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, Charge]:
        """Read the charges of episodes; never stimulated ones are absent."""
        ...

    async def priors(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Mapping[str, float]:
        """Look up the priors that consolidation stored."""
        ...

    async def words(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, str]:
        """Read the words of episodes as the text index has them, joined by blanks."""
        ...

    async def with_metadata(
        self, tenant: TenantId, ids: Sequence[EpisodeId], filters: Filters
    ) -> Collection[EpisodeId]:
        """Select the episodes whose metadata pass the filters."""
        ...

    async def concept_vectors(
        self, tenant: TenantId, concepts: Sequence[str]
    ) -> Mapping[str, Vector]:
        """Fetch the vectors of concepts; concepts without a vector are absent."""
        ...


class RecallStore(PassageReads, Protocol):
    """The read side of the memory graph; every call sees one tenant's live nodes only."""

    @property
    def figures(self) -> Figures:
        """The reads that no scope restricts."""
        ...

    async def standings(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], now: datetime
    ) -> Sequence[FactStanding]:
        """Read the standing, at an instant, of every fact that these episodes claim."""
        ...

    async def lexicon(
        self, tenant: TenantId, stems: Sequence[str], names: Sequence[str]
    ) -> Lexicon:
        """Read the tenant's statistics, document frequencies of stems, and concepts by name.

        Raises:
            NotFound: There is no such tenant.
        """
        ...

    async def seeds_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the vector index; score is the cosine; best first, ties by turn."""
        ...

    async def seeds_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the text index for items with any of the stems; best first, ties by turn."""
        ...

    async def near_concepts(
        self, tenant: TenantId, vector: Vector, limit: int
    ) -> Sequence[NearConcept]:
        """Search the concepts by vector, nearest first; none before a consolidation."""
        ...

    async def concepts_with(
        self, tenant: TenantId, words: Sequence[str], limit: int
    ) -> Sequence[NamedConcept]:
        """List the concepts whose names hold one of these words, also inside a word."""
        ...

    async def columns(
        self,
        tenant: TenantId,
        ids: Sequence[EpisodeId],
        windows: Sequence[Window],
        vector: Vector | None,
        around: Around | None = None,
    ) -> Columns:
        """Fetch episodes by id, by place in their session, and near others, each once."""
        ...

    async def expand(
        self, tenant: TenantId, frontier: Sequence[str], limits: FanLimits, now: datetime
    ) -> Arcs:
        """List the live edges of a frontier, strongest first.

        The learned part of an edge counts with its value at `now`.
        """
        ...

    async def concepts_of(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], hub: int
    ) -> ConceptEdges:
        """List the concepts of these episodes, without hubs (over `hub` mentions)."""
        ...

    async def episodes_of(
        self, tenant: TenantId, concepts: Sequence[str], hub: int
    ) -> ConceptEdges:
        """List live episodes about these concepts, or that mention them unless hubs."""
        ...

    async def related(
        self, tenant: TenantId, concepts: Sequence[str], hub: int, *, retracted: bool = False
    ) -> ConceptArcs:
        """List the concepts joined by facts or names, without those with over `hub` edges.

        Args:
            tenant: Whose.
            concepts: The concepts to start from.
            hub: Concepts with more edges are skipped.
            retracted: Whether retracted facts count too.
        """
        ...

    async def nearest_facts(
        self, tenant: TenantId, vector: Vector, limit: int, *, retracted: bool = False
    ) -> NearFacts:
        """Search the facts that join two concepts, by vector; nearest first, ties by id."""
        ...

    async def vectors(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, Vector]:
        """Fetch the vectors of episodes; deleted ones are absent."""
        ...

    async def latest_turns(
        self, tenant: TenantId, session: str, limit: int
    ) -> Sequence[EpisodeId]:
        """List the latest turns of a session, newest first; none of an unknown one."""
        ...

    async def nearest(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], limit: int
    ) -> Sequence[Neighbour]:
        """Search the vector index around each of these episodes, all in one query.

        At most `limit` neighbours each, best first; an episode is not its own neighbour.
        """
        ...

    async def episodes(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Sequence[Episode]:
        """Fetch whole episodes, in the order asked; missing ones are left out."""
        ...
