from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from enum import StrEnum
from typing import Any

import numpy as np
import pytest
from neo4j.time import DateTime
from numpy.typing import NDArray

from ecphoria.neo4j_store.decoding import decoded, parsed
from ecphoria.records.ids import EpisodeId


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    colour: Colour
    at: time | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    id: EpisodeId
    colours: frozenset[Colour]
    parts: tuple[Part, ...]
    named: Mapping[str, Part] = field(default_factory=dict)
    weights: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    name: tuple[str, ...]
    weight: NDArray[np.float64]
    count: NDArray[np.int64]
    flag: NDArray[np.bool_]
    others: list[str]


def test_lists_become_what_the_fields_are() -> None:
    types = {
        "name": "LIST<STRING>",
        "weight": "LIST<FLOAT>",
        "count": "LIST<INTEGER>",
        "flag": "LIST<BOOLEAN>",
        "others": "LIST<STRING>",
    }
    (row,) = decoded(Columns, types, [[["a", "b"], [], [1, 2], [True], ["c"]]])
    assert row.name == ("a", "b")
    assert row.weight.dtype == np.float64
    assert row.weight.size == 0
    assert row.count.dtype == np.int64
    assert row.count.tolist() == [1, 2]
    assert row.flag.dtype == np.bool_
    assert row.flag.tolist() == [True]
    assert row.others == ["c"]


@pytest.mark.parametrize(
    ("row", "kind", "value", "made"),
    [
        (str, "STRING", "a", "a"),
        (EpisodeId, "STRING", "a", "a"),
        (Colour, "STRING", "red", Colour.RED),
        (datetime, "INSTANT", 1, datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)),
        (datetime, "LOCAL_INSTANT", [0, None], datetime(1970, 1, 1, tzinfo=UTC)),
        (datetime, "DATETIME", DateTime(2024, 1, 2, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=UTC)),
        (list[str], "LIST<STRING>", ["a"], ["a"]),
        (frozenset[str], "LIST<STRING>", ["a", "a"], frozenset({"a"})),
        (tuple[Part, ...], "LIST<JSON>", ['{"colour": "red"}'], (Part(colour=Colour.RED),)),
        (str, "STRING", None, None),
    ],
)
def test_the_row_of_one_column_is_its_value(row: Any, kind: str, value: Any, made: Any) -> None:
    assert decoded(row, {"one": kind}, [[value]]) == [made]


def test_a_local_instant_has_the_offset_of_where_it_was() -> None:
    (at,) = decoded(datetime, {"at": "LOCAL_INSTANT"}, [[[3_600_000_000, 90]]])
    assert at.isoformat() == "1970-01-01T02:30:00+01:30"


def test_the_row_of_two_columns_is_their_pair() -> None:
    types = {"id": "STRING", "vector": "EMBEDDING"}
    ((ident, read),) = decoded(tuple[str, NDArray[np.float32]], types, [["a", bytes([0, 127])]])
    assert ident == "a"
    assert read.dtype == np.float32
    assert read.tolist() == [0, 1]


def test_what_was_written_as_json_is_read_again() -> None:
    part = '{"colour": "red", "at": "10:30"}'
    text = f'{{"id": "a", "colours": ["red"], "parts": [{part}], "named": {{"one": {part}}}}}'
    made = Part(colour=Colour.RED, at=time(10, 30))
    assert parsed(Whole, text) == Whole(
        id=EpisodeId("a"), colours=frozenset({Colour.RED}), parts=(made,), named={"one": made}
    )


@pytest.mark.parametrize("text", ["1", "[]", '{"colour": "blue"}', '{"color": "red"}', "{}"])
def test_another_record_is_refused(text: str) -> None:
    with pytest.raises((ValueError, TypeError, KeyError, AttributeError)):
        parsed(Part, text)
