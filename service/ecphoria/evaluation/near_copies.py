"""Memories that say nearly the same, told by their words.

A client cannot see the store's vectors, so their overlap in words stands for their nearness.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from ecphoria.language.tokens import words

__all__ = ["LEAST_OVERLAP", "NearCopies", "distinct_words", "overlap"]

LEAST_OVERLAP: Final = 0.9
"""Share of the words of two texts that both must have for one to be a near copy."""


def distinct_words(text: str) -> frozenset[str]:
    """Normalise a text to its distinct lower-case words."""
    return frozenset(words(text))


def overlap(one: Iterable[str], other: Iterable[str]) -> float:
    """Share of the distinct words of two texts that both have; 0 without any words.

    >>> overlap({"red", "kiln"}, {"red", "wheel"}) == 1 / 3
    True
    """
    either = len(set(one) | set(other))
    return len(set(one) & set(other)) / either if either else 0.0


class NearCopies:
    """The near copies among some texts."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._words = {ident: distinct_words(text) for ident, text in texts.items()}
        self._known: dict[str, frozenset[str]] = {}

    def of(self, idents: Iterable[str]) -> frozenset[str]:
        """Name the texts that are near copies of any of these, these included."""
        return frozenset().union(*(self._of(ident) for ident in idents))

    def _of(self, ident: str) -> frozenset[str]:
        if ident not in self._known:
            self._known[ident] = frozenset(self._find(ident))
        return self._known[ident]

    def _find(self, ident: str) -> set[str]:
        own = self._words.get(ident, frozenset())
        low, high = LEAST_OVERLAP * len(own), len(own) / LEAST_OVERLAP
        near = {
            other
            for other, theirs in self._words.items()
            if low <= len(theirs) <= high and overlap(own, theirs) >= LEAST_OVERLAP
        }
        return near | {ident}
