"""Normalise texts, so that all spellings have one form."""

import re
import unicodedata
from typing import Final

from ecphoria.records.composed import composed

__all__ = ["composed", "lowered", "plain"]

_SAME_LETTERS: Final = re.compile("[\ufb00-\ufb06\uff01-\uff9f\U0001d400-\U0001d7ff]+")
"""Ligatures, full-width and mathematical letters: the plain ones in another print."""
_UNSEEN: Final = re.compile("[\u00ad\u200c\u200d\u2060\ufe0e\ufe0f\ufeff]+")
"""Invisible characters inside a word, such as a soft hyphen."""


def plain(text: str) -> str:
    """Write a text in form C, with plain letters, and without invisible characters."""
    if text.isascii():
        return text
    return composed(_SAME_LETTERS.sub(_printed_plainly, _UNSEEN.sub("", text)))


def lowered(text: str) -> str:
    """Write a text plainly and in lower case; the dot of the Turkish capital I goes with it."""
    lower = plain(text).lower()
    return lower if lower.isascii() else composed(lower.replace("i\u0307", "i"))


def _printed_plainly(letters: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", letters[0])
