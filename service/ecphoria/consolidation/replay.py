"""Replay a sample of memories and check their links.

Source: CLS-M's interleaved replay. There it finds links; here `associate` has found them all, so
this is its audit (docs/decisions/0023.md).
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

import numpy as np

from ecphoria.consolidation.knn import NEIGHBOURS, Cooccurrence, Differences, Pair, Surroundings
from ecphoria.consolidation.knn_store import Association, AssociationStore, KnnProgress
from ecphoria.consolidation.service import Cycle
from ecphoria.maths.retention import priority, quotas
from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.records.ids import TenantId
from ecphoria.records.job import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A live memory that may be replayed.

    Attributes:
        salience: Its importance, moved by feedback, 0 to 1.
        own: Whether the speaker speaks of themselves.
        question: Whether it asks something.
    """

    id: str
    turn: int
    occurred_at: datetime
    salience: float
    own: bool
    question: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _ConceptKey:
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Degree:
    id: str
    degree: int


_LIST_REMEMBERED = Statement("consolidation.list_remembered", Remembered)
_LIST_MENTIONED = Statement("consolidation.list_mentioned", _ConceptKey)
_LIST_DEGREES = Statement("consolidation.list_degrees", _Degree)


class ReplayStore:
    """Memories as a replay sees them."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def memories(self, tenant: TenantId, turns: Sequence[int]) -> Sequence[Remembered]:
        """Find the live memories among these turns, by turn."""
        return await self._graph.run(_LIST_REMEMBERED, tenant=tenant, turns=list(turns))

    async def mentioned(self, tenant: TenantId, episodes: Sequence[str]) -> Sequence[str]:
        """List the concepts that these memories mention, by id."""
        rows = await self._graph.run(_LIST_MENTIONED, tenant=tenant, episodes=list(episodes))
        return [row.id for row in rows]

    async def degrees(self, tenant: TenantId, nodes: Sequence[str]) -> Mapping[str, int]:
        """Count the associations above 0 of each of these episodes or concepts."""
        rows = await self._graph.run(_LIST_DEGREES, tenant=tenant, ids=list(nodes))
        return {row.id: row.degree for row in rows}


_SIZE: Final = 64
_DRAWN: Final = 1_024
"""Turns tried for those before; many may sleep."""
_AGES: Final = {
    "recent": timedelta(days=1), "medium": timedelta(days=7), "old": timedelta.max
}  # fmt: skip
_FETCH: Final = 32

Sample = Mapping[str, Sequence[Remembered]]


class _Joins(Protocol):
    """The pairs of nodes that should have an edge of a type, and those that have it."""

    async def wanted(self, ids: frozenset[str]) -> dict[Pair, float]: ...

    async def stored(self, ids: Iterable[str]) -> Sequence[Association]: ...


class Replay:
    """Looks at 64 memories again: 32 of the last day, 19 of the week, 13 older, by priority.

    They are chosen among the newest 128 and 128 drawn from all before, the same ones at every
    attempt at a cycle. Their edges, and those of the concepts they mention, are compared with
    what vectors and counts say. What waits for `associate` is left to it. Looking is no use of
    a memory: nothing is learned from it.
    """

    name = "replay"

    def __init__(
        self, store: ReplayStore, associations: AssociationStore, *, pool: int = 128
    ) -> None:
        """Choose among so many of the newest memories, and as many of all before."""
        self._store = store
        self._associations = associations
        self._pool_size = pool

    async def run(self, cycle: Cycle) -> Outcome:
        """Check a sample of pairs, and correct wrong edges."""
        store, tenant = self._associations, cycle.tenant
        progress = await store.progress(tenant)
        await cycle.reached("replay: choose")
        sample = await self._sample(cycle, progress)
        memories = sorted(memory.id for chosen in sample.values() for memory in chosen)
        found = Differences()
        await cycle.reached("replay: episodes")
        edges = await self._off(tenant, "SIMILAR", Surroundings(store, tenant), memories, found)
        if edges and not cycle.dry_run:
            await store.save_similar(tenant, cycle.lease, now=cycle.now, edges=edges)
        await cycle.reached("replay: concepts")
        concepts = await self._concepts(tenant, memories)
        lifts = Cooccurrence(store, tenant, progress.associated_total)
        edges = await self._off(tenant, "ASSOCIATED", lifts, concepts, found)
        if edges and not cycle.dry_run:
            await store.save_associated(tenant, cycle.lease, now=cycle.now, edges=edges, done={})
        ages = {age: len(chosen) for age, chosen in sample.items()}
        return found.outcome(**ages, concepts=len(concepts))

    async def _sample(self, cycle: Cycle, progress: KnnProgress) -> Sample:
        """Choose by age and priority; nothing in a dry run before `associate` has really run."""
        touched = await self._associations.touched_episodes(cycle.tenant, progress.associated_turn)
        if touched and cycle.dry_run:
            return dict.fromkeys(_AGES, ())
        waiting = {node.id for node in touched}
        pool = await self._pool(cycle, progress.turn)
        by_age: dict[str, list[Remembered]] = {age: [] for age in _AGES}
        for memory in pool:
            if memory.id not in waiting:
                age = cycle.now - memory.occurred_at
                by_age[next(name for name, most in _AGES.items() if age <= most)].append(memory)
        shares = quotas(_SIZE, [len(each) for each in by_age.values()])
        worth = await self._worth(cycle.tenant, pool)
        return {
            age: sorted(each, key=lambda one: (-worth[one.id], one.id))[:share]
            for (age, each), share in zip(by_age.items(), shares, strict=True)
        }

    async def _pool(self, cycle: Cycle, last: int) -> list[Remembered]:
        """Find the newest memories, and some drawn from all before; the same at each attempt."""
        seed = hashlib.sha256(f"{cycle.tenant} {cycle.now.isoformat()}".encode()).digest()
        first = max(1, last - self._pool_size + 1)
        draw = np.random.default_rng(int.from_bytes(seed[:8])).permutation(first - 1)[:_DRAWN] + 1
        newest = await self._store.memories(cycle.tenant, range(first, last + 1))
        drawn = {
            memory.turn: memory
            for memory in await self._store.memories(cycle.tenant, draw.tolist())
        }
        before = [drawn[turn] for turn in draw.tolist() if turn in drawn]
        return [*newest, *before[: self._pool_size]]

    async def _worth(self, tenant: TenantId, pool: Sequence[Remembered]) -> dict[str, float]:
        """Rate memories; whoever has nothing older among the 32 nearest is new altogether."""
        turns = {memory.id: memory.turn for memory in pool}
        known = dict.fromkeys(turns, 0.0)
        for row in await self._associations.near(tenant, list(turns), fetch=_FETCH, above=0.0):
            if row.turn < turns[row.of]:
                known[row.of] = max(known[row.of], min(1.0, row.cosine))
        rated = priority(
            [memory.salience for memory in pool],
            [1.0 - known[memory.id] for memory in pool],
            [float(memory.own) for memory in pool],
            [float(memory.question) for memory in pool],
        )
        return dict(zip(turns, rated.tolist(), strict=True))

    async def _concepts(self, tenant: TenantId, memories: Sequence[str]) -> list[str]:
        mentioned = await self._store.mentioned(tenant, memories)
        waiting = await self._associations.touched_concepts(tenant, every=False)
        return sorted(set(mentioned) - {node.id for node in waiting})

    async def _off(
        self, tenant: TenantId, edge: str, joins: _Joins, nodes: Sequence[str], found: Differences
    ) -> Sequence[Association]:
        """Find the edges of these nodes that are not as they should be.

        An edge that is missing where a node would have more than its 15 with it is none of them:
        `prune` may have taken it, on a verdict about edges of which some are gone since.
        """
        wanted, stored = await joins.wanted(frozenset(nodes)), await joins.stored(nodes)
        missing = wanted.keys() - _pairs(stored)
        ends = frozenset(end for pair in missing for end in pair)
        crowd = await self._crowd(tenant, joins, ends) if missing else {}
        outdone = {pair for pair in missing if any(crowd[end] > NEIGHBOURS for end in pair)}
        due = {pair: part for pair, part in wanted.items() if pair not in outdone}
        return found.between(edge, stored, due)

    async def _crowd(
        self, tenant: TenantId, joins: _Joins, nodes: frozenset[str]
    ) -> Mapping[str, int]:
        """Count the associations of each node, stored and missing ones."""
        lacking = (await joins.wanted(nodes)).keys() - _pairs(await joins.stored(nodes))
        crowd = Counter(await self._store.degrees(tenant, sorted(nodes)))
        crowd.update(end for pair in lacking for end in pair)
        return crowd


def _pairs(edges: Sequence[Association]) -> set[Pair]:
    return {(association.one, association.other) for association in edges}
