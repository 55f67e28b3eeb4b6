import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.gate import (
    Evidence,
    attribution,
    count_best,
    evidence_features,
    threshold,
    weight_of_speakers,
)
from ecphoria.records.tenant import EVIDENCE

SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=20)
TWELVE = [0.31, 0.42, 0.47, 0.55, 0.58, 0.63, 0.66, 0.71, 0.74, 0.79, 0.83, 0.88]
START = [2.5, 1, 2, 1, 0.5]


def evidence(**changes: object) -> Evidence:
    """Three items on two stems; the first is the subject's, the others are not.

    What is derived from `said` and `match` follows a change of these, unless given too.
    """
    base: dict[str, object] = {
        "match": np.array([0.9, 0.5, 0.2]),
        "said": np.array([[True, False], [True, True], [False, False]]),
        "rarity": np.array([3.0, 1.0]),
        "similarity": np.array([0.7, 0.5, 0.1]),
        "answers_nothing": np.array([False, False, False]),
        "own": np.array([True, False, False]),
        "attribution": np.array([1.0, 0.0, 0.0]),
        **changes,
    }
    said, rarity = np.asarray(base["said"]), np.asarray(base["rarity"])
    fits = said.shape[1:] == rarity.shape and (rarity >= 0).all()
    covered = said @ rarity / (rarity.sum() or 1.0) if fits else np.zeros(len(said))
    similarity = np.asarray(base["similarity"])
    derived = {
        "score": base["match"],
        "covered": covered,
        "joint": covered * similarity if covered.shape == similarity.shape else covered,
        "about": np.ones(len(said), dtype=bool),
    }
    return Evidence(**{**derived, **base})  # type: ignore[arg-type]  # a dict of mixed arrays


def features(given: Evidence, *, names_someone: bool = True) -> dict[str, float]:
    """Measure as among many items, where who said it counts whole."""
    found = evidence_features(given, names_someone=names_someone)
    if given.match.size:
        weight = weight_of_speakers(given.similarity, given.own)
        against = np.array([found[0] < 0, found[1] < 0, True])
        found[:3] /= np.where(against, weight, (1 + weight) / 2)
    return dict(zip(EVIDENCE, found.tolist(), strict=True))


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


def test_pronouns_tell_whom_a_turn_is_about() -> None:
    first = [False, True, False, True] * 2
    second = [False, False, True, True] * 2
    own = [True] * 4 + [False] * 4
    expected = [1, 1, 0.6, 1, 0, 0, 0.5, 0.3]
    assert attribution(own, first, second).tolist() == expected


def test_the_features_by_hand() -> None:
    found = features(evidence())
    mine, theirs = 1 * (2 / 3), (math.exp(-4) + math.exp(-7)) * (1 / 3)
    assert found["share"] == pytest.approx(mine / (mine + theirs) - 0.5)
    assert found["coverage"] == pytest.approx(3 / 4 - 4 / 4)
    assert found["unsaid"] == pytest.approx(1 / 4)
    assert found["unheard"] == 0.0
    assert found["similarity"] == 0.7


def test_share_agrees_with_adding_up_odds() -> None:
    match = np.array([0.31, 0.62, 0.55, 0.4])
    about = np.array([1.0, 0.3, 0.0, 0.6])
    size = match.size
    found = features(
        evidence(
            match=match, said=np.zeros((size, 1), dtype=bool), rarity=np.ones(1),
            similarity=np.zeros(size), answers_nothing=np.zeros(size, dtype=bool),
            own=about > 0.5, attribution=about,
        )
    )["share"]  # fmt: skip
    mine = sum(math.exp(10 * one) * share for one, share in zip(match, about, strict=True))
    theirs = sum(math.exp(10 * one) * (1 - share) for one, share in zip(match, about, strict=True))
    blind = 1.9 / 4
    odds = (mine / theirs) / (blind / (1 - blind))
    assert found == pytest.approx(odds / (1 + odds) - 0.5)


def share(match: np.ndarray, about: np.ndarray) -> float:
    size = match.size
    return features(
        evidence(
            match=match, said=np.zeros((size, 0), dtype=bool), rarity=np.zeros(0),
            similarity=np.zeros(size), answers_nothing=np.zeros(size, dtype=bool),
            own=about > 0.5, attribution=about,
        )
    )["share"]  # fmt: skip


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=8), st.floats(-3, 3))
def test_share_is_bounded_mirrored_and_blind_to_a_common_shift(
    match: list[float], shift: float
) -> None:
    values, about = np.array(match), np.linspace(0, 1, len(match))
    found = share(values, about)
    assert -0.5 <= found <= 0.5
    if len(match) > 1:  # half of it is theirs
        assert share(values, 1 - about) == pytest.approx(-found, abs=1e-9)
    assert share(values + shift, about) == pytest.approx(found, abs=1e-9)


@given(st.integers(1, 20), st.integers(1, 20))
def test_who_speaks_seldom_is_not_suspected_for_it(own: int, others: int) -> None:
    about = np.r_[np.ones(own), np.zeros(others)]
    found = share(np.zeros(own + others), about)
    expected = 0.0 if own <= others else own / (own + others) - 0.5
    assert found == pytest.approx(expected, abs=1e-9)


def test_a_share_of_all_or_nothing() -> None:
    assert share(np.array([0.3, 0.9]), np.ones(2)) == 0.5
    assert share(np.array([0.3, 0.9]), np.zeros(2)) == -0.5


def test_where_nobody_is_named_only_the_absolute_features_speak() -> None:
    nobody = np.zeros(3, dtype=bool)
    found = features(evidence(own=nobody, attribution=np.zeros(3)), names_someone=False)
    told = {name for name, value in found.items() if value}
    assert told == {"similarity", "joint", "top_similarity", "gap"}


def test_a_question_covers_nothing_but_its_words_were_said() -> None:
    asked = features(evidence(answers_nothing=np.array([False, True, False])))
    assert asked["coverage"] == pytest.approx(3 / 4)
    assert asked["unsaid"] == pytest.approx(1 / 4)


def test_the_joint_evidence_is_the_subjects_and_no_questions() -> None:
    both = np.array([0.2, 0.6, 0.4])
    assert features(evidence(joint=both))["joint"] == 0.6
    mine = np.array([True, False, True])
    assert features(evidence(joint=both, about=mine))["joint"] == 0.4
    void = np.array([False, False, True])
    assert features(evidence(joint=both, about=mine, answers_nothing=void))["joint"] == 0.2
    assert features(evidence(joint=both, about=np.zeros(3, dtype=bool)))["joint"] == 0.0


def test_the_gap_ends_at_the_tenth_rank() -> None:
    score = np.linspace(1.2, 0.1, 12)
    size = score.size
    found = features(
        evidence(
            match=score, said=np.zeros((size, 2), dtype=bool), similarity=score / 2,
            answers_nothing=np.zeros(size, dtype=bool), own=np.zeros(size, dtype=bool),
            attribution=np.zeros(size),
        )
    )  # fmt: skip
    assert found["gap"] == pytest.approx(score[0] - score[9])
    assert found["top_similarity"] == pytest.approx(0.6)
    assert features(evidence())["gap"] == pytest.approx(0.9 - 0.2)


def test_words_nobody_has_are_unheard_and_not_unsaid() -> None:
    silent = np.array([[False, True], [False, True], [False, False]])
    found = features(evidence(said=silent))
    assert found["unheard"] == pytest.approx(3 / 4)
    assert found["unsaid"] == 0.0


def test_a_subject_who_never_speaks_has_said_nothing() -> None:
    found = features(evidence(own=np.zeros(3, dtype=bool), attribution=np.zeros(3)))
    assert found["unsaid"] == pytest.approx(1.0)
    assert found["share"] == pytest.approx(-0.5)


def test_swapping_the_speakers_lowers_the_share() -> None:
    swapped = evidence(own=np.array([False, True, True]), attribution=np.array([0.0, 1.0, 1.0]))
    assert features(swapped)["share"] < 0 < features(evidence())["share"]


def test_a_cue_of_stop_words_has_no_stems_to_miss() -> None:
    empty = evidence(said=np.zeros((3, 0), dtype=bool), rarity=np.zeros(0))
    found = features(empty)
    assert (found["coverage"], found["unsaid"], found["unheard"]) == (0.0, 0.0, 0.0)


def test_nothing_found_gives_zeros() -> None:
    none, never = np.zeros(0), np.zeros(0, dtype=bool)
    nothing = Evidence(
        match=none, score=none, said=np.zeros((0, 2), dtype=bool), rarity=np.ones(2),
        covered=none, joint=none, similarity=none, answers_nothing=never, own=never,
        about=never, attribution=none,
    )  # fmt: skip
    assert not evidence_features(nothing, names_someone=True).any()


@given(st.permutations(range(3)))
def test_the_order_of_the_candidates_is_indifferent(order: list[int]) -> None:
    given = evidence()
    shuffled = evidence(
        **{
            name: getattr(given, name)[list(order)]
            for name in ("match", "said", "similarity", "answers_nothing", "own", "attribution")
        }
    )
    assert features(shuffled) == pytest.approx(features(given))


@given(st.integers(1, 1000), st.integers(1, 1000))
def test_who_said_it_counts_more_among_more_items(one: int, other: int) -> None:
    weights = [
        weight_of_speakers(np.full(items, 0.5), np.ones(items, dtype=bool))
        for items in sorted((one, other))
    ]
    assert 0.0 < weights[0] <= weights[1] <= 1.0


@given(st.floats(0, 1), st.floats(0, 1))
def test_who_said_it_counts_less_the_nearer_their_own_memories_are(
    one: float, other: float
) -> None:
    own = np.array([True, False])
    far, near = (
        weight_of_speakers(np.array([similarity, 1.0]), own) for similarity in sorted((one, other))
    )
    assert near <= far


@pytest.mark.parametrize("similarity", [[0.0, 0.0], [-0.2, -0.1], [0.2, 0.9]])
def test_who_said_it_counts_whole_if_nothing_of_theirs_is_near(similarity: list[float]) -> None:
    assert weight_of_speakers(np.array(similarity), np.array([True, False])) == 1.0


def test_who_said_it_hardly_counts_against_those_named_among_two_items() -> None:
    two = evidence(
        match=np.array([0.9, 0.5]),
        said=np.array([[False, False], [True, True]]),
        similarity=np.array([0.7, 0.5]),
        answers_nothing=np.array([False, False]),
        own=np.array([True, False]),
        attribution=np.array([1.0, 0.0]),
    )
    share, coverage, unsaid, *_ = evidence_features(two, names_someone=True).tolist()
    assert (coverage, unsaid) == pytest.approx((-0.1, 0.1))
    assert 0.0 < share == pytest.approx(0.55 * features(two)["share"])


@pytest.mark.parametrize(
    ("scores", "best"),
    [
        ([1.9, 1.0], 1),
        ([1.9, 1.0, 0.9, 0.8], 1),
        ([1.9, 1.7, 0.9, 0.8], 2),
        ([1.9, 1.7, 1.5, 0.8], 3),
        ([1.9, 1.7, 1.35, 1.2], 1),
        ([1.0, 1.0, 0.5, 0.5], 2),
        ([1.9, 1.9, 1.9, 1.9, 0.1], 1),
        ([0.0, 0.0, 0.0], 1),
    ],
)
def test_the_best_stand_apart_from_all_others(scores: list[float], best: int) -> None:
    assert count_best(np.array(scores)) == best


@given(st.lists(st.floats(0, 2), min_size=2, max_size=8), st.integers(1, 4), st.integers(0, 3))
def test_unit_and_zero_of_the_scores_do_not_matter(
    scores: list[float], unit: int, zero: int
) -> None:
    # Sixteenths are exact, so no drop is rounded.
    ordered = np.sort(np.round(np.array(scores) * 16) / 16)[::-1]
    best = count_best(ordered)
    assert 1 <= best <= min(3, len(ordered))
    assert count_best(2.0**unit * ordered + zero) == best
