"""The mark of the records that the API answers as they are, and the words about their fields."""

import ast
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from threading import Lock
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

    The client ignores fields that it does not know. Fields with a default are in every answer only
    if they are among `always`.
    """

    def require(schema: JsonDict, record: type) -> None:
        describe(schema, record)
        fields, required = schema["properties"], schema.get("required", [])
        assert isinstance(fields, dict), "a record has fields"
        assert isinstance(required, list), "names"
        for name in always:
            described = fields[name]
            assert isinstance(described, dict), "a field's description"
            described.pop("default", None)
        schema["required"] = [name for name in fields if name in required or name in always]

    return with_config(ConfigDict(json_schema_extra=require))


def texts_of_fields(kind: type) -> dict[str, str]:
    """Read the text under each field of a class and of its bases.

    Pydantic can read it too, but it does so when a class is made, which costs every start of a
    command. Only the description of the API needs these texts.
    """
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.partition(".")[0] == __name__.partition(".")[0]:
            found |= _texts_of_module(base.__module__).get(base.__name__, {})
    return found


def describe(schema: JsonDict, kind: type) -> None:
    """Add the texts of the fields to the JSON schema of a class."""
    properties = schema.get("properties", {})
    assert isinstance(properties, dict), "a class has fields"
    for name, text in texts_of_fields(kind).items():
        field = properties.get(name)
        if isinstance(field, dict):
            field.setdefault("description", text)


@cache
def _texts_of_module(name: str) -> Mapping[str, Mapping[str, str]]:
    tree = ast.parse(inspect.getsource(sys.modules[name]))
    return {node.name: dict(_texts(node)) for node in tree.body if isinstance(node, ast.ClassDef)}


def _texts(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(node.body):
        if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
            continue
        text = below.value if isinstance(below, ast.Expr) else None
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            yield field.target.id, inspect.cleandoc(text.value)


_adapters: dict[object, TypeAdapter[Any]] = {}
_making = Lock()


def adapter(kind: Any) -> TypeAdapter[Any]:
    """Give the reader and writer of a type of answers, kept because one takes 50 ms to make."""
    made = _adapters.get(kind)
    if made is None:
        # One at a time, so that threads do not make the same one several times.
        with _making:
            if (made := _adapters.get(kind)) is None:
                made = _adapters[kind] = TypeAdapter(kind)
    return made


def to_json(record: object, *, indent: int | None = None) -> str:
    """Write a record as the API answers it."""
    return adapter(type(record)).dump_json(record, indent=indent).decode()
