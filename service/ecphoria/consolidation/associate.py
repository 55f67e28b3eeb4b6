"""Associations: episodes that are near each other, concepts that are mentioned together.

Only what changed since the last cycle is looked at: new episodes and whoever is near them,
what a deletion left, concepts that gained or lost a mention. The result is that of looking at
everything, whatever order and cycles the episodes came in.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from ecphoria.consolidation.step import TOLD, Cycle
from ecphoria.kernels.hebbian import association, linked
from ecphoria.kernels.neighbours import mutual, rung, similarity
from ecphoria.model.consolidation import Change, Outcome
from ecphoria.model.ids import TenantId
from ecphoria.ports.associations import (
    Association,
    AssociationStore,
    Companion,
    Near,
    Touched,
)

__all__ = ["Associate"]

NEIGHBOURS = 15
"""k of SYNAPSE's edges, asked of both ends."""
NEAR = 0.60
"""Least cosine of an association; SYNAPSE's .92 is where two concepts are one."""
_JOINT, _LIFT = 3, 2.0
"""NeuromemoryAI's rule for a link, with lift so that a hub is not linked to all it touches."""
_LEAST_WEIGHT = 0.1
_FETCH, _FETCH_MOST = 32, 1_024
_EPISODES, _CONCEPTS = 64, 256
_KEPT = 5_000
_SAME = 1e-9

Pair = tuple[str, str]


class Associate:
    """Keeps SIMILAR between episodes and ASSOCIATED between concepts as they should be.

    SIMILAR joins live episodes that are among each other's 15 nearest with a cosine of .60:
    `w_sim = 0.8 cos`. ASSOCIATED joins concepts mentioned together in 3 episodes and twice as
    often as by chance: `w_lift` of `kernels.hebbian.association`. The total in it is the number
    of episodes rounded down to a rung of a ladder a quarter apart, so that lifts far from
    anything new need renewing only when the store has grown by a quarter.
    """

    name = "associate"

    def __init__(self, store: AssociationStore) -> None:
        self._store = store

    async def run(self, cycle: Cycle) -> Outcome:
        """Associate what changed since the last cycle."""
        told = _Told()
        progress = await self._store.progress(cycle.tenant)
        episodes = await self._store.touched_episodes(cycle.tenant, progress.associated_turn)
        surroundings = _Surroundings(self._store, cycle.tenant)
        async for chunk in cycle.chunks(episodes, _EPISODES, "associate: episodes"):
            await self._episodes(cycle, chunk, surroundings, told)
        total = rung(progress.items)
        moved = total != progress.associated_total
        concepts = await self._store.touched_concepts(cycle.tenant, every=moved)
        async for marked in cycle.chunks(concepts, _CONCEPTS, "associate: concepts"):
            await self._concepts(cycle, marked, total, told)
        if moved and not cycle.dry_run:
            await self._store.save_total(cycle.tenant, cycle.lease, total)
        return told.outcome(episodes=len(episodes), concepts=len(concepts))

    async def _episodes(
        self,
        cycle: Cycle,
        chunk: Sequence[Touched],
        surroundings: "_Surroundings",
        told: "_Told",
    ) -> None:
        ids = frozenset(one.id for one in chunk)
        around = await surroundings.of(ids)
        ids |= _everyone(around)
        around = await surroundings.of(ids)
        nearest = {one: near[:NEIGHBOURS] for one, near in around.items()}
        beyond = await surroundings.of(_everyone(nearest) - ids)
        nearest |= {one: near[:NEIGHBOURS] for one, near in beyond.items()}
        pairs = _mutual(nearest).items()
        wanted = {pair: part for pair, part in pairs if not ids.isdisjoint(pair)}
        stored = await self._store.similar(cycle.tenant, sorted(ids))
        edges = told.differences("SIMILAR", stored, wanted)
        if not cycle.dry_run:
            await self._store.save_similar(
                cycle.tenant, cycle.lease, now=cycle.now, edges=edges, done=chunk
            )

    async def _concepts(
        self, cycle: Cycle, chunk: Sequence[Touched], total: int, told: "_Told"
    ) -> None:
        ids = [one.id for one in chunk]
        rows = await self._store.companions(
            cycle.tenant, ids, least=_JOINT, most=int(total / _LIFT)
        )
        wanted = _lifted(rows, total)
        stored = await self._store.associated(cycle.tenant, ids)
        edges = told.differences("ASSOCIATED", stored, wanted)
        if not cycle.dry_run:
            await self._store.save_associated(
                cycle.tenant,
                cycle.lease,
                now=cycle.now,
                edges=edges,
                done={one.id: one.mark for one in chunk},
            )


class _Surroundings:
    """Who is near whom, asked once for a node while a step runs and memory lasts."""

    def __init__(self, store: AssociationStore, tenant: TenantId) -> None:
        self._store = store
        self._tenant = tenant
        self._known: dict[str, Sequence[Near]] = {}

    async def of(self, ids: frozenset[str]) -> dict[str, Sequence[Near]]:
        """List who is near each of these, nearest first; nobody is near what is not live."""
        found = {one: self._known[one] for one in ids & self._known.keys()}
        fresh = await self._search(sorted(ids - found.keys()))
        if len(self._known) > _KEPT:
            self._known.clear()
        self._known |= fresh
        return found | fresh

    async def _search(self, ids: Sequence[str]) -> dict[str, Sequence[Near]]:
        """Search, and search for more where all that were fetched are near enough."""
        fetch, asked = _FETCH, ids
        found: dict[str, Sequence[Near]] = dict.fromkeys(ids, ())
        while asked:
            rows = await self._store.near(self._tenant, asked, fetch=fetch, above=NEAR)
            by_node: dict[str, list[Near]] = {}
            for row in rows:
                by_node.setdefault(row.of, []).append(row)
            found |= by_node
            asked = [one for one, near in by_node.items() if len(near) >= fetch - 1]
            if fetch >= _FETCH_MOST:
                break
            fetch *= 4
        return found


class _Told:
    """What is different, counted over the chunks and told for the first."""

    def __init__(self) -> None:
        self._counts = {"added": 0, "changed": 0, "dropped": 0}
        self._changes: list[Change] = []

    def differences(
        self, edge: str, stored: Sequence[Association], wanted: Mapping[Pair, float]
    ) -> list[Association]:
        """Compare edges with what they should be; a part of 0 is an edge to part from."""
        was = {(one.one, one.other): one.part for one in stored}
        edges: list[Association] = []
        for pair in sorted(was.keys() | wanted.keys()):
            before, after = was.get(pair, 0.0), wanted.get(pair, 0.0)
            if abs(before - after) <= _SAME:
                continue
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


def _everyone(around: Mapping[str, Sequence[Near]]) -> frozenset[str]:
    return frozenset(one.id for near in around.values() for one in near)


def _mutual(near: Mapping[str, Sequence[Near]]) -> dict[Pair, float]:
    """Find the pairs that are among each other's nearest, with their part."""
    ids = sorted(near)
    place = {one: row for row, one in enumerate(ids)}
    rows = [row for of in near.values() for row in of if row.id in place]
    cosine = {(row.of, row.id): row.cosine for row in rows}
    pairs = mutual([place[row.of] for row in rows], [place[row.id] for row in rows], size=len(ids))
    named = [(ids[one], ids[other]) for one, other in pairs.tolist()]
    parts = similarity([cosine[pair] for pair in named])
    return dict(zip(named, parts.tolist(), strict=True))


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
