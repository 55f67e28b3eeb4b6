"""Words, stems and characters of text.

Each constant in capitals is the inside of a regular expression's character class.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Final

import Stemmer  # type: ignore[import-not-found]  # it ships no types

from ecphoria.errors import InvalidInput, TooLarge
from ecphoria.records.forms import composed, lowered
from ecphoria.text.english import STOP_WORDS


def _ranges(holds: Callable[[str], bool | None], start: int, stop: int) -> str:
    """Write the characters for which `holds` as ranges."""
    parts: list[str] = []
    first: int | None = None
    for code in range(start, stop + 1):
        inside = code < stop and holds(chr(code))
        if inside and first is None:
            first = code
        elif not inside and first is not None:
            parts.append(f"\\u{first:04x}-\\u{code - 1:04x}")
            first = None
    return "".join(parts)


APOSTROPHES: Final = "'\u2019"
"""The typewriter's and the printer's."""

SENTENCE_ENDS: Final = ".!?\u061f\u06d4\u0964"
"""Marks of the end of a sentence; a blank follows."""

UNSPACED_ENDS: Final = "\u3002\uff01\uff1f"
"""Marks of the end of a Chinese or Japanese sentence; the next one may begin without a blank."""

UPPER: Final = _ranges(str.isupper, 0x41, 0x590) + _ranges(str.isupper, 0x1E00, 0x2000)
"""Capitals of the Latin, Greek, Cyrillic and Armenian scripts."""

MARKS: Final = _ranges(lambda char: unicodedata.category(char) in {"Mn", "Mc"}, 0x300, 0x1E00)
"""Accents, vowel signs and points: part of a word, though `\\w` leaves them out (Hindi, Thai)."""

LATIN: Final = (
    r"\u0000-\u036f\u1d00-\u1dbf\u1e00-\u1eff\u2000-\u2bff\u2c60-\u2c7f\ua720-\ua7ff"
    r"\uab30-\uab6f\ufb00-\ufb06\uff00-\uff65\U0001d400-\U0001d7ff"
)
"""Blocks whose letters are Latin or stand for Latin ones, with the common signs between them."""

OTHER_LATIN: Final = "".join(
    _ranges(str.islower, start, stop)
    for start, stop in ((0xDF, 0x250), (0x250, 0x2B0), (0x1E00, 0x1F00), (0x2C60, 0x2C80))
)
"""Letters of those blocks beside `a-z`, in lower case."""

UNREADABLE: Final = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff"
"""Control characters and halves of surrogate pairs: nothing that text consists of."""

UNSPACED: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts whose words spaces do not reliably part: Thai, Lao, Burmese, Khmer and CJK."""


NEGATIONS: Final = (
    r"no|not|nor|never|neither|none|nobody|nothing|nowhere|without|cannot"
    rf"|\w+n[{APOSTROPHES}]t|longer|anymore"
    r"|nicht|nichts|nie|niemals|niemand|kein\w*|weder|ohne"
    r"|non|ne|pas|jamais|nunca|jamás|não|niet|geen|inte|ikke|не|нет"
)
"""Pattern of such words in several languages, in any case."""
_NEGATION: Final = re.compile(rf"\b(?:{NEGATIONS})\b", re.IGNORECASE)

LONGEST_WORD: Final = 1_500
"""Characters of a word that count. A key of an index has at most 8 kB, and a character four bytes;
a longer word (an image in Base64, say) is known by its beginning."""


_ACCENTED = map(chr, (*range(0xC0, 0x250), *range(0x370, 0x400), *range(0x1E00, 0x2000)))
_BASE_LETTERS = {
    ord(char): base
    for char in _ACCENTED
    if (base := unicodedata.normalize("NFD", char)[0]) != char and base.isalpha()
} | str.maketrans(
    {
        "æ": "ae",
        "œ": "oe",
        "þ": "th",
        "ð": "d",
        "đ": "d",
        "ħ": "h",
        "\u0131": "i",
        "ł": "l",
        "ø": "o",
    }
    | {"ё": "е"}  # noqa: RUF001 (Cyrillic)
)
"""Latin and Greek letters with accents, and what is typed in their place."""
_LOOSE_ACCENTS = re.compile("[\u0300-\u036f]+")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_ANY_WORD = re.compile(
    rf"[a-z0-9{OTHER_LATIN}]+|(?P<unspaced>[{UNSPACED}]+)"
    rf"|(?:[^\W_{LATIN}{UNSPACED}][{MARKS}]*)+"
)
_WRITTEN = re.compile(rf"[\w{UNSPACED}{MARKS}\u00ad\u200c\u200d]+")
# The original Porter stemmer; ranking and index use the same stems, so a memory that matches is
# always a candidate (decision 0004).
_PORTER = Stemmer.Stemmer("porter")  # holds the interpreter lock throughout: threads may share it
_BY_SCRIPT = {
    script: Stemmer.Stemmer(language)
    for script, language in (
        ("GREEK", "greek"),
        ("CYRILLIC", "russian"),
        ("ARMENIAN", "armenian"),
        ("ARABIC", "arabic"),
        ("DEVANAGARI", "hindi"),
        ("TAMIL", "tamil"),
    )
}
"""Stemmers of the scripts of which one language is far the most frequent. Words in Latin letters
all have Porter's, because a short cue does not tell its language for sure, and a memory and a cue
must have the same stems; `ecphoria.text.terms` adds those of their language."""


def denies(text: str) -> bool:
    """Tell whether a text has a word such as *not*."""
    return bool(_NEGATION.search(text))


def words(text: str) -> list[str]:
    """Split into lower-case words in order, repeats kept, stop words included.

    A word consists of letters and digits of any alphabet. Accents of Latin and Greek letters go,
    so that `Müller` and `Muller` meet. Scripts without spaces give overlapping pairs of
    characters, which is how such text is found without a dictionary. Of a word over
    `LONGEST_WORD` characters only the beginning counts.
    """
    if text.isascii():
        text = text.lower()
        return _bounded(_ASCII_WORD.findall(text), text)
    text = unaccented(text)
    found: list[str] = []
    for match in _ANY_WORD.finditer(text):
        if match.lastgroup and match.end() - match.start() > 1:
            found += (first + second for first, second in pairwise(match[0]))
        else:
            found.append(match[0])
    return _bounded(found, text)


def unaccented(text: str) -> str:
    """Write a text in lower case without the accents of Latin and Greek letters."""
    return _LOOSE_ACCENTS.sub("", lowered(text).casefold().translate(_BASE_LETTERS))


def _bounded(found: list[str], text: str) -> list[str]:
    if len(text) <= LONGEST_WORD:
        return found
    return [word[:LONGEST_WORD] for word in found]


def porter(word: str) -> str:
    """Reduce one word to its stem (Porter, 1980)."""
    return str(_PORTER.stemWord(word))


def word_set(listed: str) -> frozenset[str]:
    """Split a list of words, as `words` writes them."""
    return frozenset(words(listed))


def porter_stems(listed: str) -> frozenset[str]:
    """Reduce the words of a list to their stems (Porter, 1980)."""
    return frozenset(map(porter, words(listed)))


def stem_of(word: str) -> str:
    """Reduce one word to a stem, with the stemmer of its script."""
    return str(_stemmer(word[0]).stemWord(word))


def stems(text: str) -> tuple[str, ...]:
    """Reduce to stems in order, repeats kept, without stop words.

    The stemmer is Porter's original one (1980); words in Greek, Cyrillic, Armenian, Arabic,
    Devanagari and Tamil letters have that of their script (Snowball). Each keeps its own bounded
    cache of words.

    >>> stems("Анна работала в квартире")
    ('ан', 'работа', 'в', 'квартир')
    """
    return stems_of(words(text))


def stems_of(found: Iterable[str]) -> tuple[str, ...]:
    """Reduce words that are split already; see `stems`."""
    kept = [word for word in found if word not in STOP_WORDS]
    if all(map(str.isascii, kept)):
        return tuple(_PORTER.stemWords(kept))
    return tuple(map(stem_of, kept))


@lru_cache(10_000)
def _stemmer(letter: str) -> Stemmer.Stemmer:
    """Choose the stemmer of the words that begin with a letter, by the letter's script."""
    script = unicodedata.name(letter, "").partition(" ")[0]
    return _BY_SCRIPT.get(script, _PORTER)


def as_written(text: str, wanted: Collection[str]) -> list[str]:
    """Give the words of a text with these stems as the text writes them, in its order.

    >>> as_written("Which cafés are in Łódź?", {"cafe", "lodz"})
    ['cafés', 'Łódź']
    """
    found: dict[str, str] = {}
    for written in _WRITTEN.findall(composed(text)):
        read = words(written)
        for word in read:
            for stem in stems(word):
                found.setdefault(stem, written if len(read) == 1 else word)
    return list(dict.fromkeys(found[stem] for stem in found if stem in wanted))


_UNREADABLE: Final = re.compile(f"[{UNREADABLE}]")
_TERMINAL_CODE: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
"""A control sequence of a terminal (ECMA-48, CSI), such as a colour or a move of the cursor."""


def without_terminal_codes(text: str) -> str:
    r"""Remove the colours that tools write into their output; they are no part of the text.

    >>> without_terminal_codes("\x1b[1;31mFAILED\x1b[0m tests")
    'FAILED tests'
    """
    return _TERMINAL_CODE.sub("", text) if "\x1b" in text else text


def check_readable(field: str, value: str, limit: int | None = None) -> None:
    """Refuse control characters, and texts over a limit.

    Raises:
        InvalidInput: Names the character and its place.
        TooLarge: The text has more than `limit` characters.
    """
    if limit is not None and len(value) > limit:
        raise TooLarge(
            f"`{field}` has {len(value):,} characters; at most {limit:,} are stored: shorten it",
            field=field,
        )
    if found := _UNREADABLE.search(value):
        raise InvalidInput(
            f"`{field}` holds the unreadable character U+{ord(found[0]):04X} at place "
            f"{found.start()}; remove it",
            field=field,
        )
