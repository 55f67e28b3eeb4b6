import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.retention import decay, grow, refresh, retrievability, strength

LEVEL = st.floats(0, 1)
DAYS = st.floats(0, 400)


def after(days: float) -> tuple[float, float]:
    working, lasting = decay([1.0], [0.0], [days])
    return float(working[0]), float(lasting[0])


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (0, (1, 0)),
        (1, (0.904837, 0.0473402)),
        (7, (0.496585, 0.242116)),
        (30, (0.0497871, 0.383906)),
        (90, (0.00012341, 0.225803)),
        (25.5843, (math.exp(-2.55843), 0.387132)),
    ],
)
def test_the_worked_examples(days: float, expected: tuple[float, float]) -> None:
    assert after(days) == pytest.approx(expected, abs=1e-6)


def test_the_lasting_trace_peaks_where_it_should() -> None:
    days = np.linspace(0, 100, 100_001)
    _, lasting = decay(np.ones_like(days), np.zeros_like(days), days)
    assert days[lasting.argmax()] == pytest.approx(25.5843, abs=1e-3)


def test_ten_days_at_once_or_one_by_one() -> None:
    pair = np.array([1.0]), np.array([0.0])
    for _ in range(10):
        pair = decay(*pair, [1.0])
    assert (pair[0][0], pair[1][0]) == pytest.approx(after(10), abs=1e-12)
    assert after(10) == pytest.approx((0.367879, 0.29831), abs=1e-6)


@given(LEVEL, LEVEL, DAYS, DAYS)
def test_time_may_be_cut_anywhere_and_strength_never_grows(
    working: float, lasting: float, one: float, two: float
) -> None:
    whole = decay([working], [lasting], [one + two])
    half = decay([working], [lasting], [one])
    again = decay(*half, [two])
    np.testing.assert_allclose(again, whole, atol=1e-9)
    assert (np.array(whole) >= 0.0).all()
    assert whole[0][0] + whole[1][0] <= working + lasting + 1e-9
    assert strength(*whole)[0] <= 1.0


@given(LEVEL, LEVEL, st.floats(0, 20))
def test_it_agrees_with_fine_steps(working: float, lasting: float, days: float) -> None:
    fast, slow, transfer, steps = 0.1, 0.01, 0.05, 400
    one, two, width = working, lasting, days / steps
    for _ in range(steps):  # midpoint rule
        middle = one - 0.5 * width * fast * one
        half = two + 0.5 * width * (transfer * one - slow * two)
        one, two = one - width * fast * middle, two + width * (transfer * middle - slow * half)
    found = decay([working], [lasting], [days])
    np.testing.assert_allclose(np.ravel(found), [one, two], atol=1e-4)


def test_a_use_brings_the_working_trace_back() -> None:
    assert refresh([after(7)[0]])[0] == pytest.approx(0.748293, abs=1e-6)
    assert strength([0.9], [0.3])[0] == 1.0


@pytest.mark.parametrize(
    ("days", "span", "expected"),
    [
        (1, 1, 0.367879), (7, 1, 0.000911882), (7, 5, 0.246597), (30, 10, 0.0497871),
        (4.60517, 1, 0.01), (-3, 1, 1),
    ],
)  # fmt: skip
def test_what_is_left_after_some_days(days: float, span: float, expected: float) -> None:
    assert retrievability([days], [span])[0] == pytest.approx(expected, abs=1e-6)


def used(*gaps: float) -> float:
    span = np.array([1.0])
    for gap in gaps:
        span = grow(span, retrievability([gap], span))
    return float(span[0])


def test_spaced_use_beats_massed_use() -> None:
    assert used(1.0) == pytest.approx(1.94818, abs=1e-5)
    minute = 60 / 86400
    assert used(minute) == pytest.approx(1.00104, abs=1e-5)
    assert used(minute, minute, minute, minute) == pytest.approx(1.00417, abs=1e-5)
    spaced, span = [], 1.0
    for _ in range(4):
        spaced.append(span)
        span = used(*spaced)
    assert span == pytest.approx(14.4051, abs=1e-4)


@given(st.floats(0.01, 4000), LEVEL)
def test_stability_grows_and_is_bounded(span: float, ready: float) -> None:
    grown = grow([span], [ready])[0]
    assert min(span, 3650.0) <= grown <= 3650.0
    assert grown <= grow([span], [0.5 * ready])[0]


@pytest.mark.parametrize(("span", "share"), [(1.0, 0.833333), (5.0, 0.2)])
def test_the_share_that_falls_below_the_threshold(span: float, share: float) -> None:
    ages = np.arange(30.0)
    lost = retrievability(ages, np.full(30, span)) < 0.01
    assert lost.mean() == pytest.approx(share, abs=1e-6)
