"""Decide, over a whole store, which names are concepts and which of them an item mentions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ecphoria.extraction.records import Extraction
from ecphoria.language.english import STOP_WORDS

__all__ = ["NameDelta", "NameRow", "NameTable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRow:
    """What a store keeps of one name, whether it is a concept yet or not.

    Attributes:
        name: Normalised.
        is_title: Some item bears it as its title.
        candidates: Number of items whose body offers it as a candidate.
    """

    name: str
    is_title: bool = False
    candidates: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NameDelta:
    """What adding items changed; all names in alphabetical order.

    Attributes:
        rows: Rows to write, in their new state.
        lower: Words to add to those seen in lower case.
        appeared: Names that became concepts.
        vanished: Names that are no longer concepts, since the word now occurs in lower case;
            they go with all their mentions.
        silenced: Titles of one word that now occur in lower case: still concepts, but no item
            mentions them any more.
        sought: Names that older items may mention from now on. Every older item whose words
            contain one of them, side by side, needs its mentions determined anew; all of them,
            because a new name can take words from an overlapping one.
    """

    rows: tuple[NameRow, ...]
    lower: tuple[str, ...]
    appeared: tuple[str, ...]
    vanished: tuple[str, ...]
    silenced: tuple[str, ...]
    sought: tuple[str, ...]


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
        """Take in items not added before and report what to write and what to revisit."""
        rows: dict[str, NameRow] = {}
        lower: set[str] = set()
        for item in items:
            lower |= item.lower - self._lower
            for candidate in item.candidates:
                row = self._row(candidate.name, rows)
                rows[row.name] = NameRow(
                    name=row.name, is_title=row.is_title, candidates=row.candidates + 1
                )
            if item.title:
                row = self._row(item.title.name, rows)
                rows[row.name] = replace(row, is_title=True)
        touched = rows.keys() | (lower & self._rows.keys())
        nodes_before = touched & self._nodes
        heard_before = {name for name in nodes_before if not self._is_lower_word(name)}
        self._rows |= rows
        self._lower |= lower
        for name in touched:
            self._refresh(name)
        nodes = touched & self._nodes
        heard = {name for name in nodes if not self._is_lower_word(name)}
        return NameDelta(
            rows=tuple(rows[name] for name in sorted(rows)),
            lower=tuple(sorted(lower)),
            appeared=tuple(sorted(nodes - nodes_before)),
            vanished=tuple(sorted(nodes_before - nodes)),
            silenced=tuple(sorted((heard_before - heard) & nodes)),
            sought=tuple(sorted(heard - heard_before)),
        )

    def mentions(self, item: Extraction) -> tuple[str, ...]:
        """Name the concepts an item mentions, in alphabetical order; its own title is none."""
        found = {candidate.name for candidate in item.candidates} & self._nodes
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

    def _row(self, name: str, pending: dict[str, NameRow]) -> NameRow:
        return pending.get(name) or self._rows.get(name) or NameRow(name=name)

    def _is_lower_word(self, name: str) -> bool:
        return name in self._lower  # words only, so a longer name is never among them

    def _is_concept(self, row: NameRow) -> bool:
        if row.is_title:
            return True
        if " " in row.name:
            return row.candidates > 0
        is_everyday = row.name in STOP_WORDS or self._is_lower_word(row.name)
        return row.candidates > 1 and not is_everyday

    def _refresh(self, name: str) -> None:
        """Bring one name's place among the concepts in line with its row."""
        if not self._is_concept(self._rows[name]):
            self._nodes.discard(name)
            return
        self._nodes.add(name)
        words = name.split()
        lengths = self._lengths.get(words[0], ())
        if len(words) not in lengths:
            self._lengths[words[0]] = tuple(sorted((*lengths, len(words)), reverse=True))
