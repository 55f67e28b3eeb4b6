"""Rank nodes by PageRank among their kind: the prior of synapse.

Source: SYNAPSE's structural term, with ranks in place of raw values, which shrink as the graph
    grows and vanish beside the other terms (decision 0009).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ecphoria.consolidation.service import Cycle, Skipped
from ecphoria.maths.fusion import midrank
from ecphoria.neo4j_store.gds import PageRanks, PriorStore
from ecphoria.records.job import StepOutcome

_CHUNK = 5_000
_NEAR = 0.01
"""Largest error of a stored prior; without it, one new memory would change all (decision 0026)."""

_NO_LIBRARY = (
    "Neo4j lacks Graph Data Science, so nodes have no prior: install the plugin, or unset "
    "ECPHORIA_NEO4J__URI to use the local server, which has it."
)


class Prior:
    """Ranks every node with an edge by PageRank, episodes and concepts apart.

    A prior is written if it is off by more than a hundredth, so a second cycle writes none. An
    interrupted step leaves old priors beside new ones; all are usable, and the next cycle renews
    them.
    """

    name = "prior"

    def __init__(self, store: PriorStore) -> None:
        self._store = store

    async def run(self, cycle: Cycle) -> StepOutcome:
        """Renew the priors of a tenant.

        Raises:
            Skipped: The server has no graph library.
        """
        ranks = await self._store.page_rank(cycle.tenant, cycle.id)
        if ranks is None:
            raise Skipped(_NO_LIBRARY)
        counts = {"arcs": ranks.arcs, "iterations": ranks.iterations,
                  "converged": int(ranks.converged), "written": 0}  # fmt: skip
        for kind, among in (("episodes", ~ranks.is_concept), ("concepts", ranks.is_concept)):
            rows = np.flatnonzero(among)
            off = _off(ranks, rows)
            counts[kind] = rows.size
            counts["written"] += len(off)
            if not cycle.dry_run:
                await self._save(cycle, kind, off)
        if not cycle.dry_run:
            await cycle.reached("prior: drop old")
            counts["dropped"] = await self._store.drop_priors(cycle.tenant, cycle.lease)
        return StepOutcome(counts=counts)

    async def _save(self, cycle: Cycle, kind: str, priors: Sequence[tuple[str, float]]) -> None:
        async for chunk in cycle.chunks(priors, _CHUNK, f"prior: save {kind}"):
            await self._store.save_priors(
                cycle.tenant, cycle.lease, concepts=kind == "concepts", priors=dict(chunk)
            )


def _off(ranks: PageRanks, rows: NDArray[np.intp]) -> list[tuple[str, float]]:
    """Find nodes with a wrong stored prior, and give the right prior by id."""
    priors = midrank(ranks.value[rows])
    off = np.abs(priors - ranks.stored[rows]) > _NEAR
    ids = [ranks.id[row] for row in rows[off]]
    return sorted(zip(ids, priors[off].tolist(), strict=True))
