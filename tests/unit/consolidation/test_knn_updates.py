"""Who is joined as memories come, go and return, against comparing all with all."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.consolidation.knn import NEAR, NEIGHBOURS, Differences, KnnUpdater, Neighbours, Pair
from ecphoria.consolidation.knn_store import Association, AssociationStore, NeighbourCount, Touched
from ecphoria.consolidation.vector_table import VectorTable
from ecphoria.neo4j_store.passages import Neighbour
from ecphoria.records.ids import EpisodeId, TenantId

TENANT = TenantId("t")
MANY = 90


class Circle(AssociationStore):
    """Memories around a circle, where many are near each other."""

    def __init__(self, seed: int) -> None:
        rows = np.random.default_rng(seed).normal(size=(MANY, 2))
        rows[::7] = rows[0]  # some say the same
        vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        cosine = vectors @ vectors.T
        self.cosine = np.clip((cosine + cosine.T) / 2, -1.0, 1.0)
        self.live: set[int] = set()
        self.kept: dict[str, NeighbourCount] = {}
        self.edges: dict[Pair, float] = {}
        self.asked: Counter[str] = Counter()

    def found(self, one: int) -> list[int]:
        near = [other for other in self.live if other != one and self.cosine[one, other] >= NEAR]
        return sorted(near, key=lambda other: (-self.cosine[one, other], other))

    async def near(
        self, tenant: TenantId, episodes: Sequence[str], *, fetch: int, above: float
    ) -> Sequence[Neighbour]:
        assert (tenant, above) == (TENANT, NEAR)
        self.asked.update(episodes)
        return [
            Neighbour(of=EpisodeId(one), of_turn=int(one), id=EpisodeId(f"{other:02}"), turn=other,
                 cosine=float(self.cosine[int(one), other]))
            for one in episodes if int(one) in self.live
            for other in self.found(int(one))[: fetch - 1]
        ]  # fmt: skip

    async def similar(self, tenant: TenantId, episodes: Sequence[str]) -> Sequence[Association]:
        assert tenant == TENANT
        return [
            Association(one=pair[0], other=pair[1], part=part)
            for pair, part in self.edges.items()
            if not {*pair}.isdisjoint(episodes) and all(int(end) in self.live for end in pair)
        ]

    async def neighbour_counts(
        self, tenant: TenantId, episodes: Sequence[str]
    ) -> Sequence[NeighbourCount]:
        assert tenant == TENANT
        return [self.kept[one] for one in episodes if one in self.kept]

    def marked(self, leaving: int) -> set[int]:
        """Mark as the store does (`graph.leaving`)."""
        one = f"{leaving:02}"
        if self.kept[one].size <= NEIGHBOURS:
            ends = {end for pair in self.edges if one in pair for end in pair}
            near = {int(end) for end in ends} & self.live - {leaving}
        else:
            near = {*self.found(leaving)}
        return {other for other in near if self.kept[f"{other:02}"].size > NEIGHBOURS}

    async def settle(self, touched: Sequence[int], chunk: int) -> None:
        told = Differences()
        todo = [Touched(id=f"{one:02}", turn=one, mark="") for one in sorted(touched)]
        arrivals = KnnUpdater(self, TENANT, todo)
        for first in range(0, len(todo), chunk):
            settled = await arrivals.settle(todo[first : first + chunk])
            for edge in told.between("SIMILAR", settled.stored, settled.wanted):
                self.edges[edge.one, edge.other] = edge.part
            self.edges = {pair: part for pair, part in self.edges.items() if part}
            self.kept |= {count.id: count for count in settled.counts}

    def expected(self) -> set[Pair]:
        nearest = {one: set(self.found(one)[:NEIGHBOURS]) for one in self.live}
        return {
            (f"{one:02}", f"{other:02}")
            for one, other in combinations(sorted(self.live), 2)
            if other in nearest[one] and one in nearest[other]
        }


@given(st.integers(0, 10_000), st.lists(st.integers(1, 30), min_size=1, max_size=5), st.data())
def test_edges_are_those_of_comparing_all_whatever_came_when(
    seed: int, batches: list[int], data: st.DataObject
) -> None:
    store = Circle(seed)

    async def scenario() -> None:
        coming = iter(range(MANY))
        for size in batches:
            new = [one for one, _ in zip(coming, range(size), strict=False)]
            asleep = data.draw(st.sets(st.sampled_from(sorted(store.live or {0})), max_size=4))
            touched = {other for one in asleep & store.live for other in store.marked(one)}
            store.live -= asleep
            await store.settle(sorted(touched | asleep), chunk=data.draw(st.integers(3, 64)))
            assert among(store) == store.expected()
            store.live |= asleep | {*new}
            await store.settle(sorted(asleep | {*new}), chunk=data.draw(st.integers(3, 64)))
            assert among(store) == store.expected()

    asyncio.run(scenario())


def among(store: Circle) -> set[Pair]:
    """Name the edges between live ones; who sleeps keeps its edges."""
    return {pair for pair in store.edges if all(int(end) in store.live for end in pair)}


def test_an_arrival_costs_a_search_for_it_and_for_each_whose_nearest_it_joins() -> None:
    store = Circle(4)
    store.live = set(range(60))
    asyncio.run(store.settle(range(60), chunk=8))
    assert set(store.asked.values()) == {1}, "of the first, each is searched once"
    store.asked.clear()
    store.live.add(60)
    asyncio.run(store.settle([60], chunk=8))
    pushed = {
        f"{one:02}"
        for one in store.found(60)
        if len(store.found(one)) > NEIGHBOURS and 60 in store.found(one)[:NEIGHBOURS]
    }
    assert 0 < len(pushed) < len(store.found(60))
    assert store.asked == Counter({*pushed, "60"})


class Crowd(AssociationStore):
    """Memories that are all near each other, more than any search fetches."""

    def __init__(self) -> None:
        self.ids = [f"{one:04}" for one in range(3_000)]

    async def near(
        self, tenant: TenantId, episodes: Sequence[str], *, fetch: int, above: float
    ) -> Sequence[Neighbour]:
        others = [[one for one in self.ids if one != of][: fetch - 1] for of in episodes]
        return await self.cosines(tenant, episodes, others, above=above)

    async def cosines(
        self,
        tenant: TenantId,
        episodes: Sequence[str],
        near: Sequence[Sequence[str]],
        *,
        above: float,
    ) -> Sequence[Neighbour]:
        assert (tenant, above) == (TENANT, NEAR)
        return [
            Neighbour(of=EpisodeId(of), of_turn=int(of), id=EpisodeId(one), turn=int(one),
                 cosine=1.0)
            for of, others in zip(episodes, near, strict=True)
            for one in others
        ]  # fmt: skip


async def test_a_table_and_the_index_find_as_many_neighbours_of_a_crowded_memory() -> None:
    crowd, of = Crowd(), frozenset({"0007"})
    table = VectorTable(crowd.ids, np.ones((len(crowd.ids), 1), np.float32))
    by_index = (await Neighbours(crowd, TENANT).near(of))["0007"]
    by_table = (await Neighbours(crowd, TENANT, table).near(of))["0007"]
    assert len(by_index) == len(by_table) == 2_047
