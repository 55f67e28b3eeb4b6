"""Write everyday phrases of other languages in English.

The rules of changes, owners, roles and excuses are English and German ones. A text in another
language is read by the English rules too: "Mon loyer est passé à 830 euros" becomes "my rent
raised to 830 euros". Words that the phrasebook lacks stay, without function words. It is no
translation for people.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from ecphoria.text.dating import SEASONS
from ecphoria.text.english import MONTHS, WEEKDAYS
from ecphoria.text.languages import LANGUAGES, PHRASEBOOK, Language, languages_of
from ecphoria.text.tokens import stems_of, words

LONGEST: Final = 2_000
"""Characters of a text that is read; longer ones are articles or logs."""
_LONGEST: Final = 240
"""Characters of a clause to which frames are fitted."""
_MARKS: Final = str.maketrans("\u3002\uff01\uff1f\uff0c\u3001\uff1b\uff1a\u2019", ".!?,,;:'")
_CLAUSE: Final = re.compile(r"([.!?\n]+(?=\s|$)|[,;:](?!\d)|(?<=[^\x00-\x7f])[.!?])")
_WRITTEN: Final = re.compile("\ue000[^\ue001]*\ue001")
"""English text of a frame. Two private signs enclose it, so that it is not read again."""
_PLACE: Final = re.compile(r"(\\\d)")
_BRACKET: Final = re.compile(r"\[(?P<letters>\w+)\](?![?*])")
_LETTER: Final = re.compile(r"[^\W_]")
_PLAIN: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Book:
    """The rules of a language; `places` are those of spellings that begin with a letter."""

    frames: tuple[tuple[re.Pattern[str], str], ...]
    starts: re.Pattern[str]
    spellings: tuple[str, ...]
    english: tuple[str, ...]
    places: Mapping[str, Sequence[int]]
    dropped: frozenset[str]
    edge: str
    compiled: dict[str, re.Pattern[str]] = field(default_factory=dict)

    def at(self, letter: str) -> re.Pattern[str]:
        """Give the spellings that may begin with a letter; most letters are never asked for."""
        if letter not in self.compiled:
            found = sorted({*self.places.get(letter, ()), *self.places.get("", ())})
            groups = (f"(?P<w{at}>(?:{self.spellings[at]}){self._edge(at)})" for at in found)
            self.compiled[letter] = re.compile("|".join(groups) or "(?!)", re.IGNORECASE)
        return self.compiled[letter]

    def _edge(self, at: int) -> str:
        """An apostrophe ends a word of its own."""
        return "" if self.spellings[at].endswith("'") else self.edge


def in_english(text: str, languages: Sequence[Language] | None = None) -> str:
    """Write the phrases of a text in English; a text in English or German stays as it is.

    So does one over `LONGEST`. Marks of other scripts become English ones.

    >>> in_english("Mon loyer est passé à 830 euros.")
    'my rent raised to 830 euros.'
    """
    book = _book_of(text, languages)
    if book is None or len(text) > LONGEST:
        return text
    pieces = _CLAUSE.split(text.translate(_MARKS))
    return " ".join("".join(_translated(piece, book) for piece in pieces).split())


def originals(text: str, english: str, languages: Sequence[Language]) -> frozenset[str]:
    """Give the stems of the words of a text for which an English word stands.

    >>> sorted(originals("Quand est mon anniversaire ?", "birthday", [LANGUAGES["fr"]]))
    ['anniversair']
    """
    book = _book_of(text, languages)
    found = frozenset(stems_of(words(english)))
    if book is None:
        return found
    said = [
        match[0]
        for match in _matches(text.translate(_MARKS), book)
        if english in words(_english(match, book))
    ]
    return frozenset(stems_of(words("\n".join(said)))) or found


def _book_of(text: str, languages: Sequence[Language] | None) -> _Book | None:
    found = languages_of(text) if languages is None else languages
    return next((_book(one.code) for one in found if one.code in PHRASEBOOK), None)


def _translated(clause: str, book: _Book) -> str:
    if not _PLAIN.search(clause):
        return clause
    if len(clause) <= _LONGEST:
        clause = clause.strip()
        for frame, template in book.frames:
            clause = frame.sub(template, clause)
    return " ".join(("", *_pieces(clause, book)))


def _pieces(clause: str, book: _Book) -> Iterator[str]:
    """Yield English phrases, and the words between them that say something."""
    end = 0
    for match in _matches(clause, book):
        yield from _kept(clause[end : match.start()], book)
        yield _english(match, book)
        end = match.end()
    yield from _kept(clause[end:], book)


def _matches(clause: str, book: _Book) -> Iterator[re.Match[str]]:
    """Find phrases, and what frames have written, in order; none overlaps another."""
    end = 0
    for start in book.starts.finditer(clause):
        at = start.start()
        if at >= end:
            match = _WRITTEN.match(clause, at) or book.at(start[0].lower()).match(clause, at)
            if match:
                yield match
                end = match.end()


def _kept(between: str, book: _Book) -> Iterator[str]:
    return (word for word in between.split() if word.lower() not in book.dropped)


def _english(match: re.Match[str], book: _Book) -> str:
    """Give the English of a spelling, or what a frame has written."""
    return book.english[int(match.lastgroup[1:])] if match.lastgroup else match[0][1:-1]


@lru_cache
def _book(code: str) -> _Book:
    table, language = PHRASEBOOK[code], LANGUAGES[code]
    calendar = language.calendar
    entries = [
        (spelling, english)
        for english, listed in table["words"].items()
        for spelling in _alternatives(listed)
    ]
    entries += [
        (spelling, f" {english} ")
        for field, names in (("months", MONTHS), ("weekdays", WEEKDAYS), ("seasons", SEASONS))
        for listed, english in zip(calendar.get(field, ()), names, strict=False)
        for spelling in _alternatives(listed)
    ]
    entries += [
        (spelling, f" {english} ")
        for listed, english in calendar["phrases"].items()
        for spelling in _alternatives(listed)
    ]
    # Of two spellings at one place the longer one is meant.
    entries.sort(key=lambda entry: -len(entry[0]))
    places = defaultdict[str, list[int]](list)
    for at, (spelling, _) in enumerate(entries):
        for letter in _first_letters(spelling):
            places[letter].append(at)
    return _Book(
        frames=tuple(
            (re.compile(one, re.IGNORECASE), _kept_english(other))
            for one, other in table["frames"]
        ),
        starts=re.compile(r"\ue000|(?<!\w)\w" if language.spaced else r"\ue000|\w"),
        spellings=tuple(spelling for spelling, _ in entries),
        english=tuple(english for _, english in entries),
        places=places,
        dropped=frozenset(table["dropped"].split()),
        edge=r"(?!\w)" if language.spaced else "",
    )


def _first_letters(spelling: str) -> frozenset[str]:
    """Tell with which letters a spelling begins; an empty one stands for any.

    >>> sorted(_first_letters("(?:ai |a )?vendue?s?")), sorted(_first_letters("[dr]u"))
    (['a', 'v'], ['d', 'r'])
    """
    if spelling.startswith("(?:"):
        end = _end_of_group(spelling)
        rest = spelling[end:].removeprefix("?")
        inner = frozenset[str]().union(*map(_first_letters, _alternatives(spelling[3 : end - 1])))
        return inner | (_first_letters(rest) if spelling[end : end + 1] == "?" else frozenset())
    if found := _BRACKET.match(spelling):
        return frozenset(found["letters"])
    optional = spelling[1:2] == "?"
    first = frozenset({spelling[:1] if _LETTER.match(spelling) else ""})
    return first | (_first_letters(spelling[2:]) if optional else frozenset())


def _end_of_group(spelling: str) -> int:
    depth = 0
    for at, sign in enumerate(spelling):
        depth += (sign == "(") - (sign == ")")
        if not depth:
            return at + 1
    return len(spelling)


def _kept_english(template: str) -> str:
    r"""Put private signs around what a template says itself, so that it is not read again.

    >>> _kept_english(r"\1 is \2").split()
    ['\\1\ue000', 'is', '\ue001\\2']
    """
    parts = _PLACE.split(template)
    parts[::2] = [part and f"\ue000{part}\ue001" for part in parts[::2]]
    return "".join(parts)


def _alternatives(listed: str) -> Iterator[str]:
    """Part a pattern at each `|` outside of brackets."""
    depth, start = 0, 0
    for at, sign in enumerate(listed):
        depth += (sign in "([") - (sign in ")]")
        if sign == "|" and not depth:
            yield listed[start:at]
            start = at + 1
    yield listed[start:]
