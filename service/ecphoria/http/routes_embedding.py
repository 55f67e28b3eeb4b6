"""Routes of the change of the embedding model."""

from fastapi import APIRouter
from starlette.status import HTTP_202_ACCEPTED

from ecphoria.errors import Conflict, EncoderUnavailable
from ecphoria.http.auth import GuardedRoute, Operator, Served
from ecphoria.http.problems import guarded
from ecphoria.records.embedding import EmbedderChoice, Reembedding

embedding_routes = APIRouter(prefix="/v1", tags=["administration"], route_class=GuardedRoute)


@embedding_routes.post(
    "/embedding", status_code=HTTP_202_ACCEPTED, responses=guarded(Conflict, EncoderUnavailable)
)
async def change_embedding(body: EmbedderChoice, _: Operator, services: Served) -> Reembedding:
    """Change the embedding model of the whole store in the background."""
    return await services.reembedding.start(body)


@embedding_routes.get("/embedding", responses=guarded())
async def get_embedding(_: Operator, services: Served) -> Reembedding:
    """Show the change of the embedding model that is under way, or was the last."""
    return await services.reembedding.find()


@embedding_routes.delete("/embedding", responses=guarded(Conflict))
async def cancel_embedding(_: Operator, services: Served) -> Reembedding:
    """Cancel the change of the embedding model before the switch; the new vectors are removed."""
    return await services.reembedding.cancel()
