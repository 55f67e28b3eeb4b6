"""Reliability and salience: the worked numbers, and what must hold of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.retention import reliability, salience

SHARE = st.floats(0, 1)
COUNT = st.integers(0, 10_000)


def test_the_worked_numbers() -> None:
    assert reliability([0.7], [3], [1]).tolist() == pytest.approx([0.725])
    assert reliability([0.9, 0.7], [0, 0], [0, 0]).tolist() == pytest.approx([0.9, 0.7])
    assert salience([0.5, 0.5], [1, 0]).tolist() == pytest.approx([0.55, 0.45])


@given(SHARE, COUNT, COUNT)
def test_reliability_follows_the_judgements(first: float, useful: int, useless: int) -> None:
    (now,) = reliability([first], [useful], [useless])
    (better,) = reliability([first], [useful + 1], [useless])
    (worse,) = reliability([first], [useful], [useless + 1])
    assert 0 <= worse <= now <= better <= 1


@given(SHARE, st.lists(st.booleans(), max_size=200))
def test_salience_stays_within_its_bounds(level: float, judgements: list[bool]) -> None:
    now = np.array([level])
    for useful in judgements:
        after = salience(now, [useful])
        assert (after >= now).all() if useful else (after <= now).all()
        now = after
    assert 0 <= now[0] <= 1
