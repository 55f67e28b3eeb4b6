"""Turn text into the terms that the lexical signal counts."""

import re
from itertools import pairwise

import Stemmer  # type: ignore[import-not-found]  # it ships no types

from ecphoria.language.characters import LATIN, MARKS, UNSPACED
from ecphoria.language.english import STOP_WORDS

__all__ = ["stems", "words"]

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_ANY_WORD = re.compile(
    rf"[a-z0-9]+|(?P<unspaced>[{UNSPACED}]+)|(?:[^\W_{LATIN}{UNSPACED}][{MARKS}]*)+"
)
_PORTER = Stemmer.Stemmer("porter")  # holds the interpreter lock throughout: threads may share it


def words(text: str) -> list[str]:
    """Split into lower-case words in order, repeats kept, stop words included.

    Latin text splits at everything but `a-z0-9`, accented letters too, as the recall recipe was
    measured. Other alphabets give whole words; scripts without spaces give overlapping pairs of
    characters, which is how such text is found without a dictionary.
    """
    text = text.lower()
    if text.isascii():
        return _ASCII_WORD.findall(text)
    found: list[str] = []
    for match in _ANY_WORD.finditer(text):
        if match.lastgroup and match.end() - match.start() > 1:
            found += (first + second for first, second in pairwise(match[0]))
        else:
            found.append(match[0])
    return found


def stems(text: str) -> tuple[str, ...]:
    """Reduce to stems in order, repeats kept, without stop words.

    The stemmer is Porter's original one (1980). It keeps its own bounded cache of words.
    """
    return tuple(_PORTER.stemWords([word for word in words(text) if word not in STOP_WORDS]))
