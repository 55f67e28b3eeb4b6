"""The prior: how central a node is by PageRank, as a rank among its kind.

Source: SYNAPSE's structural term, with ranks in place of raw values: those shrink with the size
of the graph and vanish beside the other terms.
"""

from collections.abc import Mapping

import numpy as np

from ecphoria.consolidation.step import Skipped
from ecphoria.kernels.midrank import midrank
from ecphoria.model.ids import TenantId
from ecphoria.ports.consolidation import PriorStore

__all__ = ["Prior"]

_NO_LIBRARY = (
    "Neo4j lacks Graph Data Science, so nodes have no prior: install the plugin, or unset "
    "ECPHORIA_NEO4J__URI to use the local server, which has it."
)


class Prior:
    """Ranks every node with an edge by PageRank, episodes and concepts apart.

    The same graph gives the same ranks. A step cut short leaves old priors beside new ones,
    all of them readable, and the next cycle renews them.
    """

    name = "prior"

    def __init__(self, store: PriorStore) -> None:
        self._store = store

    async def run(self, tenant: TenantId, cycle: str) -> Mapping[str, int]:
        """Renew the priors of a tenant.

        Raises:
            Skipped: The server has no graph library.
        """
        ranks = await self._store.page_rank(tenant, cycle)
        if ranks is None:
            raise Skipped(_NO_LIBRARY)
        counts = {"arcs": ranks.arcs, "iterations": ranks.iterations,
                  "converged": int(ranks.converged)}  # fmt: skip
        for kind, among in (("episodes", ~ranks.is_concept), ("concepts", ranks.is_concept)):
            rows = np.flatnonzero(among)
            priors = midrank(ranks.value[rows]).tolist()
            await self._store.save_priors(
                tenant,
                cycle,
                concepts=kind == "concepts",
                priors={ranks.id[row]: prior for row, prior in zip(rows, priors, strict=True)},
            )
            counts[kind] = rows.size
        counts["dropped"] = await self._store.drop_old_priors(tenant, cycle)
        return counts
