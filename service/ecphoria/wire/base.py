"""What all bodies have in common: closed requests, open answers, instants in UTC."""

from collections.abc import Iterator, Sized
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

__all__ = [
    "Answer",
    "FewFaults",
    "Flat",
    "Instant",
    "Numbers",
    "Parameters",
    "Request",
    "StrictBool",
    "StrictFloat",
    "StrictInt",
]

_MOST_FIELDS: Final = 1_000
"""Fields of an object in a body. Above that each would only be refused one by one."""
_MOST_ITEMS: Final = 10_000
"""Items of a list in a body; more than any list may have."""


class Request(BaseModel):
    """A body sent by a caller; an unknown field is refused, so that a typo is not lost."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _bounded(cls, value: Any) -> Any:
        """Refuse what is far too long at once: to list every fault of it would take minutes."""
        if isinstance(value, dict):
            _bound("object", value, _MOST_FIELDS)
            for part in value.values():
                if isinstance(part, list):
                    _bound("list", part, _MOST_ITEMS)
                elif isinstance(part, dict):
                    _bound("object", part, _MOST_FIELDS)
        return value

    @field_validator("*", mode="after")
    @classmethod
    def _well_formed(cls, value: object) -> object:
        """Refuse what UTF-8 cannot write; JSON's escapes can spell it, nothing can store it."""
        for text in _texts(value):
            try:
                text.encode()
            except UnicodeEncodeError:
                raise ValueError(
                    "Holds half of a surrogate pair; send well-formed Unicode"
                ) from None
        return value


class Parameters(Request):
    """Parameters of an address; they come as text, so numbers are read from it."""


class Answer(BaseModel):
    """A body sent by the service; made from model values by attribute.

    Unknown fields are ignored, so that an older client reads a newer service.
    """

    model_config = ConfigDict(
        extra="ignore", frozen=True, from_attributes=True, use_attribute_docstrings=True
    )


def _bound(kind: str, value: Sized, most: int) -> None:
    if len(value) > most:
        raise PydanticCustomError(
            "too_long",  # pydantic's own type of this fault
            "A {kind} may have {max_length} parts.",
            {"kind": kind, "max_length": most},
        )


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(key)
            yield from _texts(inner)
    elif isinstance(value, tuple):
        for inner in value:
            yield from _texts(inner)


def _only_text(value: object) -> object:
    """Refuse numbers, which would silently be read as seconds since 1970."""
    if isinstance(value, datetime) or (isinstance(value, str) and not _is_number(value)):
        return value
    raise ValueError("Send an ISO 8601 instant such as 2026-03-01T09:30:00Z")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _to_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError("Lies outside the years 1 to 9999 in UTC") from None


Instant = Annotated[AwareDatetime, BeforeValidator(_only_text), AfterValidator(_to_utc)]
"""A point in time with an offset, read as UTC; a date or a time without offset is refused."""


def _flat(value: object) -> object:
    """Refuse at once what the union would refuse once for each of its members."""
    if isinstance(value, str | int | float):
        return value
    raise ValueError("Send text, a number, true or false.")


Flat = Annotated[str | int | float | bool, BeforeValidator(_flat)]
"""A value without parts, which keeps its type."""

StrictBool = Annotated[bool, Field(strict=True)]
StrictInt = Annotated[int, Field(strict=True)]
StrictFloat = Annotated[float, Field(strict=True)]
FewFaults: Any = Field(fail_fast=True)
"""On a list: the first item that cannot be read ends the reading of it."""
Numbers = Annotated[tuple[StrictFloat, ...], FewFaults]
"""A vector."""
