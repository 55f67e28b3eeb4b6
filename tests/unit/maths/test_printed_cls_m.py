"""The kernels against the printed code of CLS-M."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.adjacency import Adjacency
from ecphoria.maths.spreading import HopOptions, edge_decay, spread_hops
from ecphoria.maths.spreading import damped as damped_arcs
from tests.printed.cls_m import damped, faded, spread_activation

NODES = 6
EDGES = st.dictionaries(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)).filter(
        lambda ends: ends[0] != ends[1]
    ),
    st.floats(0.05, 1),
    max_size=14,
)
SEEDS = st.dictionaries(st.integers(0, NODES - 1), st.floats(0.1, 1.2), min_size=1, max_size=3)


def kernel(
    edges: dict[tuple[int, int], float], seeds: dict[int, float], hops: int
) -> dict[str, float]:
    arcs = Adjacency.from_arcs(
        [tail for tail, _ in edges], [head for _, head in edges], list(edges.values()), size=NODES
    )
    start = [seeds.get(node, 0.0) for node in range(NODES)]
    run = spread_hops(arcs, start, options=HopOptions(hops=hops, threshold=0.1, aggregation="max"))
    return {str(node): float(value) for node, value in enumerate(run.activation) if value}


def printed(
    edges: dict[tuple[int, int], float], seeds: dict[int, float], *, in_place: bool
) -> dict[str, float]:
    graph: dict[str, dict[str, float]] = {}
    for (tail, head), weight in edges.items():
        graph.setdefault(str(tail), {})[str(head)] = weight
    levels = {str(node): level for node, level in seeds.items()}
    # As in the kernel, rounding must not keep a value from the threshold.
    found = spread_activation(graph, levels, threshold=0.1 - 1e-12, in_place=in_place)
    return {node: min(1.0, level) for node, level in found.items()}


@given(EDGES, SEEDS)
def test_the_best_way(edges: dict[tuple[int, int], float], seeds: dict[int, float]) -> None:
    assert kernel(edges, seeds, 3) == pytest.approx(printed(edges, seeds, in_place=False))


@given(EDGES, SEEDS)
def test_the_printed_loop_only_reaches_farther(
    edges: dict[tuple[int, int], float], seeds: dict[int, float]
) -> None:
    """It never finds less than three hops do, nor more than hops without an end."""
    least, most = kernel(edges, seeds, 3), kernel(edges, seeds, NODES)
    loop = printed(edges, seeds, in_place=True)
    for node, level in loop.items():
        assert least.get(node, 0.0) - 1e-9 <= level <= most[node] + 1e-9


@given(st.integers(1, 60), st.floats(0.01, 1))
def test_damping(degree: int, weight: float) -> None:
    arcs = damped_arcs(
        [0], [1], [0], [weight], degree=[[degree], [1]], gain=[[1.0, 0.0]], power=0.2
    )
    assert arcs.weights[0] == pytest.approx(damped(weight, degree))


@given(st.floats(0, 4000))
def test_fading(age_days: float) -> None:
    assert np.allclose(edge_decay([age_days]), faded(1.0, age_days))
