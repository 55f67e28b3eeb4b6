"""Measures of agreement: worked numbers, a second method, and what holds for all rankings."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ecphoria.maths.fusion import overlap, rank_biased_overlap, rank_difference, same_first

rankings = some.lists(some.integers(0, 14), unique=True, max_size=12)


@pytest.mark.parametrize(
    ("one", "other", "shared", "first", "apart"),
    [
        ("abcd", "abcd", 1.0, True, 0.0),
        ("abcd", "dcba", 1.0, False, 2.0),
        ("abcd", "bcxy", 0.5, False, 1.0),
        ("abcd", "aefg", 0.25, True, 0.0),
        ("abcd", "wxyz", 0.0, False, None),
        ("abcd", "ca", 0.5, False, 1.5),
        ("ab", "", 0.0, False, None),
        ("", "", 1.0, True, None),
    ],
)
def test_worked_examples(
    one: str, other: str, shared: float, first: bool, apart: float | None
) -> None:
    assert overlap(one, other) == shared
    assert same_first(one, other) is first
    assert rank_difference(one, other) == apart


@pytest.mark.parametrize(
    ("one", "other", "p", "expected"),
    [
        # A_d = 0, 1, 1: .5 (.5 + .25) + .125
        ("abc", "bac", 0.5, 0.5),
        # A_d = 1, .5, 1/3: .1 + .09 * .5 + .081 / 3 + .729 / 3
        ("abc", "axy", 0.9, 0.415),
        # s = 1, l = 3, X = 1, 1, 1: A_d = 1, (1 + 1/1) / 2, (1 + 2) / 3
        ("a", "abc", 0.9, 1.0),
        # s = 1, l = 2, X = 0, 1: A_d = 0, 1/2: .25 * .5 + .25 * .5
        ("b", "ab", 0.5, 0.25),
        ("abc", "xyz", 0.9, 0.0),
        ("abc", "", 0.9, 0.0),
        ("", "", 0.9, 1.0),
    ],
)
def test_worked_rank_biased_overlap(one: str, other: str, p: float, expected: float) -> None:
    assert rank_biased_overlap(one, other, p) == pytest.approx(expected, abs=1e-12)


def slow_rbo(one: Sequence[int], other: Sequence[int], p: float) -> float:
    """The infinite sum itself, by sets, each depth from scratch."""
    short, long = sorted((one, other), key=len)
    if not short:
        return float(not long)
    at_end = len(set(short) & set(long[: len(short)])) / len(short)
    total, agreement = 0.0, 0.0
    for depth in range(1, 600):
        if depth <= len(long):
            both = len(set(short[:depth]) & set(long[:depth]))
            agreement = (both + at_end * max(0, depth - len(short))) / depth
        total += (1 - p) * p ** (depth - 1) * agreement
    return total


@given(rankings, rankings, some.sampled_from([0.3, 0.9]))
def test_rank_biased_overlap_is_its_infinite_sum(a: list[int], b: list[int], p: float) -> None:
    assert rank_biased_overlap(a, b, p) == pytest.approx(slow_rbo(a, b, p), abs=1e-9)


@given(rankings, rankings)
def test_symmetric_and_bounded(a: list[int], b: list[int]) -> None:
    for measure in (overlap, same_first, rank_difference, rank_biased_overlap):
        assert measure(a, b) == pytest.approx(measure(b, a))
    assert 0 <= overlap(a, b) <= 1
    assert -1e-12 <= rank_biased_overlap(a, b) <= 1 + 1e-12
    assert (rank_difference(a, b) is None) == (not set(a) & set(b))


@given(rankings)
def test_a_ranking_agrees_with_itself(a: list[int]) -> None:
    assert overlap(a, a) == 1
    assert same_first(a, a)
    assert rank_biased_overlap(a, a) == pytest.approx(1)
    assert not rank_difference(a, a)


@given(some.permutations(list(range(8))), some.integers(0, 6))
def test_an_error_at_the_top_weighs_most(order: list[int], place: int) -> None:
    def swapped(at: int) -> list[int]:
        return [*order[:at], order[at + 1], order[at], *order[at + 2 :]]

    best = rank_biased_overlap(order, swapped(6))
    assert rank_biased_overlap(order, swapped(place)) <= best + 1e-12
    assert rank_biased_overlap(order, swapped(0)) < best
