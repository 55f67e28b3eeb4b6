"""The mark of the records that the API answers as they are."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, with_config
from pydantic.config import JsonDict
from pydantic.json_schema import SkipJsonSchema

_Record = TypeVar("_Record", bound=type)

_Value = TypeVar("_Value")

Internal = Annotated[_Value, Field(exclude=True), SkipJsonSchema()]
"""A field that the API does not answer; it needs a default."""


def answered(*always: str) -> Callable[[_Record], _Record]:
    """Describe a record in the API, each field by the text under it.

    The client ignores fields that it does not know.

    Args:
        always: Fields with a default that every answer has all the same.
    """

    def require(schema: JsonDict) -> None:
        fields, required = schema["properties"], schema.get("required", [])
        assert isinstance(fields, dict), "a record has fields"
        assert isinstance(required, list), "names"
        for name in always:
            described = fields[name]
            assert isinstance(described, dict), "a field's description"
            described.pop("default", None)
        schema["required"] = [name for name in fields if name in required or name in always]

    return with_config(ConfigDict(use_attribute_docstrings=True, json_schema_extra=require))


_adapters: dict[object, TypeAdapter[Any]] = {}


def adapter(kind: Any) -> TypeAdapter[Any]:
    """Give the reader and writer of a type of answers, kept because one takes 50 ms to make."""
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def to_json(record: object, *, indent: int | None = None) -> str:
    """Write a record as the API answers it."""
    return adapter(type(record)).dump_json(record, indent=indent).decode()
