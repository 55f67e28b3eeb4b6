"""Find the names of code in a text: `find_next`, `getUserById`, `conf/app.yml`, `v2.1-rc1`.

The words of a text are its letters and digits, so a name of code is several words. As one word
it is rarer, and finds the memory that has exactly this name.
"""

import re
from typing import Final

from ecphoria.text.tokens import LONGEST_WORD, STOP_WORDS, porter

_JOINED: Final = re.compile(r"[A-Za-z0-9_]++(?:(?:[./-]|::)[A-Za-z0-9_]++)*+")
_IS_NAME: Final = re.compile(
    r"[a-z0-9]_+[a-z0-9]|::|[a-z0-9]{3}\.|\.[a-z0-9]{3}|\d[./-]|[./-]\d|/.*[/._]|[._].*/"
)
"""Not `and/or`, `e.g.` or `well-known`."""
_HUMPED: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:[a-z]{2,}[0-9]*[A-Z][A-Za-z0-9]*|(?:[A-Z][a-z]{2,}){2,}[A-Za-z0-9]*"
    r"|[A-Z]{2,}[a-z]{3,}[A-Za-z0-9]*)"
)
_HUMP: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


def joined_names(text: str) -> tuple[str, ...]:
    """List the names with signs inside, in lower case and once each, and the parts of paths.

    >>> joined_names("see conf/app.yml and read_all")
    ('conf/app.yml', 'app.yml', 'read_all')
    """
    found: dict[str, None] = {}
    for match in _JOINED.findall(text):
        for name in (match, *(match.split("/") if "/" in match else ())):
            whole = name.removeprefix("www.").strip("_").lower()[:LONGEST_WORD]
            if _IS_NAME.search(whole):
                found[whole] = None
    return tuple(found)


def humps(text: str) -> tuple[str, ...]:
    """List the stems of the words in camel case, repeats kept, without stop words.

    >>> humps("call getUserById here")
    ('get', 'user', 'id')
    """
    found: list[str] = []
    for name in _HUMPED.findall(text):
        parts = [part.lower() for part in _HUMP.findall(name[:LONGEST_WORD]) if len(part) > 1]
        if len(parts) > 1:
            found += (porter(part) for part in parts if part not in STOP_WORDS)
    return tuple(found)
