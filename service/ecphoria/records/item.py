"""Items: JSON objects that an agent keeps by namespace and key, beside its episodes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ecphoria.records.answered import answered

Namespace = tuple[str, ...]
"""The place of an item, from the outside in, such as `("users", "ana", "preferences")`."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemKey:
    """The address of an item."""

    namespace: Namespace
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemWrite:
    """An item to store, replace or delete.

    Attributes:
        value: The JSON object; None deletes the item.
        text: The words by which a search finds it; the words of the value if None, none if empty.
        ttl_s: Seconds of life, counted from the last write or refresh; unlimited if None.
    """

    namespace: Namespace
    key: str
    value: Mapping[str, Any] | None
    text: str | None = None
    ttl_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSearch:
    """A search for items.

    Attributes:
        prefix: Only items whose namespace begins with these labels.
        query: Rank by similarity to this text; the newest first if None.
        where: Conditions on fields of the value, see `matches` in `records/conditions.py`.
        refresh: Start the lives of the found items again.
    """

    prefix: Namespace = ()
    query: str | None = None
    where: Mapping[str, Any] | None = None
    limit: int = 10
    offset: int = 0
    refresh: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceSearch:
    """A search for namespaces.

    Attributes:
        prefix, suffix: First and last labels; `*` stands for any one label.
        max_depth: Cut namespaces to this many labels.
    """

    prefix: Namespace = ()
    suffix: Namespace = ()
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


_TEXT_LIMIT: Final = 32_768
"""Characters that are embedded; the encoder reads the beginning of a text."""


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
