"""Find code in a text, and write texts so that code keeps its lines and indentation."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

_FENCE: Final = re.compile(r"(`{3,}|~{3,})([^\n`~]*)")
_LINE: Final = re.compile(r"[^\n]+")
_INDENT: Final = re.compile(r" {2,}|\t")
_BLANK_LINE: Final = re.compile(r"\n[ \t\r]*\n")
# A memory must not imitate another line of the context (docs/explanation/context.md).
_UNDER: Final = "    "
"""A line of code stands this far to the right, so that it cannot pretend to be the next memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeBlock:
    """A part of a text whose line breaks carry meaning: `text[start:end]`.

    Attributes:
        fence: The line that opens it, as "```python"; empty for indented lines without a fence.
    """

    start: int
    end: int
    fence: str = ""


def one_line(text: str) -> str:
    """Write on one line: a memory cannot pretend to be the next line of a block of memories."""
    return " ".join(text.split())


def outside_of(blocks: Iterable[CodeBlock], text: str) -> list[tuple[int, int]]:
    """List where the parts of a text between its blocks start and end, in order."""
    edges = [0, *(edge for block in blocks for edge in (block.start, block.end)), len(text)]
    return list(pairwise(edges))[::2]


def code_blocks(text: str) -> tuple[CodeBlock, ...]:
    """List the code of a text in order: fenced blocks, and paragraphs with indented lines; O(n).

    A fence without an end reaches to the end of the text. Code on a single line is no block,
    because it has no line breaks to keep.
    """
    if "\n" not in text:
        return ()
    fenced = tuple(_fenced(text))
    gaps = outside_of(fenced, text)
    loose = (block for start, end in gaps for block in _indented(text, start, end))
    return tuple(sorted((*fenced, *loose), key=lambda block: block.start))


def _fenced(text: str) -> Iterator[CodeBlock]:
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]):
            if "\n" in text[opened.end() : fence.start()]:
                yield _block(opened, fence.end(1))
            opened = None
    if opened is not None and "\n" in text[opened.end() :].rstrip():
        yield _block(opened, len(text))


def _block(opened: re.Match[str], end: int) -> CodeBlock:
    # What follows the fence on its line is a language only if it is one word.
    info = opened[2].strip()
    language = info if info and len(info.split()) == 1 else ""
    return CodeBlock(start=opened.start(), end=end, fence=opened[1] + language)


def _indented(text: str, start: int, end: int) -> Iterator[CodeBlock]:
    """Find the paragraphs with an indented line after the first; or the next part of one."""
    part, place, follows = text[start:end], 0, False
    for blank in (*_BLANK_LINE.finditer(part), None):
        stop = blank.start() if blank else len(part)
        lines = [line[0] for line in _LINE.finditer(part, place, stop) if line[0].strip()]
        indents = [bool(_INDENT.match(line)) for line in lines]
        follows = any(indents[1:]) or (follows and any(indents))
        if follows:
            yield CodeBlock(start=start + place, end=start + stop)
        place = blank.end() if blank else stop


def write_lines(
    text: str, start: int, end: int, blocks: Sequence[CodeBlock], *, close: bool = True
) -> str:
    """Write `text[start:end]`: prose on one line, the lines of code below it and indented.

    `blocks` are `code_blocks(text)`. With `close`, a fence that the span cuts is opened and
    closed; without it, the result has the same characters as the span, other than white space.
    """
    written: list[str] = []
    place = start
    for block in blocks:
        if block.end <= start or block.start >= end:
            continue
        _prose(written, text[place : max(block.start, place)])
        place = min(block.end, end)
        lines = text[max(block.start, start) : place].splitlines()
        if close and block.fence and block.start < start:
            lines.insert(0, block.fence)
        if close and block.fence and block.end > end:
            lines.append(_marks(block))
        if not written:
            written.append("")
        written.extend(_UNDER + line.rstrip() for line in lines if line.strip())
    _prose(written, text[place:end])
    return "\n".join(written)


def _prose(written: list[str], text: str) -> None:
    line = one_line(text)
    if line:
        written.append(_UNDER + line if written else line)


def _marks(block: CodeBlock) -> str:
    opened = _FENCE.match(block.fence)
    assert opened is not None
    return opened[1]


def append_words(written: str, words: str) -> str:
    """Add words to the end of a laid out text; below code they get a line of their own."""
    if not written:
        return words
    last = written.rpartition("\n")[2]
    return f"{written}\n{_UNDER}{words}" if last.startswith(_UNDER) else f"{written} {words}"
