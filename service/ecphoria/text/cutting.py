"""Cut a long text into passages that an encoder reads whole.

An encoder reads about 256 word pieces and ignores the rest, so a long text needs several vectors.
The cut follows the structure of the text. A text of a machine is cut into members of JSON,
records of logs, hunks of diffs or functions (`text.structure`). In other texts fenced code,
headings, blank lines and list items make blocks. Both are packed into passages. A block that is
too long is cut by its structure, then by lines, sentences, words and characters, in this order.

The time is linear in the length of the text: a large span is counted only up to the limit, each of
the ways to cut looks at a character once or twice, and structure is followed down a few levels.
"""

import re
from collections.abc import Iterator
from itertools import chain, islice, pairwise
from typing import Final, NamedTuple

from ecphoria.text.structure import begins_part, cuts

LIMIT: Final = 200
"""Most estimated word pieces of a passage; leaves room for a title and a low estimate."""
# The encoder ignores what follows, so longer texts need passages (docs/explanation/passages.md).
WHOLE: Final = 256
"""Largest number of estimated word pieces of a text that stays whole."""

_SMALL = 4_096
"""Number of characters for which a full count is faster than stopping at the limit."""

_LATIN: Final = "A-Za-z\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff"
_ALPHABETS: Final = "\u0370-\u0e5b\u10a0-\u10ff"
"""Greek to Thai, and Georgian."""
# A model of English makes a piece of each letter of another alphabet, but it does not read them
# anyway; a multilingual one has 3 to 4 letters in a piece (decision 0055).
_PIECE = re.compile(rf"[{_LATIN}]{{1,8}}|\d{{1,3}}|[{_ALPHABETS}]{{1,4}}|[^\s{_LATIN}\d]")
"""About one word piece. Runs of letters and digits are the only pieces longer than a character,
and no cut below falls into a piece, so the pieces of a span are those of the text in it."""
_FENCE = re.compile(r"\s*(?:```|~~~)")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_BREAKS: Final = (
    re.compile(r"\n+"),
    re.compile(r"(?<=[.!?\u061f\u06d4\u0964])\s+|(?<=[\u3002\uff01\uff1f])\s*"),
    re.compile(r"\s+"),
)
"""Places at which a long block may be cut: lines, sentences, words."""


class Span(NamedTuple):
    """A part of a text, as character offsets; `end` is exclusive."""

    start: int
    end: int


def estimated_pieces(text: str) -> int:
    """Estimate how many word pieces an encoder makes of a text."""
    return sum(1 for _ in _PIECE.finditer(text))


def cut(text: str) -> tuple[Span, ...]:
    """Cut a text into passages of at most `LIMIT` pieces; a text that fits whole gives none.

    The spans are in order, do not overlap, and hold every character that is not blank.

    >>> cut("A short text.")
    ()
    >>> [span.start for span in cut("One sentence of six words, again. " * 60)]
    [0, 850, 1700]
    """
    # A piece has at least one character, so most texts need no counting.
    if len(text) <= WHOLE or _count(text, Span(0, len(text)), WHOLE) <= WHOLE:
        return ()
    return tuple(_packed(text))


def _packed(text: str) -> Iterator[Span]:
    """Join neighbouring atoms while they fit; prefer a heading at the start of a passage."""
    start = end = -1
    filled = 0
    for atom, pieces in _atoms(text):
        # A heading belongs to the text below it (docs/explanation/passages.md).
        begins = filled > LIMIT // 2 and _begins(text, atom)
        if start >= 0 and (filled + pieces > LIMIT or begins):
            yield Span(start, end)
            start, filled = -1, 0
        if start < 0:
            start = atom.start
        end = atom.end
        filled += pieces
    if start >= 0:
        yield Span(start, end)


def _begins(text: str, atom: Span) -> bool:
    """Tell whether a heading, a function or the diff of a file begins."""
    return _HEADING.match(text, *atom) is not None or begins_part(text, *atom)


def _atoms(text: str) -> Iterator[tuple[Span, int]]:
    """Yield the blocks in order with their sizes; divide blocks that are too long."""
    # Between fences there is prose, which has blocks.
    mixed = "```" in text or "~~~" in text
    whole = None if mixed else _structured(text, Span(0, len(text)))
    stack: list[Iterator[Span]] = [whole or _blocks(text)]
    while stack:
        span = next(stack[-1], None)
        if span is None:
            stack.pop()
        elif (pieces := _count(text, span, LIMIT)) <= LIMIT:
            yield span, pieces
        else:
            deep = len(stack) > _LEVELS
            stack.append((None if deep else _structured(text, span)) or _parts(text, span))


_LEVELS: Final = 8
"""Levels of structure that are followed; each looks at the whole text, so there must be an end."""


def _structured(text: str, span: Span) -> Iterator[Span] | None:
    """Cut a span into the parts of its structure; None if it has none."""
    found = cuts(text, *span)
    if not found:
        return None
    parts = (Span(one, other) for one, other in pairwise((span.start, *found, span.end)))
    return (part for part in parts if not text[part.start : part.end].isspace())


def _blocks(text: str) -> Iterator[Span]:
    """Yield paragraphs, list items, headings with the next block, and fenced code."""
    position, start, fenced = 0, -1, False
    for line in text.splitlines(keepends=True):
        end = position + len(line)
        is_fence = _FENCE.match(line) is not None
        is_blank = not line or line.isspace()
        begins = is_fence or is_blank or _HEADING.match(line) or _ITEM.match(line)
        if not fenced and begins and start >= 0:
            yield Span(start, position)
            start = -1
        if start < 0 and (fenced or not is_blank):
            start = position
        if is_fence:
            if fenced:
                yield Span(start, end)
                start = -1
            fenced = not fenced
        position = end
    if start >= 0:
        yield Span(start, position)


def _parts(text: str, span: Span) -> Iterator[Span]:
    """Cut a long span at its coarsest break."""
    for pattern in _BREAKS:
        ends = (match.end() for match in pattern.finditer(text, *span))
        inner = (end for end in ends if span.start < end < span.end)
        first = next(inner, None)
        if first is not None:
            return _between(span, chain((first,), inner))
    starts = (match.start() for match in _PIECE.finditer(text, *span))
    return _between(span, islice(starts, LIMIT, None, LIMIT))


def _between(span: Span, cuts: Iterator[int]) -> Iterator[Span]:
    start = span.start
    for end in cuts:
        yield Span(start, end)
        start = end
    yield Span(start, span.end)


def _count(text: str, span: Span, most: int) -> int:
    """Count the pieces of a span; stop a large count after `most`."""
    if span.end - span.start <= _SMALL:
        return len(_PIECE.findall(text, *span))
    return sum(1 for _ in islice(_PIECE.finditer(text, *span), most + 1))
