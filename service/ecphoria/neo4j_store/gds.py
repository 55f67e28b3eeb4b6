"""PageRank by the Graph Data Science library.

The client is synchronous: each call has its own connection, in a worker thread. A projection has
the name of its cycle, so two workers never share one. It is dropped after success and failure
(decision 0009). If a killed process left one behind, the first call an hour later drops it.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import neo4j
import numpy as np
from numpy.typing import NDArray

from ecphoria.neo4j_store.locks import change_under
from ecphoria.neo4j_store.session import (
    Done,
    Graph,
    GraphOptions,
    Statement,
    Work,
    translated_errors,
)
from ecphoria.records.ids import TenantId
from ecphoria.records.job import Lease

if TYPE_CHECKING:
    from graphdatascience import GraphDataScience
    from graphdatascience.graph.graph_api import Graph as Projection


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRanks:
    """PageRank of every node with an edge, as parallel columns; n rows.

    Attributes:
        id: Ids of episodes and concepts.
        is_concept: Whether each is a concept.
        value: PageRank in the library's scale: the mean of a connected graph is 1.
        stored: The stored prior of each; -1 without one.
        arcs: Number of directed arcs, two for each edge.
        iterations: Number of rounds.
        converged: Whether the last round changed less than the tolerance.
    """

    id: tuple[str, ...]
    is_concept: NDArray[np.bool_]
    value: NDArray[np.float64]
    stored: NDArray[np.float64]
    arcs: int
    iterations: int
    converged: bool


PREFIX: Final = "ecphoria-"
# Longer than a ranking takes, so only what a killed process left is dropped.
_ORPHANED_S: Final = 3_600
_DAMPING: Final = 0.85
# Each round leaves 0.85 of the error: after 30 rounds 1 % is left, enough to swap ranks (decision
# 0009).
_ROUNDS: Final = 200
_TOLERANCE: Final = 1e-8


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranks:
    id: list[str]
    is_concept: list[bool]
    value: list[float]
    stored: list[float]


_PROJECT_GRAPH = Statement("consolidation.project_graph", tuple[int, int])
_LIST_PROJECTIONS = Statement("consolidation.list_projections", str)
_LIST_RANKS = Statement("consolidation.list_ranks", _Ranks)
_SAVE_PRIORS = Statement("consolidation.save_priors", Done)
_DROP_PRIORS = Statement("consolidation.drop_priors", int)


class PriorStore:
    """Computes PageRank and stores priors."""

    def __init__(self, graph: Graph, options: GraphOptions) -> None:
        self._graph = graph
        self._options = options

    async def page_rank(self, tenant: TenantId, cycle: str) -> PageRanks | None:
        """Rank the tenant's live graph; None where the server has no graph library."""
        bookmarks = await self._graph.bookmarks()
        # PageRank is streamed to the service and ranked here: the open edition has no ranks by
        # group or with ties (decision 0009).
        return await asyncio.to_thread(self._page_rank, tenant, cycle, bookmarks)

    async def save_priors(
        self, tenant: TenantId, lease: Lease | None, *, concepts: bool, priors: Mapping[str, float]
    ) -> None:
        """Store priors of episodes, or of concepts, in one transaction."""
        rows = [{"id": one, "prior": prior} for one, prior in sorted(priors.items())]

        async def save(work: Work) -> None:
            await work.run(_SAVE_PRIORS, tenant=tenant, rows=rows, concepts=concepts)

        await change_under(self._graph, lease, "consolidation.save_priors", save)

    async def drop_priors(self, tenant: TenantId, lease: Lease | None) -> int:
        """Remove the prior of every live node without an edge; return their number."""

        async def drop(work: Work) -> int:
            return await work.run_one(_DROP_PRIORS, tenant=tenant) or 0

        return await change_under(self._graph, lease, "consolidation.drop_priors", drop)

    def _page_rank(
        self, tenant: TenantId, cycle: str, bookmarks: neo4j.Bookmarks
    ) -> PageRanks | None:
        from graphdatascience.error.gds_not_installed import GdsNotFound  # noqa: PLC0415 (costly)

        name = f"{PREFIX}{cycle}"
        try:
            with translated_errors(_PROJECT_GRAPH.name), self._library(bookmarks) as library:
                self._drop_orphans(library)
                try:
                    return self._ranked(library, tenant, name)
                finally:
                    library.graph.drop(name, fail_if_missing=False)
        except GdsNotFound:
            return None

    @contextmanager
    def _library(self, bookmarks: neo4j.Bookmarks) -> "Iterator[GraphDataScience]":
        from graphdatascience import GraphDataScience  # noqa: PLC0415 (costly)

        given = self._options
        with neo4j.GraphDatabase.driver(
            given.uri,
            auth=(given.user, given.password),
            connection_timeout=given.connect_timeout_s,
            notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
            user_agent="ecphoria",
        ) as driver:
            yield GraphDataScience(
                driver,
                aura_ds=False,
                database=given.database,
                arrow=False,
                bookmarks=bookmarks,
                show_progress=False,
            )

    def _drop_orphans(self, library: "GraphDataScience") -> None:
        query = self._graph.queries[_LIST_PROJECTIONS.name]
        found = library.run_cypher(query.text, {"prefix": PREFIX, "seconds": _ORPHANED_S})
        for name in found["graph"]:
            library.graph.drop(name, fail_if_missing=False)

    def _ranked(self, library: "GraphDataScience", tenant: TenantId, name: str) -> PageRanks:
        query = self._graph.queries[_PROJECT_GRAPH.name]
        made = library.run_cypher(query.text, {"tenant": tenant, "graph": name})
        if made.empty or not made["nodes"].iloc[0]:
            return _NOTHING
        projection: Projection = library.graph.get(name)
        done = library.page_rank.mutate(
            projection,
            "rank",
            damping_factor=_DAMPING,
            max_iterations=_ROUNDS,
            tolerance=_TOLERANCE,
            relationship_weight_property="weight",
        )
        rows = library.run_cypher(self._graph.queries[_LIST_RANKS.name].text, {"graph": name})
        (found,) = (_Ranks(**row) for row in rows.to_dict("records"))
        return PageRanks(
            id=tuple(found.id),
            is_concept=np.array(found.is_concept, np.bool_),
            value=np.array(found.value),
            stored=np.array(found.stored),
            arcs=int(made["arcs"].iloc[0]),
            iterations=done.ran_iterations,
            converged=done.did_converge,
        )


_NOTHING: Final = PageRanks(
    id=(),
    is_concept=np.zeros(0, np.bool_),
    value=np.zeros(0),
    stored=np.zeros(0),
    arcs=0,
    iterations=0,
    converged=True,
)
