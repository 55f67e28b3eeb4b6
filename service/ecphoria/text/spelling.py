"""Misspelt words of a cue, and the stored words that they may stand for."""

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from spellchecker import SpellChecker

from ecphoria.text.english import STOP_WORDS
from ecphoria.text.languages import main_language
from ecphoria.text.tokens import APOSTROPHES, stems_of, words

# Not a part of a path, an address or a name of code, which are read as written; nor "hadn't".
_WRITTEN: Final = re.compile(
    rf"(?<![\w./@#:-])[^\W\d_][^\W\d_A-Z]{{3,23}}(?![\w/@#:-]|[.][^\W\d]|[{APOSTROPHES}]t\b)"
)
_QUOTED: Final = re.compile(r"\"[^\"]*\"|“[^“”]*”|`[^`]*`")
# Each word costs one look-up of about 500 stems.
_MOST: Final = 4
_DICTIONARIES: Final = {
    "Dutch": "nl",
    "French": "fr",
    "German": "de",
    "Italian": "it",
    "Portuguese": "pt",
    "Spanish": "es",
}
"""Languages in Latin letters that have a dictionary, beside English."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Misspelt:
    """A word of a cue that is in no memory and no dictionary.

    Attributes:
        written: As the cue has it.
        meant: The words that differ from it by one letter or two swapped ones, and their stems.
        common: Those among them that a dictionary has, and how often people use them.
    """

    written: str
    meant: Mapping[str, str]
    common: Mapping[str, int]

    def read(self, items: Mapping[str, int]) -> str | None:
        """Choose the word that is meant; None if the store has none of them.

        A dictionary's word comes first, then the one in most memories, then the most common one. A
        function word is in no index, so it counts if no other word does.

        Args:
            items: Number of memories by stem.
        """
        known = [word for word, stem in self.meant.items() if stem in items or word in STOP_WORDS]
        best = max(
            known,
            key=lambda word: (
                word in self.common,
                items.get(self.meant[word], 0),
                self.common.get(word, 0),
                len(word),  # a stem lacks the end of its word
                word,
            ),
            default=None,
        )
        capital = best is not None and self.written[0].isupper()
        return best.capitalize() if best is not None and capital else best


def misspelt(cue: str, stored: AbstractSet[str]) -> tuple[Misspelt, ...]:
    """Find the words of a cue that are in no memory and in no dictionary; at most four.

    Words in quotes, abbreviations, and names with signs or capitals inside are read as written.
    The first call for a language reads its dictionary: .3 s and 30 MB for English.

    Args:
        cue: A text in a language with a dictionary; of any other nothing is found.
        stored: Stems of memories and speakers, as far as the cue has them.

    >>> [one.written for one in misspelt("Which potery class was it?", {"class"})]
    ['potery']
    """
    language = main_language(cue)
    if language not in {None, "English", *_DICTIONARIES}:
        return ()
    codes = ("en", *filter(None, (_DICTIONARIES.get(language or ""),)))
    found = dict.fromkeys(
        word
        for word in _WRITTEN.findall(_QUOTED.sub(" ", cue))
        if not {*stems_of(words(word))} <= stored
        and not any(word in _dictionary(code) for code in codes)
    )
    return tuple(_misspelt(word, codes) for word in list(found)[:_MOST])


def respelt(cue: str, read: Mapping[str, str]) -> str:
    """Write other words into a cue.

    >>> respelt("Which potery class? Potery!", {"potery": "pottery"})
    'Which pottery class? Potery!'
    """
    if not read:
        return cue
    anyone = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, read))})(?!\w)")
    return anyone.sub(lambda match: read[match[0]], cue)


def _misspelt(word: str, codes: Iterable[str]) -> Misspelt:
    lower = word.lower()
    meant, common = dict[str, str](), dict[str, int]()
    for dictionary in map(_dictionary, codes):
        near = dictionary.edit_distance_1(lower)
        common |= {other: dictionary[other] for other in dictionary.known(near)}
        for other in near:
            plain = words(other)
            # Only a dictionary knows where an accent belongs.
            if len(other) > 2 and (plain == [other] or (len(plain) == 1 and other in common)):
                meant[other] = next(iter(stems_of(plain)), "")
    return Misspelt(written=word, meant=meant, common=common)


@lru_cache
def _dictionary(code: str) -> SpellChecker:
    return SpellChecker(language=code)
