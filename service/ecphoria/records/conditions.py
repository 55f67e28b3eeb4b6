"""Conditions on values of JSON: of items, and of the metadata of memories."""

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from ecphoria.errors import InvalidInput

_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}

OPERATORS: Final = tuple(_COMPARISONS)
"""The names of the comparisons."""


def matches(value: Any, condition: Any) -> bool:
    """Tell whether a value of JSON meets a condition.

    A condition is a value to equal, or an object: of comparisons (`{"$gte": 4, "$lt": 9}`), or
    of conditions on the fields of an object, which may have other fields as well. Numbers compare
    by value, so 1 equals 1.0. Values of different kinds are not equal, and neither is less: a
    text is not compared with a number.
    """
    if not isinstance(condition, Mapping):
        return _equal(value, condition)
    if any(name.startswith("$") for name in condition):
        return all(_compares(value, name, other) for name, other in condition.items())
    return isinstance(value, Mapping) and all(
        matches(value.get(name), inner) for name, inner in condition.items()
    )


def meets(entries: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Tell whether entries meet the conditions on them; a name may begin with `$` here."""
    return all(matches(entries.get(name), condition) for name, condition in wanted.items())


def check_condition(condition: Any) -> None:
    """Refuse comparisons that do not exist.

    Raises:
        InvalidInput: Names the operator, and the operators there are.
    """
    if isinstance(condition, Mapping):
        for name, inner in condition.items():
            if name.startswith("$") and name not in _COMPARISONS:
                raise InvalidInput(
                    f"there is no operator {name[:32]}; use one of {', '.join(OPERATORS)}",
                    field="filter",
                )
            if not name.startswith("$"):
                check_condition(inner)


def _compares(value: Any, name: str, other: Any) -> bool:
    compare = _COMPARISONS.get(name)
    if compare is None:
        return False
    if name == "$eq":
        return _equal(value, other)
    if name == "$ne":
        return not _equal(value, other)
    return _ordered(value, other) and compare(value, other)


def _equal(value: Any, other: Any) -> bool:
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return value.keys() == other.keys() and all(
            _equal(inner, other[name]) for name, inner in value.items()
        )
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(_equal, value, other))
    # In Python true equals 1; in JSON it does not.
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def _ordered(value: Any, other: Any) -> bool:
    if isinstance(value, bool) or isinstance(other, bool):
        return False
    numbers = isinstance(value, int | float) and isinstance(other, int | float)
    return numbers or (isinstance(value, str) and isinstance(other, str))
