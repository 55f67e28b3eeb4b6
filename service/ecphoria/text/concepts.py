"""Find the concepts of a text by rules."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations
from math import sqrt
from typing import Final

from ecphoria.records.episode import Extracted, StatedName
from ecphoria.records.forms import composed
from ecphoria.text.english import STOP_WORDS
from ecphoria.text.machine_words import is_literal, without_code
from ecphoria.text.names import (
    NameKind,
    candidate_spans,
    is_indexable,
    is_name,
    lower_words,
    name_kind,
    normalise,
    normalised_words,
)

MOST_NAMES: Final = 1_000
"""Largest number of names from one text, because each becomes nodes and edges."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A name that may become a concept: normalised, as first written, and its likely kind.

    Attributes:
        cognitive, description, importance: As stated; None where nothing is said.
    """

    name: str
    surface: str
    kind: NameKind
    cognitive: str | None = None
    description: str | None = None
    importance: int | None = None


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
        """Write it in one line, without its source."""
        says = f"no longer {self.predicate}" if self.negated else self.predicate
        which = f" ({self.qualifier})" if self.qualifier else ""
        return f"{self.subject} {says} {self.object}{which}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The claim of a fact by an item, with its time and reliability.

    Attributes:
        valid_from, valid_to: As stated, aware UTC; None where nothing is said.
        reliability: 0 to 1; None where nothing is said.
        weight: Strength of the relation between its ends, 0 to 1.
        span: Where its words stand in the item's text.
    """

    fact: Triple
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    reliability: float | None = None
    weight: float = 1.0
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Everything extracted from one item, independent of other items.

    Attributes:
        title: The item's own title as a candidate; None if it has none.
        candidates: Names the rules find in the body, one entry a name, in order of appearance.
        words: The body's normalised words in order, in which known names are looked up.
        lower: Words the body writes in lower case.
        speaker: The speaker as a candidate; None for a document.
        stated: Names that came with the item, its own title left out; concepts by that alone.
        claims: What it says of facts; a fact once for each time it speaks of.
    """

    title: Candidate | None
    candidates: tuple[Candidate, ...]
    words: tuple[str, ...]
    lower: frozenset[str]
    speaker: Candidate | None = None
    stated: tuple[Candidate, ...] = ()
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """The names and claims that can be stored, each once, in the order given."""

    names: tuple[Candidate, ...] = ()
    claims: tuple[Claim, ...] = ()


def read_stated(given: Extracted | None, title: str, text: str = "") -> Stated:
    """Keep the names that can name a concept, and the facts that have one at an end.

    A date, a bare number or a mark is no name, but may be the other end of a fact. The item's
    own title, normalised, is none of the names it states: it is about that. A quote is looked up
    in the item's text.
    """
    if given is None:
        return Stated()
    names: dict[str, Candidate] = {}
    for named in given.names:
        _add(names, named)
    claims: dict[tuple[Triple, datetime | None, datetime | None], Claim] = {}
    for fact in given.facts:
        ends = normalise(fact.subject), normalise(fact.object)
        if all(ends) and any(map(is_name, ends)):
            claim = Claim(
                fact=Triple(
                    subject=ends[0],
                    predicate=" ".join(composed(fact.predicate).split()),
                    object=ends[1],
                    qualifier=normalise(fact.qualifier),
                    negated=fact.negated,
                ),
                valid_from=fact.valid_from,
                valid_to=fact.valid_to,
                reliability=fact.reliability,
                weight=fact.weight,
                span=fact.span or _place(fact.quote, text),
            )
            claims.setdefault((claim.fact, claim.valid_from, claim.valid_to), claim)
            _add(names, fact.subject)
            _add(names, fact.object)
    names.pop(title, None)
    return Stated(names=tuple(names.values()), claims=tuple(claims.values()))


def _place(quote: str, text: str) -> tuple[int, int] | None:
    start = text.find(quote) if quote else -1
    return None if start < 0 else (start, start + len(quote))


def _add(names: dict[str, Candidate], named: str | StatedName) -> None:
    """Add a name, unless it is there; one with a description replaces one without."""
    given = StatedName(name=named) if isinstance(named, str) else named
    name = normalise(given.name)
    if not is_name(name):
        return
    entry = Candidate(
        name=name,
        surface=composed(given.name).strip(),
        kind=NameKind(given.kind) if given.kind else name_kind(given.name),
        cognitive=given.cognitive,
        description=" ".join(composed(given.description).split()) or None,
        importance=given.importance,
    )
    if name not in names or (names[name].description is None and entry.description is not None):
        names[name] = entry


def extract(
    title: str | None,
    body: str,
    *,
    words: tuple[str, ...] | None = None,
    speaker: str | None = None,
    given: Extracted | None = None,
) -> Extraction:
    """Extract from one item without looking at any other.

    Stated names and facts are added to the names that rules find. Pass the body's normalised
    `words` if they are known.
    """
    own = _whole(title, NameKind.TITLE)
    stated = read_stated(given, own.name if own else "", body)
    return Extraction(
        title=own,
        candidates=_candidates(body),
        words=tuple(normalised_words(body)) if words is None else words,
        lower=lower_words(body),
        speaker=_whole(speaker, NameKind.PERSON),
        stated=stated.names,
        claims=stated.claims,
    )


def _whole(text: str | None, kind: NameKind) -> Candidate | None:
    """Take a title or speaker as the name it is."""
    name = normalise(text) if text else ""
    if not is_indexable(name):
        return None
    guess = name_kind(text or "")
    if kind is NameKind.TITLE and guess is not NameKind.TOPIC:
        kind = guess
    return Candidate(name=name, surface=composed(text or "").strip(), kind=kind)


def _candidates(body: str) -> tuple[Candidate, ...]:
    found: dict[str, Candidate] = {}
    for span in candidate_spans(without_code(body)):
        if len(found) == MOST_NAMES:
            break
        name = normalise(span)
        if name not in found and is_name(name) and not is_literal(span):
            found[name] = Candidate(name=name, surface=span, kind=name_kind(span))
    return tuple(found.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRow:
    """The stored counts of a name, whether it is a concept or not.

    Attributes:
        name: Normalised.
        titles: Number of items with it as their title.
        candidates: Number of items whose body offers it as a candidate.
    """

    name: str
    titles: int = 0
    candidates: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NameDelta:
    """The changes by added items, or by a removed one; all names in alphabetical order.

    Attributes:
        rows: Rows of added items to write, in their new state.
        lower: Words of added items to add to those seen in lower case.
        appeared: Names that became concepts.
        vanished: Names that are no longer concepts, since the word now occurs in lower case;
            they go with all their mentions.
        silenced: Titles of one word that now occur in lower case: still concepts, but no item
            mentions them any more.
        sought: Names that older items may mention from now on, and after a removal also names that
            they no longer mention. Every older item whose words contain one of them, side by side,
            needs its mentions determined anew, because names take words from overlapping ones.
    """

    appeared: tuple[str, ...]
    vanished: tuple[str, ...]
    sought: tuple[str, ...]
    rows: tuple[NameRow, ...] = ()
    lower: tuple[str, ...] = ()
    silenced: tuple[str, ...] = ()


class NameTable:
    """The names of one tenant, kept up to date item by item.

    The final concepts and mentions do not depend on the order or the batches in which items come.
    A table may hold a part of the store: what it does with an item is right if it was given every
    row whose name starts with a word of the item's `vocabulary`, and every lower-case word in it.

    A title is always a concept. Another name is one if it has several words, or if it has one,
    is a candidate in two items or more, is no stop word and is nowhere written in lower case.
    """

    def __init__(self, rows: Iterable[NameRow] = (), lower: Iterable[str] = ()) -> None:
        self._rows = {row.name: row for row in rows}
        self._lower = set(lower)
        self._nodes: set[str] = set()
        self._lengths: dict[str, tuple[int, ...]] = {}
        for name in self._rows:
            self._refresh(name)

    @property
    def concepts(self) -> frozenset[str]:
        """Names that are concepts now."""
        return frozenset(self._nodes)

    def add(self, items: Iterable[Extraction]) -> NameDelta:
        """Add new items, and report the names to write and the items to revisit."""
        rows: dict[str, NameRow] = {}
        lower: set[str] = set()
        for item in items:
            lower |= item.lower - self._lower
            for candidate in item.candidates:
                row = self._row(candidate.name, rows)
                rows[row.name] = replace(row, candidates=row.candidates + 1)
            if item.title:
                row = self._row(item.title.name, rows)
                rows[row.name] = replace(row, titles=row.titles + 1)
        touched = rows.keys() | (lower & self._rows.keys())
        nodes_before = touched & self._nodes
        heard_before = self._heard(touched)
        self._rows |= rows
        self._lower |= lower
        for name in touched:
            self._refresh(name)
        nodes = touched & self._nodes
        heard = self._heard(touched)
        return NameDelta(
            rows=tuple(rows[name] for name in sorted(rows)),
            lower=tuple(sorted(lower)),
            appeared=tuple(sorted(nodes - nodes_before)),
            vanished=tuple(sorted(nodes_before - nodes)),
            silenced=tuple(sorted((heard_before - heard) & nodes)),
            sought=tuple(sorted(heard - heard_before)),
        )

    def remove(self, item: Extraction, last: Collection[str]) -> NameDelta:
        """Remove an item and the lower-case words that only it has; drop names without items."""
        less = Counter(candidate.name for candidate in item.candidates)
        title = item.title.name if item.title else None
        touched = {*less, *last, *([title] if title else [])} & self._rows.keys()
        before, heard_before = touched & self._nodes, self._heard(touched)
        self._lower.difference_update(last)
        for name in touched:
            old = self._rows[name]
            row = replace(
                old, titles=old.titles - (name == title), candidates=old.candidates - less[name]
            )
            self._rows[name] = row
            self._refresh(name)
            if row.titles <= 0 and row.candidates <= 0:
                del self._rows[name]
        after = touched & self._nodes
        # A name that stays what it was is not sought: thousands of items may mention it.
        return NameDelta(
            appeared=tuple(sorted(after - before)),
            vanished=tuple(sorted(before - after)),
            sought=tuple(sorted((before ^ after) | (heard_before ^ self._heard(touched)))),
        )

    def mentions(self, item: Extraction) -> tuple[str, ...]:
        """List the concepts that an item mentions, sorted, without its own title."""
        found = {candidate.name for candidate in item.candidates} & self._nodes
        # Known names count everywhere, also at the start of a sentence
        # (docs/explanation/extraction.md).
        found.update(self.lookup(item.words))
        if item.title:
            found.discard(item.title.name)
        return tuple(sorted(name for name in found if not self._is_lower_word(name)))

    def lookup(self, words: Sequence[str]) -> tuple[str, ...]:
        """Find known names in normalised words: leftmost, then longest, not overlapping.

        Stop words are never found; one-word names that occur in lower case are.
        """
        return tuple(dict.fromkeys(self._matches(words)))

    def _matches(self, words: Sequence[str]) -> Iterator[str]:
        lengths = self._lengths
        end = 0
        for start in [place for place, word in enumerate(words) if word in lengths]:
            if start < end:
                continue
            for length in lengths[words[start]]:
                name = " ".join(words[start : start + length])
                if name in self._nodes and name not in STOP_WORDS:
                    yield name
                    end = start + length
                    break

    def _heard(self, names: AbstractSet[str]) -> set[str]:
        """Choose the concepts that items mention."""
        return {name for name in names & self._nodes if not self._is_lower_word(name)}

    def _row(self, name: str, pending: dict[str, NameRow]) -> NameRow:
        return pending.get(name) or self._rows.get(name) or NameRow(name=name)

    def _is_lower_word(self, name: str) -> bool:
        return name in self._lower  # words only, so a longer name is never among them

    def _is_concept(self, row: NameRow) -> bool:
        if row.titles > 0:
            return True
        # Names of two words are no headings, so one memory is enough
        # (docs/explanation/extraction.md).
        if " " in row.name:
            return row.candidates > 0
        # Separates names from headings and from capitals for emphasis
        # (docs/explanation/extraction.md).
        is_everyday = row.name in STOP_WORDS or self._is_lower_word(row.name)
        return row.candidates > 1 and not is_everyday

    def _refresh(self, name: str) -> None:
        """Update whether a name is a concept, by its row."""
        if not self._is_concept(self._rows[name]):
            self._nodes.discard(name)
            return
        self._nodes.add(name)
        words = name.split()
        lengths = self._lengths.get(words[0], ())
        if len(words) not in lengths:
            self._lengths[words[0]] = tuple(sorted((*lengths, len(words)), reverse=True))


# Synonyms compare sets of words, not vectors: vectors were as good, but cost a pass of the encoder
# over each name, and the edges would depend on the order of arrival (decision 0012).
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
    """List the forms of a name: its words, and its words without any one of them.

    Words are a set, without stop words unless there are no others. At least two words must remain:
    too many people share a first name or a surname.

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
    """The names of one tenant's concepts by their forms.

    The result does not depend on the order of the names.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._by_form: dict[str, set[str]] = {}
        self.add(names)

    def add(self, names: Iterable[str]) -> None:
        """Add names; a known name changes nothing."""
        for name in names:
            for form in forms(name):
                self._by_form.setdefault(form, set()).add(name)

    def remove(self, names: Iterable[str]) -> None:
        """Remove names; an unknown name changes nothing."""
        for name in names:
            for form in forms(name):
                found = self._by_form.get(form, set())
                found.discard(name)
                if not found:
                    # The form has the words of the name.
                    self._by_form.pop(form, None)

    def pairs(self, names: Iterable[str]) -> Iterator[SynonymPair]:
        """Pair these names with all similar names in the table, each pair once, sorted."""
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
