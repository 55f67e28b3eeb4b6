"""Bodies of the item calls: JSON objects by namespace and key."""

from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue
from pydantic.config import JsonDict

from ecphoria.records.item import Item, ItemKey, ItemSearch, ItemWrite, NamespaceSearch
from ecphoria.wire.base import (
    Answer,
    FewFaults,
    Key,
    Listing,
    Request,
    StrictBool,
    StrictFloat,
    StrictInt,
)

Labels = Annotated[tuple[Annotated[Key, Field(min_length=1)], ...], FewFaults]
"""A namespace."""

_MOST = 1_000
_WRITES: JsonDict = {
    "items": [
        {
            "namespace": ["users", "ana", "preferences"],
            "key": "food",
            "value": {"likes": ["sardines", "figs"], "allergy": "walnuts"},
        },
        {
            "namespace": ["users", "ana"],
            "key": "draft",
            "value": {"text": "Dear Bo"},
            "ttl_s": 3600,
        },
    ]
}
_SEARCH: JsonDict = {
    "namespace": ["users", "ana"],
    "query": "What must Ana not eat?",
    "filter": {"allergy": {"$ne": None}},
}
_ADDRESSES: JsonDict = {
    "keys": [
        {"namespace": ["users", "ana", "preferences"], "key": "food"},
        {"namespace": ["users", "ana"], "key": "draft"},
    ]
}
_NAMESPACES: JsonDict = {"prefix": ["users", "*"], "max_depth": 2}


class ItemWriteRequest(Request):
    """An item to store, replace or delete."""

    namespace: Labels = Field(min_length=1, max_length=32)
    """Its namespace, from the outside in; labels may hold dots and slashes."""
    key: Key
    """Its key within the namespace."""
    value: dict[str, JsonValue] | None
    """The JSON object to store, at most 262,144 characters; null deletes the item."""
    text: str | None = None
    """Words by which a search finds it; those of the value if absent, none if empty."""
    ttl_s: StrictFloat | None = None
    """Seconds of life after this write, or after a read with `refresh`; unlimited if absent."""

    def to_model(self) -> ItemWrite:
        """Hand over to the domain."""
        return ItemWrite(
            namespace=self.namespace,
            key=self.key,
            value=self.value,
            text=self.text,
            ttl_s=self.ttl_s,
        )


class ItemsRequest(Request):
    """Items to store, replace or delete in one transaction."""

    model_config = ConfigDict(json_schema_extra={"examples": [_WRITES]})

    items: Annotated[tuple[ItemWriteRequest, ...], FewFaults] = Field(max_length=_MOST)
    """The writes; of two with the same address the last one counts."""


class ItemAddress(Request):
    """The address of an item."""

    namespace: Labels = Field(min_length=1, max_length=32)
    """Its namespace, from the outside in."""
    key: Key
    """Its key within the namespace."""

    def to_model(self) -> ItemKey:
        """Hand over to the domain."""
        return ItemKey(namespace=self.namespace, key=self.key)


class FindRequest(Request):
    """Items to find by address."""

    model_config = ConfigDict(json_schema_extra={"examples": [_ADDRESSES]})

    keys: Annotated[tuple[ItemAddress, ...], FewFaults] = Field(max_length=_MOST)
    """Their addresses."""
    refresh: StrictBool = False
    """Start their lives again."""


class SearchRequest(Request):
    """A search for items."""

    model_config = ConfigDict(json_schema_extra={"examples": [_SEARCH]})

    namespace: Labels = Field(default=(), max_length=32)
    """Only items whose namespace begins with these labels; all if absent."""
    query: str | None = Field(default=None, max_length=32_768)
    """Rank by meaning; the last written come first if absent."""
    filter: dict[str, JsonValue] | None = None
    """Conditions on fields of the value: a value to equal, or `$eq`, `$ne`, `$gt`, `$gte`, `$lt`,
    `$lte`; an object is compared field by field."""
    limit: StrictInt = Field(default=10, ge=1, le=1_000)
    """Number of items."""
    offset: StrictInt = Field(default=0, ge=0, le=1_000_000)
    """Number of items to leave out first."""
    refresh: StrictBool = False
    """Start the lives of the found items again."""

    def to_model(self) -> ItemSearch:
        """Hand over to the domain."""
        return ItemSearch(
            prefix=self.namespace,
            query=self.query,
            where=self.filter,
            limit=self.limit,
            offset=self.offset,
            refresh=self.refresh,
        )


class NamespacesRequest(Request):
    """A search for namespaces."""

    model_config = ConfigDict(json_schema_extra={"examples": [_NAMESPACES]})

    prefix: Labels = Field(default=(), max_length=32)
    """First labels; `*` stands for any one."""
    suffix: Labels = Field(default=(), max_length=32)
    """Last labels; `*` stands for any one."""
    max_depth: StrictInt | None = Field(default=None, ge=1, le=32)
    """Cut namespaces to this many labels, each result once."""
    limit: StrictInt = Field(default=100, ge=1, le=1_000)
    """Number of namespaces."""
    offset: StrictInt = Field(default=0, ge=0, le=1_000_000)
    """Number of namespaces to leave out first."""

    def to_model(self) -> NamespaceSearch:
        """Hand over to the domain."""
        return NamespaceSearch(
            prefix=self.prefix,
            suffix=self.suffix,
            max_depth=self.max_depth,
            limit=self.limit,
            offset=self.offset,
        )


class ItemsWrittenAnswer(Answer):
    """The result of a write of items."""

    deleted: int
    """Number of deleted items that existed. Of several deletions of one item, one counts it."""


class ItemsAnswer(Listing[Item]):
    """Items in the order that was asked for."""


class NamespacesAnswer(Listing[tuple[str, ...]]):
    """Namespaces in alphabetical order, each from the outside in."""
