"""Tell code, logs and addresses of a text from talk, so that no names are taken from them.

The words stay in the text: a name that talk tells is found in code too.
"""

import re
from typing import Final

from ecphoria.text.code_blocks import code_blocks
from ecphoria.text.english import CONNECTORS

_HIDDEN: Final = "|"
"""Stands for what is hidden; names do not reach over it."""

_LEVEL: Final = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL)"
_LOG_LINE: Final = re.compile(
    rf"^[ \t]*(?:\[?\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d[^\n]{{0,40}}?\b{_LEVEL}\b[^\n]*"
    rf"|\[?{_LEVEL}(?:\]|:| \d)[^\n]*"
    r"|Traceback \(most recent call last\)[^\n]*"
    r"|File \"[^\"\n]{1,300}\", line \d[^\n]*"
    r"|at [\w.$<>]{1,200}\([^)\n]{0,200}\)[^\n]*"
    r"|(?:[a-z]\w{0,60}\.){0,9}[A-Z]\w{0,60}(?:Error|Exception)(?::[^\n]*)?$)",
    re.MULTILINE,
)
"""A line of a log or of a traceback."""

_SIGN: Final = r"[!-~]"
"""A character of ASCII but the blank: Chinese has no blanks between names and code."""
_CODE: Final = re.compile(
    rf"(?<!{_SIGN})(?=[\"'(\[]?(?:[~.]{{0,2}}/\w|[A-Z]:\\)"  # a path
    rf"|{_SIGN}*(?:\w\(|[\w\])]=|::|://|</|\.\w{{1,63}}:\d"  # a call, an assignment, an address
    r"|[\w-]{2,63}\.[\w-]{2,63}\.[A-Za-z]{2}|\.(?i:internal|local|localdomain|lan|corp|svc)\b))"
    rf"{_SIGN}+"
)
"""A word that is code, a path, or the name of a host."""

_LITERALS: Final = frozenset(
    """
    None NONE True TRUE False FALSE Null NULL Nil NIL NaN Undefined Error ERROR Exception Admin
    WARN WARNING INFO DEBUG TRACE FATAL CRITICAL TODO FIXME GET POST PUT PATCH DELETE HTTP HTTPS
    Localhost
    """.split()  # noqa: SIM905 (shorter than a list)
)
"""Words of code and of logs that are written like names."""
_NUMBER: Final = re.compile(r"\d\w*")


def without_code(text: str) -> str:
    """Write a text with a mark in place of its fenced code, lines of logs, paths and hosts.

    >>> without_code("Bo calls Main() on Db.internal now.")
    'Bo calls | on | now.'
    """
    for block in reversed(code_blocks(text)):
        if block.fence:
            text = f"{text[: block.start]}{_HIDDEN}{text[block.end :]}"
    return _CODE.sub(_HIDDEN, _LOG_LINE.sub(_HIDDEN, text))


def is_literal(name: str) -> bool:
    """Tell whether a name, as written, has only words of code: `None`, `Error 500`.

    >>> is_literal("None and NULL"), is_literal("True North")
    (True, False)
    """
    words = name.split()
    others = [one for one in words if one not in _LITERALS]
    joins = all(one in CONNECTORS or _NUMBER.fullmatch(one) for one in others)
    return len(others) < len(words) and joins
