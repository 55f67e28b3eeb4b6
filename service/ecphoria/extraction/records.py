"""What is read from an item, by rules and by whoever else looked at it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from ecphoria.language.dates import DayRange
from ecphoria.language.names import NameKind
from ecphoria.model.episode import Extracted

__all__ = ["Candidate", "Claim", "Extraction", "Extractor", "Source", "Triple"]


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
    """A stated fact; `subject` and `object` are normalised, one of them at least is a name."""

    subject: str
    predicate: str
    object: str
    qualifier: str = ""
    negated: bool = False

    @property
    def statement(self) -> str:
        """Say it in one line, the same whoever said it."""
        says = f"no longer {self.predicate}" if self.negated else self.predicate
        which = f" ({self.qualifier})" if self.qualifier else ""
        return f"{self.subject} {says} {self.object}{which}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What one item says of a fact: for which time, and how far it is to be trusted.

    Attributes:
        valid_from, valid_to: As stated, aware UTC; None where nothing is said.
        reliability: 0 to 1; None where nothing is said.
    """

    fact: Triple
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    reliability: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """All that one item says, independent of what else is stored.

    Attributes:
        title: The item's own title as a candidate; None if it has none.
        candidates: Names the rules find in the body, one entry a name, in order of appearance.
        words: The body's normalised words in order, in which known names are looked up.
        lower: Words the body writes in lower case.
        speaker: The speaker as a candidate; None for a document.
        dates: Days the body speaks of, resolved against the day it was said.
        stated: Names that came with the item, its own title left out; concepts by that alone.
        claims: What it says of facts; a fact once for each time it speaks of.
    """

    title: Candidate | None
    candidates: tuple[Candidate, ...]
    words: tuple[str, ...]
    lower: frozenset[str]
    speaker: Candidate | None = None
    dates: tuple[DayRange, ...] = ()
    stated: tuple[Candidate, ...] = ()
    claims: tuple[Claim, ...] = ()

    @property
    def vocabulary(self) -> frozenset[str]:
        """Every word that decides what this item changes or mentions in a name table."""
        names = [candidate.name for candidate in self.candidates]
        names += [named.name for named in self.stated]
        if self.title:
            names.append(self.title.name)
        return self.lower.union(self.words, *(name.split() for name in names))


class Extractor(Protocol):
    """Find names and facts beyond the rules; many items a call, so that a model can batch."""

    async def extract(self, sources: Sequence[Source]) -> Sequence[Extracted | None]:
        """Return what each source holds, in the same order; None where nothing is known."""
        ...
