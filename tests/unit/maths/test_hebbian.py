import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.hebbian import association, homeostasis, increment, lift, linked, npmi

SHARE = st.floats(0, 1)


@st.composite
def counted(draw: st.DrawFn) -> tuple[int, int, int, int]:
    total = draw(st.integers(1, 200))
    one, other = draw(st.integers(0, total)), draw(st.integers(0, total))
    return draw(st.integers(0, min(one, other))), one, other, total


@st.composite
def links(draw: st.DrawFn) -> tuple[list[int], list[int], list[float], int]:
    size = draw(st.integers(2, 8))
    node = st.integers(0, size - 1)
    pairs = draw(st.lists(st.tuples(node, node).filter(lambda p: p[0] < p[1]), unique=True))
    weights = [draw(SHARE) for _ in pairs]
    return [one for one, _ in pairs], [other for _, other in pairs], weights, size


@pytest.mark.parametrize(
    ("one", "other", "gain"), [(0.9, 0.8 * 0.8, 0.04608), (0.05, 0.8 * 0.04, 0.000128)]
)
def test_a_stale_pair_gains_less(one: float, other: float, gain: float) -> None:
    assert increment([one], [other], [0.2])[0] - 0.2 == pytest.approx(gain, abs=1e-6)


@given(SHARE, SHARE, SHARE)
def test_a_link_grows_symmetrically_and_never_beyond_one(a: float, b: float, w: float) -> None:
    grown = increment([a], [b], [w])
    assert w <= grown[0] <= 1.0
    assert grown[0] == pytest.approx(increment([b], [a], [w])[0], abs=1e-15)


def test_ten_thousand_joint_recalls_stay_within_one() -> None:
    weight = np.zeros(1)
    for _ in range(10_000):
        weight = increment([1.0], [1.0], weight)
    assert weight[0] <= 1.0


def test_lift_tells_friends_from_hubs() -> None:
    assert lift([4, 8], [10, 50], [8, 8], total=50).tolist() == [2.5, 1.0]
    assert linked([4, 8], [10, 50], [8, 8], total=50).tolist() == [1.0, 0.0]
    assert lift([0], [0], [0], total=0).tolist() == [0.0]


def test_information_of_the_worked_examples() -> None:
    counts = [4, 8, 1], [10, 100, 1], [8, 8, 1]
    np.testing.assert_allclose(npmi(*counts, total=100), [0.5, 0, 1], atol=1e-12)
    weights = association(*counts, total=100)
    np.testing.assert_allclose(weights, [0.355556, 0, 0.25], atol=1e-6)
    assert npmi([9], [9], [9], total=9).tolist() == [0.0]


@given(counted())
def test_statistics_agree_with_their_formulas(counts: tuple[int, int, int, int]) -> None:
    joint, one, other, total = counts
    found = lift([joint], [one], [other], total=total)[0]
    assert found == pytest.approx(joint * total / (one * other) if one * other else 0.0)
    told = npmi([joint], [one], [other], total=total)[0]
    if one and other and 0 < joint < total:
        p, q, r = one / total, other / total, joint / total
        assert told == pytest.approx(math.log(r / (p * q)) / -math.log(r), abs=1e-9)
    assert -1.0 - 1e-9 <= told <= 1.0 + 1e-9
    weight = association([joint], [one], [other], total=total)[0]
    assert 0.0 <= weight < 1.0
    assert weight == association([joint], [other], [one], total=total)[0]


def test_a_mixed_stream_with_a_hub_links_inside_topics_only() -> None:
    rng = np.random.default_rng(5)
    size, hub, joint, alone = 21, 20, np.zeros((21, 21)), np.zeros(21)
    for _ in range(400):
        topic = int(rng.integers(4))
        seen = [*(5 * topic + rng.choice(5, 4, replace=False)).tolist(), hub]
        alone[seen] += 1
        joint[np.ix_(seen, seen)] += 1
    one, other = np.triu_indices(size, 1)
    found = linked(joint[one, other], alone[one], alone[other], total=400) > 0
    assert found.any()
    assert not found[(one == hub) | (other == hub)].any()
    assert (one[found] // 5 == other[found] // 5).mean() > 0.95


def test_a_budget_of_two() -> None:
    found = homeostasis([0, 0, 0, 1], [1, 2, 3, 2], [0.9, 0.8, 0.7, 0.6], size=4, budget=2)
    np.testing.assert_allclose(found, [0.75, 0.666667, 0.583333, 0.6], atol=1e-6)
    sums = np.zeros(4)
    np.add.at(sums, [0, 0, 0, 1], found)
    np.add.at(sums, [1, 2, 3, 2], found)
    np.testing.assert_allclose(sums, [2, 1.35, 1.26667, 0.583333], atol=1e-5)


@given(links(), st.floats(0.1, 6))
def test_no_memory_exceeds_its_budget_and_a_second_pass_changes_nothing(
    given_links: tuple[list[int], list[int], list[float], int], budget: float
) -> None:
    one, other, weight, size = given_links
    found = homeostasis(one, other, weight, size=size, budget=budget)
    held = [
        math.fsum(w for i, j, w in zip(one, other, found, strict=True) if node in (i, j))
        for node in range(size)
    ]
    before = [
        math.fsum(w for i, j, w in zip(one, other, weight, strict=True) if node in (i, j))
        for node in range(size)
    ]
    assert max(held, default=0.0) <= budget + 1e-9
    slow = [
        w * min(1.0, *(budget / before[node] if before[node] else 1.0 for node in (i, j)))
        for i, j, w in zip(one, other, weight, strict=True)
    ]
    np.testing.assert_allclose(found, slow, atol=1e-12)
    again = homeostasis(one, other, found, size=size, budget=budget)
    np.testing.assert_allclose(again, found, atol=1e-12)
