"""Cut a long text into passages that an encoder reads whole.

An encoder reads about 256 word pieces and ignores the rest, so a long text needs several vectors.
The cut follows the structure of the text. A text of a machine is cut into members of JSON,
records of logs with the stack traces below them, hunks of diffs or functions. In other texts
fenced code, headings, blank lines and list items make blocks. Both are packed into passages. A
block that is too long is cut by its structure, then by lines, sentences, words and characters, in
this order.

The time is linear in the length of the text: a large span is counted only up to the limit, each of
the ways to cut looks at a character once or twice, and structure is followed down a few levels.
"""

import re
import sys
from collections.abc import Iterator
from itertools import chain, islice, pairwise
from typing import Final, NamedTuple

from ecphoria.text.tokens import SENTENCE_ENDS, UNSPACED_ENDS

_LEAST_RECORDS: Final = 3
_LINES_A_RECORD: Final = 20
"""A text with fewer records to its lines tells times, but is no log."""

_JSON: Final = re.compile(r"""^[ \t]*[{\[](?=\s*["'{\[])""", re.MULTILINE)
_MEMBER: Final = re.compile(r"""\s*(?:"[^"\n]{0,200}"\s*:\s*[{\[]|[{\[](?=\s*["'{\[]))""")
_LEAD: Final = 500
"""Characters in front of JSON, such as the line of a fence or a command."""
_END: Final = 50
_SIGN: Final = re.compile(r'\\.|["{}\[\],]|\n', re.DOTALL)
_BEHIND: Final = re.compile(r"[,\s]*")

_RECORD: Final = re.compile(
    r"""^[ \t]?[\[(<"]?(?:
        \d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d
      | \d\d:\d\d:\d\d\b
      | (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[ ]+\d{1,2}[ ]\d\d:\d\d:\d\d
      | [^\s\[]{1,60}[ ]\S{1,60}[ ]\S{1,60}[ ]\[\d\d/[A-Z][a-z]{2}/\d{4}:
      | (?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b[\]:| ]
    )""",
    re.MULTILINE | re.VERBOSE,
)
_TRACE: Final = re.compile(
    r"^(?:Traceback \(most recent call last\):\n(?:[ \t][^\n]*\n)+\S[^\n]*\n?"
    r"|[^\s][^\n]{0,400}(?:Exception|Error)\b[^\n]*\n"
    r"(?:[ \t]+(?:at |\.{3} )[^\n]*\n?|Caused by:[^\n]*\n)+)",
    re.MULTILINE,
)

_FILE: Final = re.compile(
    r"^(?:(?:diff --git |Index: )[^\n]*\n(?:[^\n@-][^\n]*\n){0,8}(?:--- [^\n]*\n)?"
    r"|--- [^\n]*\n\+\+\+ )",
    re.MULTILINE,
)
"""The lines in front of a file's hunks."""
_HUNK: Final = re.compile(r"^@@ -\d", re.MULTILINE)

_DEFINES: Final = (
    r"(?:@[^\n]*\n[ \t]*){0,20}(?:async def|def|class|interface|struct|enum|trait|impl|fn|func"
    r"|(?:export (?:default )?)?(?:async )?(?:function|class)|pub(?:\(\w+\))? \w+"
    r"|(?:public|private|protected|internal|static)(?: \w+){0,6})[ \t]+[\w<*][^\n]{0,200}[:{(]"
)
_OUTER: Final = re.compile(rf"^{_DEFINES}", re.MULTILINE)
_INNER: Final = re.compile(rf"^[ \t]+{_DEFINES}", re.MULTILINE)
_LEAST_FUNCTIONS: Final = 2


def cuts(text: str, start: int, end: int) -> tuple[int, ...]:
    """List the offsets inside `text[start:end]` at which a part of its structure begins.

    They are in order and strictly between `start` and `end`; none if the span has no structure.
    """
    for find in (_diff, _log, _json, _code):
        found = tuple(dict.fromkeys(at for at in find(text, start, end) if start < at < end))
        if found:
            return found
    return ()


def begins_part(text: str, start: int, end: int) -> bool:
    """Tell whether a function, or the diff of a file, begins at `start`."""
    # Only the start is looked at, and a match may not reach over `end`.
    stop = min(end, start + _LEAD)
    return any(one.match(text, start, stop) for one in (_FILE, _OUTER))


def _diff(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the files of a diff; of a single file its hunks, the first with the header."""
    hunks = [match.start() for match in _HUNK.finditer(text, start, end)]
    if not hunks:
        return
    files = [match.start() for match in _FILE.finditer(text, start, end)]
    yield from [at for at in files if at > start] or hunks[1:]


def _log(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the records of a log and the stack traces outside of one."""
    records = [match.start() for match in _RECORD.finditer(text, start, end)]
    lines = text.count("\n", start, end)
    if len(records) >= max(_LEAST_RECORDS, lines / _LINES_A_RECORD):
        yield from records
        return
    for trace in _TRACE.finditer(text, start, end):
        yield from trace.span()


def _json(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the top-level values of JSON lines; of a single value its members or elements."""
    member = _MEMBER.match(text, start, end)
    opened = member or _JSON.search(text, start, min(end, start + _LEAD))
    if opened is None or (member is None and not _closes(text, start, end)):
        return
    if member is None:
        yield opened.start()
    values, members = _json_parts(text, opened.end() - 1, end)
    yield from values if len(values) > 1 else members


def _closes(text: str, start: int, end: int) -> bool:
    """Tell whether a span ends with a bracket; behind it there may be the end of a fence."""
    return text[max(start, end - _END) : end].rstrip("`~ \t\r\n").endswith(("}", "]"))


def _json_parts(text: str, start: int, end: int) -> tuple[list[int], list[int]]:
    """Find the ends of the outermost values, and the starts of the outermost members.

    A fault changes nothing in front of it: behind a string without an end, the next line heals.
    """
    values: list[int] = []
    members: list[int] = []
    depth, quoted, outermost = 0, False, sys.maxsize
    for sign in _SIGN.finditer(text, start, end):
        one = sign[0]
        if one == '"':
            quoted = not quoted
        elif quoted or one[0] in "\\\n":
            # A string of JSON has no line break; one that has is broken.
            quoted = quoted and one != "\n"
        elif one in "{[":
            depth += 1
        elif one in "}]":
            depth = max(0, depth - 1)
            if depth == 0:
                values.append(_after(text, sign.end(), end))
        elif 0 < depth <= outermost and not values:
            # The only element of a list has the parts.
            members = [] if depth < outermost else members
            outermost = depth
            members.append(_after(text, sign.end(), end))
    return values, members


def _after(text: str, at: int, end: int) -> int:
    """Pass a comma and white space: the next part begins behind them."""
    behind = _BEHIND.match(text, at, end)
    return at if behind is None else behind.end()


def _code(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the functions and classes; of a single class its methods."""
    outer = [match.start() for match in _OUTER.finditer(text, start, end)]
    if len(outer) >= _LEAST_FUNCTIONS:
        yield from outer
        return
    inner = [match.start() for match in _INNER.finditer(text, start, end)]
    if outer or len(inner) >= _LEAST_FUNCTIONS:
        yield from sorted({*outer, *inner})


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
PIECE = re.compile(rf"[{_LATIN}]{{1,8}}|\d{{1,3}}|[{_ALPHABETS}]{{1,4}}|[^\s{_LATIN}\d]")
"""About one word piece. Runs of letters and digits are the only pieces longer than a character,
and no cut below falls into a piece, so the pieces of a span are those of the text in it."""
_FENCE = re.compile(r"\s*(?:```|~~~)")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_BREAKS: Final = (
    re.compile(r"\n+"),
    re.compile(rf"(?<=[{SENTENCE_ENDS}])\s+|(?<=[{UNSPACED_ENDS}])\s*"),
    re.compile(r"\s+"),
)
"""Places at which a long block may be cut: lines, sentences, words."""


class Span(NamedTuple):
    """A part of a text, as character offsets; `end` is exclusive."""

    start: int
    end: int


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
    starts = (match.start() for match in PIECE.finditer(text, *span))
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
        return len(PIECE.findall(text, *span))
    return sum(1 for _ in islice(PIECE.finditer(text, *span), most + 1))
