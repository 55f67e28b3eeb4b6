"""The terms by which the text index and the ranking find a memory, and those of a cue.

The stems of a text are Porter's, whatever its language, so that a cue and a memory always have the
same. Beside them stand terms that only add matches (decision 0051): the stems of the text's own
language, and names of code as they are written. They do not count in the length of a memory.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from ecphoria.text.languages import Language, languages_of
from ecphoria.text.related import Related, merged, related, related_in_german
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
        also: Further terms that stand for a stem: the stem of the same word in its own language,
            and those of related words.
        silent: The stems among them that say nothing about the topic.
    """

    stems: tuple[str, ...]
    also: Related = field(default_factory=dict)
    silent: frozenset[str] = frozenset()


def terms(text: str) -> Terms:
    """Collect the terms of a memory's text.

    >>> terms("Wir kaufen die Lampen").further
    ('@kauf', '@lamp')
    """
    found = words(text)
    own = [
        f"{_OWN}{_own(word, language)}"
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
        also=merged(*(_own_terms(text, found, one) for one in languages), related(text, found)),
        silent=frozenset(stems_of([word for word in found if word in silent])),
    )


def _own_terms(text: str, found: Sequence[str], language: Language) -> Related:
    """Map the stems of words to those of their own language, and of related words in it."""
    own = {word: _own(word, language) for word in _topical(found, language)}
    more = related_in_german(text, own) if language.code == "de" else {}
    every = {word: (own[word], *more.get(word, ())) for word in own}
    return merged(
        *(
            {stem: tuple(f"{_OWN}{one}" for one in every[word])}
            for word in own
            for stem in stems_of([word])
        )
    )


def _topical(found: Iterable[str], language: Language) -> Iterator[str]:
    """Yield the words that have a stem of their own in a language."""
    if language.stemmer is not None:
        for word in found:
            if word.isalpha() and word not in STOP_WORDS and word not in language.silent:
                yield word


def _own(word: str, language: Language) -> str:
    return str(language.stemmer.stemWord(word)) if language.stemmer else word


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
