from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ecphoria.maths.adjacency import Adjacency
from ecphoria.maths.arrays import FloatArray
from ecphoria.maths.spreading import HopOptions, damped, edge_decay, spread_hops
from tests.unit.maths.graphs import dense

FREE = HopOptions(threshold=0.0)
BEST = HopOptions(threshold=0.0, aggregation="max")
SEEDS = st.floats(0, 1.25, width=16)


def arcs(*pairs: tuple[int, int], both: bool = False, size: int = 4) -> Adjacency:
    ends = [*pairs, *((head, tail) for tail, head in pairs)] if both else list(pairs)
    tail, head = [one for one, _ in ends], [other for _, other in ends]
    return Adjacency.from_arcs(tail, head, np.ones(len(ends)), size=size)


@st.composite
def graphs(draw: st.DrawFn) -> Adjacency:
    n = draw(st.integers(1, 7))
    node = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=20, unique=True))
    weights = draw(
        arrays(np.float64, len(pairs), elements=st.floats(0.01, 1, allow_subnormal=False))
    )
    tail, head = [one for one, _ in pairs], [other for _, other in pairs]
    return Adjacency.from_arcs(tail, head, weights, size=n)


def slow(graph: Adjacency, seeds: FloatArray, options: HopOptions) -> FloatArray:
    """The recurrence, one message at a time."""
    w, n = dense(graph), graph.size
    level, total = seeds.copy(), seeds.copy()
    before = np.zeros((n, n))
    for _ in range(options.hops):
        messages = np.zeros((n, n))
        for j in range(n):
            for i in range(n):
                held = level[j]
                if options.aggregation == "sum" and held > 0:
                    held -= before[i, j]
                messages[j, i] = max(0.0, options.decay * w[j, i] * held)
        came = messages.sum(axis=0) if options.aggregation == "sum" else messages.max(axis=0)
        level = np.array([x if x >= options.threshold - 1e-12 else 0.0 for x in came])
        total = total + level if options.aggregation == "sum" else np.maximum(total, level)
        before = messages
    total = np.minimum(1.0, total)
    return np.where(total >= options.threshold - 1e-12, total, 0.0)


DIAMOND = ((0, 1), (0, 2), (1, 3), (2, 3))


@pytest.mark.parametrize(
    ("options", "both", "expected"),
    [
        (FREE, False, [1, 0.5, 0.5, 0.5]),
        (BEST, False, [1, 0.5, 0.5, 0.25]),
        (FREE, True, [1, 0.625, 0.625, 0.5]),
        (BEST, True, [1, 0.5, 0.5, 0.25]),
    ],
)
def test_the_diamond(options: HopOptions, both: bool, expected: list[float]) -> None:
    result = spread_hops(arcs(*DIAMOND, both=both), [1, 0, 0, 0], options=options)
    np.testing.assert_allclose(result.activation, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("threshold", "seed", "expected"),
    [
        (0.1, 1.0, [1, 0.5, 0.25, 0.125]),
        (0.15, 1.0, [1, 0.5, 0.25, 0]),
        (0.15, 1.2, [1, 0.6, 0.3, 0.15]),
    ],
)
def test_the_chain(threshold: float, seed: float, expected: list[float]) -> None:
    chain = arcs((0, 1), (1, 2), (2, 3))
    result = spread_hops(chain, [seed, 0, 0, 0], options=HopOptions(threshold=threshold))
    np.testing.assert_allclose(result.activation, expected, atol=1e-12)
    assert result.cut().any() == (expected[3] == 0)


def test_three_weak_arrivals_pass_together() -> None:
    graph = Adjacency.from_arcs([0, 1, 2], [3, 3, 3], [0.08, 0.08, 0.08], size=4)
    result = spread_hops(graph, [1, 1, 1, 0], options=HopOptions(hops=1))
    assert result.activation[3] == pytest.approx(0.12)
    best = HopOptions(hops=1, aggregation="max")
    assert spread_hops(graph, [1, 1, 1, 0], options=best).activation[3] == 0.0


@pytest.mark.parametrize(
    ("power", "factor"), [(0, 1), (0.2, 0.445477), (0.5, 0.132453), (1, 0.0175439)]
)
def test_a_busy_node_sends_less(power: float, factor: float) -> None:
    degree = [[57, 0], [1, 0], [0, 0]]
    graph = damped([0], [1], [0], [1.0], degree=degree, gain=[[1, 1], [1, 1]], power=power)
    np.testing.assert_allclose(dense(graph)[0, 1], factor, atol=1e-6)
    assert dense(graph)[1, 0] == 1.0


def test_two_kinds_between_two_nodes_are_one_arc() -> None:
    graph = damped(
        [0, 0], [1, 1], [0, 1], [0.3, 0.4], degree=np.ones((2, 2)), gain=np.ones((2, 2))
    )
    assert graph.weights.tolist() == pytest.approx([0.7, 0.7])


@pytest.mark.parametrize(
    ("exponent", "expected"),
    [
        (0.2, [1, 0.870551, 0.659754, 0.503185, 0.307117]),
        (0.5, [1, 0.707107, 0.353553, 0.179605, 0.0522708]),
    ],
)
def test_links_weaken_by_a_power_of_their_age(exponent: float, expected: list[float]) -> None:
    np.testing.assert_allclose(edge_decay([0, 1, 7, 30, 365], exponent), expected, atol=1e-6)
    assert edge_decay([-3.0], exponent)[0] == 1.0


@given(graphs(), st.data(), st.sampled_from(["sum", "max"]), st.sampled_from([0.0, 0.05, 0.2]))
def test_it_agrees_with_messages_one_by_one(
    graph: Adjacency, data: st.DataObject, aggregation: Literal["sum", "max"], threshold: float
) -> None:
    seeds = data.draw(arrays(np.float64, graph.size, elements=SEEDS))
    options = HopOptions(threshold=threshold, aggregation=aggregation)
    result = spread_hops(graph, seeds, options=options)
    np.testing.assert_allclose(result.activation, slow(graph, seeds, options), atol=1e-9)
    assert result.waves.shape == (len(result.arrived) + 1, graph.size)
    assert len(result.waves) <= options.hops + 1


@given(graphs(), st.data())
def test_renumbering_and_reordering_change_nothing(graph: Adjacency, data: st.DataObject) -> None:
    seeds = data.draw(arrays(np.float64, graph.size, elements=SEEDS))
    place = np.array(data.draw(st.permutations(range(graph.size))), dtype=np.int64)
    tail, head = place[graph.tails()], place[graph.indices]
    moved = Adjacency.from_arcs(tail[::-1], head[::-1], graph.weights[::-1], size=graph.size)
    there = np.empty_like(seeds)
    there[place] = seeds
    direct = spread_hops(graph, seeds, options=FREE).activation
    again = spread_hops(moved, there, options=FREE).activation
    np.testing.assert_allclose(again[place], direct, atol=1e-9)


@given(graphs(), st.data())
def test_the_sum_is_never_below_the_best_way(graph: Adjacency, data: st.DataObject) -> None:
    seeds = data.draw(arrays(np.float64, graph.size, elements=SEEDS))
    total = spread_hops(graph, seeds, options=FREE).activation
    assert (total >= spread_hops(graph, seeds, options=BEST).activation - 1e-9).all()


@pytest.mark.parametrize("aggregation", ["sum", "max"])
@given(graph=graphs(), data=st.data())
def test_a_higher_threshold_never_wakes_more(
    graph: Adjacency, data: st.DataObject, aggregation: Literal["sum", "max"]
) -> None:
    seeds = data.draw(arrays(np.float64, graph.size, elements=SEEDS))
    levels = [
        spread_hops(
            graph, seeds, options=HopOptions(threshold=cut, aggregation=aggregation)
        ).activation
        for cut in (0.0, 0.05, 0.1, 0.3)
    ]
    assert (np.diff(np.array(levels), axis=0) <= 1e-9).all()


@given(st.integers(2, 9), st.integers(0, 6))
def test_on_a_path_activation_halves_at_every_hop(size: int, hops: int) -> None:
    path = arcs(*((node, node + 1) for node in range(size - 1)), both=True, size=size)
    options = HopOptions(threshold=0.0, hops=hops)
    result = spread_hops(path, np.eye(size)[0], options=options)
    expected = [0.5**node if node <= hops else 0.0 for node in range(size)]
    np.testing.assert_allclose(result.activation, expected, atol=1e-12)
    assert result.waves[1:].any(axis=1).sum() == min(hops, size - 1)


def test_more_damping_never_wakes_the_leaves_of_a_hub_more() -> None:
    leaves = range(1, 21)
    levels = []
    for power in (0.0, 0.2, 0.5, 1.0):
        graph = damped(
            [0] * 20, leaves, [0] * 20, np.ones(20),
            degree=[[20]] + [[1]] * 20, gain=[[1, 1]], power=power,
        )  # fmt: skip
        levels.append(float(spread_hops(graph, np.eye(21)[0], options=FREE).activation[1]))
    assert levels == sorted(levels, reverse=True)


def test_without_seeds_or_arcs_nothing_moves() -> None:
    nothing = spread_hops(arcs((0, 1)), np.zeros(4), options=FREE)
    assert not nothing.activation.any()
    assert len(nothing.waves) == 1
    alone = spread_hops(arcs(), [0.5, 0, 0, 0], options=FREE)
    assert alone.activation.tolist() == [0.5, 0, 0, 0]
    assert spread_hops(arcs(size=0), [], options=FREE).activation.shape == (0,)
