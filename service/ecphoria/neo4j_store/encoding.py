"""Make the maps that the driver sends of records; the twin of `decoding.py`.

The annotation of a field tells what its value becomes.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, get_origin, get_type_hints

import numpy as np

from ecphoria.maths.arrays import rounded
from ecphoria.neo4j_store.decoding import Converter, without_none
from ecphoria.neo4j_store.filters import metadata_text
from ecphoria.ports import Vector
from ecphoria.records.episode import EPOCH

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def encoded(record: "DataclassInstance", *names: str) -> dict[str, object]:
    """Write the named fields of a record as a map, or all fields if none is named.

    A vector becomes bytes, metadata become JSON, and an instant becomes a list: its seconds since
    1970, and its nanoseconds. Other values stay.
    """
    made: dict[str, object] = {}
    for name, step in _steps(type(record), names):
        value = getattr(record, name)
        made[name] = value if step is None or value is None else step(value)
    return made


@lru_cache(maxsize=256)
def _steps(
    kind: "type[DataclassInstance]", names: tuple[str, ...]
) -> tuple[tuple[str, Converter | None], ...]:
    hints = get_type_hints(kind)
    return tuple((name, _step(hints[name])) for name in names or kind.__dataclass_fields__)


def _step(hint: Any) -> Converter | None:
    kind = without_none(hint)
    return _CONVERTERS.get(get_origin(kind) or kind)


def stored(vector: Vector | Sequence[float]) -> bytes:
    """Give the bytes of a vector, [d], as the store keeps them, one a number (decision 0108)."""
    return rounded(vector).tobytes()


def _instant(at: datetime) -> list[int]:
    # The driver packs two numbers fifty times faster than a datetime.
    since = at - EPOCH
    return [since.days * 86_400 + since.seconds, since.microseconds * 1_000]


_CONVERTERS: Final[Mapping[Any, Converter]] = {
    datetime: _instant,
    np.ndarray: stored,
    Mapping: metadata_text,
}
