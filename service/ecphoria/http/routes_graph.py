"""Routes that look at the graph: traces, concepts, counts over time, and what is around a node."""

from typing import Annotated

from fastapi import APIRouter, Query

from ecphoria.http.auth import GuardedRoute, Reader, Served
from ecphoria.http.problems import guarded
from ecphoria.http.traits import having
from ecphoria.records.graph import ConceptView, Neighbourhood
from ecphoria.wire.base import place_of
from ecphoria.wire.graph import (
    ConceptPage,
    ConceptQuery,
    GraphQuery,
    TimelinePage,
    TimelineQuery,
    TracePage,
    TraceQuery,
)

graph_routes = APIRouter(prefix="/v1", tags=["graph"], route_class=GuardedRoute)


@graph_routes.get("/traces", responses=guarded())
async def list_traces(
    tenant: Reader, services: Served, wanted: Annotated[TraceQuery, Query()]
) -> TracePage:
    """List the traces of recalls, the newest first, a page at a time."""
    found = await services.recall.traces(
        tenant,
        strategy=wanted.strategy,
        verdict=wanted.verdict,
        after=place_of(wanted.cursor),
        limit=wanted.limit + 1,
    )
    return TracePage.cut(found, wanted.limit, lambda last: last.cursor)


@graph_routes.get("/concepts", responses=guarded())
@having(is_read=True)
async def list_concepts(
    tenant: Reader, services: Served, wanted: Annotated[ConceptQuery, Query()]
) -> ConceptPage:
    """List concepts: the most mentioned, by name, or the last mentioned first."""
    found = await services.graph.concepts(
        tenant,
        search=wanted.q,
        sort=wanted.sort,
        after=place_of(wanted.cursor),
        limit=wanted.limit + 1,
    )
    return ConceptPage.cut(found, wanted.limit, lambda last: f"{last.place}.{last.normalised}")


@graph_routes.get("/concepts/{concept}", responses=guarded())
async def get_concept(concept: str, tenant: Reader, services: Served) -> ConceptView:
    """Get a concept with its neighbours and its merges."""
    return await services.graph.concept(tenant, concept)


@graph_routes.get("/timeline", responses=guarded())
@having(is_read=True)
async def get_timeline(
    tenant: Reader, services: Served, wanted: Annotated[TimelineQuery, Query()]
) -> TimelinePage:
    """Count episodes by session, day or month, in the order of time."""
    found = await services.archive.timeline(
        tenant,
        by=wanted.by,
        speaker=wanted.speaker,
        after=place_of(wanted.cursor),
        limit=wanted.limit + 1,
    )
    return TimelinePage.cut(found, wanted.limit, lambda last: f"{last.place}.{last.bucket or ''}")


@graph_routes.get("/graph", responses=guarded())
@having(is_read=True)
async def get_graph(
    tenant: Reader, services: Served, wanted: Annotated[GraphQuery, Query()]
) -> Neighbourhood:
    """Get the nodes and edges around a memory, a concept or a session."""
    return await services.graph.around(
        tenant,
        wanted.around,
        hops=wanted.hops,
        kinds=wanted.kinds,
        as_of=wanted.as_of,
        limit=wanted.limit,
    )
