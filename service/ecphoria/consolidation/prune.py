"""Pruning: a node keeps its strongest associations, and everything that is no association.

Source: SYNAPSE keeps 15 edges a node, with ties by chance; here of each type, ties decided.
"""

from collections import Counter
from datetime import timedelta

from ecphoria.consolidation.step import TOLD, Cycle
from ecphoria.consolidation.surroundings import NEIGHBOURS
from ecphoria.graph.links import LinkStore
from ecphoria.model.consolidation import Change, Outcome

__all__ = ["Prune"]

_COUNTS_FOR = timedelta(days=90)
_CHUNK = 1_000


class Prune:
    """Removes SIMILAR and ASSOCIATED edges outside the strongest 15 of either end.

    The server decides, on what is there when the step begins, and lists the weakest first. So a
    step cut short and run again removes the same, and one run to its end nothing more: whatever
    it left is among the strongest of both ends. No other type of edge is looked at. Edges that
    only count joint uses go when they were not used for 90 days.
    """

    name = "prune"

    def __init__(self, store: LinkStore) -> None:
        self._store = store

    async def run(self, cycle: Cycle) -> Outcome:
        """Remove what is too much."""
        links = [
            *await self._store.surplus(cycle.tenant, NEIGHBOURS),
            *await self._store.expired(cycle.tenant, cycle.now - _COUNTS_FOR),
        ]
        if not cycle.dry_run:
            async for chunk in cycle.chunks(links, _CHUNK, "prune: edges"):
                await self._store.remove(cycle.tenant, cycle.lease, chunk)
        removed = Counter(link.edge.lower() for link in links)
        return Outcome(
            counts={"similar": removed["similar"], "associated": removed["associated"]},
            changes=tuple(
                Change(
                    kind="prune",
                    id=link.one,
                    detail=f"{link.edge} to {link.other}, weight {link.weight:.3f}",
                )
                for link in links[:TOLD]
            ),
        )
