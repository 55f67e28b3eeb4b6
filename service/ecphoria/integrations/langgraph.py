"""LangGraph: a store; needs the extra `langgraph`."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)
from langgraph.store.base.embed import get_text_at_path, tokenize_path

from ecphoria.client import Client
from ecphoria.client.exchange import body_of
from ecphoria.errors import InvalidInput
from ecphoria.integrations.shared import in_pages
from ecphoria.records import item as records
from ecphoria.records.item import ItemKey, ItemWrite
from ecphoria.runtime import in_parts

_MOST: Final = 1_000
"""Items of one call."""


# The synchronous client, because LangGraph calls a store from several event loops (decision 0036).
class EcphoriaStore(BaseStore):
    """Keeps the items of a LangGraph store as items of the memory.

    Every item can be searched by meaning, with the service's embedding model: by the words of its
    value, or of the fields in `index`. Expired items are never returned.

    Args:
        client: The memory: a `Client`, or a `Memory` in this process.
        index: Fields whose words a search finds, if a `put` does not name them; the whole value
            if absent.
        ttl: Life of items, in minutes, as for the other stores of LangGraph.
    """

    supports_ttl = True

    def __init__(
        self,
        client: Client | None = None,
        *,
        index: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self._client = client or Client()
        self._fields = None if index is None else tuple(index)
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: first all that read, then all writes; of a key the last write counts.

        Up to 1,000 writes are one transaction.

        Raises:
            InvalidInput: An operation cannot be; nothing of the batch was written.
            TooLarge: A value or name is over its bound; nothing of the batch was written.
        """
        given = list(ops)
        # Each write is checked before the first is sent.
        writes = {
            (op.namespace, op.key): self._write_of(op) for op in given if isinstance(op, PutOp)
        }
        results: list[Result] = [None] * len(given)
        for place, item in self._found(given):
            results[place] = item
        for place, op in enumerate(given):
            if isinstance(op, SearchOp):
                results[place] = self._search(op)
            elif isinstance(op, ListNamespacesOp):
                results[place] = self._namespaces(op)
        for part in in_parts(list(writes.values()), _MOST):
            self._client.items.write(part)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations like `batch`, in a thread."""
        # An asynchronous client belongs to one event loop, and LangGraph has several (decision
        # 0036).
        return await asyncio.to_thread(self.batch, list(ops))

    def _found(self, ops: Sequence[Op]) -> Iterator[tuple[int, Item]]:
        wanted = [(op.refresh_ttl, n, op) for n, op in enumerate(ops) if isinstance(op, GetOp)]
        wanted.sort(key=lambda each: each[:2])
        for refresh, group in groupby(wanted, key=lambda each: each[0]):
            for part in in_parts(list(group), _MOST):
                keys = [body_of(ItemKey, namespace=op.namespace, key=op.key) for _, _, op in part]
                found = self._client.items.find(keys, refresh=refresh)
                items = {(item.namespace, item.key): item for item in found}
                # By the keys that were sent: there a letter with an accent has one form.
                for key, (_, place, _) in zip(keys, part, strict=True):
                    if item := items.get((key.namespace, key.key)):
                        yield place, Item(**_fields_of(item))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        found = in_pages(
            lambda most, seen: self._client.items.search(
                op.namespace_prefix,
                query=op.query or None,
                where=op.filter,
                limit=most,
                offset=seen,
                refresh=op.refresh_ttl,
            ),
            most=_MOST,
            limit=op.limit,
            offset=op.offset,
        )
        return [SearchItem(**_fields_of(item), score=item.score) for item in found]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions: dict[str, tuple[str, ...]] = {}
        for condition in op.match_conditions or ():
            if condition.match_type not in {"prefix", "suffix"}:
                raise InvalidInput(f"there is no match type {condition.match_type}")
            if condition.match_type in conditions:
                raise InvalidInput(
                    f"two conditions are a {condition.match_type}; send one of each"
                )
            conditions[condition.match_type] = tuple(condition.path)
        found = in_pages(
            lambda most, seen: self._client.items.namespaces(
                conditions.get("prefix", ()),
                suffix=conditions.get("suffix", ()),
                max_depth=op.max_depth,
                limit=most,
                offset=seen,
            ),
            most=_MOST,
            limit=op.limit,
            offset=op.offset,
        )
        return [tuple(one) for one in found]

    def _write_of(self, op: PutOp) -> ItemWrite:
        write = body_of(
            ItemWrite,
            namespace=op.namespace,
            key=op.key,
            value={} if op.value is None else op.value,
            text=None if op.value is None else self._text_of(op.value, op.index),
            ttl_s=None if op.ttl is None else op.ttl * 60,
        )
        return write if op.value is not None else replace(write, value=None)

    def _text_of(self, value: Mapping[str, Any], index: Any) -> str | None:
        if index is False:
            return ""
        fields = self._fields if index is None else index
        if fields is None or "$" in fields:
            return None
        words = (get_text_at_path(value, tokenize_path(field)) for field in fields)
        return "\n".join(text for texts in words for text in texts)


def _fields_of(item: records.Item) -> dict[str, Any]:
    return {
        "namespace": item.namespace,
        "key": item.key,
        "value": dict(item.value),
        "created_at": item.created_at,
        "updated_at": item.updated_at,
    }
