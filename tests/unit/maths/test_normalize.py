import numpy as np
import pytest
from hypothesis import given

from ecphoria.maths.adjacency import Adjacency, transition
from tests.unit.maths.graphs import dense, example, random_graphs

ONE_KIND = [[1.0, 1.0]]


def test_the_worked_example() -> None:
    expected: list[list[float]] = [
        [0, 0.536507, 0.463493, 0, 0],
        [0.606821, 0, 0.393179, 0, 0],
        [0.380952, 0.285714, 0, 0.333333, 0],
        [0, 0, 0.56, 0, 0],
        [0, 0, 0, 0, 0],
    ]
    np.testing.assert_allclose(dense(example()), expected, atol=5e-6)


def test_the_fan_is_of_weight_not_of_degree() -> None:
    by_degree = [0.213333, 0.16, 0, 0.186667, 0]
    assert np.abs(dense(example())[2] - by_degree).max() > 0.1


@given(random_graphs())
def test_no_node_sends_more_than_it_holds(graph: Adjacency) -> None:
    assert (graph.row_sums() <= 1 + 1e-12).all()


def test_a_lone_weak_edge_stays_weak() -> None:
    pair = transition([0], [1], [0], [0.1], degree=[[1], [1]], gain=ONE_KIND)
    assert pair.weights.tolist() == [0.1, 0.1]


def test_another_kind_does_not_dilute() -> None:
    gain = [[0.4, 0.4], [0.1, 0.1]]
    alone = transition([0], [1], [0], [1], degree=np.ones((4, 2)), gain=gain)
    mixed = transition(
        [0, 0, 0], [1, 2, 3], [0, 1, 1], [1, 1, 1], degree=np.ones((4, 2)), gain=gain
    )
    assert dense(mixed)[0, 1] == dense(alone)[0, 1] == 0.4


def test_a_new_edge_never_helps_the_older_ones() -> None:
    share = 1.0
    for count in range(1, 6):
        star = transition(
            [0] * count,
            range(1, count + 1),
            [0] * count,
            [0.4] * count,
            degree=np.zeros((7, 1)),
            gain=ONE_KIND,
        )
        now = dense(star)[0, 1]
        assert now <= share
        assert count < 3 or now < share
        share = now


def test_arcs_that_were_cut_still_count_for_the_fan() -> None:
    whole = transition([0, 0], [1, 2], [0, 0], [0.8, 0.6], degree=[[2], [1], [1]], gain=ONE_KIND)
    cut = transition([0], [1], [0], [0.8], degree=[[2], [1], [1]], gain=ONE_KIND)
    assert dense(whole)[0, 1] == pytest.approx(0.8 / 1.4)
    assert dense(cut)[0, 1] == pytest.approx(0.8 / 1.6)


def test_gains_belong_to_directions() -> None:
    one_way = transition([0], [1], [0], [0.5], degree=[[1], [1]], gain=[[1.0, 0.0]])
    assert dense(one_way).tolist() == [[0, 0.5], [0, 0]]


def test_fan_and_guard_can_be_switched_off() -> None:
    raw = dense(example(fan_power=0.0, row_guard=False))
    np.testing.assert_allclose(raw[2], [0.64, 0.48, 0, 0.56, 0])
