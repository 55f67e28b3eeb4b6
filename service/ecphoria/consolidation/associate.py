"""Associations: episodes that are near each other, concepts that are mentioned together.

Only what changed since the last cycle is looked at: new episodes and whoever is near them,
what a deletion left, concepts that gained or lost a mention. The result is that of looking at
everything, whatever order and cycles the episodes came in.
"""

from collections.abc import Sequence

from ecphoria.consolidation.arrivals import Arrivals
from ecphoria.consolidation.step import Cycle
from ecphoria.consolidation.surroundings import Differences, Lifts
from ecphoria.graph.associations import AssociationStore, Touched
from ecphoria.kernels.neighbours import rung
from ecphoria.model.consolidation import Outcome

__all__ = ["Associate"]

_EPISODES, _CONCEPTS = 64, 256


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
        told = Differences()
        progress = await self._store.progress(cycle.tenant)
        episodes = await self._store.touched_episodes(cycle.tenant, progress.associated_turn)
        arrivals = Arrivals(self._store, cycle.tenant, episodes)
        async for chunk in cycle.chunks(episodes, _EPISODES, "associate: episodes"):
            await self._episodes(cycle, chunk, arrivals, told)
        total = rung(progress.items)
        moved = total != progress.associated_total
        concepts = await self._store.touched_concepts(cycle.tenant, every=moved)
        lifts = Lifts(self._store, cycle.tenant, total)
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
        self, cycle: Cycle, chunk: Sequence[Touched], lifts: Lifts, told: Differences
    ) -> None:
        ids = frozenset(one.id for one in chunk)
        wanted = await lifts.wanted(ids)
        stored = await lifts.stored(ids)
        edges = told.between("ASSOCIATED", stored, wanted)
        if not cycle.dry_run:
            await self._store.save_associated(
                cycle.tenant,
                cycle.lease,
                now=cycle.now,
                edges=edges,
                done={one.id: one.mark for one in chunk},
            )
