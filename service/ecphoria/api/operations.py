"""Endpoints for who runs the service: health, readiness, figures, errors. They need no key."""

import asyncio
from importlib.metadata import version
from typing import Final

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from ecphoria.api.guard import Served
from ecphoria.api.problems import PROBLEMS, responses
from ecphoria.errors import EcphoriaError, InvalidInput, Misconfigured, NotFound, StoreUnavailable
from ecphoria.wire.administration import ErrorAnswer, HealthAnswer, ReadinessAnswer

__all__ = ["router"]

router = APIRouter(tags=["operations"])

_READY_WITHIN_S: Final = 0.8

_NO_GDS = (
    "Neo4j lacks Graph Data Science, so concepts have no PageRank prior: install the plugin, "
    "or unset ECPHORIA_NEO4J__URI to use the local server, which has it."
)


@router.get("/healthz")
async def get_health() -> HealthAnswer:
    """Tell that the process is alive."""
    return HealthAnswer(version=version("ecphoria"))


@router.get("/readyz", responses=responses(StoreUnavailable, Misconfigured, EcphoriaError))
async def get_readiness(services: Served) -> ReadinessAnswer:
    """Tell whether requests can be served, and what is missing for full service."""
    try:
        # Whoever asks needs an answer now; the driver would go on trying for longer.
        async with asyncio.timeout(_READY_WITHIN_S):
            found = await services.health()
    except TimeoutError as error:
        raise StoreUnavailable from error
    degraded = found.missing if found.gds else (*found.missing, _NO_GDS)
    return ReadinessAnswer(
        status="degraded" if degraded else "ready",
        degraded=degraded,
        neo4j=found.neo4j,
        gds=found.gds,
        model=services.embedder.model,
        dimension=services.embedder.dimension,
    )


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def get_metrics(services: Served) -> Response:
    """Publish figures in Prometheus' text format; none names a tenant or a memory."""
    return Response(generate_latest(services.metrics.registry), media_type=CONTENT_TYPE_LATEST)


@router.get("/errors/{code}", responses=responses(NotFound, InvalidInput, EcphoriaError))
async def get_error(code: str) -> ErrorAnswer:
    """Explain an error code; the `type` of every problem points here."""
    for cls, kind in PROBLEMS.items():
        if cls.code == code:
            return ErrorAnswer(
                code=code, title=kind.title, status=kind.status, remedy=cls().message
            )
    raise NotFound("There is no error with this code.")
