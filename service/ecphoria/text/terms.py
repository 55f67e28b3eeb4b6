"""The terms by which the text index and the ranking find a memory, and those of a cue.

The stems of a text are Porter's, whatever its language, so that a cue and a memory always have the
same. Beside them stand terms that only add matches (decision 0051): the stems of the text's own
language, and names of code as they are written. They do not count in the length of a memory.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ecphoria.text.languages import Language, languages_of
from ecphoria.text.tokens import LONGEST_WORD, STOP_WORDS, porter, stems_of, words

_OWN: Final = "@"
"""In front of a stem that is not Porter's, so that it meets no English word."""

# The words of a text are its letters and digits, so a name of code is several words. As one word
# it is rarer, and finds the memory that has exactly this name.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of a memory.

    Attributes:
        stems: With repeats; their number is the memory's length.
        further: With repeats.
    """

    stems: tuple[str, ...]
    further: tuple[str, ...] = ()

    @property
    def every(self) -> tuple[str, ...]:
        """All terms, with repeats."""
        return (*self.stems, *self.further)

    @property
    def joined(self) -> str:
        """All terms, joined by blanks, as they are stored."""
        return " ".join(self.every)


@dataclass(frozen=True, slots=True, kw_only=True)
class CueTerms:
    """The terms of a cue.

    Attributes:
        stems: With repeats, without question words.
        also: Further terms that stand for a stem: the stem of the same word in its own language.
        silent: The stems among them that say nothing about the topic.
    """

    stems: tuple[str, ...]
    also: Mapping[str, str] = field(default_factory=dict)
    silent: frozenset[str] = frozenset()


def terms(text: str) -> Terms:
    """Collect the terms of a memory's text.

    >>> terms("Wir kaufen die Lampen").further
    ('@kauf', '@lamp')
    """
    found = words(text)
    own = [
        _own(word, language)
        for language in languages_of(text, found)
        for word in _topical(found, language)
    ]
    return Terms(stems=stems_of(found), further=(*own, *humps(text), *joined_names(text)))


def cue_terms(
    text: str, without: Collection[str] = frozenset(), languages: Sequence[Language] | None = None
) -> CueTerms:
    """Collect the terms of a cue, without some words, as `words` writes them."""
    if languages is None:
        languages = languages_of(text)
    found = [word for word in _unasked(text, languages) if word not in without]
    silent = frozenset(word for language in languages for word in language.silent)
    said = stems_of(found)
    names = (*humps(text), *joined_names(text))
    return CueTerms(
        stems=(*said, *(name for name in dict.fromkeys(names) if name not in {*said, *without})),
        also={
            stem: _own(word, language)
            for language in languages
            for word in _topical(found, language)
            for stem in stems_of([word])
        }
        | _related(text, found),
        silent=frozenset(stems_of([word for word in found if word in silent])),
    )


def _related(text: str, found: Iterable[str]) -> dict[str, str]:
    """Find for a stem the one of another word by which a memory says the same.

    >>> _related("Where do I live?", ["live"]), _related("my allergies", ["allergies"])
    ({'live': 'move'}, {'allergi': 'allerg'})
    >>> _related("What did she buy?", ["buy"])
    {'bui': 'bought'}
    """
    also = {}
    for word in found:
        stem = porter(word)
        if stem in _IRREGULAR:
            also[stem] = _IRREGULAR[stem]
        if _NOUN_IN_Y.search(word):
            also[stem] = stem.removesuffix("i")
        elif _ADJECTIVE_IN_IC.search(word):
            also[stem] = f"{stem}i"
    return also | {stem: other for asks, stem, other in _OTHER_WORDS if asks.search(text)}


# Not "think", "find", "make" and the like: they say little, and meetings lost .5 R@10.
_FORMS: Final = (
    "bite bit", "break broke", "bring brought", "build built", "buy bought", "catch caught",
    "child children", "choose chose", "draw drew", "drink drank", "drive drove", "eat ate",
    "feed fed", "fight fought", "fly flew", "foot feet", "forget forgot", "freeze froze",
    "grow grew", "hide hid", "knife knives", "lend lent", "lose lost", "meet met", "mouse mice",
    "pay paid", "ride rode", "sell sold", "send sent", "shake shook", "shoot shot", "sing sang",
    "sleep slept", "speak spoke", "spend spent", "steal stole", "swim swam", "teach taught",
    "tear tore", "throw threw", "tooth teeth", "wake woke", "wear wore", "win won", "write wrote",
)  # fmt: skip
_IRREGULAR: Final = {
    porter(one): porter(other)
    for pair in _FORMS
    for one, other in (pair.split(), pair.split()[::-1])
}
"""Stems of two forms of a word that Porter's rules do not join: "what did she buy", "I bought"."""
_NOUN_IN_Y: Final = re.compile(r"(?:g|ph|om|rch|th)(?:y|ies)$")
_ADJECTIVE_IN_IC: Final = re.compile(r"(?:g|ph|om|rch|th)ic(?:al)?$")
"""Porter's stems of "allergy" and "allergic" differ."""
_OTHER_WORDS: Final = (
    (re.compile(r"\bwhere\b.*\b(?:live|lives|living)\b", re.IGNORECASE), "live", "move"),
    (re.compile(r"\bfor a living\b", re.IGNORECASE), "live", "work"),
    (re.compile(r"\bjob\b", re.IGNORECASE), "job", "work"),
    (re.compile(r"\bbirthday\b", re.IGNORECASE), "birthdai", "born"),
    (re.compile(r"\bwho\b.*\bboss\b", re.IGNORECASE), "boss", "manag"),
    (re.compile(r"\bwho\b.*\bauthor\b", re.IGNORECASE), "author", "wrote"),
    (re.compile(r"\bwho\b.*\bowner\b", re.IGNORECASE), "owner", "own"),
    (re.compile(r"\bwer\b.*\bchef\b", re.IGNORECASE), "chef", "@leit"),
    (re.compile(r"\bwer\b.*\bchefin\b", re.IGNORECASE), "chefin", "@leit"),
    (re.compile(r"\bvon beruf\b", re.IGNORECASE), "beruf", "@arbeit"),
    (re.compile(r"\bberuflich\b", re.IGNORECASE), "beruflich", "@arbeit"),
)
"""Questions with a stem of theirs, and one by which people tell the answer."""


def _topical(found: Iterable[str], language: Language) -> Iterator[str]:
    """Yield the words that have a stem of their own in a language."""
    if language.stemmer is not None:
        for word in found:
            if word.isalpha() and word not in STOP_WORDS and word not in language.silent:
                yield word


def _own(word: str, language: Language) -> str:
    return f"{_OWN}{language.stemmer.stemWord(word)}" if language.stemmer else word


def _unasked(text: str, languages: Iterable[Language]) -> list[str]:
    """Split a cue into words, without question words of other languages than English."""
    rest = text
    for language in languages:
        rest = language.asks.sub(" ", rest)
    found = words(rest)
    if all(language.spaced for language in languages):
        return found
    # Beside a question word that was cut out, one character may be left of a pair.
    said = set(words(text))
    return [word for word in found if word in said] or found


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
    ('user', 'id')
    """
    found: list[str] = []
    for name in _HUMPED.findall(text):
        parts = [part.lower() for part in _HUMP.findall(name[:LONGEST_WORD]) if len(part) > 1]
        if len(parts) > 1:
            found += (porter(part) for part in parts if part not in STOP_WORDS)
    return tuple(found)
