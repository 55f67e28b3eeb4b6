"""Routes of facts, merges and feedback."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.status import HTTP_201_CREATED

from ecphoria import wire
from ecphoria.errors import Conflict, NotFound, TooLarge
from ecphoria.facts.store import FactQuery
from ecphoria.http.auth import Caller, GuardedRoute, Reader, Served, TenantAdmin, Writer
from ecphoria.http.problems import guarded
from ecphoria.records.fact import Decision, FactHistory, Merge, NewDecision
from ecphoria.records.ids import EpisodeId, FactId, TraceId
from ecphoria.wire.base import TurnPage, place_of

facts_routes = APIRouter(prefix="/v1", tags=["facts"], route_class=GuardedRoute)


@facts_routes.get("/facts", responses=guarded())
async def list_facts(
    tenant: Reader, services: Served, wanted: Annotated[wire.facts.FactListQuery, Query()]
) -> wire.facts.FactPage:
    """List facts by id, or the last stated first, a page at a time, each with its intervals."""
    found = await services.facts.facts(
        tenant,
        FactQuery(
            concept=wanted.concept,
            relation=wanted.predicate,
            standing=wanted.standing,
            sort=wanted.sort,
            after=place_of(wanted.cursor),
            limit=wanted.limit + 1,
        ),
        as_of=wanted.as_of,
        known_at=wanted.known_at,
    )
    return wire.facts.FactPage.cut(found, wanted.limit, lambda last: f"{last.place}.{last.id}")


@facts_routes.get("/facts/{fact}/history", responses=guarded())
async def get_fact_history(
    fact: str,
    tenant: Reader,
    services: Served,
    wanted: Annotated[wire.facts.HistoryQuery, Query()],
) -> FactHistory:
    """Show all facts and decisions of the same subject and predicate."""
    return await services.facts.history(
        tenant, FactId(fact), as_of=wanted.as_of, known_at=wanted.known_at
    )


@facts_routes.post("/facts/{fact}/decisions", status_code=HTTP_201_CREATED, responses=guarded())
async def decide(
    fact: str, body: NewDecision, tenant: Writer, caller: Caller, services: Served
) -> Decision:
    """Decide about a fact; applies from the next recall, and can be undone."""
    return await services.facts.decide(tenant, FactId(fact), body, by=caller.key)


@facts_routes.get("/decisions", responses=guarded())
async def list_decisions(
    tenant: Reader, services: Served, wanted: Annotated[TurnPage, Query()]
) -> wire.facts.DecisionPage:
    """List the decisions about facts and predicates, the latest first, a page at a time."""
    found = await services.facts.decisions(tenant, before=wanted.cursor, limit=wanted.limit + 1)
    return wire.facts.DecisionPage.cut(found, wanted.limit, lambda last: str(last.number))


@facts_routes.post("/decisions/{decision}/undo", status_code=HTTP_201_CREATED, responses=guarded())
async def undo_decision(
    decision: str, body: wire.facts.UndoRequest, tenant: Writer, caller: Caller, services: Served
) -> Decision:
    """Undo a decision; undoing the undo restores it."""
    return await services.facts.undo(tenant, decision, by=caller.key, why=body.why)


@facts_routes.get("/predicates", responses=guarded())
async def list_predicates(tenant: Reader, services: Served) -> wire.facts.PredicateList:
    """List the predicates that are not `multi` by default, and the tenant's own choices."""
    found = await services.facts.predicates(tenant)
    return wire.facts.PredicateList(items=tuple(found))


@facts_routes.put("/predicates/{predicate:path}", responses=guarded())
async def set_predicate_class(
    predicate: str,
    body: wire.facts.ClassRequest,
    tenant: TenantAdmin,
    caller: Caller,
    services: Served,
) -> Decision:
    """Set the class of a predicate and recompute its facts; can be undone."""
    return await services.facts.set_class(
        tenant, predicate, body.predicate_class, by=caller.key, why=body.why
    )


merges_routes = APIRouter(prefix="/v1", tags=["merges"], route_class=GuardedRoute)


@merges_routes.get("/merges", responses=guarded())
async def list_merges(
    tenant: Reader, services: Served, wanted: Annotated[wire.facts.MergeQuery, Query()]
) -> wire.facts.MergePage:
    """List the merges that consolidation proposed, by name, a page at a time."""
    found = await services.merges.list(
        tenant, status=wanted.status, after=wanted.cursor, limit=wanted.limit + 1
    )
    return wire.facts.MergePage.cut(found, wanted.limit, lambda last: f"{last.one}\t{last.other}")


@merges_routes.put("/merges", responses=guarded(NotFound))
async def decide_merge(body: wire.facts.MergeRequest, tenant: Writer, services: Served) -> Merge:
    """Accept or reject a merge, or undo the decision, which restores earlier recalls."""
    return await services.merges.decide(tenant, body.one, body.other, body.status)


learning_routes = APIRouter(prefix="/v1", tags=["learning"], route_class=GuardedRoute)


@learning_routes.post("/traces/{trace}/feedback", responses=guarded(Conflict, TooLarge))
async def give_feedback(
    trace: str, body: wire.facts.FeedbackRequest, tenant: Writer, services: Served
) -> wire.facts.FeedbackAnswer:
    """Mark hits of a recall as useful or not."""
    recall = TraceId(trace)
    await services.recall.settle(tenant, recall)
    regards = await services.learning.judge(
        tenant,
        recall,
        useful=[EpisodeId(one) for one in body.useful],
        not_useful=[EpisodeId(one) for one in body.not_useful],
    )
    return wire.facts.FeedbackAnswer.model_validate({"episodes": regards})
