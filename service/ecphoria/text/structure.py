"""Find where a long text of a machine may be cut: JSON, logs, diffs and code.

A cut is the offset at which a part begins. Parts of JSON are the members or elements of the
outermost value, parts of a log its records with the stack traces below them, parts of a diff its
files and then its hunks, parts of code its functions. A text of another kind, or a part that has
no parts of its own, gives no cuts. Each look at a span takes linear time.
"""

import re
import sys
from collections.abc import Iterator
from typing import Final

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
