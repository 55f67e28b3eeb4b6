"""What every extractor takes and gives, whether by rules, from a file or by a language model."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from ecphoria.language.dates import DayRange
from ecphoria.language.names import NameKind

__all__ = ["Candidate", "Extraction", "Extractor", "Source", "Triple"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """An item to extract from; `said_on` is the day that `yesterday` counts from."""

    title: str | None
    body: str
    speaker: str | None = None
    said_on: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A name that may become a concept: normalised, as first written, and its likely kind."""

    name: str
    surface: str
    kind: NameKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Triple:
    """A stated fact between two names; `subject` and `object` are normalised."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """All that one item says, independent of what else is stored.

    Attributes:
        title: The item's own title as a candidate; None if it has none.
        candidates: Names found in the body, one entry a name, in order of appearance.
        words: The body's normalised words in order, in which known names are looked up.
        lower: Words the body writes in lower case.
        speaker: The speaker as a candidate; None for a document.
        dates: Days the body speaks of, resolved against the day it was said.
        triples: Facts between names; rules alone find none.
    """

    title: Candidate | None
    candidates: tuple[Candidate, ...]
    words: tuple[str, ...]
    lower: frozenset[str]
    speaker: Candidate | None = None
    dates: tuple[DayRange, ...] = ()
    triples: tuple[Triple, ...] = ()

    @property
    def vocabulary(self) -> frozenset[str]:
        """Every word that decides what this item changes or mentions in a name table."""
        names = [candidate.name for candidate in self.candidates]
        if self.title:
            names.append(self.title.name)
        return self.lower.union(self.words, *(name.split() for name in names))


class Extractor(Protocol):
    """Extract from items in one call, so that a language model can batch them."""

    async def extract(self, sources: Sequence[Source]) -> Sequence[Extraction]:
        """Return one extraction a source, in the same order."""
        ...
