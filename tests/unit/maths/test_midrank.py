import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from ecphoria.maths.fusion import midrank


def test_the_worked_example() -> None:
    page_rank = [0.265776, 0.23764, 0.330619, 0.12982]
    np.testing.assert_allclose(midrank(page_rank), [2 / 3, 1 / 3, 1, 0])


def test_ties_share_the_middle_and_rounding_makes_ties() -> None:
    np.testing.assert_allclose(midrank([1.0, 0.5, 0.5 + 1e-13]), [1.0, 0.25, 0.25])


@pytest.mark.parametrize("values", [[], [3.0]])
def test_nothing_to_compare_is_zero(values: list[float]) -> None:
    assert midrank(values).tolist() == [0.0] * len(values)


@given(st.lists(st.integers(0, 20).map(float), min_size=2, max_size=60))
def test_it_is_the_average_rank_scaled(values: list[float]) -> None:
    expected = (rankdata(values, method="average") - 1) / (len(values) - 1)
    np.testing.assert_allclose(midrank(values), expected, atol=1e-12)
