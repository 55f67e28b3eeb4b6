"""Passages of episodes, remembered between recalls as columns.

A passage never changes, so each is read once by a process. The rules of forgetting are those of
the contents of episodes: all of a tenant goes when one of its episodes was deleted.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ecphoria.graph.executor import Graph, Statement
from ecphoria.model.ids import EpisodeId, TenantId
from ecphoria.ports.passages import PassageColumns
from ecphoria.ports.world import Vector

__all__ = ["PassageReader", "PassageShelf", "StoredPassage"]

_FIRST_SLOTS = 256
_AT_ONCE = 50
"""Episodes of one read: while the driver decodes an answer, no other request goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPassage:
    """A passage as the store gives it; all but the episode is None where it has no passages."""

    episode: str
    part: int | None
    start: int
    end: int
    terms: str
    length: int
    vector: NDArray[np.float32]


_LIST_PASSAGES_OF = Statement("recall.list_passages_of", StoredPassage)


class PassageShelf:
    """Columns of passages in the order they came; those of an episode lie side by side."""

    def __init__(self) -> None:
        self._slots: dict[str, range] = {}
        self._size = 0
        self._places = np.zeros((_FIRST_SLOTS, 3), np.int64)
        self._length = np.zeros(_FIRST_SLOTS)
        self._terms: list[str] = []
        self._vector = np.zeros((_FIRST_SLOTS, 0), np.float32)

    def __len__(self) -> int:
        return self._size

    def missing(self, episodes: Sequence[str]) -> list[str]:
        """List those of which it is not known which passages they have."""
        return [one for one in dict.fromkeys(episodes) if one not in self._slots]

    def put(self, passages: Sequence[StoredPassage]) -> None:
        """Keep passages, those of an episode side by side in their order."""
        grouped: dict[str, list[StoredPassage]] = {}
        for one in passages:
            here = grouped.setdefault(one.episode, [])
            if one.part is not None:
                here.append(one)
        for episode, rows in grouped.items():
            if episode not in self._slots:
                self._slots[episode] = self._put(rows)

    def forget_empty(self) -> None:
        """Forget which episodes have no passages: they may be given some."""
        self._slots = {episode: slots for episode, slots in self._slots.items() if slots}

    def columns(self, episodes: Sequence[str], vector: Vector | None) -> PassageColumns:
        """Give the passages of episodes, ordered by episode and part."""
        slots: list[int] = []
        owners: list[EpisodeId] = []
        for episode in sorted(set(episodes)):
            here = self._slots.get(episode, range(0))
            slots += here
            owners += [EpisodeId(episode)] * len(here)
        at = np.array(slots, np.int64)
        places = self._places[at]
        cosine = np.zeros(len(slots))
        if vector is not None and slots:
            cosine = (self._vector[at] @ vector).astype(np.float64)
        return PassageColumns(
            episode=tuple(owners),
            part=places[:, 0],
            start=places[:, 1],
            end=places[:, 2],
            terms=tuple([self._terms[slot] for slot in slots]),
            length=self._length[at],
            cosine=cosine,
        )

    def _put(self, rows: Sequence[StoredPassage]) -> range:
        first = self._size
        if not rows:
            return range(0)
        self._grow(first + len(rows), rows[0].vector.size)
        for slot, one in enumerate(rows, first):
            assert one.part is not None, "a passage has a place"
            self._places[slot] = one.part, one.start, one.end
            self._length[slot] = one.length
            self._terms.append(one.terms)
            self._vector[slot] = one.vector
        self._size = first + len(rows)
        return range(first, self._size)

    def _grow(self, wanted: int, dimension: int) -> None:
        room = len(self._length)
        if not self._vector.shape[1]:
            self._vector = np.zeros((room, dimension), np.float32)
        if wanted <= room:
            return
        more = max(wanted, 2 * room) - room
        self._places = np.pad(self._places, ((0, more), (0, 0)))
        self._length = np.pad(self._length, (0, more))
        self._vector = np.pad(self._vector, ((0, more), (0, 0)))


@dataclass(slots=True, kw_only=True)
class _Memory:
    """What is remembered of one tenant."""

    deletions: int = 0
    cuts: int = 0
    shelf: PassageShelf = field(default_factory=PassageShelf)


class PassageReader:
    """Fetches the passages of episodes, remembering up to `keep`."""

    def __init__(self, graph: Graph, keep: int, *, dormant: bool = False) -> None:
        """Read those of live episodes, and of dormant ones too if asked to."""
        self._graph = graph
        self._keep = keep
        self._dormant = dormant
        self._memories: OrderedDict[TenantId, _Memory] = OrderedDict()

    def check(self, tenant: TenantId, *, deletions: int, cuts: int) -> None:
        """Forget what the tenant's counters say is not as it was read.

        Args:
            tenant: Whose.
            deletions: How many episodes were ever deleted.
            cuts: How often stored episodes were given passages.
        """
        known = self._memories.setdefault(tenant, _Memory())
        if known.deletions != deletions:
            known.shelf = PassageShelf()
        if known.cuts != cuts:
            known.shelf.forget_empty()
        known.deletions, known.cuts = deletions, cuts

    def forget(self, tenant: TenantId) -> None:
        """Forget all of a tenant that is gone."""
        self._memories.pop(tenant, None)

    async def read(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], vector: Vector | None
    ) -> PassageColumns:
        """Fetch all passages of episodes; those not known from the store, `_AT_ONCE` at a time."""
        # Held on to: what is read now must not be learnt by the shelf of a later state.
        memory = self._memories.get(tenant, _Memory())
        shelf, cuts = memory.shelf, memory.cuts
        missing = shelf.missing(episodes)
        for start in range(0, len(missing), _AT_ONCE):
            part = missing[start : start + _AT_ONCE]
            shelf.put(
                await self._graph.run(
                    _LIST_PASSAGES_OF, tenant=tenant, ids=part, dormant=self._dormant
                )
            )
        found = shelf.columns(episodes, vector)
        if memory.cuts != cuts:
            shelf.forget_empty()
        self._bound(tenant)
        return found

    def _bound(self, tenant: TenantId) -> None:
        """Drop whole tenants, those asked longest ago first, while more is kept than may be."""
        if tenant in self._memories:
            self._memories.move_to_end(tenant)
        while sum(len(memory.shelf) for memory in self._memories.values()) > self._keep:
            self._memories.popitem(last=False)
