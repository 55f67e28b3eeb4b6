"""The calls of the asynchronous client for items."""

from collections.abc import Mapping, Sequence
from typing import Any

from ecphoria.client.async_administration import AsyncAdministration
from ecphoria.client.exchange import Call, body_of
from ecphoria.records.item import Item
from ecphoria.wire.items import (
    FindRequest,
    ItemAddress,
    ItemsAnswer,
    ItemsRequest,
    ItemWriteRequest,
    NamespacesAnswer,
    NamespacesRequest,
    SearchRequest,
)


class AsyncItems(AsyncAdministration):
    """Items: JSON objects that are replaced, beside the episodes, which are remembered."""

    async def put_item(
        self,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, Any],
        *,
        text: str | None = None,
        ttl_s: float | None = None,
    ) -> None:
        """Store an item, in place of one with the same address.

        Args:
            namespace: Its place, from the outside in.
            key: Its key within the namespace.
            value: A JSON object, at most 262,144 characters.
            text: Words by which a search finds it; those of the value if absent, none if empty.
            ttl_s: Seconds of life after this write, or after a read with `refresh`.
        """
        wanted = body_of(
            ItemWriteRequest,
            namespace=tuple(namespace),
            key=key,
            value=dict(value),
            text=text,
            ttl_s=ttl_s,
        )
        await self.write_items([wanted])

    async def delete_item(self, namespace: Sequence[str], key: str) -> None:
        """Delete an item if it exists."""
        wanted = body_of(ItemWriteRequest, namespace=tuple(namespace), key=key, value={})
        await self.write_items([wanted.model_copy(update={"value": None})])

    async def write_items(self, items: Sequence[ItemWriteRequest]) -> None:
        """Store, replace and delete up to 1,000 items in one transaction."""
        await self._send(Call("PUT", "/v1/items", body=body_of(ItemsRequest, items=tuple(items))))

    async def get_item(
        self, namespace: Sequence[str], key: str, *, refresh: bool = False
    ) -> Item | None:
        """Fetch an item; None if it does not exist.

        Args:
            namespace: Its place, from the outside in.
            key: Its key within the namespace.
            refresh: Start its life again.
        """
        address = body_of(ItemAddress, namespace=tuple(namespace), key=key)
        found = await self.find_items([address], refresh=refresh)
        return found[0] if found else None

    async def find_items(
        self, keys: Sequence[ItemAddress], *, refresh: bool = False
    ) -> Sequence[Item]:
        """Fetch up to 1,000 items by address; those that do not exist are left out."""
        wanted = body_of(FindRequest, keys=tuple(keys), refresh=refresh)
        return (await self._ask(ItemsAnswer, "POST", "/v1/items/find", wanted)).items

    async def search_items(
        self,
        namespace: Sequence[str] = (),
        *,
        query: str | None = None,
        where: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh: bool = False,
    ) -> Sequence[Item]:
        """Search items.

        Args:
            namespace: Only items whose namespace begins with these labels.
            query: Rank by meaning; the last written come first if absent.
            where: Conditions on fields of the value, such as `{"age": {"$gte": 18}}`.
            limit: Number of items, at most 1,000.
            offset: Number of items to leave out first.
            refresh: Start the lives of the found items again.
        """
        wanted = body_of(
            SearchRequest,
            namespace=tuple(namespace),
            query=query,
            filter=None if where is None else dict(where),
            limit=limit,
            offset=offset,
            refresh=refresh,
        )
        return (await self._ask(ItemsAnswer, "POST", "/v1/items/search", wanted)).items

    async def namespaces(
        self,
        prefix: Sequence[str] = (),
        *,
        suffix: Sequence[str] = (),
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> Sequence[Sequence[str]]:
        """List namespaces that hold items.

        Args:
            prefix: First labels; `*` stands for any one.
            suffix: Last labels; `*` stands for any one.
            max_depth: Cut namespaces to this many labels.
            limit: Number of namespaces, at most 1,000.
            offset: Number of namespaces to leave out first.
        """
        wanted = body_of(
            NamespacesRequest,
            prefix=tuple(prefix),
            suffix=tuple(suffix),
            max_depth=max_depth,
            limit=limit,
            offset=offset,
        )
        path = "/v1/items/namespaces"
        return (await self._ask(NamespacesAnswer, "POST", path, wanted)).items
