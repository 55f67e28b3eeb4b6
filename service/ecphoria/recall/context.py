"""Write the context block: one line for each hit, in order of time, within a token budget."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ecphoria.recall.token_count import count_tokens, cut_to_tokens
from ecphoria.records.recall import Hit, HitPassage, Reference

_SHARES = 4
"""A hit takes at most a fourth of the budget before the other hits had their turn."""

_LEAST_SHARE = 64
"""Tokens; below it a share would only cut lines that are short already."""

_LEAST_TEXT = 8
"""Tokens; less text than this says nothing, so the line is left out."""

_LONGEST_TOKEN = 32
"""Characters; a text with more of them per token of the budget is not counted as a whole."""

_ELLIPSIS = "…"
_WORD = re.compile(r"\S+")
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$)")  # noqa: RUF001 (the marks of other scripts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A context block, its exact number of tokens, and the episode behind each line."""

    text: str
    tokens: int
    references: tuple[Reference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """The line of a hit that shows `text[start:end]`; `tokens` includes the line break."""

    hit: Hit
    start: int
    end: int
    text: str
    tokens: int


def context_block(hits: Sequence[Hit], budget: int) -> Context:
    """Write the hits in the order they happened, one a line, within a token budget.

    Hits enter in the order of their rank. A hit that is too long is cut, not left out: to its
    passage with the passages around it, or to its start. No hit takes more than a fourth of the
    budget at first, so that one long memory does not push out the others. Tokens that remain
    then go to the hits that were cut, best first.
    """
    share = max(budget // _SHARES, _LEAST_SHARE)
    lines: list[_Line] = []
    left = budget
    for hit in hits:
        line = _fitted(hit, min(share, left))
        if line is not None:
            lines.append(line)
            left -= line.tokens
    for place, line in enumerate(lines):
        if not _is_whole(line):
            longer = _fitted(line.hit, left + line.tokens) or line
            if longer.tokens > line.tokens:
                lines[place] = longer
                left -= longer.tokens - line.tokens
    return _block(lines)


def _block(lines: Sequence[_Line]) -> Context:
    ordered = sorted(lines, key=lambda line: (line.hit.episode.occurred_at, line.hit.episode.turn))
    text = "\n".join(line.text for line in ordered)
    return Context(
        text=text,
        tokens=count_tokens([text])[0],
        references=tuple(
            Reference(
                number=line.hit.rank, episode=line.hit.episode.id, start=line.start, end=line.end
            )
            for line in ordered
        ),
    )


def _is_whole(line: _Line) -> bool:
    return line.start == 0 and line.end == len(line.hit.episode.text)


def _fitted(hit: Hit, limit: int) -> _Line | None:
    """Show as much of a hit as fits: all of it, its passage and more, or its start."""
    text = hit.episode.text
    if len(text) <= limit * _LONGEST_TOKEN:
        whole = _line(hit, 0, len(text))
        if whole.tokens <= limit:
            return whole
    if hit.passage is None:
        return _cut(hit, 0, len(text), limit)
    start, end = _bounds(hit.passage, text)
    passage = _line(hit, start, end)
    if passage.tokens > limit:
        return _cut(hit, start, end, limit)
    return _widened(hit, passage, limit)


def _widened(hit: Hit, line: _Line, limit: int) -> _Line:
    """Add the passages around the shown one, after and before it in turn, while they fit."""
    spans = [_bounds(passage, hit.episode.text) for passage in hit.passages]
    after = sorted(span for span in spans if span[1] > line.end)
    before = sorted((span for span in spans if span[0] < line.start), reverse=True)
    ahead = True
    while after or before:
        side = after if (ahead and after) or not before else before
        start, end = side.pop(0)
        wider = _line(hit, min(line.start, start), max(line.end, end))
        if wider.tokens <= limit:
            line = wider
        else:
            side.clear()  # what lies further out would be even longer
        ahead = not ahead
    return line


def _cut(hit: Hit, start: int, end: int, limit: int) -> _Line | None:
    """Show the start of a span, up to the end of a sentence or word; None if nothing fits."""
    room = limit - _line(hit, start, start).tokens
    while room >= _LEAST_TEXT:
        flat = _flat(hit.episode.text[start : min(end, start + room * _LONGEST_TOKEN)])
        kept = _to_boundary(cut_to_tokens(flat, room), flat)
        line = _line(hit, start, _place_of(hit.episode.text, start, kept))
        if line.tokens <= limit:
            return line
        room -= line.tokens - limit
    return None


def _to_boundary(kept: str, flat: str) -> str:
    """Shorten a cut text to the last sentence end in its second half, else to a whole word."""
    if len(kept) == len(flat):
        return kept
    ends = [match.end() for match in _SENTENCE_END.finditer(kept, len(kept) // 2)]
    if ends and ends[-1] < len(kept):
        return kept[: ends[-1]]
    blank = kept.rfind(" ")
    inside_word = flat[len(kept)] != " "
    # Scripts without blanks have no word to keep whole.
    return kept[:blank] if inside_word and blank > len(kept) // 2 else kept


def _place_of(text: str, start: int, flat: str) -> int:
    """Find the end in the text of a flattened start of it, by counting what is no white space."""
    wanted = len(flat) - flat.count(" ")
    for word in _WORD.finditer(text, start):
        if wanted <= len(word[0]):
            return word.start() + wanted
        wanted -= len(word[0])
    return len(text)


def _bounds(passage: HitPassage, text: str) -> tuple[int, int]:
    """Keep offsets inside the text; a passage may be older than a change of its rules."""
    start = min(max(passage.start, 0), len(text))
    return start, min(max(passage.end, start), len(text))


def _line(hit: Hit, start: int, end: int) -> _Line:
    """Write the line for a span; a blank start or end of the text does not count as left out."""
    episode = hit.episode
    text = episode.text
    if not text[:start].strip():
        start = 0
    if not text[end : end + 1].strip() and not text[end:].strip():
        end = len(text)
    who = _flat(episode.speaker or episode.title or "")
    shown = [_ELLIPSIS] if start else []
    shown.append(_flat(text[start:end]))
    if end < len(text):
        shown.append(_ELLIPSIS)
    parts = (
        f"[{hit.rank}] {episode.occurred_at:%Y-%m-%d}" + (f" {who}:" if who else ""),
        *(part for part in shown if part),
        *_remarks(hit),
    )
    line = " ".join(parts)
    return _Line(hit=hit, start=start, end=end, text=line, tokens=count_tokens([line + "\n"])[0])


def _remarks(hit: Hit) -> list[str]:
    remarks = []
    if hit.copies:
        verb = "said" if hit.episode.speaker else "recorded"
        remarks.append(f"({verb} {len(hit.copies) + 1} times)")
    if hit.superseded_at is not None:
        remarks.append(f"(outdated: no longer so since {hit.superseded_at:%Y-%m-%d})")
    return remarks


def _flat(text: str) -> str:
    """Write on one line: a memory cannot pretend to be the next line of the block."""
    return " ".join(text.split())
