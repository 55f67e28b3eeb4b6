"""What consolidation needs: PageRank of a tenant's graph, and a place for the priors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ecphoria.model.consolidation import Lease
from ecphoria.model.ids import TenantId

__all__ = ["LeaseLost", "PageRanks", "PriorStore"]


class LeaseLost(Exception):
    """A write came after its job's lease was over; another worker has the job, or may take it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRanks:
    """PageRank of every node with an edge, as parallel columns; n rows.

    Attributes:
        id: Episodes and concepts.
        is_concept: Which of them are concepts.
        value: As the library scales it: the mean over a connected graph is 1.
        stored: The prior that each had before; -1 where it had none.
        arcs: Directed arcs followed, two for each edge.
        iterations: Rounds that ran.
        converged: Whether the last round changed less than the tolerance.
    """

    id: tuple[str, ...]
    is_concept: NDArray[np.bool_]
    value: NDArray[np.float64]
    stored: NDArray[np.float64]
    arcs: int
    iterations: int
    converged: bool


class PriorStore(Protocol):
    """Computes PageRank where the graph is, and keeps what recall reads of it."""

    async def page_rank(self, tenant: TenantId, cycle: str) -> PageRanks | None:
        """Rank the tenant's live graph; None where the server has no graph library."""
        ...

    async def save_priors(
        self,
        tenant: TenantId,
        lease: Lease | None,
        *,
        concepts: bool,
        priors: Mapping[str, float],
    ) -> None:
        """Store priors of episodes, or of concepts, in one transaction.

        Raises:
            LeaseLost: The lease is over; nothing was written.
        """
        ...

    async def drop_priors(self, tenant: TenantId, lease: Lease | None) -> int:
        """Take the prior from every live node without an edge; tell how many.

        Raises:
            LeaseLost: The lease is over; nothing was written.
        """
        ...
