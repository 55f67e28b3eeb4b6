import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.kernels.neighbours import combined, mutual, rung, similarity

SHARE = st.floats(0, 1)
LISTS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=40)


@given(LISTS)
def test_mutual_pairs_are_those_that_list_each_other(entries: list[tuple[int, int]]) -> None:
    named = set(entries)
    expected = sorted(
        [one, other]
        for one in range(8)
        for other in range(one + 1, 8)
        if {(one, other), (other, one)} <= named
    )
    of, near = [one for one, _ in entries], [other for _, other in entries]
    assert mutual(of, near, size=8).tolist() == expected
    assert mutual(near, of, size=8).tolist() == expected


def test_no_nodes_have_no_pairs() -> None:
    assert mutual([], [], size=0).shape == (0, 2)


@given(SHARE, SHARE, SHARE)
def test_a_part_only_adds_and_the_order_of_parts_is_nothing(
    one: float, two: float, three: float
) -> None:
    whole = float(combined([one], [two], [three])[0])
    assert max(one, two, three) - 1e-12 <= whole <= 1.0
    assert whole == pytest.approx(float(combined([three], [one], [two])[0]))
    assert float(combined([one], [0], [0])[0]) == pytest.approx(one)


def test_similarity_is_a_share_of_the_cosine_above_zero() -> None:
    assert similarity([1, 0.5, 0, -1]).tolist() == pytest.approx([0.8, 0.4, 0, 0])
    with pytest.raises(ValueError, match="cosine"):
        similarity([1.1])


@given(st.integers(1, 100_000))
def test_the_rung_is_below_by_less_than_a_quarter_and_stays_until_the_next(total: int) -> None:
    step = rung(total)
    assert step <= total < step * 1.25 + 1
    assert rung(step) == step
    assert rung(total + 1) >= step


def test_climbing_visits_few_rungs() -> None:
    assert len({rung(total) for total in range(1, 10_001)}) < 45
