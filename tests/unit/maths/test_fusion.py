from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ecphoria.maths.arrays import FloatArray
from ecphoria.maths.fusion import (
    PARTS,
    Bounds,
    TextSignals,
    TextWeights,
    adapted,
    bounds_of,
    expected_largest,
    fusion,
    recipe_score,
    share_of_largest,
    skewness,
)

MATRIX = arrays(np.float64, st.tuples(st.integers(1, 9), st.just(8)), elements=st.floats(-3, 3))
TALL = arrays(np.float64, st.tuples(st.integers(1, 40), st.just(8)), elements=st.floats(-3, 3))


def signals(matrix: FloatArray) -> TextSignals:
    columns: dict[str, Any] = {name: matrix[:, column] for column, name in enumerate(PARTS)}
    return TextSignals(**columns)


@given(MATRIX, st.permutations(range(9)))
def test_scores_follow_their_items(matrix: FloatArray, places: list[int]) -> None:
    order = [place for place in places if place < len(matrix)]
    direct = recipe_score(signals(matrix)).sum(axis=1)
    np.testing.assert_allclose(recipe_score(signals(matrix[order])).sum(axis=1), direct[order])


def test_every_weight_counts_as_printed() -> None:
    raw = np.array([[0.0] * 8, [2.0, 4.0, 5.0, 1.0, 1.0, 1.0, 1.0, 1.0]])
    parts = recipe_score(signals(raw))
    assert parts[1].tolist() == [0.25, 0.18, 0.16, 0.22, 0.05, -0.05, 0.12, 0.20]
    assert not parts[0].any()


def test_a_document_is_scored_by_words_and_meaning() -> None:
    words, meaning, none = np.array([0.0, 7.0, 2.0]), np.array([0.1, 0.5, 0.9]), np.zeros(3)
    document = TextSignals(
        lex=words, sem=meaning, ctx=meaning, spk=none, len=none, isq=none, texp=none, date=none
    )
    fused = fusion(words, meaning, lexical=0.25 / 0.59).sum(axis=1)
    np.testing.assert_allclose(recipe_score(document).sum(axis=1), 0.59 * fused)


def test_latecomers_are_scaled_by_the_bounds_of_those_before_them() -> None:
    raw = np.zeros((3, 8))
    raw[:, 0] = [1.0, 3.0, 9.0]
    raw[:, 1] = [0.5, 0.2, 0.1]
    tell = signals(raw)
    bounds = bounds_of(tell, np.array([True, True, False]))
    assert bounds.lex == Bounds(low=1.0, high=3.0)
    scored = recipe_score(tell, bounds=bounds)
    assert scored[2, 0] == pytest.approx(0.25)
    assert scored[2, 1] == 0.0


MANY = arrays(np.float64, st.integers(16, 40), elements=st.floats(-100, 100), unique=True).filter(
    lambda values: values.std() > 1e-3
)


@given(MANY)
def test_many_values_are_measured_by_their_spread(values: FloatArray) -> None:
    bounds = Bounds.of_spread(values)
    assert bounds.low == np.median(values)
    unit = 4 * expected_largest(len(values)) / expected_largest(200)
    assert bounds.high - bounds.low == pytest.approx(unit * values.std())


@pytest.mark.parametrize("count", [200, 1000])
def test_the_best_of_many_stands_four_deviations_above_the_median(count: int) -> None:
    values = np.arange(float(count))
    bounds = Bounds.of_spread(values)
    assert bounds.high - bounds.low == pytest.approx(4 * values.std())


@pytest.mark.parametrize("count", [16, 50, 400])
def test_the_expected_largest_is_that_of_drawn_values(count: int) -> None:
    drawn = np.random.default_rng(1).standard_normal((20_000, count)).max(axis=1)
    assert expected_largest(count) == pytest.approx(drawn.mean(), abs=0.03)


def test_the_best_counts_about_the_same_among_few_as_among_many() -> None:
    drawn = np.random.default_rng(2).standard_normal((2_000, 200))

    def best(count: int) -> float:
        taken = drawn[:, :count]
        bounds = [Bounds.of_spread(row) for row in taken]
        return float(np.mean([
            (row.max() - one.low) / (one.high - one.low)
            for row, one in zip(taken, bounds, strict=True)
        ]))  # fmt: skip

    assert best(20) == pytest.approx(best(200), rel=0.06)


@given(MANY, st.floats(0.1, 10), st.floats(-50, 50))
def test_a_scale_by_spread_does_not_depend_on_the_unit(
    values: FloatArray, factor: float, shift: float
) -> None:
    raw = np.zeros((len(values), 8))
    raw[:, 0] = values
    moved = raw.copy()
    moved[:, 0] = values * factor + shift
    scores = [recipe_score(signals(one)).sum(axis=1) for one in (raw, moved)]
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-6)


@pytest.mark.parametrize("count", [1, 2, 15])
def test_few_values_are_measured_by_their_range(count: int) -> None:
    values = np.arange(float(count))
    assert Bounds.of_spread(values) == Bounds.of(values)


def test_a_signal_in_which_one_stands_out_outweighs_one_in_which_many_do() -> None:
    alone, crowd = np.zeros((40, 8)), np.zeros((40, 8))
    alone[0, 0] = 1.0
    crowd[:15, 0] = 1.0
    best = [recipe_score(signals(one)).sum(axis=1).max() for one in (alone, crowd)]
    unit = 4 * expected_largest(40) / expected_largest(200)
    assert best[0] == pytest.approx(0.25 * 1 / (unit * np.sqrt(39) / 40))
    assert best[1] == pytest.approx(0.25 * 1 / (unit * np.sqrt(15 * 25) / 40))
    assert best[0] > 3 * best[1]


def test_no_value_counts_more_than_three_times_its_weight() -> None:
    raw = np.zeros((1000, 8))
    raw[0, 0] = 1.0
    assert recipe_score(signals(raw)).sum(axis=1)[0] == pytest.approx(0.75)


def test_equal_signals_say_nothing() -> None:
    assert share_of_largest([0.0, 0.0]).tolist() == [0.0, 0.0]
    assert share_of_largest([]).shape == (0,)


def test_nothing_to_score_is_no_error() -> None:
    assert recipe_score(signals(np.zeros((0, 8)))).shape == (0, 8)
    assert fusion([], []).sum(axis=1).shape == (0,)


def test_other_weights_replace_the_measured_ones() -> None:
    raw = np.array([[0.0] * 8, [1.0] * 8])
    scored = recipe_score(signals(raw), weights=TextWeights(spk=0.0, date=1.0))
    assert scored[1, PARTS.index("spk")] == 0.0
    assert scored[1, PARTS.index("date")] == 1.0


def test_inputs_are_left_as_they_are() -> None:
    raw = np.arange(16.0).reshape(2, 8)
    recipe_score(signals(raw))
    assert (raw == np.arange(16.0).reshape(2, 8)).all()


def trusted(matrix: FloatArray, *, covered: float = 0.0, unread: bool = False) -> TextWeights:
    among = np.ones(len(matrix), np.bool_)
    return adapted(TextWeights(), signals(matrix), among, covered=covered, unread=unread)


@given(TALL, st.floats(0.0, 1.0), st.booleans())
def test_weights_of_words_and_meaning_only_fall_and_no_other_changes(
    matrix: FloatArray, covered: float, unread: bool
) -> None:
    before = TextWeights().vector()
    after = trusted(matrix, covered=covered, unread=unread).vector()
    assert (after[:3] <= before[:3]).all()
    assert (after[:3] >= 0.25 * before[:3]).all()
    assert after[3:].tolist() == before[3:].tolist()


def test_words_count_by_how_few_candidates_stand_out() -> None:
    many, one, some = np.zeros((40, 8)), np.zeros((40, 8)), np.zeros((40, 8))
    many[:20, 0], one[0, 0], some[:12, 0] = 5.0, 5.0, 5.0
    assert trusted(many).lex == 0.25 * TextWeights().lex  # twenty have the same words
    assert trusted(one) == TextWeights(worded=0.5)
    told = (1 - 0.6) / np.sqrt(0.3 * 0.7)  # the skewness of a share of .3
    assert trusted(some).lex == pytest.approx(told * TextWeights().lex)


@pytest.mark.parametrize(("covered", "told"), [(1.0, 1.0), (0.8, 0.64), (0.4, 0.25)])
def test_words_count_where_one_candidate_has_most_of_the_query(
    covered: float, told: float
) -> None:
    many = np.zeros((40, 8))
    many[:20, 0] = 5.0
    assert trusted(many, covered=covered).lex == pytest.approx(told * TextWeights().lex)


def test_half_of_what_a_documents_neighbours_would_say_is_words_in_prose() -> None:
    raw = np.zeros((40, 8))
    raw[:, 0], raw[:, 2] = np.arange(40.0), np.arange(40.0)[::-1]
    prose = np.arange(40) % 2 == 0
    found = replace(signals(raw), prose=prose)
    plain = recipe_score(found)
    mixed = recipe_score(found, weights=TextWeights(worded=0.5))
    place = PARTS.index("ctx")
    words, meaning = plain[:, 0] / TextWeights().lex, plain[:, place] / TextWeights().ctx
    assert mixed[prose, place] == pytest.approx(TextWeights().ctx * 0.5 * (words + meaning)[prose])
    assert (mixed[~prose] == plain[~prose]).all()
    others = [column for column in range(8) if column != place]
    assert (mixed[:, others] == plain[:, others]).all()


def test_the_skewness_of_few_candidates_says_nothing() -> None:
    few = np.zeros((15, 8))
    few[:9, 0] = 5.0
    assert skewness(few[:, 0]) < 0.0
    assert trusted(few) == TextWeights()
    assert trusted(np.zeros((0, 8))) == TextWeights()


@given(arrays(np.float64, st.integers(0, 40), elements=st.floats(-1e6, 1e6, width=32)))
def test_skewness_agrees_with_scipy_and_changes_its_sign_with_the_values(x: FloatArray) -> None:
    found = skewness(x)
    assert np.isfinite(found)
    assert skewness(-x) == pytest.approx(-found, abs=1e-6)
    # Values that differ by rounding only have no spread to speak of.
    if x.size > 1 and float(np.ptp(x)) > 1e-6 * float(np.abs(x).max()):
        assert found == pytest.approx(float(scipy.stats.skew(x)), rel=1e-4, abs=1e-4)
        assert skewness(8.0 * x) == pytest.approx(found, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.8])
def test_the_skewness_of_two_values_is_that_of_bernoulli(share: float) -> None:
    x = np.zeros(100)
    x[: int(100 * share)] = 3.0
    theory = (1 - 2 * share) / np.sqrt(share * (1 - share))
    assert skewness(x) == pytest.approx(theory)


def test_meaning_counts_little_where_the_encoder_does_not_read_the_query() -> None:
    many = np.zeros((40, 8))
    many[:20, 0] = 5.0
    found, measured = trusted(many, unread=True), TextWeights()
    assert (found.lex, found.sem, found.ctx) == (
        measured.lex, 0.4 * measured.sem, 0.4 * measured.ctx
    )  # fmt: skip
