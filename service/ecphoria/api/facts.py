"""Endpoints of facts: list, history, decide, undo, and the classes of predicates."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.status import HTTP_201_CREATED

from ecphoria.api.guard import Caller, GuardedRoute, Reader, Served, TenantAdmin, Writer
from ecphoria.api.problems import guarded
from ecphoria.facts.service import Request
from ecphoria.graph.facts import FactQuery
from ecphoria.model.fact import Ruling
from ecphoria.model.ids import FactId
from ecphoria.wire.facts import (
    ClassRequest,
    DecisionAnswer,
    DecisionRequest,
    FactAnswer,
    FactListQuery,
    FactPageAnswer,
    HistoryAnswer,
    HistoryQuery,
    PredicateAnswer,
    UndoRequest,
)

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["facts"], route_class=GuardedRoute)


@router.get("/facts", responses=guarded())
async def list_facts(
    tenant: Reader, services: Served, wanted: Annotated[FactListQuery, Query()]
) -> FactPageAnswer:
    """List facts by id, a page at a time, each with when it held."""
    page = await services.facts.facts(
        tenant,
        FactQuery(
            concept=wanted.concept,
            relation=wanted.predicate,
            after=None if wanted.cursor is None else FactId(wanted.cursor),
            limit=wanted.limit,
        ),
        as_of=wanted.as_of,
        known_at=wanted.known_at,
    )
    return FactPageAnswer(
        facts=tuple(FactAnswer.of(view) for view in page.facts), next_cursor=page.next_cursor
    )


@router.get("/facts/{fact}/history", responses=guarded())
async def get_fact_history(
    fact: str, tenant: Reader, services: Served, wanted: Annotated[HistoryQuery, Query()]
) -> HistoryAnswer:
    """Show everything claimed of the fact's subject and predicate, and decided about it."""
    history = await services.facts.history(
        tenant, FactId(fact), as_of=wanted.as_of, known_at=wanted.known_at
    )
    return HistoryAnswer.of(history)


@router.post("/facts/{fact}/decisions", status_code=HTTP_201_CREATED, responses=guarded())
async def decide(
    fact: str, body: DecisionRequest, tenant: Writer, caller: Caller, services: Served
) -> DecisionAnswer:
    """Decide about a fact; the next recall goes by it, and it can be undone."""
    decision = await services.facts.decide(
        tenant,
        Request(
            ruling=Ruling(body.ruling),
            fact=FactId(fact),
            other=None if body.other is None else FactId(body.other),
            valid_from=body.valid_from,
            valid_to=body.valid_to,
            by=caller.key,
            why=body.why,
        ),
    )
    return DecisionAnswer.of(decision)


@router.post("/decisions/{decision}/undo", status_code=HTTP_201_CREATED, responses=guarded())
async def undo_decision(
    decision: str, body: UndoRequest, tenant: Writer, caller: Caller, services: Served
) -> DecisionAnswer:
    """Take a decision back; undo the undo, and it counts again."""
    made = await services.facts.undo(tenant, decision, by=caller.key, why=body.why)
    return DecisionAnswer.of(made)


@router.get("/predicates", responses=guarded())
async def list_predicates(tenant: Reader, services: Served) -> list[PredicateAnswer]:
    """List the predicates that are not `multi` by default, and the tenant's own choices."""
    found = await services.facts.predicates(tenant)
    return [PredicateAnswer.model_validate(one) for one in found]


@router.put("/predicates/{predicate}", responses=guarded())
async def set_predicate_class(
    predicate: str, body: ClassRequest, tenant: TenantAdmin, caller: Caller, services: Served
) -> DecisionAnswer:
    """Give a predicate another class; its facts are laid out anew, and it can be undone."""
    decision = await services.facts.set_class(
        tenant, predicate, body.predicate_class, by=caller.key, why=body.why
    )
    return DecisionAnswer.of(decision)
