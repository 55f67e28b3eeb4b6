"""Bodies of the item calls: JSON objects by namespace and key."""

from typing import Annotated

from pydantic import Field
from pydantic.config import JsonDict

from ecphoria.records.asked import FewFaults, StrictBool
from ecphoria.records.item import Item, ItemKey, ItemWrite
from ecphoria.wire.base import Answer, Listing, Request

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
_ADDRESSES: JsonDict = {
    "keys": [
        {"namespace": ["users", "ana", "preferences"], "key": "food"},
        {"namespace": ["users", "ana"], "key": "draft"},
    ]
}


class ItemsRequest(Request, json_schema_extra={"examples": [_WRITES]}):
    """Items to store, replace or delete in one transaction."""

    items: Annotated[tuple[ItemWrite, ...], FewFaults] = Field(max_length=_MOST)
    """The writes; of two with the same address the last one counts."""


class FindRequest(Request, json_schema_extra={"examples": [_ADDRESSES]}):
    """Items to find by address."""

    keys: Annotated[tuple[ItemKey, ...], FewFaults] = Field(max_length=_MOST)
    """Their addresses."""
    refresh: StrictBool = False
    """Start their lives again."""


class ItemsWrittenAnswer(Answer):
    """The result of a write of items."""

    deleted: int
    """Number of deleted items that existed. If several calls delete one item, one counts it."""


class ItemsAnswer(Listing[Item]):
    """Items in the order that was asked for."""


class NamespacesAnswer(Listing[tuple[str, ...]]):
    """Namespaces in alphabetical order, each from the outside in."""
