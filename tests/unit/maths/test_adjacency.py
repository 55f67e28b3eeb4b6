import numpy as np
from hypothesis import given

from ecphoria.maths.adjacency import Adjacency
from tests.unit.maths.graphs import dense, random_graphs


@given(random_graphs())
def test_it_multiplies_like_the_full_matrix(graph: Adjacency) -> None:
    value = np.arange(1.0, graph.size + 1)
    matrix = dense(graph)
    np.testing.assert_allclose(graph.push(value), matrix.T @ value, atol=1e-12)
    np.testing.assert_allclose(graph.row_sums(), matrix.sum(axis=1), atol=1e-12)


def test_self_loops_are_dropped_and_parallel_arcs_stay() -> None:
    graph = Adjacency.from_arcs([0, 0, 0], [0, 1, 1], [1.0, 0.2, 0.3], size=2)
    assert graph.indices.tolist() == [1, 1]
    assert graph.push(np.array([1.0, 0.0])).tolist() == [0.0, 0.5]


def test_a_graph_may_be_empty() -> None:
    graph = Adjacency.from_arcs([], [], [], size=0)
    assert graph.size == 0
    assert graph.push(np.zeros(0)).shape == (0,)
