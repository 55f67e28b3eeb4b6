"""Recall: filters, hits, traces and comparisons."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from ecphoria.records.answered import Internal, answered
from ecphoria.records.episode import DEFAULT_RELIABILITY, Engram, Episode, MetadataCondition
from ecphoria.records.history import Stimulation
from ecphoria.records.ids import EpisodeId, FactId, TraceId

OptionValue = str | int | float | bool

DEFAULT_HITS: Final = 10
"""Number of hits of a recall or an answer that names none, by every way of calling."""


class Stream(StrEnum):
    """The look-up that found a seed."""

    TEXT = "text"
    VECTOR = "vector"
    NAME = "name"
    FACT = "fact"
    RANK = "rank"
    SESSION = "session"


class Verdict(StrEnum):
    """The verdict of the gate."""

    ANSWER = "answer"
    VERIFY = "verify"
    REFUSE = "refuse"
    EMPTY = "empty"

    @property
    def refused(self) -> bool:
        """Whether the hits should not be used to answer."""
        return self in {Verdict.REFUSE, Verdict.EMPTY}


class Match(StrEnum):
    """Words of a cue that a memory must have."""

    ANY = "any"
    ALL = "all"
    PHRASE = "phrase"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """Words that stand one after the other, or near each other in any order.

    Attributes:
        words: Normalised words.
        between: Other words that may stand between them; 0 for exactly this phrase.
    """

    words: tuple[str, ...]
    between: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Required:
    """Stems and phrases that a memory must have, all of them."""

    stems: tuple[str, ...] = ()
    phrases: tuple[Phrase, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Filters of memories; an episode passes if it passes all of them.

    Attributes:
        speaker: Only this speaker, in any case.
        sessions: Only these sessions; any if empty.
        metadata: Conditions on entries of an episode's metadata.
        occurred_from: Earliest `occurred_at`, inclusive.
        occurred_before: Latest `occurred_at`, exclusive.
        exclude: Episodes that the recall treats as if they were not stored.
        spoken_by: The stored spellings of `speaker`; the store finds them.
        metadata_texts: The stored metadata that meet `metadata`; the store finds them.
        required: Words and phrases that it must have, read from the cue.
    """

    session: str | None = None
    speaker: str | None = None
    occurred_from: datetime | None = None
    occurred_before: datetime | None = None
    exclude: frozenset[EpisodeId] = frozenset()
    sessions: tuple[str, ...] = ()
    role: str | None = None
    metadata: tuple[tuple[str, MetadataCondition], ...] = ()
    spoken_by: tuple[str, ...] = ()
    metadata_texts: tuple[str, ...] = ()
    required: Required = Required()

    @property
    def speakers(self) -> tuple[str, ...]:
        """The names that pass as the speaker; any if empty."""
        return self.spoken_by or (() if self.speaker is None else (self.speaker,))

    @property
    def beyond_indexes(self) -> bool:
        """Whether a filter is set that the vector indexes do not have."""
        return bool(self.sessions or self.role or self.metadata or len(self.spoken_by) > 1)

    @property
    def bounded(self) -> bool:
        """Whether a filter besides `exclude` is set."""
        return replace(self, exclude=frozenset()) != Filters()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """A question: words, a vector made with the store's model, or both."""

    text: str | None = None
    vector: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """Options of a recall.

    Attributes:
        strategy: Name of the mechanism; the service's default if None.
        options: The strategy's own parameters, checked against its options class.
        k: Number of hits, 1 to 200.
        filters: Which memories may be woken.
        token_budget: Size of the context block, in tokens.
        as_of: Recall as it would have been then: only what had happened, and facts as they stood.
        known_at: Only what had been recorded by then.
        explain: List the arcs of each wave in the trace, not only their number.
        include_dormant: Search dormant memories too, one by one.
        wake: Make the dormant memories live again that are among the first hits of an answer.
        asker: Who says "I" in the cue: a speaker's name or a role; the role `user` if None.
        collapse: Join near copies into one hit.
        read_cue: Have a language model read the cue for names and expansions.
        min_score: Leave out hits with a lower score, 0 to 1,000.
        min_confidence: Refuse an answer with a lower confidence, 0 to 1.
        match: What a memory must have of the cue's words; `any` asks for nothing.
        engrams: Number of engrams to recall beside the hits.
        newest_first: Rank a memory above the one that it makes outdated, and mark the latter.
    """

    strategy: str | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    k: int = DEFAULT_HITS
    filters: Filters = field(default_factory=Filters)
    token_budget: int = 2_000
    as_of: datetime | None = None
    known_at: datetime | None = None
    explain: bool = False
    include_dormant: bool = False
    wake: bool = False
    asker: str | None = None
    collapse: bool = True
    read_cue: bool = False
    min_score: float | None = None
    min_confidence: float | None = None
    match: Match = Match.ANY
    engrams: int = 0
    newest_first: bool = True


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class PathStep:
    """One step on the way to a hit."""

    node: str
    """Id of the node reached."""
    kind: str
    """`episode` or `concept`."""
    edge: str
    """The relationship walked to get here; on the first step what found the seed."""
    label: str
    """A speaker, a concept's name or an episode's place, to read."""
    energy: float
    """Energy that arrived by this step."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class HitPassage:
    """A part of a long memory."""

    part: int
    """Its place among the memory's passages, from 0."""
    start: int
    """Start in the memory's text, in characters."""
    end: int
    """End in the memory's text, exclusive."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A woken memory; `sum(parts.values()) == score` to 1e-9."""

    rank: int
    """From 1."""
    score: float
    """The sum of `parts`."""
    parts: Mapping[str, float]
    """Parts of the score, by name."""
    path: tuple[PathStep, ...]
    """The path of activation that reached it, from the seed on."""
    episode: Episode
    """The memory itself."""
    trust: float = DEFAULT_RELIABILITY
    """Trust in its speaker's role, 0 to 1: `user` .9, `tool` .8, others .7."""
    superseded_at: datetime | None = None
    """End of the last of the facts it claims; absent while one of them holds."""
    superseded_by: tuple[FactId, ...] = ()
    """The facts that hold instead."""
    outdated_by: EpisodeId | None = None
    """Id of the hit in which the same speaker says later what changed, or which claims the fact
    that holds instead; absent if there is none."""
    outdated_by_rank: Internal[int | None] = None
    """Rank of that hit."""
    copies: tuple[EpisodeId, ...] = ()
    """Ids of other memories in which the same speaker says the same words, newest last."""
    passage: HitPassage | None = None
    """The part of a long memory that matches best; absent if the memory has no parts."""
    passages: Internal[tuple[HitPassage, ...]] = ()
    """The known parts of the memory, from which the context takes the neighbours."""
    echo: bool = False
    """Whether it only asks what the cue asks, or only says that nobody knows: it is no evidence,
    ranks below all other memories and is not in the context."""
    follows: Internal[int | None] = None
    """Of a turn that is shown only because it follows an open question: the rank of that hit."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class EngramHit:
    """A summary that answers a cue; `sum(parts.values()) == score` to 1e-9."""

    rank: int
    """From 1, among the engrams."""
    score: float
    """The sum of `parts`; it does not compare with the score of a memory."""
    parts: Mapping[str, float]
    """Parts of the score: words and meaning of the summary."""
    engram: Engram
    """The summary, with its members and how it was made."""
    evidence: tuple[Episode, ...]
    """The memories whose words are in it, in the order they were appended."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The memory behind a line of `context`."""

    number: int
    """The number in brackets at the start of the line: the rank of the hit, or a number above
    all ranks for a turn that follows a hit."""
    episode: EpisodeId
    """Id of the memory."""
    start: int
    """Start of the shown part in the memory's text, in characters."""
    end: int
    """End in the memory's text, exclusive."""
    follows: int | None = None
    """Rank of the hit that the turn follows; absent if the line shows a hit."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """A memory just below the cut, shown when a cue is refused."""

    episode: EpisodeId
    """Its id."""
    score: float
    """Its score."""
    text: str
    """Its text."""


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
    """Energy at the start."""


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
    """Edges that carried energy, strongest first."""
    arcs_left_out: int
    """Arcs not listed."""
    marks: tuple[Mark, ...] = ()
    """Remarks of the mechanism on single nodes."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class TracedHit:
    """A hit without its text."""

    episode: EpisodeId
    """Its id."""
    rank: int
    """From 1."""
    score: float
    """The sum of `parts`."""
    parts: Mapping[str, float]
    """Parts of the score, by name."""
    path: tuple[PathStep, ...]
    """The path of activation that reached it."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The record of one recall: enough to explain it and to show it in Neo4j Browser."""

    # It is stored without labels. They are looked up when it is read, so that no copy of an
    # episode's text or of a name outlives its original.
    id: TraceId
    """The trace's id."""
    cue: str
    """The question."""
    strategy: str
    """The mechanism that ran."""
    options: Mapping[str, OptionValue]
    """Its parameters."""
    created_at: datetime
    """Time of the recall."""
    seeds: tuple[SeedRecord, ...]
    """The seeds: nodes at which energy entered."""
    waves: tuple[Wave, ...]
    """The waves in which energy spread."""
    hits: tuple[TracedHit, ...]
    """The ranked memories."""
    truncated: bool
    """Whether a bound of the trace left something out."""
    about: str = ""
    """The one speaker or role whom the cue is about, as its names, "I" and "you" say; empty if
    that is nobody, or several."""
    names: tuple[str, ...] = ()
    """Names that a language model read in the cue."""
    expansions: tuple[str, ...] = ()
    """Phrases of a language model that were sought too."""
    cypher: str
    """Shows the trace in Neo4j Browser."""
    stimulation: Internal[Stimulation | None] = None
    """Effect of a strategy that stimulates memories."""
    refused: Internal[bool] = False
    """Whether the gate refused the hits."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """The answer to a cue."""

    hits: tuple[Hit, ...]
    """Woken memories, best first."""
    strategy: str
    """The mechanism that ran."""
    verdict: Verdict
    """`answer`, `verify`, `refuse`, or `empty` if nothing is stored."""
    answerable: bool
    """Whether the hits probably hold the answer: the verdict is `answer`."""
    verify: bool = False
    """Whether they may hold it: the verdict is `verify`. Use them, but quote the evidence."""
    confidence: float
    """Probability that they do, 0 to 1."""
    calibrated: bool
    """Whether the tenant's own gate judged, rather than the shipped one."""
    evidence: Mapping[str, float] = field(default_factory=dict)
    """Evidence for the gate, by name; `ecphoria calibrate` fits on it."""
    reasons: tuple[str, ...]
    """Why it is answerable or not, in words."""
    misses: tuple[NearMiss, ...]
    """Nearest misses."""
    context: str
    """The hits, and turns that follow open questions among them, in chronological order within
    the token budget, ready for a prompt."""
    context_tokens: int
    """Its size, never more than `token_budget`."""
    token_counter: str = ""
    """The byte-pair table that counts the tokens."""
    references: tuple[Reference, ...] = ()
    """The memory behind each line of `context`, in the order of the lines."""
    followers: Internal[tuple[Hit, ...]] = ()
    """Turns for the context that follow an open question among the hits."""
    timings_ms: Mapping[str, float]
    """Milliseconds by phase."""
    trace_id: TraceId
    """Ask `GET /v1/traces/{id}` for the replay."""
    degraded: tuple[str, ...]
    """Missing parts of the service: without the encoder, only words are searched."""
    second_look: bool = False
    """Whether it was found only among dormant memories, after the gate had refused."""
    woken: tuple[EpisodeId, ...] = ()
    """Ids of dormant memories that this recall made live again."""
    engrams: tuple[EngramHit, ...] = ()
    """Summaries of sessions and clusters, best first, as many as were asked for."""


@answered("options")
@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A strategy with its options."""

    strategy: str
    """Its name."""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    """Its parameters that were set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One answer beside that of the shadow.

    Attributes:
        overlap: Share of the k hits that both have.
        rank_overlap: Rank-biased overlap of the hits, p = .9.
        rank_difference: Mean absolute difference in rank of shared hits; None without any.
        live_ms, shadow_ms: Time of each without the encoder.
        live_tokens, shadow_tokens: Size of each context.
    """

    overlap: float
    rank_overlap: float
    same_first: bool
    same_verdict: bool
    rank_difference: float | None
    live_ms: float
    shadow_ms: float
    live_tokens: int
    shadow_tokens: int


@answered("compared", "dropped", "failed", "window")
@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowReport:
    """Statistics of a shadow's comparisons; means are over the newest ones, None without any."""

    compared: int = 0
    """Recalls compared since the trial began or the service started."""
    dropped: int = 0
    """Recalls of the sample left out, because too many waited."""
    failed: int = 0
    """Recalls of the sample on which the shadow failed or took longer than 10 s."""
    window: int = 0
    """Comparisons behind the figures, at most 1,000."""
    overlap: float | None = None
    """Mean share of the k hits that both have; absent, as all that follow, without any."""
    rank_overlap: float | None = None
    """Mean rank-biased overlap at p = .9: agreement that counts the first ranks most."""
    rank_difference: float | None = None
    """Mean number of places between the ranks of a shared hit."""
    same_first: float | None = None
    """Share of recalls with the same first hit."""
    same_verdict: float | None = None
    """Share of recalls with the same verdict."""
    live_p50_ms: float | None = None
    """Median time of the live strategy, without the encoder."""
    live_p95_ms: float | None = None
    """Its 95th percentile."""
    shadow_p50_ms: float | None = None
    """Median time of the shadow, without the encoder."""
    shadow_p95_ms: float | None = None
    """Its 95th percentile."""
    live_tokens: float | None = None
    """Mean size of the live context."""
    shadow_tokens: float | None = None
    """Mean size of the shadow's context."""
