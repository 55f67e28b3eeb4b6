import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.fusion import rank


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12), st.integers(0, 14))
def test_it_agrees_with_sorting_by_hand(rows: list[tuple[int, int]], k: int) -> None:
    parts = np.array(rows, dtype=float).reshape(-1, 2)
    order = np.arange(len(rows))[::-1]
    by_hand = sorted(range(len(rows)), key=lambda i: (-sum(rows[i]), order[i]))
    assert rank(parts, order, k).tolist() == by_hand[:k]


def test_the_order_of_adding_makes_no_difference() -> None:
    parts = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]
    assert sum(parts[0]) != sum(parts[1])
    assert rank(parts, [1, 0], 2).tolist() == [1, 0]
