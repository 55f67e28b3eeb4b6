"""Replay a sample of memories and check their links.

Source: CLS-M's interleaved replay. There it finds links. Here `associate` finds all of them, so
    this step only checks its result (decision 0023).
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from ecphoria.consolidation.knn import NEIGHBOURS, Cooccurrence, Differences, Neighbours, Pair
from ecphoria.consolidation.knn_store import Association, AssociationStore, KnnProgress
from ecphoria.consolidation.service import Cycle
from ecphoria.maths.retention import priority, quotas
from ecphoria.neo4j_store.session import Statement, Store
from ecphoria.records.ids import TenantId
from ecphoria.records.job import StepOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A live memory that may be replayed.

    Attributes:
        salience: Its importance, moved by feedback, 0 to 1.
        own: Whether the speaker speaks about himself or herself.
        question: Whether it is a question.
        open: Whether the record of its session says that the question stayed open.
        valence: Size of the session's valence, 0 to 1; 0 if it is unknown.
    """

    id: str
    turn: int
    occurred_at: datetime
    salience: float
    own: bool
    question: bool
    open: bool
    valence: float


_LIST_REMEMBERED = Statement("consolidation.list_remembered", Remembered)
_LIST_MENTIONED = Statement("consolidation.list_mentioned", str)
_LIST_DEGREES = Statement("consolidation.list_degrees", tuple[str, int])


class ReplayStore(Store):
    """Memories with the properties that replay uses."""

    async def memories(self, tenant: TenantId, turns: Sequence[int]) -> Sequence[Remembered]:
        """Find the live memories among these turns, by turn."""
        return await self._graph.run(_LIST_REMEMBERED, tenant=tenant, turns=list(turns))

    async def mentioned(self, tenant: TenantId, episodes: Sequence[str]) -> Sequence[str]:
        """List the concepts that these memories mention, by id."""
        return await self._graph.run(_LIST_MENTIONED, tenant=tenant, episodes=list(episodes))

    async def degrees(self, tenant: TenantId, nodes: Sequence[str]) -> Mapping[str, int]:
        """Count the associations above 0 of each of these episodes or concepts."""
        return dict(await self._graph.run(_LIST_DEGREES, tenant=tenant, ids=list(nodes)))


# A choice among all live memories would have to read all of them (decision 0023).
_SIZE: Final = 64
_DRAWN: Final = 1_024
"""Turns to draw for older memories; many of them may be dormant."""
# Shares of NeuromemoryAI 3.4: half of the last day, three tenths of the last week, a fifth older
# (decision 0023).
_AGES: Final = {
    "recent": timedelta(days=1), "medium": timedelta(days=7), "old": timedelta.max
}  # fmt: skip
_FETCH: Final = 32
_CLOSED: Final = 0.5
"""Weight of a question that no record marks as open."""

_ByAge = Mapping[str, Sequence[Remembered]]
_Joins = Neighbours | Cooccurrence
"""The expected and the stored pairs of an edge type."""


class Replay:
    """Checks the edges of 64 memories: 32 of the last day, 19 of the week, 13 older, by priority.

    They are chosen among the newest 128, and 128 drawn from all earlier ones; each attempt of a
    cycle draws the same. Their edges, and those of the concepts they mention, are compared with a
    new computation from vectors and counts. Nodes that wait for `associate` are left out. A check
    is no use of a memory, so nothing is learned.
    """

    name = "replay"

    def __init__(
        self, store: ReplayStore, associations: AssociationStore, *, pool: int = 128
    ) -> None:
        """Choose among `pool` newest memories, and as many earlier ones."""
        self._store = store
        self._associations = associations
        self._pool_size = pool

    async def run(self, cycle: Cycle) -> StepOutcome:
        """Check a sample of pairs, and correct wrong edges."""
        store, tenant = self._associations, cycle.tenant
        progress = await store.progress(tenant)
        await cycle.reached("replay: choose")
        sample = await self._sample(cycle, progress)
        memories = sorted(memory.id for chosen in sample.values() for memory in chosen)
        found = Differences()
        await cycle.reached("replay: episodes")
        edges = await self._off(tenant, "SIMILAR", Neighbours(store, tenant), memories, found)
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

    async def _sample(self, cycle: Cycle, progress: KnnProgress) -> _ByAge:
        """Choose by age and priority; in a dry run nothing before the first run of `associate`."""
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
        """Find the newest memories, and draw some earlier ones; the same at each attempt."""
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
        """Rate memories; one without an older memory among its 32 nearest is entirely new."""
        turns = {memory.id: memory.turn for memory in pool}
        known = dict.fromkeys(turns, 0.0)
        for row in await self._associations.near(tenant, list(turns), fetch=_FETCH, above=0.0):
            if row.turn < turns[row.of]:
                known[row.of] = max(known[row.of], min(1.0, row.cosine))
        rated = priority(
            [max(memory.salience, memory.valence) for memory in pool],
            [1.0 - known[memory.id] for memory in pool],
            [float(memory.own) for memory in pool],
            [1.0 if memory.open else _CLOSED * memory.question for memory in pool],
        )
        return dict(zip(turns, rated.tolist(), strict=True))

    async def _concepts(self, tenant: TenantId, memories: Sequence[str]) -> list[str]:
        mentioned = await self._store.mentioned(tenant, memories)
        waiting = await self._associations.touched_concepts(tenant, every=False)
        return sorted(set(mentioned) - {node.id for node in waiting})

    async def _off(
        self, tenant: TenantId, edge: str, joins: _Joins, nodes: Sequence[str], found: Differences
    ) -> Sequence[Association]:
        """Find the wrong edges of these nodes.

        A missing edge is not reported if a node would have more than 15 with it: `prune` may have
        removed it, by weights of a moment that cannot be reproduced (decision 0023).
        """
        wanted, stored = await joins.wanted(frozenset(nodes)), await joins.stored(nodes)
        missing = wanted.keys() - _pairs(stored)
        ends = frozenset(end for pair in missing for end in pair)
        degrees = await self._degrees(tenant, joins, ends) if missing else {}
        # `prune` may have removed such an edge by weights of an earlier moment (decision 0023).
        outdone = {pair for pair in missing if any(degrees[end] > NEIGHBOURS for end in pair)}
        due = {pair: part for pair, part in wanted.items() if pair not in outdone}
        return found.between(edge, stored, due)

    async def _degrees(
        self, tenant: TenantId, joins: _Joins, nodes: frozenset[str]
    ) -> Mapping[str, int]:
        """Count the associations of each node, stored and missing."""
        lacking = (await joins.wanted(nodes)).keys() - _pairs(await joins.stored(nodes))
        degrees = Counter(await self._store.degrees(tenant, sorted(nodes)))
        degrees.update(end for pair in lacking for end in pair)
        return degrees


def _pairs(edges: Sequence[Association]) -> set[Pair]:
    return {(association.one, association.other) for association in edges}
