"""Episodes and sessions; an episode never changes once recorded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from hashlib import sha256

from ecphoria.records.answered import answered
from ecphoria.records.ids import EpisodeId

MetadataValue = str | int | float | bool

MetadataCondition = MetadataValue | Mapping[str, MetadataValue]
"""A value to equal, or comparisons such as `{"$gte": 4}`; see `records/conditions.py`."""

ROLES = ("user", "assistant", "tool", "system")
"""Roles that a speaker or an asker may have, as the API names them."""

ROLE_RELIABILITY: Mapping[str, float] = {"user": 0.9, "tool": 0.8, "assistant": 0.7}
"""Default trust in a claim, by the role of its speaker."""

DEFAULT_RELIABILITY = 0.7
"""The same of a text without a role."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TICK = timedelta(microseconds=1)
"""The least difference of two stored instants."""

_EXCERPT = 80

_MARK_DIGITS = 15


class State(StrEnum):
    """The state of a memory: live, dormant, or archived."""

    LIVE = "live"
    DORMANT = "dormant"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A fact as stated; each part is text as written.

    Attributes:
        qualifier: Which of several it is, where a subject has more than one: `work` of a phone.
        negated: It says that this is not so, or no longer.
        valid_from: From when on it is so; the moment the episode is of, if absent.
        valid_to: Until when, exclusive; open if absent.
        reliability: How far its source is to be trusted, 0 to 1; by the episode's role if absent.
        span: Where the words stand in the episode's text, in characters, the end exclusive.
    """

    subject: str
    predicate: str
    object: str
    qualifier: str = ""
    negated: bool = False
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    reliability: float | None = None
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """Names and facts that a language model or a person found in an episode.

    Attributes:
        names: People, places, things and topics it speaks of.
        facts: What it states about them; their ends are names too.
    """

    names: tuple[str, ...] = ()
    facts: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEpisode:
    """An episode to append.

    A turn belongs to a session; a document has a title; a note has neither.

    Attributes:
        text: What was said or written, of any length; never with the speaker's name or the date
            in front, which have fields of their own.
        title: Title of a document.
        speaker: Who said it.
        role: The speaker's role for an agent: user, assistant, tool, system.
        session: The stream of turns it belongs to; NEXT edges stay inside one.
        position: Order among turns of one session with the same `occurred_at`.
        occurred_at: When it was so, aware; its offset tells the calendar day. The moment of
            recording if absent.
        source: Where it came from (file, URL, tool).
        metadata: The caller's own flat values, stored and returned.
        importance: 0 to 1.
        expires_at: End of its life, after which it is never shown and is erased; by the tenant's
            default life if absent.
        idempotency_key: A second append with the same key and body changes nothing.
        vector: Embedding made by the caller with the store's own model.
        extraction: Names and facts that the caller knows it to hold, beside those that the
            rules find.
    """

    text: str
    title: str | None = None
    speaker: str | None = None
    role: str | None = None
    session: str | None = None
    position: int | None = None
    occurred_at: datetime | None = None
    source: str | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    importance: float = 0.5
    expires_at: datetime | None = None
    idempotency_key: str | None = None
    vector: tuple[float, ...] | None = None
    extraction: Extracted | None = None


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
    expires_at: datetime | None = None
    """End of its life: from then on it is never shown, and is erased. Null for no end."""
    state: State
    """`live`, `dormant` or `archived`."""


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


class EngramKind(StrEnum):
    """The kind of an engram: of a session or of a cluster."""

    SESSION = "session"
    CLUSTER = "cluster"


@answered()
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
