"""Episodes and sessions; an episode never changes once recorded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic.config import JsonDict

from ecphoria.records.answered import answered
from ecphoria.records.asked import (
    FewFaults,
    Flat,
    Inner,
    Instant,
    Key,
    LocalInstant,
    Numbers,
    Role,
    Share,
    StrictInt,
    asked,
    read_as,
)
from ecphoria.records.ids import EpisodeId

MetadataValue = str | int | float | bool

MetadataCondition = MetadataValue | Mapping[str, MetadataValue]
"""A value to equal, or comparisons such as `{"$gte": 4}`; see `records/conditions.py`."""

Polarity = Literal["positive", "negative"]

MemoryKind = Literal["episodic", "semantic", "procedural"]
"""The kind of a memory: of an event, of knowledge, of a way to do something."""

ConceptKind = Literal["person", "place", "organisation", "time", "title", "topic"]

CognitiveType = Literal["identity", "preference", "event", "technical", "person"]
"""The role of a name in a memory (SYNAPSE, A.2)."""

MOST_IDS = 1_000
"""Episodes that one request erases by their ids."""
# Names are entries of indexes, which hold 8 kB at most.
LONGEST_NAME = 256
"""Characters of a name: a speaker, a session, a title, a part of a fact, a name of metadata."""
LONGEST_SOURCE = 1_024
"""Characters of a source."""
LONGEST_KEY = 512
"""Characters of a key that a caller gives."""
LARGEST_METADATA = 16_384
"""Characters of the metadata as JSON."""
LONGEST_DESCRIPTION = 500
"""Characters of the description of a name."""

ROLE_RELIABILITY: Mapping[str, float] = {"user": 0.9, "tool": 0.8, "assistant": 0.7}
"""Default trust in a claim, by the role of its speaker."""

DEFAULT_RELIABILITY = 0.7
"""The same of a text without a role."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TICK = timedelta(microseconds=1)
"""The least difference of two stored instants."""
EARLIEST = datetime(1000, 1, 1, tzinfo=UTC)
"""The first instant at which an episode may occur."""
CENTURY = timedelta(days=100 * 366)
"""Longest time from the recording of an episode to its date, or to its expiry."""

TURN: JsonDict = {
    "text": "I moved to Lisbon in March, and the flat has a balcony over the river.",
    "speaker": "Ana",
    "role": "user",
    "session": "ana-2026-03",
    "occurred_at": "2026-03-14T09:30:00Z",
}
DOCUMENT: JsonDict = {
    "title": "Opening hours",
    "text": "The workshop is open from Tuesday to Saturday, 10:00 to 18:00.",
    "source": "https://example.org/hours",
    "metadata": {"language": "en", "page": 3},
    "importance": 0.8,
}
_EXTRACTION: JsonDict = {
    "names": [
        "Quill Workshop",
        "Lisbon",
        {
            "name": "Marta Reis",
            "kind": "person",
            "cognitive": "identity",
            "description": "founder of the Quill Workshop",
            "importance": 4,
        },
    ],
    "facts": [
        {"subject": "Quill Workshop", "predicate": "is in", "object": "Lisbon"},
        {"subject": "Marta Reis", "predicate": "founded", "object": "Quill Workshop"},
    ],
}
_EXTRACTED: JsonDict = {
    "title": "Quill Workshop",
    "text": "The Quill Workshop in Lisbon was founded by Marta Reis.",
    "extraction": _EXTRACTION,
}

_EXCERPT = 80

_MARK_DIGITS = 15


class State(StrEnum):
    """The state of a memory: live, dormant, or archived."""

    LIVE = "live"
    DORMANT = "dormant"
    ARCHIVED = "archived"


@asked()
@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement in three parts, each as written."""

    subject: str
    """The person or thing it is about."""
    predicate: str
    """The relation."""
    object: str
    """The other end: a name or a value."""
    qualifier: str = ""
    """Qualifier, if a subject has several: `work` of a phone."""
    polarity: Polarity = "positive"
    """`negative` says that it is not so, or no longer."""
    valid_from: Instant | None = None
    """From when on it is so; the episode's `occurred_at` if absent."""
    valid_to: Instant | None = None
    """Until when, exclusive; open if absent."""
    reliability: Share | None = None
    """Trust, 0 to 1; if absent .9 from a user, .8 from a tool, else .7."""
    weight: Share = 1.0
    """Strength of the relation between its ends, 0 to 1."""
    quote: Annotated[str, Field(max_length=1_000)] = ""
    """Words of the text that state it, as they stand there; others are not kept."""
    span: Inner[tuple[int, int] | None] = None
    """Place of its words in the episode's text, in characters; the end is exclusive."""

    @property
    def negated(self) -> bool:
        """Whether it says that this is not so, or no longer."""
        return self.polarity == "negative"


@asked()
@dataclass(frozen=True, slots=True, kw_only=True)
class StatedName:
    """A name of an episode, with a description."""

    name: str
    """The name as written."""
    kind: ConceptKind | None = None
    """Its type, if known; of the first episode that has the name."""
    cognitive: CognitiveType | None = None
    """Its role: `identity`, `preference`, `event`, `technical` or `person`."""
    description: Annotated[str, Field(max_length=LONGEST_DESCRIPTION)] = ""
    """A few words that explain it."""
    importance: Annotated[StrictInt, Field(ge=1, le=5)] | None = None
    """1 to 5, 5 is the most important."""


def _one_name(value: Any) -> str | StatedName:
    """Read one of both at once: the union would report the faults of each of its members."""
    return value if isinstance(value, str) else read_as(StatedName, value)


AnyName = Annotated[str | StatedName, BeforeValidator(_one_name)]
"""A name alone, or with a description."""


@asked(_EXTRACTION)
@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """Names and facts that you or a language model found; added to those of the rules."""

    names: Annotated[tuple[AnyName, ...], FewFaults, Field(max_length=1_000)] = ()
    """People, places, things and topics it speaks of, each alone or with a description; each
    becomes a concept. A description of the episode's own title is not kept."""
    facts: Annotated[tuple[Statement, ...], FewFaults, Field(max_length=1_000)] = ()
    """Statements of the text; subjects and objects that are names become concepts, too."""


@asked(TURN, DOCUMENT, _EXTRACTED)
@dataclass(frozen=True, slots=True, kw_only=True)
class NewEpisode:
    """One thing to remember: a turn (has a session), a document (has a title) or a note."""

    text: str
    """The words that were said or written, of any length; without speaker or date in front.
    Colours of a terminal are removed; other control characters are refused."""
    title: str | None = None
    """Title of a document."""
    speaker: str | None = None
    """Speaker."""
    role: Role | None = None
    """The speaker's role for an agent: user, assistant, tool, system."""
    session: str | None = None
    """The stream of turns it belongs to."""
    position: Annotated[StrictInt, Field(ge=0, lt=2**31)] | None = None
    """Order among turns of one session with the same `occurred_at`."""
    occurred_at: LocalInstant | None = None
    """Time of the event; the moment of recording if absent. Its offset is kept, and decides which
    calendar day it was."""
    source: str | None = None
    """Source: a file, an address, a tool."""
    metadata: Mapping[str, Flat] = field(default_factory=dict)
    """Your own flat values, stored and returned."""
    importance: Share = 0.5
    """0 to 1."""
    kind: MemoryKind | None = None
    """`episodic`, `semantic` or `procedural`. If absent, what a tool said is procedural, a
    document semantic, and all else episodic."""
    expires_at: Instant | None = None
    """End of its life: from then on it is never shown, and is erased. By the tenant's default
    life if absent. A repeat of an append does not change it."""
    idempotency_key: str | None = None
    """Sending the same key and body again changes nothing; another body is a conflict. The key of
    an episode that was erased is refused for some weeks."""
    vector: Numbers | None = None
    """Embedding of the text by the store's own model, if you have it already."""
    extraction: Extracted | None = None
    """Names and facts the text holds, if you have extracted them already."""


_LOAD: JsonDict = {"id": "chats-2026", "start": 1_000, "end": 2_000}


@asked(_LOAD)
@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The place of a batch in a first load. Batches are stored in the order of their places."""

    id: Annotated[Key, Field(min_length=1, max_length=200)]
    """Names the load. A load can be resumed under the same name; no other one can begin."""
    start: Annotated[StrictInt, Field(ge=0, lt=2**53)]
    """Number of items before this batch. It waits until they are stored."""
    end: Annotated[StrictInt, Field(ge=0, lt=2**53)]
    """Number of items up to the end of this batch; items that cannot be sent count, too."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One recorded memory."""

    id: EpisodeId
    """32 lower-case hexadecimal digits."""
    turn: int
    """1-based count of the tenant's appends."""
    text: str
    """The words that were said or written."""
    title: str | None = None
    """Title of a document."""
    speaker: str | None = None
    """Speaker."""
    role: str | None = None
    """The speaker's role."""
    session: str | None = None
    """The stream of turns it belongs to."""
    ordinal: int | None = None
    """0-based place in the session."""
    position: int | None = None
    """The order that was sent with it."""
    occurred_at: datetime
    """Time of the event, in the offset that it was sent with; calendar days are those of it."""
    recorded_at: datetime
    """Time of recording."""
    source: str | None = None
    """Source: a file, an address, a tool."""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    """The values sent with it."""
    importance: float
    """0 to 1."""
    kind: MemoryKind
    """`episodic`, `semantic` or `procedural`, as sent or by its form."""
    expires_at: datetime | None = None
    """End of its life: from then on it is never shown, and is erased. Null for no end."""
    state: State
    """`live`, `dormant` or `archived`."""
    pinned: bool = False
    """Whether it never becomes dormant."""
    uses: int | None = None
    """Number of recalls that used it; absent while it is archived."""
    last_used_at: datetime | None = None
    """Time of the last of them."""
    retrievability: float | None = None
    """`exp(-days / stability)`, 0 to 1, over the days since the last use or the event, in whole
    hours. Absent of an archived episode."""
    reliability: float | None = None
    """Trust, 0 to 1, by its speaker's role and by feedback; absent before any feedback."""

    @property
    def trust(self) -> float:
        """Its reliability, without feedback that of its speaker's role."""
        return usual_reliability(self.role) if self.reliability is None else self.reliability


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeUpdate:
    """A change of what stands beside an episode's text.

    Attributes:
        metadata: Entries to set, and with None to remove; others stay.
        sets_expiry: Whether `expires_at` replaces the end of its life.
        expires_at: The new end; None for no end.
    """

    metadata: Mapping[str, MetadataValue | None] = field(default_factory=dict)
    sets_expiry: bool = False
    expires_at: datetime | None = None


class Outcome(StrEnum):
    """The outcome of an append."""

    CREATED = "created"
    EXISTED = "existed"


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The acknowledgement: it is stored, and the next recall can find it."""

    id: EpisodeId
    """The episode's id."""
    outcome: Outcome
    """`created`, or `existed` if the same key and body had been stored before."""


def offset_of(occurred_at: datetime | None) -> int | None:
    """Give the offset from UTC in minutes; None for UTC itself."""
    offset = occurred_at.utcoffset() if occurred_at is not None else None
    return round(offset.total_seconds() / 60) if offset else None


def in_offset(at: datetime, utc_offset: int | None) -> datetime:
    """Write an instant in an offset of so many minutes from UTC, UTC if None."""
    zone = UTC if utc_offset is None else timezone(timedelta(minutes=utc_offset))
    try:
        return at.astimezone(zone)
    except OverflowError:  # in the first or last hours of the calendar
        return at


def usual_reliability(role: str | None) -> float:
    """Give the reliability of a statement by its speaker's role, before any feedback."""
    return ROLE_RELIABILITY.get(role or "", DEFAULT_RELIABILITY)


def excerpt(text: str) -> str:
    """Give the first 80 characters of a text, in one line."""
    flat = " ".join(text.split(maxsplit=_EXCERPT)[:_EXCERPT])
    return flat if len(flat) <= _EXCERPT else flat[: _EXCERPT - 1].rstrip() + "…"


def headline(title: str | None, speaker: str | None, text: str) -> str:
    """Name an episode to a reader: its title, or its speaker and text."""
    if title:
        return title
    return f"{speaker}: {excerpt(text)}" if speaker else excerpt(text)


def fenced(name: str, text: str) -> str:
    """Put recalled text between marks, for a prompt.

    The marks hold a hash of the text, so that nothing in it can be its own closing mark. It is
    written in 15 digits: every common table of tokens cuts digits into groups of three, so the
    marks always have the same size.
    """
    digest = int.from_bytes(sha256(text.encode()).digest()) % 10**_MARK_DIGITS
    mark = f"{name} {digest:0{_MARK_DIGITS}}"
    return f"<{mark}>\n{text}\n</{mark}>"


def indexed_text(title: str | None, text: str) -> str:
    """Join the embedded and indexed text: a document's title is a line of its own."""
    return f"{title}\n{text}" if title else text


_OPENING = 8_000
"""Characters that are encoded for the vector of a whole text: more than any encoder reads of it.
The rest of a longer text is found by its passages."""


def opening(title: str | None, text: str) -> str:
    """Give the text that the vector of a whole episode is made of."""
    return indexed_text(title, text)[:_OPENING]


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One stream of turns."""

    name: str
    """As the caller named it."""
    episodes: int
    """Number of turns."""
    first_occurred_at: datetime
    """The first turn's time."""
    last_occurred_at: datetime
    """The last turn's time."""
    speakers: tuple[str, ...]
    """Speakers."""
    summary: str | None = None
    """A few of its own sentences, once consolidation has chosen them."""


class BucketKind(StrEnum):
    """The unit by which episodes are counted."""

    SESSION = "session"
    DAY = "day"
    MONTH = "month"


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """The number of episodes of one session, day or month."""

    bucket: str | None = None
    """Name of the session, `2026-03-14` or `2026-03`; absent for episodes without a session."""
    first_occurred_at: datetime
    """Time of the first of them."""
    last_occurred_at: datetime
    """Time of the last."""
    live: int
    """Number of live ones."""
    dormant: int
    """Number of dormant ones."""
    archived: int
    """Number of archived ones."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureCounts:
    """Numbers of the other records that an erasure of episodes concerns, by kind."""

    passages: int
    """Their parts."""
    sessions: int
    """Sessions without another episode."""
    speakers: int
    """Speakers without another episode."""
    concepts: int
    """Concepts that no other episode mentions. A name that is left in one episode may stop being a
    concept too."""
    facts: int
    """Facts without other evidence."""
    decisions: int
    """Decisions about these facts."""
    engrams: int
    """Summaries that quote them; a consolidation makes them again from other episodes."""
    traces: int
    """Traces that show them. These stay, and show them as erased."""


class EngramKind(StrEnum):
    """The kind of an engram: of a session or of a cluster."""

    SESSION = "session"
    CLUSTER = "cluster"


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPoint:
    """A decision or an open question of a session."""

    text: str
    """Words of the turn."""
    episode: EpisodeId
    """The turn."""


@answered("decisions", "open_questions")
@dataclass(frozen=True, slots=True, kw_only=True)
class Engram:
    """The summary of a session, or of a cluster of similar memories."""

    id: str
    """Its id, a hash of what it is of: the same members have the same."""
    kind: EngramKind
    """`session` or `cluster`."""
    session: str | None = None
    """The session; absent for a cluster."""
    summary: str
    """A few lines."""
    members: int
    """Number of memories it summarises."""
    evidence: tuple[EpisodeId, ...]
    """The episodes whose words are in it, in the order they were appended."""
    method: str
    """Method: `extractive`, or `llm:` and the model's name."""
    recorded_at: datetime
    """Time of its making."""
    topic: str | None = None
    """Topic of a session, by a language model; absent without one."""
    decisions: tuple[SessionPoint, ...] = ()
    """Decisions of a session that a language model quotes."""
    open_questions: tuple[SessionPoint, ...] = ()
    """Questions that stayed open: those that a language model quotes, or without one the question
    with which a person ended the session."""
    valence: float | None = None
    """Mood of a session by a language model, -1 (unpleasant) to 1; absent without one."""
    novelty: float | None = None
    """Share of new content in a session by a language model, 0 to 1; absent without one."""
