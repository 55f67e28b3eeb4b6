"""What never changes of episodes, remembered between recalls as columns.

One shelf a tenant: an episode has a slot in every column, so that the rows a recall wants are
taken out of each at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Content", "IntArray", "Shelf"]

_FIRST_SLOTS = 256

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """One episode's immutable columns, as the store gives them."""

    id: str
    speaker: str
    role: str
    occurred_ms: int
    terms: str
    length: float
    length_prior: float
    is_question: bool
    time_expression: bool
    first_person: bool
    second_person: bool
    title: str | None
    importance: float
    vector: NDArray[np.float32]


class Shelf:
    """Columns of the episodes put on it, in the order they came; nothing is taken off singly."""

    def __init__(self) -> None:
        self._slots: dict[str, int] = {}
        self.speaker: list[str | None] = []
        self.role: list[str | None] = []
        self.terms: list[str] = []
        self.title: list[str | None] = []
        self.occurred_ms = np.zeros(_FIRST_SLOTS, np.int64)
        self.length = np.zeros((_FIRST_SLOTS, 2))
        self.facts = np.zeros((_FIRST_SLOTS, 4), np.bool_)
        self.importance = np.zeros(_FIRST_SLOTS)
        self.vector = np.zeros((_FIRST_SLOTS, 0), np.float32)

    def __len__(self) -> int:
        return len(self._slots)

    def missing(self, episodes: Sequence[str]) -> list[str]:
        """List those that are not here."""
        return [one for one in episodes if one not in self._slots]

    def slots(self, episodes: Sequence[str]) -> IntArray:
        """Find the slots of episodes that are all here."""
        return np.array([self._slots[one] for one in episodes], np.int64)

    def length_of(self, episode: str) -> float:
        """Tell how many stems the text of an episode has; 0 if it is not here."""
        slot = self._slots.get(episode)
        return 0.0 if slot is None else float(self.length[slot, 0])

    def put(self, contents: Sequence[Content]) -> None:
        """Give each episode that is not here yet the next slot."""
        fresh = list(self._fresh(contents))
        if not fresh:
            return
        first = len(self._slots)
        self._grow(first + len(fresh), fresh[0].vector.size)
        for slot, one in enumerate(fresh, first):
            self._slots[one.id] = slot
            self.speaker.append(one.speaker or None)
            self.role.append(one.role or None)
            self.terms.append(one.terms)
            self.title.append(one.title)
            self.occurred_ms[slot] = one.occurred_ms
            self.length[slot] = one.length, one.length_prior
            self.facts[slot] = (
                one.is_question, one.time_expression, one.first_person, one.second_person
            )  # fmt: skip
            self.importance[slot] = one.importance
            self.vector[slot] = one.vector

    def _fresh(self, contents: Sequence[Content]) -> Iterator[Content]:
        seen: set[str] = set()
        for one in contents:
            if one.id not in self._slots and one.id not in seen:
                seen.add(one.id)
                yield one

    def _grow(self, wanted: int, dimension: int) -> None:
        room = len(self.occurred_ms)
        if not self.vector.shape[1]:
            self.vector = np.zeros((room, dimension), np.float32)
        if wanted <= room:
            return
        more = max(wanted, 2 * room) - room
        self.occurred_ms = np.pad(self.occurred_ms, (0, more))
        self.length = np.pad(self.length, ((0, more), (0, 0)))
        self.facts = np.pad(self.facts, ((0, more), (0, 0)))
        self.importance = np.pad(self.importance, (0, more))
        self.vector = np.pad(self.vector, ((0, more), (0, 0)))
