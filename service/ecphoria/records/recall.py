"""Recall: filters, hits, traces, feedback and comparisons."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from ecphoria.records.answered import answered
from ecphoria.records.episode import Episode
from ecphoria.records.ids import EpisodeId, FactId, TraceId

OptionValue = str | int | float | bool


USED_HITS = 5
"""First hits of a recall that count as used: they are learned from, and woken if dormant."""


class Stream(StrEnum):
    """The look-up that found a seed."""

    TEXT = "text"
    VECTOR = "vector"
    NAME = "name"
    FACT = "fact"
    RANK = "rank"


class Verdict(StrEnum):
    """The verdict of the gate."""

    ANSWER = "answer"
    VERIFY = "verify"
    REFUSE = "refuse"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Filters of memories; applied inside the indexes.

    Attributes:
        occurred_from: Earliest `occurred_at`, inclusive.
        occurred_before: Latest `occurred_at`, exclusive.
        exclude: Episodes that the recall treats as if they were not stored.
    """

    session: str | None = None
    speaker: str | None = None
    occurred_from: datetime | None = None
    occurred_before: datetime | None = None
    exclude: frozenset[EpisodeId] = frozenset()


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
        include_dormant: Look among what sleeps too, one by one.
        wake: Make the dormant memories live again that are among the first hits of an answer.
        asker: Who says "I" in the cue: a speaker's name or a role; the role `user` if None.
        collapse: Join near copies into one hit.
        min_score: Leave out hits with a lower score, 0 to 1,000.
        min_confidence: Refuse an answer with a lower confidence, 0 to 1.
    """

    strategy: str | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    k: int = 10
    filters: Filters = field(default_factory=Filters)
    token_budget: int = 2_000
    as_of: datetime | None = None
    known_at: datetime | None = None
    explain: bool = False
    include_dormant: bool = False
    wake: bool = False
    asker: str | None = None
    collapse: bool = True
    min_score: float | None = None
    min_confidence: float | None = None


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
    """What arrived here by this step."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class HitPassage:
    """A part of a long memory."""

    part: int
    """Its place among the memory's passages, from 0."""
    start: int
    """Where it starts in the memory's text, in characters."""
    end: int
    """Where it ends, exclusive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A woken memory; `sum(parts.values()) == score` to 1e-9.

    Attributes:
        superseded_at: When the last of the facts it claims ended; None while one holds, or if
            it claims none.
        superseded_by: The facts that hold instead.
        copies: Other memories that say the same, newest last; this one ranks best.
        passage: The part of a long episode that matches best.
        passages: The known parts of the episode, from which the context takes the neighbours.
    """

    episode: Episode
    rank: int
    score: float
    parts: Mapping[str, float]
    path: tuple[PathStep, ...]
    superseded_at: datetime | None = None
    superseded_by: tuple[FactId, ...] = ()
    copies: tuple[EpisodeId, ...] = ()
    passage: HitPassage | None = None
    passages: tuple[HitPassage, ...] = ()


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The memory behind a line of `context`."""

    number: int
    """The number in brackets at the start of the line; the rank of the hit."""
    episode: EpisodeId
    """Id of the memory."""
    start: int
    """Where the shown part starts in the memory's text, in characters."""
    end: int
    """Where it ends, exclusive."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """A memory just below the cut, told when the answer is not known."""

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
    """What found it."""
    label: str
    """To read."""
    energy: float
    """What it received."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class WaveArc:
    """Energy carried along one edge in one wave."""

    tail: str
    """Where it left."""
    head: str
    """Where it arrived."""
    edge: str
    """The relationship's type."""
    weight: float
    """The edge's weight."""
    energy: float
    """What it carried."""


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
    """What moved, strongest first."""
    arcs_left_out: int
    """Arcs not listed."""
    marks: tuple[Mark, ...] = ()
    """What the mechanism says of single nodes, in its own terms."""


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
    """What the score is made of."""
    path: tuple[PathStep, ...]
    """How it was woken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stimulation:
    """The stimuli that a recall gave to memories, and the parameters of charging and firing.

    Attributes:
        turn: The cue's: one after the tenant's latest.
        stimuli: Above 0, by memory.
        threshold: Potential at which one fires.
        tau: Time constant of one never stimulated, in turns.
        tau_scale, turn_scale: Factors on time constants and on turns passed.
        potential, current: What one is reset to.
    """

    turn: int
    stimuli: Mapping[EpisodeId, float]
    threshold: float
    tau: float
    tau_scale: float
    turn_scale: float
    potential: float
    current: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The record of one recall: enough to explain it and to show it in Neo4j Browser.

    It is stored without labels; they are looked up when it is read, so that no copy of an
    episode's text or of a name outlives what it was copied from.

    Attributes:
        stimulation: What a strategy that stimulates memories did to them.
        refused: Whether the hits were not to be used to answer.
        about: The one speaker or role whom the cue is about, empty if nobody or several.
    """

    id: TraceId
    cue: str
    strategy: str
    options: Mapping[str, OptionValue]
    created_at: datetime
    seeds: tuple[SeedRecord, ...]
    waves: tuple[Wave, ...]
    hits: tuple[TracedHit, ...]
    truncated: bool
    cypher: str
    stimulation: Stimulation | None = None
    refused: bool = False
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """The answer to a cue.

    Attributes:
        confidence: Probability that the hits answer the cue, 0 to 1.
        calibrated: Whether the tenant's own gate judged, rather than the shipped one.
        evidence: What a gate may weigh, by name.
        reasons: Why it is (not) answerable, in words.
        context: The hits in chronological order, one a line, within the token budget.
        token_counter: The byte-pair table that `context_tokens` and the budget are counted by.
        references: The episode behind each line of `context`, in the order of the lines.
        timings_ms: Milliseconds by phase.
        degraded: What was missing, if anything: without the encoder only words are searched.
        second_look: Whether it was found only among what sleeps, after the gate had refused.
        woken: Dormant memories that this recall made live again.
    """

    hits: tuple[Hit, ...]
    strategy: str
    verdict: Verdict
    answerable: bool
    confidence: float
    calibrated: bool
    evidence: Mapping[str, float]
    reasons: tuple[str, ...]
    misses: tuple[NearMiss, ...]
    context: str
    context_tokens: int
    timings_ms: Mapping[str, float]
    trace_id: TraceId
    degraded: tuple[str, ...]
    second_look: bool = False
    woken: tuple[EpisodeId, ...] = ()
    token_counter: str = ""
    references: tuple[Reference, ...] = ()


@answered("options")
@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A strategy with its options."""

    strategy: str
    """Its name."""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    """Its parameters that were set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadow:
    """The strategy that runs beside the live one.

    Attributes:
        share: Of the cues, 0 to 1; a cue is always in it or never.
    """

    choice: Choice
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The strategy of recalls that name none, and the shadow.

    Attributes:
        promoted: Strategies that were promoted, the latest last and in force; the service's
            default if there is none.
    """

    shadow: Shadow | None = None
    promoted: tuple[Choice, ...] = ()

    @property
    def live(self) -> Choice | None:
        """The strategy promoted last; None means the service's default."""
        return self.promoted[-1] if self.promoted else None


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
    """Recalls compared since the shadow was set, the report reset or the service started."""
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


FIRST_STABILITY = 30.0
"""S_0, days until a memory that was never recalled can be called back with 1/e."""
RECENT = 8
"""Uses whose instants are kept; older ones count as spread evenly."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """The learning settings and counts of a tenant."""

    on: bool
    """Whether they do."""
    recalls: int
    """Recalls that were learned from."""
    pending: int
    """Recalls that wait to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The usage of a memory; instants are epoch milliseconds.

    Being made is the first use, at the instant the memory is of.

    Attributes:
        recent_ms: The latest instants, ascending, at most `RECENT`.
        count: All uses.
        stability: S in days, as it was at `stability_ms`, the latest use.
        working, lasting: r1 and r2 of the memory chain, as they were at `chain_ms`.
        recalls: Recalls it took part in.
        salience: Importance as feedback moved it; None for as its author gave it.
    """

    recent_ms: tuple[int, ...]
    count: int
    first_ms: int
    stability: float
    stability_ms: int
    working: float
    lasting: float
    chain_ms: int
    recalls: int
    salience: float | None = None

    @classmethod
    def fresh(cls, occurred_ms: int, *, salience: float | None = None) -> "Use":
        """Begin the history of a memory that was never recalled."""
        return cls(
            recent_ms=(occurred_ms,),
            count=1,
            first_ms=occurred_ms,
            stability=FIRST_STABILITY,
            stability_ms=occurred_ms,
            working=1.0,
            lasting=0.0,
            chain_ms=occurred_ms,
            recalls=0,
            salience=salience,
        )


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Regard:
    """The state of a memory after feedback."""

    episode: EpisodeId
    """Its id."""
    useful: bool
    """How it is judged for this recall."""
    reliability: float
    """Whether to believe it, 0 to 1: by who stated it, and by how it proved."""
    salience: float
    """Whether it matters, 0 to 1: its importance, moved by every judgement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A learned association between two memories that were recalled together.

    Attributes:
        one, other: The smaller id first.
        learned: The learned part of the edge's weight, as it was at `used_ms`.
        coactivations: Recalls both took part in.
        used_ms: The latest of those, in epoch milliseconds; None if there was none.
    """

    one: EpisodeId
    other: EpisodeId
    learned: float = 0.0
    coactivations: int = 0
    used_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """A memory's spike train, and the potential left in it; time is counted in turns.

    Attributes:
        turns, strengths: The latest spikes, ascending, at most 16; its own turn is the first.
        tau: Time constant.
        potential, current: V and I as they were at `turn`.
    """

    turns: tuple[int, ...]
    strengths: tuple[float, ...]
    tau: float
    potential: float
    current: float
    turn: int

    @classmethod
    def fresh(cls, own: int, *, tau: float, potential: float, current: float) -> "Charge":
        """Begin the train of a memory that was never stimulated, at its own turn."""
        return cls(
            turns=(own,),
            strengths=(1.0,),
            tau=tau,
            potential=potential,
            current=current,
            turn=own,
        )
