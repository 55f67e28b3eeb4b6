from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.retention import SHARES, priority, quotas

PLENTY = (10_000, 10_000, 10_000)
ROOMS = st.tuples(*(st.integers(0, 80) for _ in range(3)))


@pytest.mark.parametrize(
    ("count", "expected"),
    [(64, (32, 19, 13)), (10, (5, 3, 2)), (7, (4, 2, 1)), (1, (1, 0, 0)), (0, (0, 0, 0))],
)
def test_the_quotas_of_the_specification(count: int, expected: tuple[int, ...]) -> None:
    assert quotas(count, PLENTY) == expected


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        ((0, 99, 99), (0, 8, 2)),  # the recent ones' five go to the next
        ((99, 0, 99), (8, 0, 2)),
        ((99, 99, 0), (7, 3, 0)),
        ((4, 3, 99), (4, 3, 3)),
        ((6, 99, 0), (6, 4, 0)),  # first to the recent, as far as there are any
    ],
)
def test_what_a_class_cannot_fill_passes_on_in_order(
    room: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert quotas(10, room) == expected


@given(st.integers(0, 200), ROOMS)
def test_as_many_are_taken_as_there_are_and_never_more(count: int, room: Sequence[int]) -> None:
    taken = quotas(count, room)
    assert sum(taken) == min(count, sum(room))
    assert all(0 <= one <= most for one, most in zip(taken, room, strict=True))


@given(st.integers(0, 10_000))
def test_with_plenty_each_class_is_within_one_of_its_share(count: int) -> None:
    for taken, share in zip(quotas(count, PLENTY), SHARES, strict=True):
        assert abs(taken - share * count) < 1.0


@given(st.integers(0, 200), ROOMS)
def test_no_class_gets_less_than_its_share_or_all_it_has(count: int, room: Sequence[int]) -> None:
    for taken, due, most in zip(quotas(count, room), quotas(count, PLENTY), room, strict=True):
        assert taken >= min(due, most)


UNIT = st.floats(0.0, 1.0)


@given(st.lists(st.tuples(UNIT, UNIT, UNIT, UNIT), max_size=9))
def test_priority_is_the_mean_of_its_terms(rows: list[tuple[float, ...]]) -> None:
    columns = list(zip(*rows, strict=True)) if rows else [(), (), (), ()]
    rated = priority(*columns)
    assert rated.tolist() == pytest.approx([sum(row) / 4 for row in rows])
