"""Answers of the tools: small typed values, and their bounds.

An answer has at most some 8,000 tokens. Lists give previews; the tool `get` gives the texts.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from pydantic import BaseModel

from ecphoria.records.episode import Episode
from ecphoria.records.fact import Interval
from ecphoria.records.recall import Hit, NearMiss, PathStep
from ecphoria.wire.facts import FactAnswer

PREVIEW: Final = 120
"""Characters of a preview."""
TEXT_BYTES: Final = 12_000
"""Bytes (UTF-8) of all texts of one answer; a token has three or more."""
MISSES: Final = 3
NAME: Final = 64
"""Characters of a name of the caller's."""
STEPS: Final = 8
REASONS: Final = 4


class Memory(BaseModel):
    """A memory in short."""

    id: str
    preview: str
    truncated: bool
    """Whether the text is longer than the preview; `get` gives it all."""
    occurred_at: datetime
    speaker: str | None = None
    session: str | None = None


class FoundMemory(Memory):
    """A memory that was recalled."""

    score: float
    superseded: bool
    """Whether another memory supersedes it."""


class Miss(BaseModel):
    """A memory that was nearly good enough."""

    id: str
    preview: str


class Recalled(BaseModel):
    """The data of a recall; its text is the context."""

    verdict: str
    answerable: bool
    """False: say that the memory does not hold the answer."""
    confidence: float
    reasons: list[str]
    hits: list[FoundMemory]
    misses: list[Miss]
    trace_id: str
    """For `why`."""


class Remembered(BaseModel):
    """Memories that are stored; the next recall finds them."""

    ids: list[str]
    existed: int
    """Number of memories that were stored before."""
    refused: list[str]
    """Why others were not stored, by their number from 0."""


class Text(BaseModel):
    """A memory with its text, or a part of it."""

    id: str
    occurred_at: datetime
    speaker: str | None = None
    role: str | None = None
    session: str | None = None
    source: str | None = None
    state: str
    next_offset: int | None = None
    """Offset of the rest of the text; absent at its end."""


class Texts(BaseModel):
    """The data of memories whose texts are in the content, in the same order."""

    memories: list[Text]
    missing: list[str]
    """Ids that are not stored."""


class Timeline(BaseModel):
    """Memories in the order they were recorded."""

    memories: list[Memory]
    next_cursor: int | None = None
    """Send it as `cursor` for the next page."""


class Claim(BaseModel):
    """A fact."""

    id: str
    says: str
    holds: bool
    """Whether it held at the time asked for."""
    standing: str
    confidence: float
    intervals: list[Interval]
    episodes: list[str]
    """Some of the memories that state it."""


class Claims(BaseModel):
    """Facts about something."""

    facts: list[Claim]
    more: bool
    """Whether there are more."""


class Corrected(BaseModel):
    """A decision about a fact."""

    decision: str
    """Its id."""


class Forgotten(BaseModel):
    """Memories that were erased, or would be."""

    dry_run: bool
    count: int


class Reason(BaseModel):
    """Why a memory was recalled."""

    id: str
    rank: int
    score: float
    parts: dict[str, float]
    path: list[str]


class Reasons(BaseModel):
    """The explanation of a recall."""

    cue: str
    strategy: str
    seeds: int
    hits: list[Reason]


class Answered(BaseModel):
    """An answer in words."""

    answered: bool
    reasons: list[str]
    citations: list[str]
    """Ids of the memories that are quoted."""
    trace_id: str


def clipped(text: str, characters: int) -> str:
    """Cut a text to one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= characters else line[: characters - 1] + "…"


def name_of(text: str | None) -> str | None:
    """Cut a name of the caller's."""
    return None if text is None else clipped(text, NAME)


def to_memory(episode: Episode) -> Memory:
    """Write a memory in short."""
    return Memory(
        id=episode.id,
        preview=clipped(episode.text, PREVIEW),
        truncated=len(episode.text) > PREVIEW,
        occurred_at=episode.occurred_at,
        speaker=name_of(episode.speaker),
        session=name_of(episode.session),
    )


def to_found(hit: Hit) -> FoundMemory:
    """Write a hit in short."""
    return FoundMemory(
        **to_memory(hit.episode).model_dump(),
        score=round(hit.score, 4),
        superseded=hit.superseded_at is not None,
    )


def to_miss(miss: NearMiss) -> Miss:
    """Write a miss in short."""
    return Miss(id=miss.episode, preview=clipped(miss.text, PREVIEW))


def to_text(episode: Episode, next_offset: int | None) -> Text:
    """Write the data of a memory whose text is told beside it."""
    return Text(
        id=episode.id,
        occurred_at=episode.occurred_at,
        speaker=name_of(episode.speaker),
        role=episode.role,
        session=name_of(episode.session),
        source=name_of(episode.source),
        state=episode.state.value,
        next_offset=next_offset,
    )


def to_claim(fact: FactAnswer) -> Claim:
    """Write a fact as a sentence."""
    no = "not " if fact.polarity == "negative" else ""
    words = f"{fact.subject} {no}{fact.predicate} {fact.object}"
    return Claim(
        id=fact.id,
        says=clipped(f"{words} ({fact.qualifier})" if fact.qualifier else words, PREVIEW),
        holds=fact.valid,
        standing=fact.standing,
        confidence=round(fact.confidence, 3),
        intervals=list(fact.intervals[:STEPS]),
        episodes=list(fact.episodes[:MISSES]),
    )


def to_path(steps: Sequence[PathStep]) -> list[str]:
    """Write the way to a hit, a step a line."""
    return [f"{step.edge} {clipped(step.label, NAME)}" for step in steps[:STEPS]]


def shared(texts: Iterable[str], offset: int) -> list[tuple[str, int | None]]:
    """Cut texts so that all fit into an answer: each from `offset`, and where its rest begins.

    Short texts leave their share to the others.

    >>> shared(["short", "x" * 20_000], 0)[1][1]
    11995
    """
    rests = [text[offset:] for text in texts]
    order = sorted(range(len(rests)), key=lambda place: len(rests[place].encode()))
    cut: dict[int, tuple[str, int | None]] = {}
    left = TEXT_BYTES
    for done, place in enumerate(order):
        share = left // (len(rests) - done)
        shown = rests[place].encode()[:share].decode(errors="ignore")
        left -= len(shown.encode())
        ended = len(shown) == len(rests[place])
        cut[place] = shown, None if ended else offset + len(shown)
    return [cut[place] for place in range(len(rests))]
