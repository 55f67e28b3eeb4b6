"""Texts of memories in an answer: cut to its bound, and written as lines for a model.

A client may show a model only the text of an answer, or only its data. So both have everything,
and each form has its own bound.
"""

import re
import unicodedata
from collections.abc import Sequence
from itertools import chain
from typing import Final

from ecphoria.text.tokens import SENTENCE_ENDS, UNSPACED_ENDS

# Text and structured data each name every memory, because some clients show their model only one
# of them (decision 0045).
FORM_BYTES: Final = 8_000
"""Bytes (UTF-8) of all memories in one form of an answer; a token has two or more."""
# If not all memories fit at this length, the last are named and left out (decision 0045).
LEAST: Final = 400
"""Characters of a memory that an answer shows at least, if the memory has so many."""
NAME: Final = 64
"""Characters of a name of the caller's."""

_ELLIPSIS: Final = "…"
_SLACK: Final = 120
"""Characters in which a border is looked for; a longer word is cut."""
_SENTENCE: Final = re.compile(rf"[{SENTENCE_ENDS}](?=\s)|[{UNSPACED_ENDS}]|\n")
_SPACED_NUMBER: Final = re.compile(r"\d[ \u00a0\u202f]\d{3}(?!\d)")
_JOINERS: Final = frozenset("\u200d\ufe0e\ufe0f")
_BRACKETS: Final = str.maketrans("[]", "()")


def clipped(text: str, characters: int) -> str:
    """Write a text on one line of at most so many characters, cut between words.

    >>> clipped("So I changed the batch size to 200 now", 34)
    'So I changed the batch size to…'
    """
    line = " ".join(text.split())
    if len(line) <= characters:
        return line
    end = border(line, 0, characters - 1)
    return line[:end].rstrip() + _ELLIPSIS


def name_of(text: str | None) -> str | None:
    """Write a name of the caller's on one line; it must not look like a memory's number."""
    return clipped(text.translate(_BRACKETS), NAME) or None if text is not None else None


def border(text: str, least: int, most: int) -> int:
    """Find the best place to cut a text, from `least` to `most` characters.

    The end of a sentence is best, then the end of a word. A number, a word of Latin letters or a
    composed character is cut only if it is longer than the span.
    """
    if most >= len(text):
        return len(text)
    least = max(least, most - _SLACK, 0)
    ends = [found.end() for found in _SENTENCE.finditer(text, least, most + 1)]
    if ends := [end for end in ends if least < end <= most]:
        return ends[-1]
    places = range(most, max(least, 1) - 1, -1)
    spaces = [place for place in places if text[place].isspace()]
    blanks = (place for place in spaces if not _in_number(text, place))
    free = (place for place in places if not _joined(text[place - 1], text[place]))
    composed = (place for place in places if not _composed(text[place - 1], text[place]))
    return next(chain(blanks, spaces, free, composed), most)


def _in_number(text: str, place: int) -> bool:
    return _SPACED_NUMBER.match(text, place - 1) is not None


def _joined(before: str, after: str) -> bool:
    """Tell whether two characters belong to one word, number, address or composed character."""
    wordy = before.isascii() and after.isascii() and not (before.isspace() or after.isspace())
    numeric = before.isdigit() or after.isdigit()
    return wordy or numeric or _composed(before, after)


def _composed(before: str, after: str) -> bool:
    regional = all("\U0001f1e6" <= each <= "\U0001f1ff" for each in (before, after))
    modifier = "\U0001f3fb" <= after <= "\U0001f3ff"
    return (
        unicodedata.combining(after) > 0
        or before in _JOINERS
        or after in _JOINERS
        or modifier
        or regional
    )


def fitted(texts: Sequence[str], costs: Sequence[int], most: int = FORM_BYTES) -> list[int]:
    """Tell how many characters of each text to show, so that together they fit into one form.

    Each shows `LEAST` characters or more; if they do not fit, the last texts are left out, but
    never the first. Short texts leave their share to long ones.

    Args:
        texts: The texts, the most important first.
        costs: Bytes that stand beside each text: its id, date and names.
        most: Bytes of all together.

    >>> fitted(["short", "word " * 5_000], [0, 0])
    [5, 7994]
    """
    kept: list[int] = []
    left = most
    for text, cost in zip(texts, costs, strict=True):
        need = cost + _size(text[: LEAST + _SLACK])
        if kept and need > left:
            break
        left = max(left - need, 0)
        kept.append(_size(text[: LEAST + _SLACK]))
    shown = texts[: len(kept)]
    rests = [_size(text) - base for text, base in zip(shown, kept, strict=True)]
    for done, place in enumerate(sorted(range(len(kept)), key=rests.__getitem__)):
        more = min(rests[place], left // (len(kept) - done))
        kept[place] += more
        left -= more
    return [_end(text, size) for text, size in zip(shown, kept, strict=True)]


def _end(text: str, size: int) -> int:
    whole = len(text.encode()[:size].decode(errors="ignore"))
    return border(text, LEAST, whole)


def _size(text: str) -> int:
    return len(text.encode())
