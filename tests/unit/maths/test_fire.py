import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.spiking import REST, Rest, leak, next_tau, peak, relay, stimulate

TAU = 43.07
PRINTED = Rest(potential=2.903, current=-7.128, drives=True)
LEVEL = st.floats(0, 2)
TURNS = st.floats(0, 300)


def test_the_worked_run() -> None:
    v, i = np.zeros(1), np.zeros(1)
    seen = []
    for gap, push in [(0, 0.2), (10, 0.2), (10, 0.05), (10, 0.0), (43.07, 0.0)]:
        v, i = leak(v, i, [gap], [TAU])
        firing = stimulate(v, i, [push])
        now = (firing.potential[0], firing.current[0], firing.peak[0])
        seen.append((*(float(one) for one in now), bool(firing.fired[0])))
        v, i = firing.after()
    expected = [
        (0, 0.2, 0.0735759, False),
        (0.0368146, 0.358561, 0.14617, True),
        (0, 0.05, 0.018394, False),
        (0.00920366, 0.0396402, 0.018394, False),
        (0.0179686, 0.0145828, 0.0179686, False),
    ]
    for found, wanted in zip(seen, expected, strict=True):
        assert found == pytest.approx(wanted, abs=1e-6)


def test_the_peak_lies_ahead_and_is_the_largest() -> None:
    v, _ = leak([0.03], [0.2], [50.0], [TAU])
    assert v[0] == pytest.approx(0.0821159, abs=1e-6)
    assert peak(np.array([0.03]), np.array([0.2]))[0] == pytest.approx(0.085483, abs=1e-6)


def test_what_a_fresh_memory_needs_to_fire() -> None:
    needed = 0.099 * math.e
    assert needed == pytest.approx(0.26911, abs=1e-5)
    pushes = np.array([0.0, needed - 1e-6, needed])
    firing = stimulate(np.zeros(3), np.zeros(3), pushes)
    assert firing.fired.tolist() == [False, False, True]


@given(LEVEL, LEVEL, TURNS, TURNS, st.floats(1, 170))
def test_turns_may_be_cut_anywhere(v: float, i: float, one: float, two: float, tau: float) -> None:
    whole = leak([v], [i], [one + two], [tau])
    half = leak(*leak([v], [i], [one], [tau]), [two], [tau])
    np.testing.assert_allclose(half, whole, atol=1e-9)


@pytest.mark.parametrize(("v", "i", "rest"), [(0.03, 0.2, REST), (2.903, -6.9, PRINTED)])
def test_it_agrees_with_fine_integration(v: float, i: float, rest: Rest) -> None:
    """The two equations by Heun's rule, in steps of a thousandth of a turn."""
    turns, step = 20.0, 0.001
    level, drive = v - rest.shift, i + rest.current
    for _ in range(round(turns / step)):
        dv, di = (drive - level) / TAU, -drive / TAU
        ahead_v, ahead_i = level + step * dv, drive + step * di
        level += 0.5 * step * (dv + (ahead_i - ahead_v) / TAU)
        drive += 0.5 * step * (di - ahead_i / TAU)
    found = leak([v], [i], [turns], [TAU], rest=rest)
    assert found[0][0] == pytest.approx(level + rest.shift, abs=1e-6)
    assert found[1][0] == pytest.approx(drive - rest.current, abs=1e-6)


@given(LEVEL, LEVEL, st.floats(1, 170))
def test_the_projected_peak_is_the_largest_over_time(v: float, i: float, tau: float) -> None:
    times = np.linspace(0, 12 * tau, 4000)
    over_time, _ = leak(np.full(4000, v), np.full(4000, i), times, np.full(4000, tau))
    projected = peak(np.array([v]), np.array([i]))[0]
    assert projected == pytest.approx(over_time.max(), abs=1e-4 * max(1.0, i))
    assert projected >= over_time.max() - 1e-12


@given(LEVEL, LEVEL, st.floats(0, 1), st.floats(0, 1))
def test_more_stimulus_never_means_less_and_none_never_fires(
    v: float, i: float, push: float, more: float
) -> None:
    small, large = stimulate([v], [i], [push]), stimulate([v], [i], [push + more])
    assert large.peak[0] >= small.peak[0] - 1e-12
    assert not stimulate([v], [i], [0.0]).fired[0]
    if large.fired[0]:
        assert large.after() == (np.zeros(1), np.zeros(1))


def test_with_the_printed_rest_age_alone_charges() -> None:
    """Why the printed values are for comparison only."""
    v, i = leak([2.903], [-7.128], [1000.0], [TAU], rest=PRINTED)
    assert v[0] == pytest.approx(10.031, abs=1e-3)
    assert stimulate(v, i, [1e-6], rest=PRINTED).fired[0]


@pytest.mark.parametrize(
    ("gap", "expected"), [(0.1, 43.0737), (1, 43.1075), (10, 43.4166), (100, 43.8199)]
)
def test_spacing_slows_a_memory_down(gap: float, expected: float) -> None:
    assert next_tau([TAU], [gap])[0] == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(("gap", "expected"), [(0.1, 75.6188), (10, 172.28)])
def test_tau_stays_bounded_over_ten_thousand_gaps(gap: float, expected: float) -> None:
    tau = np.array([TAU])
    for _ in range(10_000):
        tau = next_tau(tau, [gap])
    assert tau[0] == pytest.approx(expected, abs=5e-4)
    assert tau[0] <= 4 * TAU


def test_a_tau_above_the_bound_of_a_later_recall_stays() -> None:
    assert next_tau([TAU], [3.0], start=TAU / 8).tolist() == [TAU]


@st.composite
def layers(draw: st.DrawFn) -> tuple[list[tuple[int, int, float]], list[float]]:
    size = draw(st.integers(1, 6))
    node = st.integers(0, size - 1)
    share = st.floats(0, 1, width=16)
    arcs = draw(st.lists(st.tuples(node, node, share), max_size=15))
    return arcs, [draw(share) for _ in range(size)]


@given(layers())
def test_each_child_takes_its_best_parent(
    layer: tuple[list[tuple[int, int, float]], list[float]],
) -> None:
    arcs, stimulus = layer
    found = relay(
        [p for p, _, _ in arcs], [c for _, c, _ in arcs], [w for _, _, w in arcs],
        stimulus=stimulus, size=len(stimulus),
    )  # fmt: skip
    for child in range(len(stimulus)):
        ways = sorted((-stimulus[p] * w, p) for p, c, w in arcs if c == child)
        best = -ways[0][0] if ways else 0.0
        assert found.stimulus[child] == best
        assert found.parent[child] == (ways[0][1] if best > 0 else -1)
