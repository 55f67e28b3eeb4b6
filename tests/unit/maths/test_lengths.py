"""Long texts weigh less a word, lend less and tell less of any one thing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.lexical import bm25, lending_share, length_weight, relative_frequency, saturate


def test_a_text_of_mean_length_keeps_its_counts() -> None:
    same = relative_frequency([[3.0], [3.0]], length=[20, 40], mean_length=20, b=0.5)
    assert same[:, 0].tolist() == pytest.approx([3.0, 2.0])
    assert relative_frequency([[3.0]], length=[0], mean_length=0.0).tolist() == [[3.0]]


@given(st.floats(0.05, 3), st.floats(0, 1), st.integers(0, 500))
def test_relative_frequency_then_saturation_is_bm25(k1: float, b: float, length: int) -> None:
    tf, weight = np.array([[0.0, 2.0, 5.0]]), np.array([1.5, 0.5, 2.0])
    relative = relative_frequency(tf, length=[length], mean_length=50.0, b=b)
    direct = bm25(tf, qtf=np.ones(3), idf=weight, length=[length], mean_length=50.0, k1=k1, b=b)
    if 1 - b + b * length / 50 > 1e-6:
        assert saturate(relative, weight=weight, k1=k1) == pytest.approx(direct)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20))
def test_longer_turns_lend_less_and_short_ones_all(lengths: list[float]) -> None:
    ordered = np.sort(np.array(lengths))
    shares = lending_share(ordered)
    assert ((shares > 0) & (shares <= 1)).all()
    assert (np.diff(shares) <= 1e-12).all()
    assert (shares[ordered <= 10] == 1).all()


def test_the_most_telling_turn_has_thirty_stems() -> None:
    weights = length_weight(np.arange(1_000))
    assert weights.argmax() == 29
    assert weights.max() == 1.0
    assert (np.diff(weights[:30]) >= 0).all()
    assert (np.diff(weights[30:]) < 0).all()
