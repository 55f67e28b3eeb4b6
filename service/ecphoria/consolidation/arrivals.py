"""Who is to be joined when memories arrive among others, at one search for each that arrives.

A memory with at most 15 near it has all of them among its nearest, so one more that arrives there
concerns nobody else. Where there are more, whoever comes nearer than the last among its nearest
pushes that one out. So of those near an arrival only these are searched too; for the others it
is enough to know how many are near them, and how near the last of their nearest is: their crowd.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ecphoria.consolidation.surroundings import (
    NEIGHBOURS,
    NearReader,
    Pair,
    Surroundings,
    admits,
    crowd_of,
    everyone,
    joined,
)
from ecphoria.graph.associations import Association, Crowd, Near, Touched
from ecphoria.model.ids import TenantId

__all__ = ["Arrivals", "Settled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What comes of a chunk of arrivals.

    Attributes:
        wanted: The pairs that should be joined, of those that were searched.
        stored: The pairs of the same that are.
        crowds: As they are now, where they are others than before.
    """

    wanted: Mapping[Pair, float]
    stored: Sequence[Association]
    crowds: Sequence[Crowd]


class Arrivals:
    """Settles the touched memories of a cycle, each once.

    Two that are both touched are judged with the later one. Whoever this cycle has searched
    knows all that are near, those still to be settled among them. A stored crowd may count one
    twice that is touched again: then it is searched, and counted right, sooner than it must be.
    """

    def __init__(self, store: NearReader, tenant: TenantId, touched: Sequence[Touched]) -> None:
        self._store = store
        self._tenant = tenant
        self._surroundings = Surroundings(store, tenant)
        self._coming = {one.id for one in touched}
        self._searched: set[str] = set()
        self._known: dict[str, Crowd] = {}

    async def settle(self, chunk: Sequence[Touched]) -> Settled:
        """Find who should be joined to the next of the touched."""
        ids = frozenset(one.id for one in chunk)
        self._coming -= ids
        around = self._learned(await self._surroundings.near(ids))
        met = await self._meet(around)
        pushed = frozenset(one for one, near in met.items() if self._is_pushed(one, near))
        counted = [
            replace(self._known[one], size=self._known[one].size + len(near))
            for one, near in met.items()
            if one not in pushed
        ]
        self._known |= {crowd.id: crowd for crowd in counted}
        around |= self._learned(await self._surroundings.nearest(pushed))
        nearest = {one: near[:NEIGHBOURS] for one, near in around.items()}
        others = everyone(nearest) - self._coming
        unknown = await self._unknown(others)
        self._learned(await self._surroundings.nearest(unknown))
        searched = around.keys() | unknown
        return Settled(
            wanted=joined(nearest, {one: self._known[one] for one in others}),
            stored=[
                edge
                for edge in await self._surroundings.stored(around)
                if self._coming.isdisjoint((edge.one, edge.other))
            ],
            crowds=[*counted, *(self._known[one] for one in sorted(searched))],
        )

    def _learned(self, found: dict[str, Sequence[Near]]) -> dict[str, Sequence[Near]]:
        self._searched |= found.keys()
        self._known |= {one: crowd_of(one, near) for one, near in found.items()}
        return found

    async def _meet(self, around: Mapping[str, Sequence[Near]]) -> dict[str, list[Near]]:
        """Group what was found by those who do not know yet who has come near them."""
        met: dict[str, list[Near]] = {}
        for near in around.values():
            for row in near:
                if row.id not in self._searched and row.id not in self._coming:
                    met.setdefault(row.id, []).append(row)
        await self._unknown(met)
        return met

    def _is_pushed(self, one: str, near: Sequence[Near]) -> bool:
        """Tell whether its nearest may be others now that these have come."""
        crowd = self._known.get(one)
        if crowd is None:
            return True
        if crowd.size + len(near) <= NEIGHBOURS:
            return False
        return any(admits(crowd, row.cosine, row.of_turn) for row in near)

    async def _unknown(self, ids: Iterable[str]) -> frozenset[str]:
        """Read the crowds of these, and tell who has none."""
        lacking = sorted(one for one in ids if one not in self._known)
        found = await self._store.crowds(self._tenant, lacking) if lacking else ()
        self._known |= {crowd.id: crowd for crowd in found}
        return frozenset(lacking) - {crowd.id for crowd in found}
