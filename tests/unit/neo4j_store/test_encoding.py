"""Maps of records hold what the driver packs and the queries read."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ecphoria.neo4j_store.decoding import read_vector
from ecphoria.neo4j_store.encoding import encoded, stored
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


def test_a_vector_becomes_a_byte_a_number() -> None:
    row = Row(name="a", at=BEFORE_1970, metadata={}, vector=np.array([-0.6, 0.8, 0], np.float32))
    assert encoded(row, "vector")["vector"] == np.array([-95, 127, 0], np.int8).tobytes()


VECTORS = arrays(
    np.float32, st.integers(1, 400), elements=st.floats(-1, 1, width=32), fill=st.nothing()
).filter(lambda vector: np.abs(vector).max() > 1e-3)


@given(VECTORS)
def test_a_stored_vector_keeps_its_direction(vector: Vector) -> None:
    read = read_vector(stored(vector))
    unit = vector / np.linalg.norm(vector)
    # Rounding changes a number by half a step at most, and steps are the largest number / 127.
    error = 0.5 * np.abs(unit).max() / 127 * np.sqrt(len(vector))
    assert read.dtype == np.float32
    assert abs(np.linalg.norm(read) - 1) < 1e-5
    assert 1 - read @ unit <= error**2 + 1e-5


@given(VECTORS)
def test_storing_a_stored_vector_again_changes_nothing(vector: Vector) -> None:
    once = stored(vector)
    assert stored(read_vector(once)) == once


def test_a_vector_that_another_program_stored_as_a_list_is_read() -> None:
    assert read_vector([3.0, 4.0]).tolist() == pytest.approx([0.6, 0.8], abs=0.004)
