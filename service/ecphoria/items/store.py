"""Store of items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ecphoria.neo4j_store.encoding import stored
from ecphoria.neo4j_store.locks import lock_tenant
from ecphoria.neo4j_store.session import Done, Statement, Store, Work, packed
from ecphoria.ports import Vector
from ecphoria.records.ids import TenantId
from ecphoria.records.item import Item, ItemKey, Namespace

# Ends each label of a path. No label holds it, so a prefix of labels is a prefix of the path.
_END = "\x1f"
# First character after the end mark: the upper bound of a range of paths (decision 0036).
_AFTER_END = "\x20"
_LAST = "\U0010ffff"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredItem:
    """A stored item.

    Attributes:
        value: JSON.
        vector: None if no search should find it.
        text: The caller's text for the vector; None if the vector is made from the value.
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
class _Refreshed:
    namespace: Namespace
    key: str
    expires_at: datetime


_SAVE_ITEMS = Statement("items.save_items", Done)
_DELETE_ITEMS = Statement("items.delete_items", int)
_FIND_ITEMS = Statement("items.find_items", Item)
_LIST_NEWEST = Statement("items.list_newest", Item)
_LIST_NEAREST = Statement("items.list_nearest", Item)
_LIST_NAMESPACES = Statement("items.list_namespaces", Namespace)
_RENEW_ITEMS = Statement("items.renew_items", _Refreshed)


class ItemStore(Store):
    """Stores items of tenants; they have no edges (decision 0036)."""

    async def write(
        self, tenant: TenantId, items: Sequence[StoredItem], gone: Sequence[ItemKey], now: datetime
    ) -> int:
        """Store items and delete others in one transaction, and count the deleted ones.

        Raises:
            NotFound: There is no such tenant.
        """
        rows = [
            {
                "path": path_of(item.namespace),
                "namespace": list(item.namespace),
                "key": item.key,
                "value": item.value,
                "text": item.text,
                "ttl_s": item.ttl_s,
                "expires_at": item.expires_at,
                "vector": None if item.vector is None else stored(item.vector),
            }
            for item in items
        ]

        async def write(work: Work) -> int:
            await lock_tenant(work, tenant)
            (deleted,) = await work.run(
                _DELETE_ITEMS, tenant=tenant, rows=_addresses(gone), now=now
            )
            if rows:
                await work.run(_SAVE_ITEMS, tenant=tenant, rows=rows, now=now)
            return deleted

        return await self._graph.change("items.write", write)

    async def find(self, tenant: TenantId, keys: Sequence[ItemKey], now: datetime) -> list[Item]:
        """Find items by address."""
        return await self._graph.run(_FIND_ITEMS, tenant=tenant, rows=_addresses(keys), now=now)

    async def newest(
        self, tenant: TenantId, prefix: Namespace, now: datetime, offset: int, limit: int
    ) -> list[Item]:
        """List items under a namespace, the last written first."""
        return await self._graph.run(
            _LIST_NEWEST, tenant=tenant, path=path_of(prefix), now=now, offset=offset, limit=limit
        )

    async def nearest(
        self, tenant: TenantId, prefix: Namespace, vector: Vector, fetch: int
    ) -> list[Item]:
        """List the items nearest to a vector under a namespace, also those whose life is over."""
        path = path_of(prefix)
        return await self._graph.run(
            _LIST_NEAREST,
            tenant=tenant,
            path_from=path,
            path_before=path[:-1] + _AFTER_END if path else _LAST,
            vector=packed(vector),
            fetch=fetch,
        )

    async def namespaces(
        self, tenant: TenantId, prefix: Namespace, now: datetime
    ) -> list[Namespace]:
        """List the namespaces under another."""
        return await self._graph.run(
            _LIST_NAMESPACES, tenant=tenant, path=path_of(prefix), now=now
        )

    async def refresh(
        self, tenant: TenantId, keys: Sequence[ItemKey], now: datetime
    ) -> Mapping[tuple[Namespace, str], datetime]:
        """Start the lives of items again; return their new ends."""
        rows = await self._graph.run(_RENEW_ITEMS, tenant=tenant, rows=_addresses(keys), now=now)
        return {(row.namespace, row.key): row.expires_at for row in rows}


def path_of(namespace: Namespace) -> str:
    """Write a namespace as one text that sorts by labels."""
    # The vector index filters by a range of these paths (decision 0036).
    return "".join(label + _END for label in namespace)


def _addresses(keys: Sequence[ItemKey]) -> list[dict[str, str]]:
    return [{"path": path_of(key.namespace), "key": key.key} for key in keys]
