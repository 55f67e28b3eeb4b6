"""Store of items."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ecphoria.neo4j_store.locks import lock_tenant
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work, packed
from ecphoria.ports import Vector
from ecphoria.records.ids import TenantId
from ecphoria.records.item import Item, ItemKey, Namespace

# Ends each label of a path. No label holds it, so a prefix of labels is a prefix of the path.
_END = "\x1f"
_AFTER_END = "\x20"
_LAST = "\U0010ffff"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredItem:
    """An item as it is stored.

    Attributes:
        value: JSON.
        vector: Without one no search finds it.
        text: The caller's words for the vector; None if it is made of the value.
    """

    namespace: Namespace
    key: str
    value: str
    created_at: datetime
    updated_at: datetime
    ttl_s: float | None
    expires_at: datetime | None
    vector: Vector | None
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    namespace: list[str]
    key: str
    value: str
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scored(_Row):
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    namespace: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Refreshed:
    namespace: list[str]
    key: str
    expires_at: datetime


_SAVE_ITEMS = Statement("items.save_items", Done)
_DELETE_ITEMS = Statement("items.delete_items", Done)
_DROP_EXPIRED = Statement("items.drop_expired", Done)
_FIND_ITEMS = Statement("items.find_items", _Row)
_LIST_NEWEST = Statement("items.list_newest", _Row)
_LIST_NEAREST = Statement("items.list_nearest", _Scored)
_LIST_NAMESPACES = Statement("items.list_namespaces", _Place)
_RENEW_ITEMS = Statement("items.renew_items", _Refreshed)


class ItemStore:
    """Items of tenants, which nothing else in the graph is joined to."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def write(
        self, tenant: TenantId, items: Sequence[StoredItem], gone: Sequence[ItemKey], now: datetime
    ) -> None:
        """Store items and delete others in one transaction; NotFound without the tenant."""
        rows = [
            {
                "path": path_of(item.namespace),
                "namespace": list(item.namespace),
                "key": item.key,
                "value": item.value,
                "text": item.text,
                "ttl_s": item.ttl_s,
                "expires_at": item.expires_at,
                "vector": None if item.vector is None else packed(item.vector),
            }
            for item in items
        ]

        async def write(work: Work) -> None:
            await lock_tenant(work, tenant)
            await work.run(_DROP_EXPIRED, tenant=tenant, now=now)
            if rows:
                await work.run(_SAVE_ITEMS, tenant=tenant, rows=rows, now=now)
            if gone:
                await work.run(_DELETE_ITEMS, tenant=tenant, rows=_addresses(gone))

        await self._graph.change("items.write", write)

    async def find(self, tenant: TenantId, keys: Sequence[ItemKey], now: datetime) -> list[Item]:
        """Find items by address."""
        rows = await self._graph.run(_FIND_ITEMS, tenant=tenant, rows=_addresses(keys), now=now)
        return [_to_item(row) for row in rows]

    async def newest(
        self, tenant: TenantId, prefix: Namespace, now: datetime, offset: int, limit: int
    ) -> list[Item]:
        """List items under a namespace, the last written first."""
        rows = await self._graph.run(
            _LIST_NEWEST, tenant=tenant, path=path_of(prefix), now=now, offset=offset, limit=limit
        )
        return [_to_item(row) for row in rows]

    async def nearest(
        self, tenant: TenantId, prefix: Namespace, now: datetime, vector: Vector, fetch: int
    ) -> list[Item]:
        """List the items under a namespace that are nearest to a vector."""
        path = path_of(prefix)
        rows = await self._graph.run(
            _LIST_NEAREST,
            tenant=tenant,
            path_from=path,
            path_before=path[:-1] + _AFTER_END if path else _LAST,
            now=now,
            vector=packed(vector),
            fetch=fetch,
        )
        return [_to_item(row, row.score) for row in rows]

    async def namespaces(
        self, tenant: TenantId, prefix: Namespace, now: datetime
    ) -> list[Namespace]:
        """List the namespaces under another."""
        rows = await self._graph.run(
            _LIST_NAMESPACES, tenant=tenant, path=path_of(prefix), now=now
        )
        return [tuple(row.namespace) for row in rows]

    async def refresh(
        self, tenant: TenantId, keys: Sequence[ItemKey], now: datetime
    ) -> Mapping[tuple[Namespace, str], datetime]:
        """Start the lives of items again; gives their new ends."""
        rows = await self._graph.run(_RENEW_ITEMS, tenant=tenant, rows=_addresses(keys), now=now)
        return {(tuple(row.namespace), row.key): row.expires_at for row in rows}


def path_of(namespace: Namespace) -> str:
    """Write a namespace as one text that sorts and compares by labels."""
    return "".join(label + _END for label in namespace)


def _addresses(keys: Sequence[ItemKey]) -> list[dict[str, str]]:
    return [{"path": path_of(key.namespace), "key": key.key} for key in keys]


def _to_item(row: _Row, score: float | None = None) -> Item:
    value: dict[str, Any] = json.loads(row.value)
    return Item(
        namespace=tuple(row.namespace),
        key=row.key,
        value=value,
        created_at=row.created_at,
        updated_at=row.updated_at,
        expires_at=row.expires_at,
        score=score,
    )
