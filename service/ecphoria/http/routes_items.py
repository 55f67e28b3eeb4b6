"""Routes of items: JSON objects by namespace and key."""

from fastapi import APIRouter

from ecphoria import wire
from ecphoria.errors import EncoderUnavailable, TooLarge
from ecphoria.http.auth import GuardedRoute, Reader, Served, Writer
from ecphoria.http.problems import guarded
from ecphoria.http.traits import having
from ecphoria.records.item import ItemSearch, NamespaceSearch

items_routes = APIRouter(prefix="/v1/items", tags=["items"], route_class=GuardedRoute)


@items_routes.put("", responses=guarded(TooLarge, EncoderUnavailable))
@having(is_large=True)
async def write_items(
    body: wire.items.ItemsRequest, tenant: Writer, services: Served
) -> wire.items.ItemsWrittenAnswer:
    """Store, replace and delete items in one transaction."""
    return wire.items.ItemsWrittenAnswer(deleted=await services.items.write(tenant, body.items))


@items_routes.post("/find", responses=guarded(TooLarge))
@having(is_read=True)
async def find_items(
    body: wire.items.FindRequest, tenant: Reader, services: Served
) -> wire.items.ItemsAnswer:
    """Find items by address; those that do not exist are left out."""
    found = await services.items.find(tenant, body.keys, refresh=body.refresh)
    return wire.items.ItemsAnswer(items=tuple(found))


@items_routes.post("/search", responses=guarded(TooLarge, EncoderUnavailable))
@having(is_read=True)
async def search_items(
    body: ItemSearch, tenant: Reader, services: Served
) -> wire.items.ItemsAnswer:
    """Search items under a namespace: by meaning, or the last written first."""
    return wire.items.ItemsAnswer(items=tuple(await services.items.search(tenant, body)))


@items_routes.post("/namespaces", responses=guarded(TooLarge))
@having(is_read=True)
async def list_namespaces(
    body: NamespaceSearch, tenant: Reader, services: Served
) -> wire.items.NamespacesAnswer:
    """List namespaces that hold items."""
    found = await services.items.namespaces(tenant, body)
    return wire.items.NamespacesAnswer(items=tuple(found))
