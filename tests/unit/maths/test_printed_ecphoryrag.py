"""The centre of a hop against EcphoryRAG's printed formulas in plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.clustering import hop, positive_cosine
from tests.printed.ecphoryrag import centre, unit


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.booleans())
def test_a_centre_is_the_printed_one(seed: int, count: int, softmax: bool) -> None:
    drawn = np.random.default_rng(seed)
    rows = np.array([unit(row) for row in drawn.normal(0.2, 1.0, (count, 5)).tolist()])
    cue = np.array(unit(drawn.normal(0.2, 1.0, 5).tolist()))
    near = positive_cosine(rows, cue)
    found = hop(rows, near, near, softmax=softmax)
    if not near.any():
        assert found is None
        return
    assert found is not None
    assert found.vector == pytest.approx(centre(rows.tolist(), cue.tolist(), softmax=softmax))


def test_the_two_printed_centres_differ() -> None:
    """By hand: weights .9 and .1 in a line; exp(.9) and exp(.1) in the softmax."""
    rows, near = [[1.0, 0.0], [0.0, 1.0]], [0.9, 0.1]
    linear, soft = hop(rows, near, near), hop(rows, near, near, softmax=True)
    assert linear is not None
    assert soft is not None
    assert linear.weights == pytest.approx([0.9, 0.1])
    assert soft.weights == pytest.approx([0.68997, 0.31003], abs=1e-5)
