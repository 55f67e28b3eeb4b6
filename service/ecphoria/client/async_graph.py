"""The calls of the asynchronous client that look at the graph."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Literal

from ecphoria import records, wire
from ecphoria.client.async_connection import AsyncCalls
from ecphoria.client.exchange import segment


class AsyncGraph(AsyncCalls):
    """Traces of recalls, concepts, counts over time, and the nodes around a node."""

    def traces(
        self,
        *,
        strategy: str | None = None,
        verdict: records.recall.Verdict | None = None,
        page_size: int = 100,
    ) -> AsyncIterator[records.recall.TraceSummary]:
        """Iterate over the traces of recalls, the newest first, page by page.

        Args:
            strategy: Only recalls by this strategy.
            verdict: Only recalls with this verdict.
            page_size: Size of a page.
        """
        return self._each(
            wire.graph.TracePage, "/v1/traces", strategy=strategy, verdict=verdict, limit=page_size
        )

    def concepts(
        self,
        q: str | None = None,
        *,
        sort: records.graph.ConceptSort | None = None,
        page_size: int = 100,
    ) -> AsyncIterator[records.graph.Concept]:
        """Iterate over concepts, page by page.

        Args:
            q: Only those whose name has this, in any spelling.
            sort: `mentions`, `name` or `last`; the most mentioned first if absent.
            page_size: Size of a page.
        """
        return self._each(wire.graph.ConceptPage, "/v1/concepts", q=q, sort=sort, limit=page_size)

    async def concept(self, concept: str) -> records.graph.ConceptView:
        """Fetch a concept by its id, with its neighbours and merges."""
        path = f"/v1/concepts/{segment(concept)}"
        return await self._ask(records.graph.ConceptView, "GET", path)

    def timeline(
        self,
        by: records.episode.BucketKind | Literal["session", "day", "month"] = "day",
        *,
        speaker: str | None = None,
        page_size: int = 1_000,
    ) -> AsyncIterator[records.episode.Bucket]:
        """Iterate over the counts of episodes by session, day or month, in the order of time.

        Args:
            by: What to count by.
            speaker: Only what this speaker said, named in any case.
            page_size: Size of a page.
        """
        return self._each(
            wire.graph.TimelinePage, "/v1/timeline", by=by, speaker=speaker, limit=page_size
        )

    async def around(
        self,
        around: str,
        *,
        hops: int = 1,
        kinds: Sequence[records.traced.NodeKind] = (),
        as_of: datetime | None = None,
        limit: int = 200,
    ) -> records.graph.Neighbourhood:
        """Fetch the nodes and edges around a node.

        Args:
            around: Id of a memory or of a concept, `concept:` and a name, or `session:` and a
                name.
            hops: Number of edges to walk, 1 or 2.
            kinds: Kinds of nodes to walk to, `episode` or `concept`; both if empty.
            as_of: Only what had occurred by then, and facts that held then.
            limit: Greatest number of nodes, at most 2,000.
        """
        wanted = {
            "around": around, "hops": hops, "kinds": list(kinds) or None, "as_of": as_of,
            "limit": limit,
        }  # fmt: skip
        return await self._ask(records.graph.Neighbourhood, "GET", "/v1/graph", parameters=wanted)
