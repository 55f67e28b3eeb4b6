import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.actr import base_level, fan_share, older_uses, prime, probabilities, squash
from ecphoria.maths.adjacency import Adjacency
from tests.unit.maths.graphs import dense, random_graphs

HOUR, DAY = 3600.0, 86400.0
AGES = st.lists(st.floats(0, 1e9), min_size=1, max_size=12)


def level(*ages: float) -> float:
    return float(base_level(list(ages), [0] * len(ages), size=1)[0])


@pytest.mark.parametrize(
    ("ages", "presence", "log", "squashed"),
    [
        ([1.0], 1.0, 0.0, 0.998716),
        ([0.0], 1.0, 0.0, 0.998716),
        ([-50.0], 1.0, 0.0, 0.998716),
        ([HOUR], 0.0166667, -4.09434, 0.928374),
        ([DAY], 0.00340207, -5.68337, 0.725708),
        ([7 * DAY], 0.00128586, -6.65633, 0.5),
        ([30 * DAY], 0.00062113, -7.38397, 0.325712),
        ([365 * DAY], None, None, 0.121640),
        ([HOUR, DAY, 7 * DAY], 0.0213546, -3.84649, 0.943205),
    ],
)
def test_base_levels_of_the_worked_examples(
    ages: list[float], presence: float | None, log: float | None, squashed: float
) -> None:
    found = level(*ages)
    if presence is not None:
        assert math.exp(found) == pytest.approx(presence, rel=1e-5)
    if log is not None:
        assert found == pytest.approx(log, abs=5e-6)
    assert squash([found])[0] == pytest.approx(squashed, abs=1e-6)


def test_what_was_never_used_has_no_presence() -> None:
    never = base_level([], [], size=2)
    assert (never == -np.inf).all()
    assert squash(never).tolist() == [0.0, 0.0]
    assert squash([-1e300])[0] < 1e-300


def test_one_instant_twice_counts_twice() -> None:
    assert level(HOUR, HOUR) == pytest.approx(level(HOUR) + math.log(2))


def test_a_bounded_history_is_close_to_the_whole() -> None:
    ages = HOUR * np.arange(1, 21)
    exact = base_level(ages, np.zeros(20, np.int64), size=1)[0]
    rest = older_uses([12.0], [ages[-1]], [ages[7]])
    kept = base_level(ages[:8], np.zeros(8, np.int64), size=1, beyond=rest)[0]
    assert math.exp(exact) == pytest.approx(0.126588, abs=1e-6)
    assert math.exp(kept) == pytest.approx(0.127648, abs=1e-6)


@given(st.floats(60, 1e6), st.integers(9, 200))
def test_a_regular_history_is_estimated_within_two_percent(gap: float, uses: int) -> None:
    ages = gap * np.arange(1, uses + 1)
    exact = math.exp(level(*ages))
    rest = older_uses([uses - 8.0], [ages[-1]], [ages[7]])
    kept = base_level(ages[:8], np.zeros(8, np.int64), size=1, beyond=rest)[0]
    assert math.exp(kept) == pytest.approx(exact, rel=0.02)


def test_uses_at_one_instant_are_estimated_exactly() -> None:
    assert older_uses([3.0], [HOUR], [HOUR])[0] == pytest.approx(3 / math.sqrt(HOUR))


@given(AGES, st.floats(0, 1e9))
def test_presence_grows_with_use_and_falls_with_age(ages: list[float], more: float) -> None:
    now = level(*ages)
    assert level(*ages, more) >= now
    assert level(*(age + DAY for age in ages)) <= now
    before, after = squash([now]), squash([level(*ages, more)])
    assert 0.0 <= before[0] <= after[0] <= 1.0


@given(st.lists(st.tuples(st.floats(0, 1e9), st.integers(0, 3)), max_size=20))
def test_it_agrees_with_the_sum_written_out(uses: list[tuple[float, int]]) -> None:
    found = base_level([age for age, _ in uses], [of for _, of in uses], size=4)
    for memory in range(4):
        mine = [max(1.0, age) ** -0.5 for age, of in uses if of == memory]
        expected = math.log(math.fsum(mine)) if mine else -math.inf
        assert found[memory] == pytest.approx(expected, abs=1e-9)


@given(st.floats(-30, 10))
def test_squashing_is_presence_over_presence_and_middle(log: float) -> None:
    presence, middle = math.exp(log), (7 * DAY) ** -0.5
    assert squash([log])[0] == pytest.approx(presence / (presence + middle), abs=1e-12)


def test_the_share_of_a_fan() -> None:
    shares = fan_share([1, 5, 20, 57, 0])
    np.testing.assert_allclose(shares, [1, 0.463521, 0.00142258, 0, 1], atol=1e-6)


@given(random_graphs(), st.integers(0, 7))
def test_priming_agrees_with_the_sum_written_out(graph: Adjacency, seed: int) -> None:
    attention = np.zeros(graph.size)
    attention[[0, seed % graph.size]] = [1.0, 3.0]
    weight = attention / attention.sum()
    expected = [
        math.fsum(weight[j] * dense(graph)[j, i] for j in range(graph.size))
        for i in range(graph.size)
    ]
    np.testing.assert_allclose(prime(graph, attention), expected, atol=1e-12)
    assert not prime(graph, np.zeros(graph.size)).any()


def test_how_likely_each_is() -> None:
    found = probabilities([0.9, 0.7, 0.2])
    np.testing.assert_allclose(found, [0.662191, 0.297541, 0.0402679], atol=1e-6)
    assert probabilities([1e4, 0.0]).tolist() == [1.0, 0.0]
    assert probabilities([]).size == 0


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=20))
def test_likelihoods_sum_to_one(score: list[float]) -> None:
    assert probabilities(score).sum() == pytest.approx(1.0)


def score(h: float, ctx: float, ages: list[float], importance: float = 0.0) -> float:
    return h + 0.3 * ctx + 0.1 * float(squash([level(*ages)])[0]) + 0.1 * importance


def test_old_and_relevant_beats_new_and_irrelevant() -> None:
    assert score(0.62, 0.3, [HOUR, DAY, 7 * DAY], 0.5) == pytest.approx(0.854321, abs=1e-6)
    assert score(0.8, 0, [400 * DAY]) == pytest.approx(0.811683, abs=1e-6)
    assert score(0.3, 0, [60.0]) == pytest.approx(0.399014, abs=1e-6)
