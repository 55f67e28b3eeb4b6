"""Answers of the tools: typed values, and the same values as lines of text.

A client may show a model only one of the two forms. So each names every memory with its id, date,
speaker and words.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from pydantic import BaseModel

from ecphoria.mcp.texts import FORM_BYTES, NAME, clipped, fitted, name_of
from ecphoria.records.ask import CitedAnswer
from ecphoria.records.episode import Episode, fenced
from ecphoria.records.fact import FactView
from ecphoria.records.recall import Hit, PathStep, RecallResult, TracedHit, Verdict
from ecphoria.text.code_blocks import append_words, code_blocks, write_lines

MISSES: Final = 3
"""Nearest memories that a refusal shows."""
STEPS: Final = 8
_REASONS: Final = 4
_SAYS: Final = 400
_COST: Final = 160
"""Bytes of an id, a date, a score and the names of the fields."""


class Memory(BaseModel):
    """A memory."""

    id: str
    occurred_at: datetime
    speaker: str | None = None
    role: str | None = None
    session: str | None = None
    source: str | None = None
    text: str
    truncated: bool = False
    """Whether the memory has more text than this; `get` gives the rest."""


class FoundMemory(Memory):
    """A memory that was recalled."""

    score: float
    superseded: bool
    """Whether another memory supersedes it."""
    outdated_by: str | None = None
    """Id of the later hit that makes it outdated."""
    echo: bool
    """Whether it only asks what the query asks: no evidence."""


class Recalled(BaseModel):
    """What a recall found."""

    verdict: str
    """`answer`; `verify`: compare before you use it; `refuse` or `empty`: not in the memory."""
    says: str
    """The verdict in words."""
    answerable: bool
    """True if the verdict is `answer`."""
    confidence: float
    reasons: list[str]
    hits: list[FoundMemory]
    """Best first; none if the memory does not hold the answer."""
    misses: list[Memory]
    """The nearest memories of a refusal; they do not hold the answer."""
    left_out: list[str]
    """Ids of hits that did not fit; `get` gives them."""
    trace_id: str
    """For `why`."""


class Remembered(BaseModel):
    """Memories that are stored; the next recall finds them."""

    ids: list[str]
    existed: int
    """Number of memories that were stored before."""
    refused: list[str]
    """Why others were not stored, by their number from 0."""


class Text(Memory):
    """A memory with its text, or a part of it."""

    state: str
    next_offset: int | None = None
    """Offset of the rest of the text; absent at its end."""


class Texts(BaseModel):
    """Memories with their texts."""

    memories: list[Text]
    missing: list[str]
    """Ids that are not stored."""
    left_out: list[str]
    """Ids that did not fit; ask for them again."""


class Timeline(BaseModel):
    """Memories in the order they were recorded."""

    memories: list[Memory]
    next_cursor: str | None = None
    """Send it as `cursor` for the next page."""


class Span(BaseModel):
    """A time in which a fact held."""

    valid_from: datetime
    valid_to: datetime | None = None
    """Its end, exclusive; absent while open."""


class Claim(BaseModel):
    """A fact."""

    id: str
    says: str
    holds: bool
    """Whether it held at the time asked for."""
    standing: str
    confidence: float
    intervals: list[Span]
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
    """Its id; with it the decision can be undone."""
    fact: Claim | None = None
    """The fact as it stands now."""


class Forgotten(BaseModel):
    """Memories that were erased, or would be."""

    dry_run: bool
    """True: nothing was erased yet."""
    count: int
    facts: int = 0
    """Facts that go with them."""
    memories: list[Memory]
    """Some of them."""
    missing: list[str]
    """Ids that are not stored."""


class Reason(BaseModel):
    """Why a memory was recalled."""

    rank: int
    score: float
    parts: dict[str, float]
    path: list[str]
    memory: Memory | None = None
    """Absent if it was erased since."""


class Reasons(BaseModel):
    """The explanation of a recall."""

    cue: str
    strategy: str
    verdict: str
    confidence: float
    reasons: list[str]
    seeds: int
    hits: list[Reason]
    left_out: int
    """Number of hits that did not fit; name one with `episode`."""


class Cited(BaseModel):
    """A sentence of an answer, and the words it rests on."""

    text: str
    quotes: list[str]
    episodes: list[str]
    """Ids of the memories that are quoted, in the order of `quotes`."""


class Answered(BaseModel):
    """An answer in words."""

    answered: bool
    sentences: list[Cited]
    """The answer, sentence by sentence; none if it does not know."""
    memories: list[Memory]
    """The memories that are quoted; without an answer the nearest ones."""
    reasons: list[str]
    trace_id: str


def memory_of(episode: Episode, end: int | None = None, start: int = 0) -> Memory:
    """Write a memory with its text from `start` to `end`, or all of it."""
    text = episode.text[start:end]
    return Memory(
        id=episode.id,
        occurred_at=episode.occurred_at,
        speaker=name_of(episode.speaker),
        role=episode.role,
        session=name_of(episode.session),
        source=name_of(episode.source),
        text=text,
        truncated=len(text) < len(episode.text),
    )


def costs_of(episodes: Iterable[Episode]) -> list[int]:
    """Count the bytes that stand beside the texts of memories."""
    names = (
        (name_of(one.speaker), name_of(one.session), name_of(one.source), one.role)
        for one in episodes
    )
    return [_COST + sum(len(name.encode()) for name in four if name) for four in names]


def memories_of(episodes: Sequence[Episode], most: int = FORM_BYTES) -> list[Memory]:
    """Write memories, as many as fit, each with as much of its text as fits."""
    ends = fitted([one.text for one in episodes], costs_of(episodes), most)
    return [memory_of(one, end) for one, end in zip(episodes, ends, strict=False)]


def line_of(number: int, memory: Memory) -> str:
    """Write a memory as a line, with its code below; the number stands for it in the answer."""
    text = write_lines(memory.text, 0, len(memory.text), code_blocks(memory.text))
    line = f"[{number}] {heading(memory)}:" + (text if text.startswith("\n") else f" {text}")
    if memory.truncated:
        line = append_words(line, "… (cut; `get` gives the rest)")
    return append_words(line, f"(id {memory.id})")


def heading(memory: Memory) -> str:
    """Name when a memory was, who said it, and where."""
    who = memory.speaker or ""
    if memory.role and memory.role.casefold() != who.casefold():
        who = f"{who} ({memory.role})" if who else memory.role
    places = {"session": memory.session, "source": memory.source}
    words = [f"{name} {value}" for name, value in places.items() if value]
    when = memory.occurred_at.isoformat(" ", "minutes")
    return ", ".join([f"{when} {who}".strip(), *words])


def lines_of(memories: Sequence[Memory]) -> str:
    """Write memories as a block of lines between marks, for a model; empty without any."""
    lines = [line_of(number, memory) for number, memory in enumerate(memories, start=1)]
    return fenced("memories", "\n".join(lines)) if lines else ""


_VERDICTS: Final = {
    Verdict.ANSWER: "The memory holds the answer.",
    Verdict.VERIFY: "The memory may hold the answer; compare these with the question first.",
    Verdict.REFUSE: "The memory does not hold the answer; say so.",
    Verdict.EMPTY: "The memory does not hold the answer; nothing stored matches.",
}


def recalled_of(found: RecallResult) -> Recalled:
    """Write what a recall found; after a refusal the nearest memories are misses, not hits."""
    refused = found.verdict.refused
    hits = [hit.episode for hit in found.hits if not (refused and hit.echo)]
    shown = memories_of(hits[:MISSES] if refused else hits)
    kept = [] if refused else [_found(hit, one) for hit, one in zip(found.hits, shown)]  # noqa: B905 (some did not fit)
    return Recalled(
        verdict=found.verdict.value,
        says=_VERDICTS[found.verdict],
        answerable=found.answerable,
        confidence=round(found.confidence, 3),
        reasons=reasons_of(found.reasons),
        hits=kept,
        misses=shown if refused else [],
        left_out=[] if refused else [one.id for one in hits[len(kept) :]],
        trace_id=found.trace_id,
    )


def _found(hit: Hit, memory: Memory) -> FoundMemory:
    return FoundMemory(
        **memory.model_dump(),
        score=round(hit.score, 4),
        superseded=hit.superseded_at is not None,
        outdated_by=hit.outdated_by,
        echo=hit.echo,
    )


def recalled_text(found: RecallResult, data: Recalled) -> str:
    """Write what a recall found for a model that sees only text."""
    head = f"{data.says} (verdict {data.verdict}, confidence {data.confidence:.2f})"
    parts = [head]
    if found.verdict is not Verdict.ANSWER and data.reasons:
        parts.append(f"Reasons: {'; '.join(data.reasons)}")
    if data.misses:
        parts.append("The nearest memories, which do not hold the answer:")
        parts.append(lines_of(data.misses))
    elif data.hits:
        parts.append(with_ids(found))
        known = {one.episode for one in found.references}
        rest = [
            hit.episode.id for hit in found.hits if hit.episode.id not in known and not hit.echo
        ]
        if rest:
            parts.append(f"Found too, but did not fit; `get` gives them: {', '.join(rest)}")
    parts.append(f"(trace {data.trace_id}; `why` explains it)")
    return "\n".join(parts)


_ENTRY: Final = re.compile(r"^\[(\d+)\] ", re.MULTILINE)
_MARK: Final = re.compile(r"\A(<[^\n]*>\n)(.*)\n</[^\n]*>\Z", re.DOTALL)


def with_ids(found: RecallResult) -> str:
    """Write the context of a recall with the id of each memory behind its words."""
    inside = _MARK.fullmatch(found.context)
    if inside is None:
        return found.context
    ids = {one.number: one.episode for one in found.references}
    body = inside[2]
    starts = [entry.start() for entry in _ENTRY.finditer(body) if int(entry[1]) in ids]
    pieces = [
        body[start:end].rstrip("\n")
        for start, end in zip(starts, [*starts[1:], len(body)], strict=True)
    ]
    lines = [
        append_words(piece, f"(id {ids[int(piece[1 : piece.index(']')])]})") for piece in pieces
    ]
    return fenced("memories", "\n".join(lines))


def reasons_of(reasons: Sequence[str]) -> list[str]:
    """Cut the reasons of a verdict."""
    return [clipped(reason, 4 * NAME) for reason in reasons[:_REASONS]]


def claim_of(fact: FactView) -> Claim:
    """Write a fact as a sentence."""
    no = "not " if fact.polarity == "negative" else ""
    words = f"{fact.subject} {no}{fact.predicate} {fact.object}"
    return Claim(
        id=fact.id,
        says=clipped(f"{words} ({fact.qualifier})" if fact.qualifier else words, _SAYS),
        holds=fact.valid,
        standing=fact.standing,
        confidence=round(fact.confidence, 3),
        intervals=[
            Span(valid_from=one.valid_from, valid_to=one.valid_to)
            for one in fact.intervals[:STEPS]
        ],
        episodes=list(fact.episodes[:MISSES]),
    )


def claims_of(facts: Sequence[FactView], limit: int) -> Claims:
    """Write facts, as many as fit."""
    claims = [claim_of(fact) for fact in facts[:limit]]
    sizes = [len(one.model_dump_json().encode()) for one in claims]
    kept = fitted(["" for _ in claims], sizes)
    return Claims(facts=claims[: len(kept)], more=len(kept) < len(facts))


def claim_line(number: int, claim: Claim) -> str:
    """Write a fact with its times, standing and evidence as a line."""
    spans = " and ".join(
        f"from {one.valid_from.isoformat()} to "
        f"{one.valid_to.isoformat() if one.valid_to else 'now'}"
        for one in claim.intervals
    )
    words = [
        claim.says,
        *([spans] if spans else []),
        "holds" if claim.holds else "does not hold",
        f"standing {claim.standing}",
        f"confidence {claim.confidence:.2f}",
        f"stated in {', '.join(claim.episodes)}" if claim.episodes else "no memory states it",
    ]
    return f"[{number}] {'; '.join(words)} (fact id {claim.id})"


def path_of(steps: Sequence[PathStep]) -> list[str]:
    """Write the way to a hit, a step a line."""
    return [f"{step.edge} {clipped(step.label, NAME)}" for step in steps[:STEPS]]


def reasons_for(hits: Sequence[TracedHit], read: Mapping[str, Episode]) -> list[Reason]:
    """Write why memories were recalled, each with the memory itself; as many as fit."""
    reasons = [
        Reason(
            rank=hit.rank,
            score=round(hit.score, 4),
            parts={name: round(part, 4) for name, part in hit.parts.items() if part},
            path=path_of(hit.path),
        )
        for hit in hits
    ]
    found = [read.get(hit.episode) for hit in hits]
    costs = [
        len(reason.model_dump_json().encode()) + sum(costs_of([one] if one else []))
        for reason, one in zip(reasons, found, strict=True)
    ]
    ends = fitted([one.text if one else "" for one in found], costs)
    return [
        reason if one is None else reason.model_copy(update={"memory": memory_of(one, end)})
        for reason, one, end in zip(reasons, found, ends, strict=False)
    ]


def reason_line(reason: Reason) -> str:
    """Write why a memory was recalled as a line."""
    parts = ", ".join(f"{name} {part:+.3f}" for name, part in reason.parts.items())
    what = (
        f"[{reason.rank}] erased since"
        if reason.memory is None
        else line_of(reason.rank, reason.memory)
    )
    why = f"score {reason.score:.3f} = {parts}" if parts else f"score {reason.score:.3f}"
    return f"{what}\n    reached by {' → '.join(reason.path)}; {why}"


def answered_of(answer: CitedAnswer, read: Sequence[Episode]) -> Answered:
    """Write an answer in words, with its quotes and memories, or the nearest ones without any."""
    half = FORM_BYTES // 2
    sentences = [
        Cited(
            text=clipped(sentence.text, _SAYS),
            quotes=[clipped(one.quote, 2 * NAME) for one in sentence.citations[:MISSES]],
            episodes=[one.episode for one in sentence.citations[:MISSES]],
        )
        for sentence in answer.sentences
    ]
    kept = fitted([one.text for one in sentences], [_COST for _ in sentences], half)
    return Answered(
        answered=answer.answered,
        sentences=sentences[: len(kept)],
        memories=memories_of(read, half),
        reasons=reasons_of(answer.reasons),
        trace_id=answer.trace_id,
    )


def answered_text(data: Answered) -> str:
    """Write an answer in words for a model that sees only text."""
    if not data.answered:
        near = "The nearest memories, which do not hold the answer:" if data.memories else ""
        parts = ["It does not know the answer.", " ".join(data.reasons), near]
    else:
        parts = [_sentence_line(one) for one in data.sentences]
    parts += [lines_of(data.memories), f"(trace {data.trace_id}; `why` explains it)"]
    return "\n".join(part for part in parts if part)


def _sentence_line(sentence: Cited) -> str:
    quotes = zip(sentence.quotes, sentence.episodes, strict=True)
    return f"{sentence.text} " + " ".join(f'("{quote}", id {one})' for quote, one in quotes)
