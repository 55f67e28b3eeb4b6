"""The calls of the asynchronous client about items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ecphoria import records, wire
from ecphoria.client.async_connection import AsyncCalls
from ecphoria.client.exchange import body_of


class AsyncItems(AsyncCalls):
    """JSON objects that are replaced, beside the episodes, which are remembered."""

    async def put(
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
            records.item.ItemWrite,
            namespace=namespace,
            key=key,
            value=dict(value),
            text=text,
            ttl_s=ttl_s,
        )
        await self.write([wanted])

    async def delete(self, namespace: Sequence[str], key: str) -> bool:
        """Delete an item; tell whether it existed.

        Of several callers that delete the same item, one alone is told so.
        """
        wanted = body_of(records.item.ItemWrite, namespace=namespace, key=key, value={})
        return await self.write([replace(wanted, value=None)]) > 0

    async def write(self, items: Sequence[records.item.ItemWrite]) -> int:
        """Store, replace and delete up to 1,000 items in one transaction.

        Returns:
            Number of deleted items that existed.
        """
        wanted = body_of(wire.items.ItemsRequest, items=tuple(items))
        return (await self._ask(wire.items.ItemsWrittenAnswer, "PUT", "/v1/items", wanted)).deleted

    async def get(
        self, namespace: Sequence[str], key: str, *, refresh: bool = False
    ) -> records.item.Item | None:
        """Fetch an item; None if it does not exist.

        Args:
            namespace: Its place, from the outside in.
            key: Its key within the namespace.
            refresh: Start its life again.
        """
        address = body_of(records.item.ItemKey, namespace=namespace, key=key)
        found = await self.find([address], refresh=refresh)
        return found[0] if found else None

    async def find(
        self, keys: Sequence[records.item.ItemKey], *, refresh: bool = False
    ) -> Sequence[records.item.Item]:
        """Fetch up to 1,000 items by address; those that do not exist are left out."""
        wanted = body_of(wire.items.FindRequest, keys=tuple(keys), refresh=refresh)
        return (await self._ask(wire.items.ItemsAnswer, "POST", "/v1/items/find", wanted)).items

    async def search(
        self,
        namespace: Sequence[str] = (),
        *,
        query: str | None = None,
        where: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh: bool = False,
    ) -> Sequence[records.item.Item]:
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
            records.item.ItemSearch,
            namespace=namespace,
            query=query,
            filter=None if where is None else dict(where),
            limit=limit,
            offset=offset,
            refresh=refresh,
        )
        return (await self._ask(wire.items.ItemsAnswer, "POST", "/v1/items/search", wanted)).items

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
            records.item.NamespaceSearch,
            prefix=prefix,
            suffix=suffix,
            max_depth=max_depth,
            limit=limit,
            offset=offset,
        )
        path = "/v1/items/namespaces"
        return (await self._ask(wire.items.NamespacesAnswer, "POST", path, wanted)).items
