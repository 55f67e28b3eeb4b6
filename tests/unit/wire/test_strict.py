"""A body's numbers are numbers and its flags are flags: nothing is guessed from a text."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from ecphoria import wire
from ecphoria.wire.base import Parameters, Request


def bodies() -> Iterator[type[Request]]:
    for module in iter_modules(wire.__path__):
        for found in vars(import_module(f"{wire.__name__}.{module.name}")).values():
            if (
                isinstance(found, type)
                and issubclass(found, Request)
                and not issubclass(found, Parameters)
                and found.__module__.endswith(module.name)
            ):
                yield found


def fields() -> Iterator[tuple[type[Request], str, str]]:
    for body in bodies():
        for name, schema in body.model_json_schema()["properties"].items():
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
def test_a_value_of_another_type_is_refused(body: type[Request], name: str, kind: str) -> None:
    for value in WRONG[kind]:
        with pytest.raises(ValidationError) as refused:
            TypeAdapter(body).validate_python({name: value})
        assert any(fault["loc"][:1] == (name,) for fault in refused.value.errors()), value
