"""The terms by which the text index and the ranking find a memory, and those of a cue.

The stems of a text are Porter's, whatever its language, so that a cue and a memory always have the
same. Beside them stand terms that only add matches (decision 0051): the stems of the text's own
language, and names of code as they are written. They do not count in the length of a memory.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ecphoria.text.identifiers import humps, joined_names
from ecphoria.text.languages import Language, languages_of
from ecphoria.text.tokens import STOP_WORDS, stems_of, words

_OWN: Final = "@"
"""In front of a stem that is not Porter's, so that it meets no English word."""


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
    """Collect the terms of a cue.

    Args:
        text: The cue.
        without: Words that are left out, as `words` writes them.
        languages: The `languages_of` the cue, if the caller has them.
    """
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
        },
        silent=frozenset(stems_of([word for word in found if word in silent])),
    )


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
