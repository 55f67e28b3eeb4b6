import functools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.spiking import MOST_ALIGNMENT, alignment, join, transmission

TAU = 43.07
TRAIN = st.lists(st.integers(0, 300), max_size=6, unique=True).map(sorted)


def one(a: list[int], b: list[int], tau: float = TAU) -> float:
    return float(alignment([a], [b], [tau])[0])


def slow(a: list[int], b: list[int], tau: float) -> float:
    """The recursion as printed, by memory."""
    if not a or not b:
        return 0.0

    @functools.cache
    def best(i: int, j: int) -> float:
        w = math.exp(-abs(a[i] - b[j]) / tau)
        if i == 0 and j == 0:
            return 2 * w
        ways = []
        if i:
            ways.append(best(i - 1, j) + w)
        if j:
            ways.append(best(i, j - 1) + w)
        if i and j:
            ways.append(best(i - 1, j - 1) + 2 * w)
        return max(ways)

    return math.tanh(best(len(a) - 1, len(b) - 1) / (2 * (len(a) + len(b))))


def test_the_worked_example() -> None:
    a, b = [1, 5, 9], [2, 6, 20]
    assert one(a, b) == pytest.approx(0.43655, abs=1e-6)
    later = [turn + 500 for turn in a], [turn + 500 for turn in b]
    assert one(*later) == pytest.approx(one(a, b), abs=1e-12)
    assert one(b, [3, 30]) == pytest.approx(0.419629, abs=1e-6)


@pytest.mark.parametrize("length", [1, 2, 3, 16])
def test_identical_trains_associate_alike_at_any_length(length: int) -> None:
    train = list(range(0, 7 * length, 7))
    assert one(train, train) == pytest.approx(0.462117, abs=1e-6)


def test_far_apart_is_next_to_nothing_and_an_empty_train_nothing() -> None:
    assert one([0], [1000]) == pytest.approx(4.12585e-11, rel=1e-5)
    assert alignment([[-1, -1]], [[1, 2]], [TAU]).tolist() == [0.0]
    assert alignment(np.empty((2, 0), int), [[1], [2]], [TAU, TAU]).tolist() == [0.0, 0.0]
    assert alignment(np.empty((0, 3), int), np.empty((0, 2), int), []).size == 0


@given(st.lists(st.tuples(TRAIN, TRAIN), min_size=1, max_size=4), st.floats(0.5, 200))
def test_it_agrees_with_the_recursion(
    pairs: list[tuple[list[int], list[int]]], tau: float
) -> None:
    def padded(trains: list[list[int]]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        width = max(map(len, trains))
        return np.array([[*train, *[-1] * (width - len(train))] for train in trains], np.int64)

    first, second = padded([a for a, _ in pairs]), padded([b for _, b in pairs])
    constants = np.full(len(pairs), tau)
    found = alignment(first, second, constants)
    np.testing.assert_allclose(found, [slow(a, b, tau) for a, b in pairs], atol=1e-12)
    np.testing.assert_allclose(alignment(second, first, constants), found, atol=1e-12)
    for (a, b), t in zip(pairs, found, strict=True):
        assert 0.0 <= t <= MOST_ALIGNMENT + 1e-12
        assert not (a and b) or t > 0.0


def test_what_passes() -> None:
    t = one([1, 5, 9], [2, 6, 20])
    first = transmission([0.5], [t])[0]
    assert first == pytest.approx(0.486168, abs=1e-6)
    second = transmission([0.6], [one([2, 6, 20], [3, 30])])[0]
    assert first * second == pytest.approx(0.278291, abs=1e-6)
    assert transmission([0.5, 0.5], [0.0, MOST_ALIGNMENT]).tolist() == [0.25, 0.5]
    assert transmission([0.4], [0.1], floor=1.0).tolist() == [0.4]
    assert transmission([0.4], [0.0], floor=0.0).tolist() == [0.0]


@given(st.floats(-1, 1), st.floats(0, MOST_ALIGNMENT), st.floats(0, 1))
def test_no_more_passes_than_meaning_allows(cosine: float, t: float, floor: float) -> None:
    passed = transmission([cosine], [t], floor=floor)[0]
    assert 0.0 <= passed <= max(0.0, cosine) + 1e-12


def test_a_train_keeps_its_latest_sixteen_one_a_turn() -> None:
    turns: list[int] = []
    strengths: list[float] = []
    for turn in [*range(0, 60, 3), 57]:
        found = join(turns, strengths, turn=turn, strength=0.5 if turn else 0.9)
        turns, strengths = found[0].tolist(), found[1].tolist()
    assert turns == list(range(12, 60, 3))
    assert join([3], [0.9], turn=3, strength=0.2)[1].tolist() == [0.9]
    assert join([3], [0.9], turn=1, strength=0.2)[0].tolist() == [1, 3]
