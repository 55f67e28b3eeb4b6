"""The item service: store, find, search and list items."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from typing import Any, Final

from ecphoria.errors import TooLarge
from ecphoria.items.store import ItemStore, StoredItem
from ecphoria.ports import Clock, Embedder, TextsNotEmbedded, Vector
from ecphoria.records.conditions import check_condition, matches
from ecphoria.records.episode import LONGEST_KEY
from ecphoria.records.ids import TenantId
from ecphoria.records.item import (
    Item,
    ItemKey,
    ItemSearch,
    ItemWrite,
    Namespace,
    NamespaceSearch,
    searched_text,
)
from ecphoria.text.tokens import check_readable

_VALUE_LIMIT: Final = 262_144
_NAMESPACE_LIMIT: Final = 1_000
"""Characters of all labels; with the key they are one index entry, of 8 kB at most."""
_PAGE: Final = 500
# Conditions on values are evaluated here, page by page, because Cypher cannot read JSON (decision
# 0036).
_FURTHEST: Final = 10_000
"""Largest number of candidates of a ranked search with a condition."""


class ItemService:
    """Stores items: JSON objects that are replaced by key."""

    def __init__(self, *, store: ItemStore, embedder: Embedder, clock: Clock) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock

    async def write(self, tenant: TenantId, writes: Sequence[ItemWrite]) -> int:
        """Store, replace and delete items in one transaction; the last write of a key wins.

        Returns:
            Number of deleted items that existed. If several callers delete the same item, only one
            counts it.

        Raises:
            InvalidInput: An address, value or time cannot be stored.
            TooLarge: One of them is over its bound.
            EncoderUnavailable: The model does not answer; nothing was written.
            NotFound: There is no such tenant.
        """
        # Items are replaced by key; an episode never is, because a replacement would leave old
        # values in recall (decision 0036).
        last = {(write.namespace, write.key): write for write in writes}
        texts = {}
        for address, write in last.items():
            _check_address(ItemKey(namespace=write.namespace, key=write.key))
            if write.value is not None:
                texts[address] = searched_text(write.value, write.text)
        wanted = {address: text for address, text in texts.items() if text.strip()}
        try:
            vectors = await self._embedder.embed(list(wanted.values())) if wanted else ()
        except TextsNotEmbedded as some:  # all or none are written
            raise some.faults[min(some.faults)] from some
        found: Mapping[tuple[Namespace, str], Vector] = dict(zip(wanted, vectors, strict=True))
        now = self._clock.now()
        items = [
            StoredItem(
                namespace=write.namespace,
                key=write.key,
                value=_text_of(write.value),
                created_at=now,
                updated_at=now,
                ttl_s=write.ttl_s,
                expires_at=None if write.ttl_s is None else now + timedelta(seconds=write.ttl_s),
                vector=found.get(address),
                text=None if write.text is None else texts[address],
            )
            for address, write in last.items()
            if write.value is not None
        ]
        gone = [
            ItemKey(namespace=write.namespace, key=write.key)
            for write in last.values()
            if write.value is None
        ]
        return await self._store.write(tenant, items, gone, now)

    async def find(
        self, tenant: TenantId, keys: Sequence[ItemKey], *, refresh: bool = False
    ) -> Sequence[Item]:
        """Find items by address; those that do not exist are left out.

        Args:
            tenant: Whose items.
            keys: Their addresses.
            refresh: Start their lives again.
        """
        for key in keys:
            _check_address(key)
        found = await self._store.find(tenant, keys, self._clock.now())
        return await self._refreshed(tenant, found, refresh=refresh)

    async def search(self, tenant: TenantId, wanted: ItemSearch) -> Sequence[Item]:
        """Search items under a namespace: the most similar first, or the newest.

        A ranked search with conditions tests the nearest 10,000 items.

        Raises:
            InvalidInput: A label or an operator is invalid.
            EncoderUnavailable: The model does not answer.
        """
        _check_labels(wanted.namespace)
        if wanted.filter is not None:
            check_condition(wanted.filter)
        if wanted.query is None:
            found = await self._newest(tenant, wanted)
        else:
            (vector,) = await self._embedder.embed([searched_text(None, wanted.query)])
            found = await self._nearest(tenant, wanted, vector)
        return await self._refreshed(tenant, found, refresh=wanted.refresh)

    async def namespaces(self, tenant: TenantId, wanted: NamespaceSearch) -> Sequence[Namespace]:
        """List namespaces in alphabetical order."""
        _check_labels(wanted.prefix)
        _check_labels(wanted.suffix)
        fixed = (
            wanted.prefix[: wanted.prefix.index("*")] if "*" in wanted.prefix else wanted.prefix
        )
        listed = await self._store.namespaces(tenant, fixed, self._clock.now())
        kept = {
            place[: wanted.max_depth]
            for place in listed
            if _fits(place[: len(wanted.prefix)], wanted.prefix)
            and _fits(place[len(place) - len(wanted.suffix) :], wanted.suffix)
            and len(place) >= max(len(wanted.prefix), len(wanted.suffix))
        }
        return sorted(kept)[wanted.offset : wanted.offset + wanted.limit]

    async def _newest(self, tenant: TenantId, wanted: ItemSearch) -> list[Item]:
        if wanted.filter is None:
            return await self._store.newest(
                tenant, wanted.namespace, self._clock.now(), wanted.offset, wanted.limit
            )
        met: list[Item] = []
        seen = 0
        while len(met) < wanted.offset + wanted.limit:
            page = await self._store.newest(
                tenant, wanted.namespace, self._clock.now(), seen, _PAGE
            )
            # A property for each field of any value would be one more schema, so conditions are
            # tested here (decision 0036).
            met += (item for item in page if matches(item.value, wanted.filter))
            seen += len(page)
            if len(page) < _PAGE:
                break
        return met[wanted.offset : wanted.offset + wanted.limit]

    async def _nearest(self, tenant: TenantId, wanted: ItemSearch, vector: Vector) -> list[Item]:
        now, enough = self._clock.now(), wanted.offset + wanted.limit
        fetch = min(_FURTHEST, max(50, enough if wanted.filter is None else 4 * enough))
        while True:
            found = await self._store.nearest(tenant, wanted.namespace, vector, fetch)
            met = (
                item
                for item in found
                if (item.expires_at is None or item.expires_at > now)
                and (wanted.filter is None or matches(item.value, wanted.filter))
            )
            kept = list(islice(met, wanted.offset, enough))
            if len(kept) == wanted.limit or len(found) < fetch or fetch == _FURTHEST:
                return kept
            fetch = min(_FURTHEST, 4 * fetch)

    async def _refreshed(
        self, tenant: TenantId, found: Sequence[Item], *, refresh: bool
    ) -> Sequence[Item]:
        dying = [item for item in found if item.expires_at is not None]
        if not refresh or not dying:
            return found
        keys = [ItemKey(namespace=item.namespace, key=item.key) for item in dying]
        ends = await self._store.refresh(tenant, keys, self._clock.now())
        return [
            replace(item, expires_at=ends.get((item.namespace, item.key), item.expires_at))
            for item in found
        ]


def _fits(labels: Namespace, pattern: Namespace) -> bool:
    return len(labels) == len(pattern) and all(
        wanted in ("*", label) for label, wanted in zip(labels, pattern, strict=True)
    )


def _check_address(address: ItemKey) -> None:
    _check_labels(address.namespace)
    check_readable("key", address.key, LONGEST_KEY)


def _check_labels(labels: Namespace) -> None:
    for label in labels:
        check_readable("namespace", label, _NAMESPACE_LIMIT)
    if sum(map(len, labels)) > _NAMESPACE_LIMIT:
        raise TooLarge(
            f"`namespace` may have {_NAMESPACE_LIMIT:,} characters in all its labels",
            field="namespace",
        )


def _text_of(value: Mapping[str, Any] | None) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if len(text) > _VALUE_LIMIT:
        raise TooLarge(
            f"`value` has {len(text):,} characters as JSON; at most {_VALUE_LIMIT:,} are stored, "
            "so split it",
            field="value",
        )
    return text
