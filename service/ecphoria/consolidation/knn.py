"""Maintain mutual k-nearest-neighbour edges between memories.

A cycle looks only at changes since the last one: new episodes and their neighbours, the former
neighbours of deleted episodes, and concepts that gained or lost a mention. The result equals that
of a full computation, whatever the order of episodes and cycles.

Incremental update: a memory with at most 15 neighbours has all of them among its nearest, so a new
neighbour changes nothing for others. With more neighbours, a new one that is nearer than the last
of the nearest replaces it. So only such memories are searched again. For all others two stored
numbers are enough: how many neighbours they have, and how near the last of the nearest is.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ecphoria.consolidation.knn_store import (
    Association,
    AssociationStore,
    Companion,
    Crowd,
    Near,
    Touched,
)
from ecphoria.consolidation.service import TOLD, Cycle
from ecphoria.maths.hebbian import association, linked, round_down_to_step, similarity
from ecphoria.records.ids import TenantId
from ecphoria.records.job import Change, Outcome


class NearReader(Protocol):
    """Reads the surroundings of episodes."""

    async def near(
        self, tenant: TenantId, episodes: Sequence[str], *, fetch: int, above: float
    ) -> Sequence[Near]:
        """Search around live episodes: `fetch` each, of these the ones with enough cosine.

        By episode as asked, then nearest first, ties by turn. None is its own neighbour.
        """
        ...

    async def similar(self, tenant: TenantId, episodes: Sequence[str]) -> Sequence[Association]:
        """List the edges of these episodes to live ones that have a part by nearness."""
        ...

    async def crowds(self, tenant: TenantId, episodes: Sequence[str]) -> Sequence[Crowd]:
        """Read the stored neighbour counts; nodes that were never searched have none."""
        ...


NEIGHBOURS = 15
"""k of SYNAPSE's edges, asked of both ends."""
NEAR = 0.60
"""Least cosine of an association; SYNAPSE's .92 is where two concepts are one."""
_JOINT, _LIFT = 3, 2.0
"""NeuromemoryAI's rule for a link, with lift so that a hub is not linked to all it touches."""
_LEAST_WEIGHT = 0.1
_FETCH, _FETCH_MOST = 32, 1_024
_SAME = 1e-9

Pair = tuple[str, str]


class Surroundings:
    """The neighbours of episodes."""

    def __init__(self, store: NearReader, tenant: TenantId) -> None:
        self._store = store
        self._tenant = tenant

    async def wanted(self, ids: frozenset[str]) -> dict[Pair, float]:
        """Find every pair with one of these that should be SIMILAR, with its part.

        Whoever is near is searched too, whatever is stored of them.
        """
        around = await self.nearest(ids)
        beyond = await self.nearest(everyone(around) - ids)
        crowds = {node: crowd_of(node, near) for node, near in (around | beyond).items()}
        return joined(around, crowds)

    async def stored(self, ids: Iterable[str]) -> Sequence[Association]:
        """List the pairs with one of these that are joined by nearness."""
        return await self._store.similar(self._tenant, sorted(ids))

    async def nearest(self, ids: frozenset[str]) -> dict[str, Sequence[Near]]:
        """List the nearest of each of these in order, and some behind them if there are more.

        Nobody is near what is not live.
        """
        return await self._searched(sorted(ids), _FETCH)

    async def near(self, ids: frozenset[str]) -> dict[str, Sequence[Near]]:
        """List all that are near each of these, nearest first, however many there are."""
        found: dict[str, Sequence[Near]] = {}
        fetch, asked = _FETCH, sorted(ids)
        while asked:
            found |= await self._searched(asked, fetch)
            if fetch >= _FETCH_MOST:
                break
            asked = [node for node in asked if len(found[node]) >= fetch - 1]
            fetch *= 4
        return found

    async def _searched(self, ids: Sequence[str], fetch: int) -> dict[str, Sequence[Near]]:
        rows = await self._store.near(self._tenant, ids, fetch=fetch, above=NEAR)
        found: dict[str, list[Near]] = {node: [] for node in ids}
        for row in rows:
            found[row.of].append(row)
        return dict(found)


class Cooccurrence:
    """The concepts mentioned together more often than by chance."""

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
        """List the pairs with one of these that are joined by lift."""
        return await self._store.associated(self._tenant, sorted(ids))


class Differences:
    """Wrong edges, counted over all chunks and listed for the first ones."""

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
        """Compare stored with expected edges; a part of 0 means that the edge is to be removed.

        What was told is taken as done, which it is not in a dry run.
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

    def outcome(self, **seen: int) -> Outcome:
        """Sum up."""
        return Outcome(counts={**seen, **self._counts}, changes=tuple(self._changes))


def everyone(around: Mapping[str, Sequence[Near]]) -> frozenset[str]:
    """Collect the neighbours of all."""
    return frozenset(neighbour.id for near in around.values() for neighbour in near)


def crowd_of(node: str, near: Sequence[Near]) -> Crowd:
    """Find the least cosine that enters this list of nearest neighbours."""
    if len(near) <= NEIGHBOURS:
        return Crowd(id=node, size=len(near))
    last = near[NEIGHBOURS - 1]
    return Crowd(id=node, size=len(near), cosine=last.cosine, turn=last.turn)


def admits(crowd: Crowd, cosine: float, turn: int) -> bool:
    """Tell whether one this near, and this old, is among the nearest; of two as near the older.

    >>> [admits(Crowd(id="a", size=20, cosine=0.7, turn=8), 0.7, turn) for turn in (7, 9)]
    [True, False]
    """
    if crowd.cosine is None or crowd.turn is None:
        return True
    return (cosine, -turn) >= (crowd.cosine, -crowd.turn)


def joined(around: Mapping[str, Sequence[Near]], crowds: Mapping[str, Crowd]) -> dict[Pair, float]:
    """Find the pairs that are among each other's nearest, with their part.

    Args:
        around: Who is near one end, nearest first.
        crowds: Of the other end; who has none here is joined with nobody.
    """
    cosines = {
        (min(node, row.id), max(node, row.id)): row.cosine
        for node, near in around.items()
        for row in near[:NEIGHBOURS]
        if row.id in crowds and admits(crowds[row.id], row.cosine, row.of_turn)
    }
    parts = similarity(list(cosines.values()))
    return dict(zip(cosines, parts.tolist(), strict=True))


def _lifted(rows: Sequence[Companion], total: int) -> dict[Pair, float]:
    """Weigh the pairs mentioned together often enough and above chance."""
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
    """The update for a chunk of new episodes.

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
        self._coming = {node.id for node in touched}
        self._searched: set[str] = set()
        self._known: dict[str, Crowd] = {}

    async def settle(self, chunk: Sequence[Touched]) -> KnnUpdate:
        """Find the mutual neighbours of the next touched episodes."""
        ids = frozenset(node.id for node in chunk)
        self._coming -= ids
        around = self._learned(await self._surroundings.near(ids))
        met = await self._meet(around)
        pushed = frozenset(node for node, near in met.items() if self._is_pushed(node, near))
        counted = [
            replace(self._known[node], size=self._known[node].size + len(near))
            for node, near in met.items()
            if node not in pushed
        ]
        self._known |= {crowd.id: crowd for crowd in counted}
        around |= self._learned(await self._surroundings.nearest(pushed))
        nearest = {node: near[:NEIGHBOURS] for node, near in around.items()}
        others = everyone(nearest) - self._coming
        unknown = await self._unknown(others)
        self._learned(await self._surroundings.nearest(unknown))
        searched = around.keys() | unknown
        return KnnUpdate(
            wanted=joined(nearest, {node: self._known[node] for node in others}),
            stored=[
                edge
                for edge in await self._surroundings.stored(around)
                if self._coming.isdisjoint((edge.one, edge.other))
            ],
            crowds=[*counted, *(self._known[node] for node in sorted(searched))],
        )

    def _learned(self, found: dict[str, Sequence[Near]]) -> dict[str, Sequence[Near]]:
        self._searched |= found.keys()
        self._known |= {node: crowd_of(node, near) for node, near in found.items()}
        return found

    async def _meet(self, around: Mapping[str, Sequence[Near]]) -> dict[str, list[Near]]:
        """Group the new neighbours by the episodes that they may concern."""
        met: dict[str, list[Near]] = {}
        for near in around.values():
            for row in near:
                if row.id not in self._searched and row.id not in self._coming:
                    met.setdefault(row.id, []).append(row)
        await self._unknown(met)
        return met

    def _is_pushed(self, node: str, near: Sequence[Near]) -> bool:
        """Tell whether its nearest may be others now that these have come."""
        crowd = self._known.get(node)
        if crowd is None:
            return True
        if crowd.size + len(near) <= NEIGHBOURS:
            return False
        return any(admits(crowd, row.cosine, row.of_turn) for row in near)

    async def _unknown(self, ids: Iterable[str]) -> frozenset[str]:
        """Read the stored neighbour counts of nodes; return the nodes without one."""
        lacking = sorted(node for node in ids if node not in self._known)
        found = await self._store.crowds(self._tenant, lacking) if lacking else ()
        self._known |= {crowd.id: crowd for crowd in found}
        return frozenset(lacking) - {crowd.id for crowd in found}


_EPISODES, _CONCEPTS = 64, 256


class Associate:
    """Keeps SIMILAR between episodes and ASSOCIATED between concepts as they should be.

    SIMILAR joins live episodes that are among each other's 15 nearest with a cosine of .60:
    `w_sim = 0.8 cos`. ASSOCIATED joins concepts mentioned together in 3 episodes and twice as
    often as by chance: `w_lift` of `maths.hebbian.association`. The total in it is the number
    of episodes rounded down to a step of a ladder, each a quarter higher, so that lifts far from
    anything new need renewing only when the store has grown by a quarter.
    """

    name = "associate"

    def __init__(self, store: AssociationStore) -> None:
        self._store = store

    async def run(self, cycle: Cycle) -> Outcome:
        """Update the edges of everything that changed since the last cycle."""
        told = Differences()
        progress = await self._store.progress(cycle.tenant)
        episodes = await self._store.touched_episodes(cycle.tenant, progress.associated_turn)
        arrivals = Arrivals(self._store, cycle.tenant, episodes)
        async for chunk in cycle.chunks(episodes, _EPISODES, "associate: episodes"):
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
        self, cycle: Cycle, chunk: Sequence[Touched], arrivals: Arrivals, told: Differences
    ) -> None:
        found = await arrivals.settle(chunk)
        edges = told.between("SIMILAR", found.stored, found.wanted)
        if not cycle.dry_run:
            await self._store.save_similar(
                cycle.tenant,
                cycle.lease,
                now=cycle.now,
                edges=edges,
                crowds=found.crowds,
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
