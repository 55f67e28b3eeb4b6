import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.kernels.gate import (
    FEATURES,
    WEIGHTS,
    Evidence,
    attribution,
    auroc,
    confidence,
    evidence_features,
    threshold,
)

SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=20)
TWELVE = [0.31, 0.42, 0.47, 0.55, 0.58, 0.63, 0.66, 0.71, 0.74, 0.79, 0.83, 0.88]
START = [2.5, 1, 2, 1, 0.5]


def evidence(**changes: object) -> Evidence:
    base = {
        "score": np.array([0.9, 0.5, 0.2]),
        "coverage": np.array([0.8, 0.6, 0.0]),
        "similarity": np.array([0.7, 0.5, 0.1]),
        "bm25": np.array([4.0, 2.0, 0.0]),
        "is_question": np.array([False, False, False]),
        "own": np.array([True, False, False]),
        "attribution": np.array([1.0, 0.0, 0.0]),
        "order": np.arange(3),
    }
    return Evidence(**{**base, **changes})  # type: ignore[arg-type]  # a dict of mixed arrays


def test_the_printed_confidences() -> None:
    assert confidence([0.8, 0.1, 0.75, 1, 0.6], bias=-2, weights=START) == pytest.approx(
        0.947846, abs=5e-7
    )
    assert confidence([0.7, 0.05, 0.5, -1, 0.4], bias=-2, weights=START) == pytest.approx(
        0.5, abs=5e-7
    )
    assert confidence([-1e9], bias=0, weights=[1]) == 0.0
    assert confidence([1e9], bias=0, weights=[1]) == 1.0


def test_a_tenth_of_twelve_is_one_refusal() -> None:
    tau = threshold(TWELVE[::-1], 0.10)
    assert tau == 0.42
    assert sum(value < tau for value in TWELVE) == 1


@given(SHARES, st.floats(0, 0.99), st.floats(0, 0.99))
def test_refusals_grow_with_the_rate_and_never_pass_it(
    values: list[float], one: float, other: float
) -> None:
    low, high = sorted((one, other))

    def refused(rate: float) -> int:
        return sum(value < threshold(values, rate) for value in values)

    assert refused(low) <= refused(high) <= high * len(values) + 1e-6
    assert refused(0.0) == 0


def test_auroc_counts_pairs() -> None:
    assert auroc([0.9, 0.6, 0.4], [0.5, 0.3]) == pytest.approx(5 / 6)


@given(SHARES, SHARES)
def test_auroc_agrees_with_counting_pairs(yes: list[float], no: list[float]) -> None:
    wins = sum((a > b) + 0.5 * (a == b) for a in yes for b in no)
    assert auroc(yes, no) == pytest.approx(wins / (len(yes) * len(no)))
    assert auroc(yes, no) + auroc(no, yes) == pytest.approx(1)


def test_pronouns_tell_whom_a_turn_is_about() -> None:
    first = [False, True, False, True] * 2
    second = [False, False, True, True] * 2
    own = [True] * 4 + [False] * 4
    expected = [1, 1, 0.6, 1, 0, 0, 0.8, 0.5]
    assert attribution(own, first, second).tolist() == expected


def test_the_six_features() -> None:
    features = evidence_features(evidence(), has_subject=True)
    expected = [0.8 - 0.6, 1.0 - 2 / 3, 0.7, 0.2, 0.8, 1.0 - 0.25]
    np.testing.assert_allclose(features, expected, atol=1e-12)
    assert len(FEATURES) == len(WEIGHTS) == features.size


def test_without_a_subject_only_two_features_speak() -> None:
    features = evidence_features(evidence(own=np.zeros(3, dtype=bool)), has_subject=False)
    assert np.flatnonzero(features).tolist() == [2, 4]


def test_a_question_covers_nothing_but_may_rank_first() -> None:
    asked = evidence(is_question=np.array([True, False, False]))
    features = evidence_features(asked, has_subject=True)
    assert features[0] == pytest.approx(-0.6)
    assert features[4] == pytest.approx(0.8)


def test_swapping_the_speakers_lowers_confidence() -> None:
    swapped = evidence(own=np.array([False, True, True]), attribution=np.array([0.0, 1.0, 1.0]))
    right = confidence(evidence_features(evidence(), has_subject=True))
    assert confidence(evidence_features(swapped, has_subject=True)) < right


def test_nothing_found_gives_zeros() -> None:
    none, never = np.zeros(0), np.zeros(0, dtype=bool)
    nothing = Evidence(
        score=none, coverage=none, similarity=none, bm25=none,
        is_question=never, own=never, attribution=none, order=np.zeros(0, dtype=int),
    )  # fmt: skip
    assert not evidence_features(nothing, has_subject=True).any()


def test_the_decline_ends_at_the_tenth() -> None:
    size = 12
    many = Evidence(
        score=np.linspace(1.1, 0, size), coverage=np.zeros(size), similarity=np.zeros(size),
        bm25=np.zeros(size), is_question=np.zeros(size, dtype=bool),
        own=np.ones(size, dtype=bool), attribution=np.ones(size), order=np.arange(size),
    )  # fmt: skip
    features = evidence_features(many, has_subject=True)
    assert features[2] == pytest.approx(0.9)


@pytest.mark.parametrize(
    "call",
    [
        lambda: confidence([1.0], weights=[1.0, 2.0]),
        lambda: threshold([], 0.1),
        lambda: threshold([0.5], 1.0),
        lambda: auroc([], [0.5]),
        lambda: attribution([True], [True], [True, False]),
        lambda: evidence_features(evidence(coverage=np.array([2.0, 0, 0])), has_subject=True),
        lambda: evidence_features(evidence(score=np.zeros(2)), has_subject=True),
    ],
)
def test_bad_arrays_are_refused(call: object) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=r"must|one length"):
        call()
