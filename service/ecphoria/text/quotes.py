"""Find a quotation in the text that it was taken from."""

import re
from typing import Final

_WORD: Final = re.compile(r"\w")
_SAME: Final = {
    "'": "['\u2018\u2019\u02bc]",
    "\u2018": "['\u2018\u2019\u02bc]",
    "\u2019": "['\u2018\u2019\u02bc]",
    '"': '["\u201c\u201d\u201e]',
    "\u201c": '["\u201c\u201d\u201e]',
    "\u201d": '["\u201c\u201d\u201e]',
    "-": "[-\u2010\u2011\u2013\u2014]",
    "\u2013": "[-\u2010\u2011\u2013\u2014]",
    "\u2014": "[-\u2010\u2011\u2013\u2014]",
}
"""Spellings of one mark that models and keyboards exchange."""
_LONGEST: Final = 2_000
_OUTER: Final = ' \t\r\n"\u201c\u201d\u201e\u2026'


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Find a verbatim quotation; blanks and kinds of quotation marks and dashes may differ.

    Case must agree. Marks of quotation and dots of omission around the quote do not count.

    Returns:
        Start and end in characters of `text`, the end exclusive; None if it is not there, or
        has no letter and no digit.

    Example:
        >>> find_quote("moved to  Oslo", "In May we moved to Oslo.")
        (10, 23)
    """
    wanted = quote.strip().removeprefix("...").removesuffix("...").strip(_OUTER)
    if len(wanted) > _LONGEST or not _WORD.search(wanted):
        return None
    pattern = r"\s+".join(
        "".join(_SAME.get(mark) or re.escape(mark) for mark in word) for word in wanted.split()
    )
    # A quote that begins or ends inside a word is none.
    found = re.search(rf"(?<!\w){pattern}(?!\w)" if _is_bounded(wanted) else pattern, text)
    return found.span() if found else None


def _is_bounded(wanted: str) -> bool:
    return bool(_WORD.match(wanted[0]) and _WORD.match(wanted[-1]))
