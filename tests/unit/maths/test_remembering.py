"""The closed formulas of SynapticRAG's appendices C.2 and C.3, against numbers found by hand."""

import math

import pytest

from ecphoria.maths.remembering import consolidated, recall_probability, retention


def test_retention_is_the_forgetting_curve() -> None:
    # exp(-10 / (5 * 1)) = exp(-2); exp(-10 / (5 * 4)) = exp(-.5).
    assert retention([10.0, 10.0], [1.0, 4.0]) == pytest.approx([0.135335, 0.606531], abs=1e-6)


def test_retention_of_the_adapted_model() -> None:
    """One turn old: exp(-13.82 / (9.06 * 1.05)) = exp(-1.452749); two turns, the square."""
    left = retention([1.0, 2.0], [1.05, 1.05], age_scale=13.82, strength_scale=9.06)
    assert left == pytest.approx([0.233926, 0.054721], abs=1e-6)
    assert (left >= 0.12).tolist() == [True, False]


def test_a_recall_probability() -> None:
    """r = .8, two units old, never recalled: e^-2 = .135335, 1 - exp(-.108268) = .102613."""
    assert recall_probability([0.8], [2.0], [1.0]) == pytest.approx(
        [0.102613 / 0.632121], abs=1e-5
    )
    # Strength 2 halves the loss by age: e^-1 = .367879, 1 - exp(-.294304) = .254950.
    assert recall_probability([0.8], [2.0], [2.0]) == pytest.approx(
        [0.254950 / 0.632121], abs=1e-5
    )


def test_the_two_negative_scales_of_the_adapted_model_cancel_out() -> None:
    """exp(-(-1.72 * 1) / (-2.05 * 1)) = e^-.839024 = .432132; times 10.07 * .5 = 2.175785."""
    chance = recall_probability(
        [0.5], [1.0], [1.0], relevance_scale=10.07, age_scale=-1.72, strength_scale=-2.05
    )
    assert chance == pytest.approx([(1.0 - math.exp(-2.175785)) / 0.632121], abs=1e-5)


def test_what_has_no_strength_is_not_recalled() -> None:
    assert recall_probability([0.9, 0.9], [1.0, 1.0], [0.0, -1.0]).tolist() == [0.0, 0.0]


def test_old_memories_keep_their_order() -> None:
    """After 300 turns 1 - exp(-x) would be 0 for both in plain floats."""
    near, far = recall_probability([0.9, 0.4], [300.0, 300.0], [1.0, 1.0])
    assert near > far > 0.0


def test_a_recall_consolidates_by_the_age_at_which_it_comes() -> None:
    """(1 - e^-2) / (1 + e^-2) = .761594 for each of two recalls at age 2."""
    assert consolidated([]) == 1.0
    assert consolidated([2.0, 2.0]) == pytest.approx(2.523188, abs=1e-6)
    # In the adapted model a recall takes strength away.
    assert consolidated([1e6], age_scale=-1.72) == pytest.approx(0.0, abs=1e-12)
