"""Turn text into the terms that the lexical signal counts."""

import re
from itertools import pairwise
from typing import Final

import Stemmer  # type: ignore[import-not-found]  # it ships no types

from ecphoria.language.characters import LATIN, MARKS, UNSPACED
from ecphoria.language.english import STOP_WORDS

__all__ = ["LONGEST_WORD", "stems", "words"]

LONGEST_WORD: Final = 1_500
"""Characters of a word that count. A key of an index has at most 8 kB, and a character four bytes;
a longer word (an image in Base64, say) is known by its beginning."""

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_ANY_WORD = re.compile(
    rf"[a-z0-9]+|(?P<unspaced>[{UNSPACED}]+)|(?:[^\W_{LATIN}{UNSPACED}][{MARKS}]*)+"
)
_PORTER = Stemmer.Stemmer("porter")  # holds the interpreter lock throughout: threads may share it


def words(text: str) -> list[str]:
    """Split into lower-case words in order, repeats kept, stop words included.

    Latin text splits at everything but `a-z0-9`, accented letters too, as the recall recipe was
    measured. Other alphabets give whole words; scripts without spaces give overlapping pairs of
    characters, which is how such text is found without a dictionary. Of a word over
    `LONGEST_WORD` characters only the beginning counts.
    """
    text = text.lower()
    if text.isascii():
        return _bounded(_ASCII_WORD.findall(text), text)
    found: list[str] = []
    for match in _ANY_WORD.finditer(text):
        if match.lastgroup and match.end() - match.start() > 1:
            found += (first + second for first, second in pairwise(match[0]))
        else:
            found.append(match[0])
    return _bounded(found, text)


def _bounded(found: list[str], text: str) -> list[str]:
    if len(text) <= LONGEST_WORD:
        return found
    return [word[:LONGEST_WORD] for word in found]


def stems(text: str) -> tuple[str, ...]:
    """Reduce to stems in order, repeats kept, without stop words.

    The stemmer is Porter's original one (1980). It keeps its own bounded cache of words.
    """
    return tuple(_PORTER.stemWords([word for word in words(text) if word not in STOP_WORDS]))
