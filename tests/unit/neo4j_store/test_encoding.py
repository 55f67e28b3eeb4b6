"""Maps of records hold what the driver packs and the queries read."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
from neo4j.vector import Vector as PackedVector

from ecphoria.neo4j_store.encoding import encoded
from ecphoria.ports import Vector
from ecphoria.records.episode import MetadataValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    name: str
    at: datetime
    ends: datetime | None = None
    metadata: Mapping[str, MetadataValue]
    vector: Vector | None = None


BEFORE_1970 = datetime(1969, 12, 31, 23, 59, 58, 250_000, tzinfo=UTC)
ROW = Row(name="a", at=BEFORE_1970, metadata={"z": 1, "b": "ü"})


def test_every_field_becomes_an_entry() -> None:
    assert encoded(ROW) == {
        "name": "a", "at": [-2, 250_000_000], "ends": None, "metadata": '{"b": "ü", "z": 1}',
        "vector": None,
    }  # fmt: skip


def test_only_named_fields_are_written() -> None:
    assert encoded(ROW, "name", "ends") == {"name": "a", "ends": None}


def test_an_instant_is_the_same_in_every_offset() -> None:
    there = Row(
        name="a", at=BEFORE_1970.astimezone(timezone(timedelta(hours=-9))), metadata={},
    )  # fmt: skip
    assert encoded(there, "at") == encoded(ROW, "at")


def test_a_vector_is_packed() -> None:
    row = Row(name="a", at=BEFORE_1970, metadata={}, vector=np.array([0.6, 0.8], np.float32))
    packed = encoded(row, "vector")["vector"]
    assert isinstance(packed, PackedVector)
    assert packed.to_numpy().tolist() == row.vector.tolist()  # type: ignore[union-attr]  # it has one
