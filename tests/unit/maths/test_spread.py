from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ecphoria.maths.adjacency import Adjacency
from ecphoria.maths.arrays import FloatArray
from ecphoria.maths.spreading import SpreadOptions, inhibit, spread
from tests.unit.maths.graphs import EXAMPLE_ENERGY, dense, example, random_graphs

REBASED = SpreadOptions(firing="rebased", inhibition_mode="off")
LINEAR = SpreadOptions(firing="linear", inhibition_mode="off")
LEVELS = arrays(np.float64, st.integers(1, 20), elements=st.floats(0, 1))


def close(values: FloatArray, expected: list[float]) -> None:
    np.testing.assert_allclose(values, expected, atol=5e-6)


def slow_spread(graph: Adjacency, energy: FloatArray, options: SpreadOptions) -> FloatArray:
    matrix = dense(graph)
    a = energy / energy.max() if energy.max() else energy
    for _ in range(options.steps if energy.max() else 0):
        u = [
            (1 - options.self_decay) * a[i]
            + options.spread * sum(matrix[j, i] * a[j] for j in range(len(a)))
            for i in range(len(a))
        ]
        kappa = 1 - options.self_decay + options.spread * matrix.sum(axis=1).max()
        rest = 1 / (1 + np.exp(2.5))
        if options.firing == "linear":
            a = np.array([value / max(1, kappa) for value in u])
        else:
            s = [1 / (1 + np.exp(-5 * (value - 0.5))) for value in u]
            a = np.array(
                [(y - rest) / (1 - rest) if x > 1e-12 else 0 for x, y in zip(u, s, strict=True)]
            )
    return a


def test_waves_of_the_worked_example() -> None:
    result = spread(example(), EXAMPLE_ENERGY, options=REBASED)
    close(result.waves[0], [1, 1 / 3, 0, 0, 0])
    close(result.waves[1], [0.666628, 0.586207, 0.426052, 0, 0])
    close(result.waves[2], [0.756893, 0.683437, 0.646442, 0.0548388, 0])
    close(result.waves[3], [0.875067, 0.813909, 0.835252, 0.115157, 0])
    assert (result.waves[:, 4] == 0).all()
    assert len(result.waves) == 4


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("pool", [0.875067, 0.801533, 0.829279, 0, 0]),
        ("step", [0.843818, 0.765402, 0.75651, 0, 0]),
    ],
)
def test_inhibition_of_the_worked_example(
    mode: Literal["pool", "step"], expected: list[float]
) -> None:
    options = SpreadOptions(firing="rebased", inhibition=0.15, inhibition_mode=mode)
    close(spread(example(), EXAMPLE_ENERGY, options=options).activation, expected)


def test_a_seed_keeps_its_floor() -> None:
    level = [0.875067, 0.813909, 0.835252, 0.115157, 0]
    floor = [0, 0, 0, 0.0115157, 0]
    assert inhibit(level, beta=0.15, inhibitors=7, floor=floor)[3] == pytest.approx(0.0115157)


def test_linear_firing_of_the_worked_example() -> None:
    result = spread(example(), EXAMPLE_ENERGY, options=LINEAR)
    close(result.activation, [0.419785, 0.376444, 0.406515, 0.110268, 0])


def test_the_literal_sigmoid_wakes_a_node_nothing_reaches() -> None:
    options = SpreadOptions(firing="literal", inhibition_mode="off")
    activation = spread(example(), EXAMPLE_ENERGY, options=options).activation
    assert activation[4] == pytest.approx(0.0932716, abs=5e-6)


def test_without_a_fan_all_but_saturate() -> None:
    free = example(fan_power=0.0, row_guard=False)
    result = spread(free, EXAMPLE_ENERGY, options=REBASED)
    close(result.activation, [0.992669, 0.987089, 0.987552, 0.4655, 0])


def test_the_curve_is_bistable() -> None:
    long = replace(REBASED, steps=300)
    whole = spread(example(), EXAMPLE_ENERGY, options=long)
    close(whole.activation, [0.975188, 0.953411, 0.984348, 0.425542, 0])
    half = replace(long, alpha=0.5)
    assert not (spread(example(), EXAMPLE_ENERGY, options=half).activation > 1e-9).any()
    assert not (spread(example(), [0, 0, 0, 1, 0], options=long).activation > 1e-9).any()


def test_inhibition_of_the_second_worked_example() -> None:
    level = [1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.36]
    pushed = inhibit(level, beta=0.15, inhibitors=7)
    close(pushed, [1, 0.885, 0.755, 0.61, 0.45, 0.275, 0.085, 0, 0.003])


@given(LEVELS, st.floats(0, 0.5), st.integers(0, 9))
def test_inhibition_keeps_order_and_scale(level: FloatArray, beta: float, count: int) -> None:
    result = inhibit(level, beta=beta, inhibitors=count)
    order = np.argsort(level, kind="stable")
    assert (np.diff(result[order]) >= -1e-12).all()
    assert result.max() == level.max()
    halved = inhibit(level / 2, beta=beta, inhibitors=count)
    np.testing.assert_allclose(halved, result / 2, atol=1e-12)


@given(random_graphs(), st.data(), st.sampled_from([REBASED, LINEAR]))
def test_it_agrees_with_the_sums_written_out(
    graph: Adjacency, data: st.DataObject, options: SpreadOptions
) -> None:
    energy = data.draw(arrays(np.float64, graph.size, elements=st.floats(0, 1, width=16)))
    before = energy.copy()
    result = spread(graph, energy, options=options)
    np.testing.assert_allclose(result.activation, slow_spread(graph, energy, options), atol=1e-9)
    assert (energy == before).all()


@given(random_graphs(), st.integers(0, 7), st.integers(0, 4))
def test_activation_stays_within_reach(graph: Adjacency, seed: int, steps: int) -> None:
    assume(seed < graph.size)
    energy = np.eye(graph.size)[seed]
    options = replace(REBASED, steps=steps)
    ball = energy > 0
    for _ in range(steps):
        ball = ball | (graph.push(ball.astype(float)) > 0)
    assert not spread(graph, energy, options=options).activation[~ball].any()


@given(random_graphs(), st.randoms(use_true_random=False))
def test_renumbering_nodes_renumbers_the_result(graph: Adjacency, random: object) -> None:
    assert hasattr(random, "shuffle")
    place = list(range(graph.size))
    random.shuffle(place)
    moved = np.array(place)
    energy = np.arange(graph.size) / graph.size
    other = Adjacency.from_arcs(
        moved[graph.tails()], moved[graph.indices], graph.weights, size=graph.size
    )
    energy_moved = np.empty_like(energy)
    energy_moved[moved] = energy
    direct = spread(graph, energy, options=SpreadOptions()).activation
    again = spread(other, energy_moved, options=SpreadOptions()).activation
    np.testing.assert_allclose(again[moved], direct, atol=1e-9)


@given(random_graphs())
def test_linear_activation_never_grows(graph: Adjacency) -> None:
    options = SpreadOptions(firing="linear", inhibition_mode="off", steps=50)
    totals = spread(graph, np.ones(graph.size), options=options).waves.sum(axis=1)
    assert (np.diff(totals) <= 1e-9).all()


def test_linear_activation_scales_with_its_start() -> None:
    double = SpreadOptions(firing="linear", inhibition_mode="off", alpha=2.0)
    one = spread(example(), EXAMPLE_ENERGY, options=LINEAR).activation
    two = spread(example(), EXAMPLE_ENERGY, options=double).activation
    np.testing.assert_allclose(two, 2 * one)


def test_losing_all_of_oneself_leaves_what_arrives() -> None:
    options = SpreadOptions(self_decay=1.0, steps=1, firing="linear", inhibition_mode="off")
    pair = Adjacency.from_arcs([0], [1], [0.5], size=2)
    assert spread(pair, [1, 0], options=options).activation.tolist() == [0.0, 0.4]


def test_a_stronger_edge_never_wakes_its_head_less() -> None:
    levels = []
    for weight in (0.2, 0.5, 0.9):
        pair = Adjacency.from_arcs([0], [1], [weight], size=2)
        options = replace(REBASED, steps=1)
        levels.append(float(spread(pair, [1, 0], options=options).activation[1]))
    assert levels == sorted(levels)


@pytest.mark.parametrize("firing", ["rebased", "linear", "literal"])
def test_without_seeds_nothing_wakes(firing: Literal["rebased", "linear", "literal"]) -> None:
    result = spread(example(), np.zeros(5), options=SpreadOptions(firing=firing))
    assert not result.activation.any()
    assert result.waves.shape == (1, 5)


def test_a_graph_without_arcs_or_nodes() -> None:
    lonely = Adjacency.from_arcs([], [], [], size=2)
    result = spread(lonely, [1, 0], options=replace(REBASED, steps=1))
    assert result.activation[0] == pytest.approx((0.5 - 0.0758582) / (1 - 0.0758582), abs=1e-6)
    nothing = Adjacency.from_arcs([], [], [], size=0)
    assert spread(nothing, [], options=SpreadOptions()).activation.shape == (0,)
