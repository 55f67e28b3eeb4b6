"""Names that are spelled so much alike that they likely name the same thing."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

from ecphoria.language.english import STOP_WORDS

__all__ = ["SynonymPair", "SynonymTable", "forms"]

_WORDS, _CHARACTERS = 8, 200
"""Longer names have no synonyms."""

_IS, _CUT = "is_", "cut_"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class SynonymPair:
    """Two names in alphabetical order, and the cosine of their sets of words."""

    one: str
    other: str
    weight: float


def forms(name: str) -> tuple[str, ...]:
    """List the forms a name is found by: its words, and its words less any one of them.

    Words are a set, without stop words unless there are no others. What is cut must leave two
    words at least: a first name or a surname alone is shared by too many.

    >>> forms("the tall ships")
    ('is_ships_tall',)
    >>> forms("tall ships race")
    ('is_race_ships_tall', 'cut_race_ships', 'cut_race_tall', 'cut_ships_tall')
    """
    words = _words(name)
    own = _IS + "_".join(words)
    if len(words) > _WORDS or len(own) > _CHARACTERS:
        return ()
    return own, *(_CUT + cut for cut in _cuts(words))


class SynonymTable:
    """The names of one tenant's concepts by the forms they can be found by.

    What is found does not depend on the order in which names came.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._by_form: dict[str, set[str]] = {}
        self.add(names)

    def add(self, names: Iterable[str]) -> None:
        """Take names in; one that is there already changes nothing."""
        for name in names:
            for form in forms(name):
                self._by_form.setdefault(form, set()).add(name)

    def remove(self, names: Iterable[str]) -> None:
        """Forget names; one that is not there changes nothing."""
        for name in names:
            for form in forms(name):
                found = self._by_form.get(form, set())
                found.discard(name)
                if not found:
                    # The form has the words of the name.
                    self._by_form.pop(form, None)

    def pairs(self, names: Iterable[str]) -> Iterator[SynonymPair]:
        """Pair these names with all in the table that are alike, each pair once, in order."""
        found = {
            (min(name, other), max(name, other))
            for name in names
            for form in _sought(name)
            for other in self._by_form.get(form, ())
            if other != name
        }
        for one, other in sorted(found):
            sizes = len(_words(one)), len(_words(other))
            yield SynonymPair(one=one, other=other, weight=sqrt(min(sizes) / max(sizes)))


def _sought(name: str) -> tuple[str, ...]:
    """List the forms of a name's synonyms: the same words, one more, or one less."""
    stored = forms(name)
    if not stored:
        return ()
    own, *cuts = stored
    return own, _CUT + own.removeprefix(_IS), *(_IS + cut.removeprefix(_CUT) for cut in cuts)


def _words(name: str) -> tuple[str, ...]:
    words = name.split()
    return tuple(sorted({word for word in words if word not in STOP_WORDS} or set(words)))


def _cuts(words: Sequence[str]) -> Iterator[str]:
    if len(words) > 2:
        yield from map("_".join, combinations(words, len(words) - 1))
