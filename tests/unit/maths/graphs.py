"""The worked example the spreading kernels share, and random graphs."""

import numpy as np
from hypothesis import strategies as st

from ecphoria.maths.adjacency import Adjacency, transition
from ecphoria.maths.arrays import FloatArray

NEXT_30_DAYS = float(np.exp(-0.3))
EXAMPLE_ENERGY = np.array([0.75, 0.25, 0.0, 0.0, 0.0])
EXAMPLE_TAIL = [0, 0, 1, 3]
EXAMPLE_HEAD = [1, 2, 2, 2]
EXAMPLE_WEIGHT = [NEXT_30_DAYS, 0.64, 0.48, 0.56]
EXAMPLE_DEGREE = [[1, 1], [1, 1], [0, 3], [0, 1], [0, 0]]


def example(*, fan_power: float = 1.0, row_guard: bool = True) -> Adjacency:
    return transition(
        EXAMPLE_TAIL,
        EXAMPLE_HEAD,
        [0, 1, 1, 1],
        EXAMPLE_WEIGHT,
        degree=EXAMPLE_DEGREE,
        gain=[[1, 1], [1, 1]],
        fan_power=fan_power,
        row_guard=row_guard,
    )


def dense(graph: Adjacency) -> FloatArray:
    matrix = np.zeros((graph.size, graph.size))
    np.add.at(matrix, (graph.tails(), graph.indices), graph.weights)
    return matrix


def _ends(edge: tuple[int, int, int, float]) -> tuple[int, int, int]:
    tail, head, kind, _ = edge
    return min(tail, head), max(tail, head), kind


@st.composite
def random_graphs(draw: st.DrawFn, *, most: int = 8) -> Adjacency:
    n = draw(st.integers(2, most))
    node = st.integers(0, n - 1)
    edges = draw(
        st.lists(
            st.tuples(node, node, st.integers(0, 1), st.floats(0.01, 1)),
            max_size=16,
            unique_by=_ends,
        )
    )
    return transition(
        [tail for tail, _, _, _ in edges],
        [head for _, head, _, _ in edges],
        [kind for _, _, kind, _ in edges],
        [weight for _, _, _, weight in edges],
        degree=np.zeros((n, 2)),
        gain=[[1, 0.5], [0.8, 1]],
    )
