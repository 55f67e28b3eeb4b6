"""A body's numbers are numbers and its flags are flags: nothing is guessed from a text."""

from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from ecphoria import records, wire
from ecphoria.wire.base import Parameters, Request


def bodies() -> Iterator[type]:
    for package in (records, wire):
        for module in iter_modules(package.__path__):
            home = f"{package.__name__}.{module.name}"
            for found in vars(import_module(home)).values():
                if isinstance(found, type) and found.__module__ == home and _is_body(found):
                    yield found


def _is_body(kind: type) -> bool:
    if is_dataclass(kind):
        return bool(kind.__dict__.get("__pydantic_config__", {}).get("extra") == "forbid")
    return issubclass(kind, Request) and not issubclass(kind, Parameters)


def fields() -> Iterator[tuple[type, str, str]]:
    for body in bodies():
        for name, schema in TypeAdapter(body).json_schema().get("properties", {}).items():
            kinds = {each.get("type") for each in schema.get("anyOf", [schema])}
            for kind in sorted(kinds & {"integer", "number", "boolean"}):
                yield body, name, str(kind)


WRONG: dict[str, tuple[Any, ...]] = {
    "integer": ("1", True, 1.0),
    "number": ("1", True),
    "boolean": ("true", 1, 0.0),
}


@pytest.mark.parametrize(
    ("body", "name", "kind"),
    [pytest.param(*each, id=f"{each[0].__name__}.{each[1]}") for each in fields()],
)
def test_a_value_of_another_type_is_refused(body: type, name: str, kind: str) -> None:
    for value in WRONG[kind]:
        with pytest.raises(ValidationError) as refused:
            TypeAdapter(body).validate_python({name: value})
        assert any(fault["loc"][:1] == (name,) for fault in refused.value.errors()), value
