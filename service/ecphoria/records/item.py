"""Items: JSON objects that an agent keeps by namespace and key, beside its episodes."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field, JsonValue
from pydantic.config import JsonDict

from ecphoria.records.answered import answered
from ecphoria.records.asked import FewFaults, StrictBool, StrictFloat, StrictInt, asked
from ecphoria.records.forms import composed

Namespace = tuple[str, ...]
"""The place of an item, from the outside in, such as `("users", "ana", "preferences")`."""


_TEXT_LIMIT: Final = 32_768
"""Characters that are embedded; the encoder reads the beginning of a text."""
_LABELS: Final = 32
_CENTURY_S: Final = 100 * 366 * 86_400
_Label = Annotated[str, Field(min_length=1), AfterValidator(composed)]
"""A key, or one label of a namespace."""
_Labels = Annotated[tuple[_Label, ...], FewFaults, Field(max_length=_LABELS)]
_Place = Annotated[tuple[_Label, ...], FewFaults, Field(min_length=1, max_length=_LABELS)]


def _finite(value: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Refuse what JSON cannot write; pydantic would send it as null."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        raise ValueError("Holds a number that JSON cannot write, such as NaN; remove it") from None
    return value


_Object = Annotated[Mapping[str, JsonValue], AfterValidator(_finite)]
_SEARCH: JsonDict = {
    "namespace": ["users", "ana"],
    "query": "What must Ana not eat?",
    "filter": {"allergy": {"$ne": None}},
}
_NAMESPACES: JsonDict = {"prefix": ["users", "*"], "max_depth": 2}


@answered("score", "expires_at")
@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A JSON object under a namespace and a key."""

    namespace: Namespace
    """Its namespace, from the outside in."""
    key: str
    """Its key within the namespace."""
    value: Mapping[str, Any]
    """The object as it was stored."""
    created_at: datetime
    """Time of the first write."""
    updated_at: datetime
    """Time of the last write."""
    expires_at: datetime | None = None
    """End of its life; absent if it has none."""
    score: float | None = None
    """Cosine of its text and the query; absent without a query."""


@asked()
@dataclass(frozen=True, slots=True, kw_only=True)
class ItemKey:
    """The address of an item."""

    namespace: _Place
    """Its namespace, from the outside in."""
    key: _Label
    """Its key within the namespace."""


@asked()
@dataclass(frozen=True, slots=True, kw_only=True)
class ItemWrite:
    """An item to store, replace or delete."""

    namespace: _Place
    """Its namespace, from the outside in; labels may hold dots and slashes."""
    key: _Label
    """Its key within the namespace."""
    value: _Object | None
    """The JSON object to store, at most 262,144 characters; null deletes the item."""
    text: str | None = None
    """Words by which a search finds it; those of the value if absent, none if empty."""
    ttl_s: Annotated[StrictFloat, Field(gt=0, le=_CENTURY_S, allow_inf_nan=False)] | None = None
    """Seconds of life after this write, or after a read with `refresh`; unlimited if absent."""


@asked(_SEARCH)
@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSearch:
    """A search for items."""

    namespace: _Labels = ()
    """Only items whose namespace begins with these labels; all if absent."""
    query: Annotated[str, Field(max_length=_TEXT_LIMIT)] | None = None
    """Rank by meaning; the last written come first if absent."""
    filter: _Object | None = None
    """Conditions on fields of the value: a value to equal, or `$eq`, `$ne`, `$gt`, `$gte`, `$lt`,
    `$lte`; an object is compared field by field."""
    limit: Annotated[StrictInt, Field(ge=1, le=1_000)] = 10
    """Number of items."""
    offset: Annotated[StrictInt, Field(ge=0, le=1_000_000)] = 0
    """Number of items to leave out first."""
    refresh: StrictBool = False
    """Start the lives of the found items again."""


@asked(_NAMESPACES)
@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceSearch:
    """A search for namespaces."""

    prefix: _Labels = ()
    """First labels; `*` stands for any one."""
    suffix: _Labels = ()
    """Last labels; `*` stands for any one."""
    max_depth: Annotated[StrictInt, Field(ge=1, le=_LABELS)] | None = None
    """Cut namespaces to this many labels, each result once."""
    limit: Annotated[StrictInt, Field(ge=1, le=1_000)] = 100
    """Number of namespaces."""
    offset: Annotated[StrictInt, Field(ge=0, le=1_000_000)] = 0
    """Number of namespaces to leave out first."""


def searched_text(value: Mapping[str, Any] | None, text: str | None) -> str:
    """Give the words by which a search finds an item: the caller's, or those of the value."""
    return ("\n".join(_words(value)) if text is None else text)[:_TEXT_LIMIT]


def _words(value: Any, name: str = "") -> Iterator[str]:
    """Write a value for the encoder: a line each text or number, with the name of its field."""
    match value:
        case None | bool():
            return
        case Mapping():
            for inner_name, inner in value.items():
                yield from _words(inner, str(inner_name))
        case list() | tuple():
            for inner in value:
                yield from _words(inner, name)
        case _:
            yield f"{name}: {value}" if name else str(value)
