"""Make records of the columns that the driver gives.

The header of a query tells what the driver gives: an instant, a vector, JSON. The annotation of
the record's field tells what it becomes: a tuple, an array, an enumeration, a record.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import is_dataclass
from datetime import UTC, datetime, time, timedelta
from enum import Enum
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from neo4j.time import DateTime
from numpy.typing import NDArray

from ecphoria.maths.arrays import rounded, unit_vectors
from ecphoria.ports import Vector
from ecphoria.records.episode import EPOCH, in_offset

R = TypeVar("R")
Converter = Callable[..., Any]


def decoded(
    row: type[R], types: Mapping[str, str], records: Iterable[Iterable[object]]
) -> list[R]:
    """Make a row of each record, whose columns have these types, in order."""
    kind: Any = row
    made, steps = _plan(kind, tuple(types.items()))
    return [made(_converted(record, steps)) for record in records]


_Steps = tuple[tuple[int, Converter], ...]
"""Conversions by the place of their column."""


def _converted(record: Iterable[object], steps: _Steps) -> list[object]:
    values = list(record)
    for place, step in steps:
        if values[place] is not None:
            values[place] = step(values[place])
    return values


@lru_cache(maxsize=1_024)
def _plan(row: Any, columns: tuple[tuple[str, str], ...]) -> tuple[Converter, _Steps]:
    """Tell how a row is made of its columns."""
    names = tuple(name for name, _ in columns)
    steps = _steps(hints_of(row, names), (kind for _, kind in columns))
    if len(names) == 1:
        return lambda values: values[0], steps
    return (_maker(row, names) if is_dataclass(row) else tuple), steps


@lru_cache(maxsize=1_024)
def _record_plan(row: Any, names: tuple[str, ...]) -> tuple[Converter, _Steps]:
    """Tell how a record is made of the values of a map."""
    return _maker(row, names), _steps(_hints(row, names), [""] * len(names))


def hints_of(row: Any, names: Collection[str]) -> tuple[Any, ...]:
    """List the annotations of a row by column."""
    if len(names) == 1:
        return (row,)
    return _hints(row, names) if is_dataclass(row) else get_args(row)


def _hints(row: Any, names: Iterable[str]) -> tuple[Any, ...]:
    hints = get_type_hints(row)
    return tuple(hints[name] for name in names)


def _steps(hints: Iterable[Any], kinds: Iterable[str]) -> _Steps:
    found = enumerate(map(_step, kinds, hints))
    return tuple((place, step) for place, step in found if step is not None)


def _maker(row: Any, names: tuple[str, ...]) -> Converter:
    return lambda values: row(**dict(zip(names, values, strict=True)))


def _to_instant(value: int) -> datetime:
    return EPOCH + timedelta(microseconds=value)


def _to_local(value: tuple[int, int | None]) -> datetime:
    at, utc_offset = value
    return in_offset(_to_instant(at), utc_offset)


def _to_datetime(value: DateTime) -> datetime:
    return value.to_native().astimezone(UTC)


def read_vector(value: bytes | list[float]) -> Vector:
    """Read a stored vector, [d], as a unit vector."""
    return unit_vectors(_numbers(value))


def _numbers(value: bytes | list[float]) -> NDArray[np.int8]:
    # A list of numbers was written by another program, or before decision 0108.
    return np.frombuffer(value, np.int8) if isinstance(value, bytes) else rounded(value)


_NATIVE: Final[Mapping[str, Converter]] = {
    "DATETIME": _to_datetime,
    "INSTANT": _to_instant,
    "LOCAL_INSTANT": _to_local,
    "EMBEDDING": read_vector,
    "BYTES": _numbers,
    "JSON": json.loads,
    "LIST<JSON>": lambda texts: map(json.loads, texts),
}


def _step(kind: str, hint: Any) -> Converter | None:
    """Join the two conversions of a column; None if it has none."""
    native, shape = _NATIVE.get(kind), _shape(hint)
    if native is None or shape is None:
        return native or shape
    return lambda value: shape(native(value))


def _shape(hint: Any) -> Converter | None:
    """Give the conversion that an annotation asks for."""
    hint = without_none(hint)
    if get_origin(hint) is not None:
        return _gathered(get_origin(hint), get_args(hint))
    if is_dataclass(hint):
        return lambda value: _record(hint, value)
    if hint in {datetime, time}:
        return lambda value: _moment(hint, value)
    return hint if isinstance(hint, type) and issubclass(hint, Enum) else None


def without_none(hint: Any) -> Any:
    """Give the one type of a field that may be None; None if it may have several."""
    if get_origin(hint) not in {Union, UnionType}:
        return hint
    kinds = [part for part in get_args(hint) if part is not NoneType]
    return kinds[0] if len(kinds) == 1 else None


def _moment(kind: Any, value: object) -> object:
    """Read a time of a map or of JSON."""
    if isinstance(value, str):
        return kind.fromisoformat(value)
    return _to_datetime(value) if isinstance(value, DateTime) else value


def _gathered(origin: Any, parts: tuple[Any, ...]) -> Converter | None:
    if origin is np.ndarray:
        (kind,) = get_args(parts[1])
        return lambda value: np.asarray(value, kind)
    inner = _shape(parts[-1] if origin is Mapping else parts[0])
    if origin is Mapping:
        return inner and (lambda value: {name: inner(one) for name, one in value.items()})
    if origin is list and inner is None:
        return None
    if origin in {tuple, frozenset, list}:
        return lambda value: origin(value if inner is None else map(inner, value))
    return None


def parsed(row: type[R], text: str) -> R:
    """Read a record that was written as JSON."""
    made: R = _record(row, json.loads(text))
    return made


def _record(row: Any, columns: Mapping[str, Any]) -> Any:
    made, steps = _record_plan(row, tuple(columns))
    return made(_converted(columns.values(), steps))
