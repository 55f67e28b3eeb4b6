"""Routes of items: JSON objects by namespace and key."""

from fastapi import APIRouter

from ecphoria.errors import EncoderUnavailable, TooLarge
from ecphoria.http.auth import GuardedRoute, Reader, Served, Writer
from ecphoria.http.problems import guarded
from ecphoria.http.traits import having
from ecphoria.wire.items import (
    FindRequest,
    ItemsAnswer,
    ItemsRequest,
    ItemsWrittenAnswer,
    NamespacesAnswer,
    NamespacesRequest,
    SearchRequest,
)

items_routes = APIRouter(prefix="/v1/items", tags=["items"], route_class=GuardedRoute)


@items_routes.put("", responses=guarded(TooLarge, EncoderUnavailable))
@having(is_large=True)
async def write_items(body: ItemsRequest, tenant: Writer, services: Served) -> ItemsWrittenAnswer:
    """Store, replace and delete items in one transaction."""
    deleted = await services.items.write(tenant, [one.to_model() for one in body.items])
    return ItemsWrittenAnswer(deleted=deleted)


@items_routes.post("/find", responses=guarded(TooLarge))
@having(is_read=True)
async def find_items(body: FindRequest, tenant: Reader, services: Served) -> ItemsAnswer:
    """Find items by address; those that do not exist are left out."""
    keys = [one.to_model() for one in body.keys]
    found = await services.items.find(tenant, keys, refresh=body.refresh)
    return ItemsAnswer(items=tuple(found))


@items_routes.post("/search", responses=guarded(TooLarge, EncoderUnavailable))
@having(is_read=True)
async def search_items(body: SearchRequest, tenant: Reader, services: Served) -> ItemsAnswer:
    """Search items under a namespace: by meaning, or the last written first."""
    return ItemsAnswer(items=tuple(await services.items.search(tenant, body.to_model())))


@items_routes.post("/namespaces", responses=guarded(TooLarge))
@having(is_read=True)
async def list_namespaces(
    body: NamespacesRequest, tenant: Reader, services: Served
) -> NamespacesAnswer:
    """List namespaces that hold items."""
    found = await services.items.namespaces(tenant, body.to_model())
    return NamespacesAnswer(items=tuple(found))
