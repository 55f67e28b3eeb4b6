"""Intervals of differences."""

import numpy as np
import pytest

from ecphoria_eval.measures import difference


def test_equal_scores_do_not_differ() -> None:
    found = difference([0.0, 1.0, 0.5], [0.0, 1.0, 0.5], ["a", "a", "b"])
    assert (found.mean, found.questions, found.collections) == (0.0, (0.0, 0.0), (0.0, 0.0))


def test_one_collection_has_no_interval_of_its_own() -> None:
    assert difference([0.0, 1.0], [1.0, 1.0], ["a", "a"]).collections is None


def test_the_same_seed_gives_the_same_interval() -> None:
    after = np.random.default_rng(3).random(40).tolist()
    before, owners = [0.0] * 40, ["a", "b", "c", "d"] * 10
    assert difference(before, after, owners) == difference(before, after, owners)
    assert difference(before, after, owners, seed=1) != difference(before, after, owners, seed=2)


def test_over_questions_it_is_the_normal_interval_of_a_mean() -> None:
    random = np.random.default_rng(7)
    gain = random.choice([0.0, 0.5, 1.0], size=400)
    found = difference(np.zeros(400).tolist(), gain.tolist(), ["a"] * 400)
    half = 1.96 * gain.std() / np.sqrt(gain.size)
    assert found.mean == pytest.approx(gain.mean())
    assert found.questions == pytest.approx((gain.mean() - half, gain.mean() + half), abs=0.005)


def test_over_collections_questions_of_one_stand_or_fall_together() -> None:
    # Two collections, one all won and one all lost: only the draw of collections sees it.
    found = difference([0.0] * 200, [1.0] * 100 + [-1.0] * 100, ["a"] * 100 + ["b"] * 100)
    assert found.collections == (-1.0, 1.0)
    assert max(map(abs, found.questions)) < 0.2


def test_collections_weigh_by_their_questions() -> None:
    found = difference([0.0] * 4, [1.0, 1.0, 1.0, 0.0], ["a", "a", "a", "b"])
    assert found.mean == 0.75
    assert found.collections == (0.0, 1.0)
