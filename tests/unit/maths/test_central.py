import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.arrays import FloatArray
from ecphoria.maths.clustering import centrality, mmr_select


def unit(count: int, seed: int, dimension: int = 6) -> FloatArray:
    rows = np.random.default_rng(seed).normal(size=(count, dimension))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


@given(st.integers(1, 30), st.integers(0, 10_000))
def test_centrality_is_the_mean_cosine_to_all(count: int, seed: int) -> None:
    rows = unit(count, seed)
    np.testing.assert_allclose(centrality(rows), (rows @ rows.T).mean(axis=1), atol=1e-12)


@given(st.integers(1, 20), st.integers(0, 10_000), st.integers(1, 6))
def test_the_choice_does_not_depend_on_the_order_of_rows(
    count: int, seed: int, wanted: int
) -> None:
    rows = unit(count, seed)
    weight = np.random.default_rng(seed + 1).uniform(size=count)
    order = np.random.default_rng(seed + 2).permutation(count)
    chosen = mmr_select(rows, weight, count=wanted)
    again = mmr_select(rows[order], weight[order], count=wanted)
    assert order[again].tolist() == chosen.tolist()
    assert len(set(chosen.tolist())) == min(wanted, count)


def test_the_first_is_the_most_central_of_those_that_say_something() -> None:
    rows = unit(12, 4)
    best = int(np.argmax(centrality(rows)))
    assert mmr_select(rows, np.ones(12), count=1).tolist() == [best]
    silent = np.ones(12)
    silent[best] = 0.0
    assert mmr_select(rows, silent, count=1)[0] != best


def test_what_was_said_is_not_said_again() -> None:
    rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    assert mmr_select(rows, np.ones(4), count=3, novelty=0.5).tolist() == [2, 0, 3]
    assert mmr_select(rows, np.ones(4), count=3, novelty=0.0).tolist() == [2, 0, 1]


def test_nobody_is_chosen_from_nobody() -> None:
    assert mmr_select(np.empty((0, 3)), [], count=2).tolist() == []
