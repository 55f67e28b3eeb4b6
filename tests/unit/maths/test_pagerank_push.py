import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.adjacency import Adjacency
from ecphoria.maths.arrays import FloatArray
from ecphoria.maths.spreading import push
from tests.unit.maths.graphs import (
    EXAMPLE_ENERGY,
    EXAMPLE_HEAD,
    EXAMPLE_TAIL,
    EXAMPLE_WEIGHT,
    dense,
    random_graphs,
)


def example() -> Adjacency:
    tail, head = [*EXAMPLE_TAIL, *EXAMPLE_HEAD], [*EXAMPLE_HEAD, *EXAMPLE_TAIL]
    return Adjacency.from_arcs(tail, head, EXAMPLE_WEIGHT * 2, size=5)


def solved(graph: Adjacency, seeds: FloatArray, damping: float) -> FloatArray:
    matrix, s = dense(graph), seeds / seeds.sum()
    total = matrix.sum(axis=1, keepdims=True)
    walk = np.where(total > 0, matrix / np.where(total > 0, total, 1), s)
    return np.linalg.solve(np.eye(len(s)) - damping * walk.T, (1 - damping) * s)


def test_the_worked_example() -> None:
    result = push(example(), EXAMPLE_ENERGY, damping=0.5, epsilon=1e-9)
    expected = [0.497057, 0.285022, 0.186789, 0.0311316, 0]
    np.testing.assert_allclose(result, expected, atol=5e-6)
    assert result.sum() == pytest.approx(1, abs=1e-7)


def test_the_prior_of_the_worked_example() -> None:
    result = push(example(), np.ones(5), damping=0.85, epsilon=1e-10)
    expected = [0.265776, 0.23764, 0.330619, 0.12982, 0.0361446]
    np.testing.assert_allclose(result, expected, atol=5e-6)


@given(random_graphs(), st.integers(0, 7), st.floats(0, 0.95), st.sampled_from([1e-3, 1e-8]))
def test_it_falls_short_of_the_solution_by_what_is_left_behind(
    graph: Adjacency, seed: int, damping: float, epsilon: float
) -> None:
    seeds = np.zeros(graph.size)
    seeds[[seed % graph.size, 0]] = [1.0, 3.0]
    result = push(graph, seeds, damping=damping, epsilon=epsilon)
    short = solved(graph, seeds, damping) - result
    assert (short >= -1e-9).all()
    assert short.sum() == pytest.approx(1.0 - result.sum(), abs=1e-9)
    assert short.sum() <= epsilon * (graph.indices.size + graph.size) + 1e-9


def test_work_stays_where_the_mass_is() -> None:
    chain = Adjacency.from_arcs(range(999), range(1, 1000), np.ones(999), size=1000)
    result = push(chain, np.eye(1000)[0], epsilon=1e-4)
    assert not result[30:].any()


def test_without_seeds_nothing_is_found() -> None:
    assert not push(example(), np.zeros(5)).any()
