import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.hebbian import combined, round_down_to_step, similarity

SHARE = st.floats(0, 1)


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


@given(st.integers(1, 100_000))
def test_the_rung_is_below_by_less_than_a_quarter_and_stays_until_the_next(total: int) -> None:
    step = round_down_to_step(total)
    assert step <= total < step * 1.25 + 1
    assert round_down_to_step(step) == step
    assert round_down_to_step(total + 1) >= step


def test_climbing_visits_few_rungs() -> None:
    assert len({round_down_to_step(total) for total in range(1, 10_001)}) < 45
