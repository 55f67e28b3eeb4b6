"""Maintain mutual k-nearest-neighbour edges between memories.

A cycle looks only at changes since the last one: new episodes and their neighbours, the former
neighbours of deleted episodes, and concepts that gained or lost a mention. The result equals a
full computation, in any order of episodes and cycles (decision 0025).

Incremental update: if a memory has at most 15 neighbours, all of them are among its nearest, so a
new neighbour displaces none. If it has more, a new neighbour displaces the 15th if it is nearer.
Only memories with a displaced neighbour are searched again. For all others two stored numbers
suffice: the number of neighbours, and the cosine of the 15th.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ecphoria.consolidation.knn_store import (
    Association,
    AssociationStore,
    Companion,
    NeighbourCount,
    Touched,
)
from ecphoria.consolidation.service import TOLD, Cycle
from ecphoria.consolidation.vector_table import VectorTable
from ecphoria.maths.hebbian import association, linked, round_down_to_step, similarity
from ecphoria.neo4j_store.passages import Neighbour
from ecphoria.records.ids import TenantId
from ecphoria.records.job import Change, StepOutcome

NEIGHBOURS = 15
"""k of SYNAPSE's edges; here each end must be among the k nearest of the other (decision 0025)."""
NEAR = 0.60
"""Least cosine of an association; SYNAPSE's .92 is the cosine at which it merges two concepts."""
# Three episodes and twice chance, so that a name that occurs everywhere is joined to nothing
# (docs/explanation/consolidation.md).
_JOINT, _LIFT = 3, 2.0
"""NeuromemoryAI's rule for a link; the lift keeps a hub from links to every concept beside it."""
# Below this weight a pair gets no edge (docs/explanation/consolidation.md).
_LEAST_WEIGHT = 0.1
# A search fetches more than 15, to find out whether there are more (decision 0025).
_FETCH, _FETCH_MOST = 32, 2_048
# Sums in another order differ by rounding, and are not a change to write.
_SAME = 1e-9

Pair = tuple[str, str]


class Neighbours:
    """The neighbours of episodes."""

    def __init__(
        self, store: AssociationStore, tenant: TenantId, table: VectorTable | None = None
    ) -> None:
        """Search in a table of all vectors, or without one in the index."""
        self._store = store
        self._tenant = tenant
        self._table = table

    async def wanted(self, ids: frozenset[str]) -> dict[Pair, float]:
        """Find every pair with one of these that should be SIMILAR, with its part.

        It searches around the neighbours too, and does not use their stored counts.
        """
        around = await self.nearest(ids)
        beyond = await self.nearest(everyone(around) - ids)
        counts = {node: count_neighbours(node, near) for node, near in (around | beyond).items()}
        return joined(around, counts)

    async def stored(self, ids: Iterable[str]) -> Sequence[Association]:
        """List the stored pairs with one of these that have a part by nearness."""
        return await self._store.similar(self._tenant, sorted(ids))

    async def nearest(self, ids: frozenset[str]) -> dict[str, Sequence[Neighbour]]:
        """List the nearest neighbours of each of these in order, and some further ones.

        Memories that are not live have no neighbours.
        """
        return await self._searched(sorted(ids), _FETCH)

    async def near(self, ids: frozenset[str]) -> dict[str, Sequence[Neighbour]]:
        """List all neighbours of each of these, nearest first, up to the largest search."""
        found: dict[str, Sequence[Neighbour]] = {}
        # A table finds all of them at once. A search of the index takes longer for more results.
        fetch, asked = _FETCH if self._table is None else _FETCH_MOST, sorted(ids)
        while asked:
            found |= await self._searched(asked, fetch)
            if fetch >= _FETCH_MOST:
                break
            asked = [node for node in asked if len(found[node]) >= fetch - 1]
            fetch *= 4
        return found

    async def _searched(self, ids: Sequence[str], fetch: int) -> dict[str, Sequence[Neighbour]]:
        if not ids:
            return {}
        if self._table is None:
            rows = await self._store.near(self._tenant, ids, fetch=fetch, above=NEAR)
        else:
            # One less, because the index counts the memory itself.
            near = await asyncio.to_thread(self._table.near, ids, above=NEAR, most=fetch - 1)
            rows = await self._store.cosines(self._tenant, ids, near, above=NEAR)
        found: dict[str, list[Neighbour]] = {node: [] for node in ids}
        for row in rows:
            found[row.of].append(row)
        return dict(found)


class Cooccurrence:
    """The concepts that are mentioned together more often than by chance."""

    def __init__(self, store: AssociationStore, tenant: TenantId, total: int) -> None:
        self._store = store
        self._tenant = tenant
        self._total = total

    async def wanted(self, ids: frozenset[str]) -> dict[Pair, float]:
        """Find every pair with one of these that should be ASSOCIATED, with its part."""
        most = int(self._total / _LIFT)
        rows = await self._store.companions(self._tenant, sorted(ids), least=_JOINT, most=most)
        return _lifted(rows, self._total)

    async def stored(self, ids: Iterable[str]) -> Sequence[Association]:
        """List the stored pairs with one of these that have a part by lift."""
        return await self._store.associated(self._tenant, sorted(ids))


class Differences:
    """Wrong edges of a step: their number, and a list of the first ones."""

    def __init__(self) -> None:
        self._counts = {"added": 0, "changed": 0, "dropped": 0}
        self._changes: list[Change] = []
        self._now: dict[Pair, float] = {}

    @property
    def found(self) -> int:
        """Count the concepts."""
        return sum(self._counts.values())

    def between(
        self, edge: str, stored: Sequence[Association], wanted: Mapping[Pair, float]
    ) -> list[Association]:
        """Compare stored with expected edges; a part of 0 removes the edge.

        A dry run writes nothing, so an edge in two chunks would be reported twice. Reported edges
        are therefore remembered.
        """
        was = {(one.one, one.other): one.part for one in stored}
        edges: list[Association] = []
        for pair in sorted(was.keys() | wanted.keys()):
            before = self._now.get(pair, was.get(pair, 0.0))
            after = wanted.get(pair, 0.0)
            if abs(before - after) <= _SAME:
                continue
            self._now[pair] = after
            count = "added" if not before else "changed" if after else "dropped"
            self._counts[count] += 1
            edges.append(Association(one=pair[0], other=pair[1], part=after))
            if len(self._changes) < TOLD:
                verb = {"added": "link", "changed": "reweigh", "dropped": "unlink"}[count]
                detail = f"{edge} to {pair[1]}: {before:.3f} to {after:.3f}"
                self._changes.append(Change(kind=verb, id=pair[0], detail=detail))
        return edges

    def outcome(self, **seen: int) -> StepOutcome:
        """Give the counts and the changes for the report."""
        return StepOutcome(counts={**seen, **self._counts}, changes=tuple(self._changes))


def everyone(around: Mapping[str, Sequence[Neighbour]]) -> frozenset[str]:
    """Collect the ids of all neighbours."""
    return frozenset(neighbour.id for near in around.values() for neighbour in near)


def count_neighbours(node: str, near: Sequence[Neighbour]) -> NeighbourCount:
    """Find the number of neighbours and the cosine of the last of the nearest."""
    if len(near) <= NEIGHBOURS:
        return NeighbourCount(id=node, size=len(near))
    last = near[NEIGHBOURS - 1]
    return NeighbourCount(id=node, size=len(near), cosine=last.cosine, turn=last.turn)


def admits(count: NeighbourCount, cosine: float, turn: int) -> bool:
    """Tell whether a memory is among the nearest; at equal cosine the older one wins.

    >>> [admits(NeighbourCount(id="a", size=20, cosine=0.7, turn=8), 0.7, turn) for turn in (7, 9)]
    [True, False]
    """
    if count.cosine is None or count.turn is None:
        return True
    return (cosine, -turn) >= (count.cosine, -count.turn)


def joined(
    around: Mapping[str, Sequence[Neighbour]], counts: Mapping[str, NeighbourCount]
) -> dict[Pair, float]:
    """Find the mutual nearest pairs, with their part of the weight.

    Args:
        around: Neighbours of one end, nearest first.
        counts: Neighbour counts of the other ends; a node without one gets no pair.
    """
    # Mutual neighbours only: a bland sentence is near to everything and would collect edges
    # (docs/explanation/consolidation.md).
    cosines = {
        (min(node, row.id), max(node, row.id)): row.cosine
        for node, near in around.items()
        for row in near[:NEIGHBOURS]
        if row.id in counts and admits(counts[row.id], row.cosine, row.of_turn)
    }
    parts = similarity(list(cosines.values()))
    return dict(zip(cosines, parts.tolist(), strict=True))


def _lifted(rows: Sequence[Companion], total: int) -> dict[Pair, float]:
    """Weigh the pairs that are mentioned together often enough and above chance."""
    counts: dict[Pair, tuple[int, int, int]] = {}
    for row in rows:
        own, others = row.mentions, row.other_mentions
        joint = min(row.joint, own, others)
        pair = (row.of, row.id) if row.of < row.id else (row.id, row.of)
        counts[pair] = (joint, min(own, others), max(own, others))
    table = np.array(list(counts.values()), np.float64).reshape(-1, 3)
    both, fewer, more = table[:, 0], table[:, 1], table[:, 2]
    held = linked(both, fewer, more, total=total, least=_JOINT, above=_LIFT)
    parts = held * association(both, fewer, more, total=total)
    return {
        pair: part
        for pair, part in zip(counts, parts.tolist(), strict=True)
        if part >= _LEAST_WEIGHT
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class KnnUpdate:
    """The update of the edges for a chunk of touched episodes.

    Attributes:
        wanted: The expected pairs of the searched episodes.
        stored: The stored pairs of the same episodes.
        counts: The new neighbour counts, where they changed.
    """

    wanted: Mapping[Pair, float]
    stored: Sequence[Association]
    counts: Sequence[NeighbourCount]


class KnnUpdater:
    """Updates the neighbours of the touched memories of a cycle, each once.

    A pair with two touched ends is decided with the later one. A search in this cycle also finds
    touched memories of later chunks. A stored count may be too high, because a memory that is
    touched again is counted again; then the count is corrected by a search earlier than necessary.
    """

    def __init__(
        self,
        store: AssociationStore,
        tenant: TenantId,
        touched: Sequence[Touched],
        table: VectorTable | None = None,
        *,
        every: bool = False,
    ) -> None:
        """Update these; with `every` there are no other episodes."""
        self._store = store
        self._tenant = tenant
        self._neighbours = Neighbours(store, tenant, table)
        self._every = every
        self._coming = {node.id for node in touched}
        self._searched: set[str] = set()
        self._known: dict[str, NeighbourCount] = {}

    async def settle(self, chunk: Sequence[Touched]) -> KnnUpdate:
        """Find the mutual neighbours of the next touched episodes."""
        ids = frozenset(node.id for node in chunk)
        self._coming -= ids
        # If there are other episodes, all neighbours are needed: a new one may displace theirs.
        find = self._neighbours.nearest if self._every else self._neighbours.near
        around = self._learned(await find(ids))
        met = await self._meet(around)
        pushed = frozenset(node for node, near in met.items() if self._is_pushed(node, near))
        counted = [
            replace(self._known[node], size=self._known[node].size + len(near))
            for node, near in met.items()
            if node not in pushed
        ]
        self._known |= {count.id: count for count in counted}
        around |= self._learned(await self._neighbours.nearest(pushed))
        nearest = {node: near[:NEIGHBOURS] for node, near in around.items()}
        others = everyone(nearest) - self._coming
        unknown = await self._unknown(others)
        self._learned(await self._neighbours.nearest(unknown))
        searched = around.keys() | unknown
        return KnnUpdate(
            wanted=joined(nearest, {node: self._known[node] for node in others}),
            stored=[
                edge
                for edge in await self._neighbours.stored(around)
                if self._coming.isdisjoint((edge.one, edge.other))
            ],
            counts=[*counted, *(self._known[node] for node in sorted(searched))],
        )

    def _learned(self, found: dict[str, Sequence[Neighbour]]) -> dict[str, Sequence[Neighbour]]:
        self._searched |= found.keys()
        self._known |= {node: count_neighbours(node, near) for node, near in found.items()}
        return found

    async def _meet(self, around: Mapping[str, Sequence[Neighbour]]) -> dict[str, list[Neighbour]]:
        """Group the new neighbours by the known episodes near them."""
        met: dict[str, list[Neighbour]] = {}
        for near in around.values():
            for row in near:
                if row.id not in self._searched and row.id not in self._coming:
                    met.setdefault(row.id, []).append(row)
        await self._unknown(met)
        return met

    def _is_pushed(self, node: str, near: Sequence[Neighbour]) -> bool:
        """Tell whether new neighbours may displace one of the nearest of a node."""
        count = self._known.get(node)
        if count is None:
            return True
        # With at most 15 neighbours, a new one displaces none (decision 0025).
        if count.size + len(near) <= NEIGHBOURS:
            return False
        return any(admits(count, row.cosine, row.of_turn) for row in near)

    async def _unknown(self, ids: Iterable[str]) -> frozenset[str]:
        """Read the stored neighbour counts of nodes; return the nodes without one."""
        lacking = sorted(node for node in ids if node not in self._known)
        found = await self._store.neighbour_counts(self._tenant, lacking) if lacking else ()
        self._known |= {count.id: count for count in found}
        return frozenset(lacking) - {count.id for count in found}


# Each touched episode costs one search; more only if it displaces a neighbour. 1,000 new memories
# in a store of 110,000 take 4 s (decision 0025).
_EPISODES, _FIRST_EPISODES, _CONCEPTS = 64, 256, 256


class Associate:
    """Keeps SIMILAR between episodes and ASSOCIATED between concepts up to date.

    SIMILAR joins live episodes that are among each other's 15 nearest with a cosine of .60:
    `w_sim = 0.8 cos`. ASSOCIATED joins concepts mentioned together in 3 episodes and twice as
    often as by chance: `w_lift` of `maths.hebbian.association`. Its total is the number of
    episodes, rounded down to a step of a ladder whose steps grow by a quarter. So lifts without
    new mentions are renewed only when the store has grown by a quarter.
    """

    name = "associate"

    def __init__(self, store: AssociationStore) -> None:
        self._store = store

    async def run(self, cycle: Cycle) -> StepOutcome:
        """Update the edges of everything that changed since the last cycle."""
        told = Differences()
        progress = await self._store.progress(cycle.tenant)
        episodes = await self._store.touched_episodes(cycle.tenant, progress.associated_turn)
        table = None
        if VectorTable.pays(len(episodes), progress.items):
            ids = [one.id for one in await self._store.touched_episodes(cycle.tenant, 0)]
            table = await VectorTable.load(
                cycle, "associate: read vectors", ids, self._store.read_vectors
            )
        every = progress.associated_turn == 0
        arrivals = KnnUpdater(self._store, cycle.tenant, episodes, table, every=every)
        size = _FIRST_EPISODES if every else _EPISODES
        async for chunk in cycle.chunks(episodes, size, "associate: episodes"):
            await self._episodes(cycle, chunk, arrivals, told)
        total = round_down_to_step(progress.items)
        moved = total != progress.associated_total
        concepts = await self._store.touched_concepts(cycle.tenant, every=moved)
        lifts = Cooccurrence(self._store, cycle.tenant, total)
        async for marked in cycle.chunks(concepts, _CONCEPTS, "associate: concepts"):
            await self._concepts(cycle, marked, lifts, told)
        if moved and not cycle.dry_run:
            await self._store.save_total(cycle.tenant, cycle.lease, total)
        return told.outcome(episodes=len(episodes), concepts=len(concepts))

    async def _episodes(
        self, cycle: Cycle, chunk: Sequence[Touched], arrivals: KnnUpdater, told: Differences
    ) -> None:
        found = await arrivals.settle(chunk)
        edges = told.between("SIMILAR", found.stored, found.wanted)
        if not cycle.dry_run:
            await self._store.save_similar(
                cycle.tenant,
                cycle.lease,
                now=cycle.now,
                edges=edges,
                counts=found.counts,
                done=chunk,
            )

    async def _concepts(
        self, cycle: Cycle, chunk: Sequence[Touched], lifts: Cooccurrence, told: Differences
    ) -> None:
        ids = frozenset(node.id for node in chunk)
        wanted = await lifts.wanted(ids)
        stored = await lifts.stored(ids)
        edges = told.between("ASSOCIATED", stored, wanted)
        if not cycle.dry_run:
            await self._store.save_associated(
                cycle.tenant,
                cycle.lease,
                now=cycle.now,
                edges=edges,
                done={node.id: node.mark for node in chunk},
            )
