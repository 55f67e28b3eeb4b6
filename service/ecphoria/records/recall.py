"""Recall: filters, hits, traces and comparisons."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from ecphoria.records.answered import Internal, answered
from ecphoria.records.asked import (
    Condition,
    FewFaults,
    Flat,
    Inner,
    Instant,
    Key,
    Name,
    Numbers,
    Role,
    StrictBool,
    StrictFloat,
    StrictInt,
    asked,
    with_repeats,
)
from ecphoria.records.episode import DEFAULT_RELIABILITY, EPOCH, TICK, Engram, Episode, MemoryKind
from ecphoria.records.forms import composed
from ecphoria.records.history import Stimulation
from ecphoria.records.ids import ID, EpisodeId, FactId, TraceId
from ecphoria.records.traced import Limits, Node, SeedRecord, TracedFilters, Wave

OptionValue = str | int | float | bool

LONGEST_CUE: Final = 10_000
"""Characters of a cue; a longer one is refused."""
DEFAULT_HITS: Final = 10
"""Number of hits of a recall or an answer that names none, by every way of calling."""
MOST_HITS: Final = 200
"""Largest number of hits."""
HITS_OF_LIST: Final = 20
"""Least number of hits if the option `lists` is on and the question asks for a list."""


_LISTED: Final = 1_000
"""Ids that a recall may leave out."""


def _id(value: str) -> EpisodeId:
    if ID.fullmatch(value) is None:
        raise ValueError(
            "An episode's id is 32 lower-case hexadecimal digits; take it from a hit."
        )
    return EpisodeId(value)


def _counted(value: object) -> object:
    """Count ids before they become a set, which would have each of them once."""
    if isinstance(value, list | tuple) and len(value) > _LISTED:
        raise PydanticCustomError("too_long", "Too many", {"max_length": _LISTED})
    return value


_Excluded = Annotated[
    EpisodeId, AfterValidator(_id), Field(json_schema_extra={"pattern": f"^{ID.pattern}$"})
]


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


@asked()
@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Filters of memories; an episode passes if it passes all of them."""

    session: Name | None = None
    """Only this session. Notes without a session have none to ask for."""
    speaker: Name | None = None
    """Only what this speaker said, named in any case."""
    occurred_from: Instant | None = None
    """Earliest `occurred_at`, inclusive."""
    occurred_before: Instant | None = None
    """Latest `occurred_at`, exclusive."""
    exclude: Annotated[
        frozenset[_Excluded],
        FewFaults,
        Field(max_length=_LISTED, json_schema_extra=with_repeats),
        BeforeValidator(_counted),
    ] = frozenset()
    """Ids of episodes to leave out, as if they were not stored; at most 1,000."""
    sessions: Annotated[tuple[Name, ...], FewFaults, Field(max_length=100)] = ()
    """Only these sessions; any if empty."""
    role: Role | None = None
    """Only what speakers of this role said."""
    kind: MemoryKind | None = None
    """Only memories of this kind: `episodic`, `semantic` or `procedural`."""
    metadata: Annotated[Mapping[Key, Condition], Field(max_length=20)] = field(
        default_factory=dict
    )
    """Only episodes whose metadata meet these conditions: for each name a value to equal, or
    comparisons by `$eq`, `$ne`, `$gt`, `$gte`, `$lt` and `$lte`. 1 equals 1.0, but neither `"1"`
    nor true."""
    spoken_by: Inner[tuple[str, ...]] = ()
    """The stored spellings of `speaker`; the store finds them."""
    metadata_texts: Inner[tuple[str, ...]] = ()
    """The stored metadata that meet `metadata`; the store finds them."""
    required: Inner[Required] = Required()
    """Words and phrases that it must have, read from the cue."""

    @property
    def speakers(self) -> tuple[str, ...]:
        """The names that pass as the speaker; any if empty."""
        return self.spoken_by or (() if self.speaker is None else (self.speaker,))

    @property
    def beyond_indexes(self) -> bool:
        """Whether a filter is set that the vector indexes do not have."""
        return bool(
            self.sessions or self.role or self.kind or self.metadata or len(self.spoken_by) > 1
        )

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
class QuestionOptions:
    """The options that a recall and a question have in common."""

    strategy: str | None = None
    """A name listed by `GET /v1/strategies`; the service's default if absent."""
    options: Mapping[str, Flat] = field(default_factory=dict)
    """The strategy's own parameters."""
    k: Annotated[StrictInt, Field(ge=1, le=MOST_HITS)] = DEFAULT_HITS
    """Number of memories to recall, 1 to 200."""
    filters: Filters = field(default_factory=Filters)
    """Filters of memories."""
    token_budget: Annotated[StrictInt, Field(ge=1, le=1_000_000)] = 2_000
    """Greatest size of the context: of the memories that a model reads, in tokens."""
    min_confidence: Annotated[StrictFloat, Field(ge=0, le=1)] | None = None
    """Refuse an answer with a lower confidence, 0 to 1; `ask` then asks no model."""
    as_of: Instant | None = None
    """Recall as of then: only what had happened, and facts as they stood."""
    known_at: Instant | None = None
    """Only what had been recorded by then."""
    asker: Annotated[str, Field(max_length=200), AfterValidator(composed)] | None = None
    """The one who says "I": a speaker's name in any case, or a role (`user`, `assistant`, `tool`,
    `system`); the role `user` if absent."""
    newest_first: StrictBool = True
    """Rank a memory above the one that it makes outdated, and mark the latter."""
    rerank: StrictBool | None = None
    """Have the reader order the first five turns and inform the gate: about 30 ms of processor;
    the service's setting if absent."""
    lists: StrictBool = False
    """Give at least 20 hits if the cue asks for a list ("which books", "what do both like"), in
    English or German. The context may be twice as long, within `token_budget`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions(QuestionOptions):
    """Options of a recall."""

    collapse: StrictBool = True
    """Join memories that say the same, and replies that only repeat one, into one hit; if false
    each is a hit of its own."""
    min_score: Annotated[StrictFloat, Field(ge=0, le=1_000)] | None = None
    """Leave out hits with a lower score, 0 to 1,000. Scores of two strategies do not compare."""
    explain: StrictBool = False
    """Give the trace with the answer, also if `record` is false, with up to 2,000 arcs; otherwise
    it lists only those on the paths of the hits."""
    include_dormant: StrictBool = False
    """Search dormant memories too, one by one: slower."""
    wake: StrictBool = False
    """Make dormant memories live again that are among the first five hits of an answer; needs
    the scope write."""
    read_cue: StrictBool = False
    """Have the language model read the cue for names and expansions; the service needs one."""
    match: Match = Match.ANY
    """Words that each hit must have: `all` of the cue's, or its `phrase`s. Both read
    `"a phrase"`, `"near words"~5` and `+word`; `any` reads no marks."""
    engrams: Annotated[StrictInt, Field(ge=0, le=50)] = 0
    """Number of engrams to recall beside the hits, 0 to 50: summaries with their evidence."""


@asked(
    {"cue": "Where does Ana live now?"},
    {
        "cue": "When is the workshop open?",
        "strategy": "fusion",
        "k": 5,
        "filters": {"occurred_before": "2026-06-01T00:00:00Z"},
        "token_budget": 500,
    },
    also={"limit": "k", "query": "cue"},
)
@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest(RecallOptions):
    """A cue: words, a vector, or both."""

    cue: Key | None = None
    """The question, as the user put it."""
    vector: Numbers | None = None
    """Embedding of the cue by the store's own model, if you have it already."""
    record: StrictBool = True
    """Leave a trace; if false nothing is learned or compared, and `trace_id` leads nowhere."""


@asked({"question": "Where does Ana live now?"}, also={"limit": "k"})
@dataclass(frozen=True, slots=True, kw_only=True)
class AskRequest(QuestionOptions):
    """A question to answer in words."""

    question: Key
    """The question, as the user put it."""
    brief: StrictBool = False
    """Give only the words that answer the question, instead of sentences."""
    record: StrictBool = True
    """Leave a trace; if false nothing is learned or compared, and `trace_id` leads nowhere."""

    def to_options(self) -> RecallOptions:
        """Give the options of the recall before the answer."""
        named = [each.name for each in fields(QuestionOptions)]
        return RecallOptions(**{name: getattr(self, name) for name in named})


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
    """Trust, 0 to 1: by its speaker's role (`user` .9, `tool` .8, others .7), and by feedback."""
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
    """Ids of other memories that say the same, newest last, then of replies that only repeat
    it."""
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
    """The first 80 characters of its text, on one line."""


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
    useful: bool | None = None
    """Feedback on it in this recall; null without any."""


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
    verdict: Verdict
    """The verdict of the gate."""
    confidence: float
    """Probability that the hits hold the answer, 0 to 1."""
    judged_by: Limits
    """The gate, and the limits that made the verdict of the confidence."""
    evidence: Mapping[str, float]
    """Evidence for the gate, by name."""
    reasons: tuple[str, ...]
    """Why it is answerable or not, in words."""
    k: int
    """Number of hits that were asked for."""
    filters: TracedFilters
    """The filters."""
    as_of: datetime | None = None
    """Recall as of then."""
    known_at: datetime | None = None
    """Only what had been recorded by then."""
    match: Match = Match.ANY
    """Words that each hit must have."""
    include_dormant: bool = False
    """Whether dormant memories were searched too."""
    rerank: bool | None = None
    """Whether the reader was to order the first turns; absent if the strategy decided."""
    nodes: tuple[Node, ...] = ()
    """The nodes of seeds, arcs, marks and paths, as they are now; without those that were erased
    or have expired since."""
    cypher: str
    """Shows the trace in Neo4j Browser; empty if the trace was not recorded."""
    speakers: Internal[tuple[str, ...]] = ()
    """The speakers whom the reasons name."""
    stimulation: Internal[Stimulation | None] = None
    """Effect of a strategy that stimulates memories."""
    without: Internal[Mapping[str, float]] = field(default_factory=dict)
    """Figures of the evidence without the best hits."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSummary:
    """A trace in a list."""

    id: TraceId
    """The trace's id."""
    cue: str
    """The question."""
    strategy: str
    """The mechanism that ran."""
    created_at: datetime
    """Time of the recall."""
    verdict: Verdict
    """The verdict of the gate."""
    confidence: float
    """Probability that the hits hold the answer, 0 to 1."""
    first: EpisodeId | None = None
    """The first hit; null if there is none, or it was erased or has expired."""
    first_label: str | None = None
    """Its title, or its speaker and the start of its text."""

    @property
    def cursor(self) -> str:
        """The cursor of the traces after this one."""
        return f"{(self.created_at - EPOCH) // TICK}.{self.id}"


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """The answer to a cue."""

    hits: tuple[Hit, ...]
    """Woken memories, best first."""
    strategy: str
    """The mechanism that ran."""
    verdict: Verdict
    """`answer`, `verify`, `refuse`, or `empty` if no memory passes."""
    answerable: bool
    """Whether the hits probably hold the answer: the verdict is `answer`."""
    verify: bool = False
    """Whether they may hold it: the verdict is `verify`. Use them, but quote the evidence."""
    confidence: float
    """Probability that they do, 0 to 1."""
    judged_by: Limits
    """The gate, and the limits that made the verdict of the confidence."""
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
    trace: Trace | None = None
    """The replay itself, with `explain`; also if nothing is recorded."""
    degraded: tuple[str, ...]
    """Missing parts of the service: without the encoder, only words are searched."""
    second_look: bool = False
    """Whether it was found only among dormant memories, after the gate had refused."""
    woken: tuple[EpisodeId, ...] = ()
    """Ids of dormant memories that this recall made live again."""
    engrams: tuple[EngramHit, ...] = ()
    """Summaries of sessions and clusters, best first, as many as were asked for."""
