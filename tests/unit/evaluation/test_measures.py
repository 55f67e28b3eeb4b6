"""Measures on worked examples, and against another implementation."""

from math import log2

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, R, Success, nDCG

from ecphoria.calibration.separation import auroc, refusal_at
from ecphoria_eval.measures import (
    all_at,
    by_similarity,
    equal_counts,
    hit_at,
    mean,
    ndcg_at,
    official_recall_at,
    percentile,
    recall_at,
    reciprocal_rank,
    session_memory,
)
from ecphoria_eval.rows import Row

RANKED, GOLD = list("axybz"), {"a", "b"}
IDS = [f"d{number:02}" for number in range(12)]

rankings = st.permutations(IDS).flatmap(
    lambda ids: st.integers(1, len(ids)).map(lambda size: list(ids[:size]))
)
golds = st.sets(st.sampled_from(IDS), min_size=1, max_size=5)
scores = st.lists(st.integers(0, 6).map(lambda tenth: tenth / 10), min_size=1, max_size=12)


def test_the_worked_example() -> None:
    assert recall_at(RANKED, GOLD, 3) == 0.5
    assert recall_at(RANKED, GOLD, 5) == 1.0
    assert (hit_at(RANKED, GOLD, 3), all_at(RANKED, GOLD, 3), all_at(RANKED, GOLD, 5)) == (1, 0, 1)
    assert ndcg_at(RANKED, GOLD, 5) == (1 + 1 / log2(5)) / (1 + 1 / log2(3))
    assert round(ndcg_at(RANKED, GOLD, 5), 4) == 0.8772
    assert reciprocal_rank(RANKED, GOLD) == 1.0


def test_the_worked_example_of_abstention() -> None:
    assert auroc([0.9, 0.6, 0.4], [0.5, 0.3]) == 5 / 6
    assert auroc([0.5], [0.5]) == 0.5


def row(question: str, gold: str, ranked: str, tokens: int = 0) -> Row:
    return Row(
        strategy="cls", collection="c", question=question, category="1", gold=tuple(gold),
        ranked=tuple(ranked), context_tokens=tokens,
    )  # fmt: skip


def test_the_measures_of_cls_m() -> None:
    """Two questions: one with all its evidence and one with half, the other half far away."""
    rows = [row("1", "ab", "abx", tokens=500), row("2", "cd", "yzwuvtsrqcd", tokens=1_500)]
    words = [row("1", "ab", "ax"), row("2", "cd", "yzwuvtsrqpc")]
    vectors = [row("1", "ab", "x"), row("2", "cd", "yzwuvts")]
    found = session_memory(rows, [words, vectors], budget=2_000)
    assert found.relevance == 3 / 13
    assert found.efficiency == 0.5
    assert found.retention == 0.5
    assert found.coverage == 1.0
    # The lists have 3 and 11 hits, of which the first ten count.
    assert found.precision == pytest.approx((2 / 3 + 1 / 10) / 2)
    assert found.recall == 0.75
    assert found.f1 == pytest.approx((0.8 + 1 / 6) / 2)
    nothing = session_memory([row("1", "ab", "")], [], budget=2_000)
    assert (nothing.precision, nothing.recall, nothing.f1) == (0.0, 0.0, 0.0)
    failed = rows[1].model_copy(update={"ranked": (), "context_tokens": 0, "error": "timeout"})
    assert session_memory([rows[0], failed], [], budget=2_000).efficiency == 0.375
    # Neither search finds b; c is their eleventh, so it counts too.
    assert found.reach == 1.0
    assert session_memory(rows, [], budget=2_000).reach is None
    astray = [row("1", "ab", "abx"), row("2", "cd", "cmn")]
    # Of b, c, m and n, which neither search shows, two are evidence.
    assert session_memory(astray, [words, vectors], budget=2_000).reach == 0.5


def test_the_measures_of_synapticrag() -> None:
    """Of two questions with two and one right, one memory fires for the first and two for the
    second; the baseline may take two for the first, as many as are right."""
    firing = [row("1", "ab", "axb"), row("2", "c", "yxc")]
    firing = [one.model_copy(update={"fired": k}) for one, k in zip(firing, (1, 2), strict=True)]
    plain = [row("1", "ab", "baxyz"), row("2", "c", "cy")]
    found = equal_counts({"dense": plain, "synaptic": firing})
    own, other = found["synaptic"], found["dense"]
    assert own.counted_by == other.counted_by == "synaptic"
    assert own.mean_k == other.mean_k == 1.5
    assert (own.erc, own.erc_mg) == (0.25, 0.25)
    assert (other.erc, other.erc_mg) == (0.75, 1.0)
    assert list(own.precision) == [str(k) for k in range(3, 13)]
    assert own.precision["3"] == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert other.precision["4"] == pytest.approx((2 / 4 + 1 / 4) / 2)
    alone = equal_counts({"dense": plain})["dense"]
    assert (alone.counted_by, alone.erc, alone.erc_mg, alone.mean_k) == (None, None, None, None)
    assert alone.precision == other.precision


def test_questions_are_sorted_by_the_cosine_of_their_evidence() -> None:
    dense = [
        row("1", "ab", "xba").model_copy(update={"scores": (0.9, 0.6, 0.1)}),
        row("2", "c", "yxc").model_copy(update={"scores": (0.8, 0.5, 0.4)}),
        row("3", "d", "yx").model_copy(update={"scores": (0.7, 0.2)}),
    ]
    found = by_similarity([row("1", "ab", "a"), row("2", "c", "c"), row("3", "d", "")], dense)
    assert {name: (one.n, one.recall_at_10) for name, one in found.items()} == {
        "all": (3, 0.5), "0.5": (2, 0.5), "0.3": (1, 0.0),
    }  # fmt: skip


def test_an_unanswered_question_scores_nothing() -> None:
    assert recall_at([], GOLD, 10) == all_at([], GOLD, 10) == hit_at([], GOLD, 10) == 0.0
    assert ndcg_at([], GOLD, 10) == reciprocal_rank([], GOLD) == 0.0
    assert official_recall_at([], ["D1:1"], 5) == 0.0


def test_official_recall_takes_evidence_as_written() -> None:
    assert official_recall_at(["D1:1"], [], 5) == 1.0
    assert official_recall_at(["D1:1"], ["D1:1", "D1:1", "D1:2"], 5) == 2 / 3
    assert official_recall_at(["D8:6", "D9:17"], ["D8:6; D9:17"], 5) == 0.0


def test_refusal_counts_what_lies_below_the_threshold() -> None:
    answerable = [number / 10 for number in range(1, 11)]
    # One of ten may be refused, so the threshold is the second lowest, 0.2.
    assert refusal_at(answerable, [0.05, 0.15, 0.2, 0.9], 0.10) == 0.5
    assert refusal_at(answerable, [0.05, 0.15, 0.2, 0.9], 0.05) == 0.25
    assert refusal_at(answerable, [0.9], 1.0) == 1.0
    assert refusal_at([], [0.9], 0.1) is None


def test_of_nothing_there_is_no_figure() -> None:
    assert mean([]) is percentile([], 0.5) is auroc([], [0.1]) is None


def test_percentiles_lie_between_neighbours() -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.5
    assert percentile([1.0, 2.0], 0.95) == pytest.approx(1.95)
    assert percentile([7.0], 0.95) == 7.0


@given(ranked=rankings, gold=golds)
def test_ir_measures_agrees(ranked: list[str], gold: set[str]) -> None:
    qrels = [ir_measures.Qrel("q", one, 1) for one in gold]
    run = [
        ir_measures.ScoredDoc("q", one, float(len(ranked) - place))
        for place, one in enumerate(ranked)
    ]
    wanted = [R @ 3, R @ 5, Success @ 3, nDCG @ 5, nDCG @ 10, RR]
    theirs = ir_measures.calc_aggregate(wanted, qrels, run)
    ours = {
        R @ 3: recall_at(ranked, gold, 3),
        R @ 5: recall_at(ranked, gold, 5),
        Success @ 3: hit_at(ranked, gold, 3),
        nDCG @ 5: ndcg_at(ranked, gold, 5),
        nDCG @ 10: ndcg_at(ranked, gold, 10),
        RR: reciprocal_rank(ranked, gold),
    }
    assert ours == pytest.approx(theirs, abs=1e-9)


@given(ranked=rankings, gold=golds, k=st.integers(1, 12))
def test_measures_bound_each_other(ranked: list[str], gold: set[str], k: int) -> None:
    found = recall_at(ranked, gold, k)
    assert all_at(ranked, gold, k) <= found <= hit_at(ranked, gold, k) <= 1.0
    assert (all_at(ranked, gold, k) == 1.0) == (found == 1.0)
    assert found <= recall_at(ranked, gold, k + 1)
    assert 0.0 <= ndcg_at(ranked, gold, k) <= 1.0


@given(answerable=scores, adversarial=scores)
def test_auroc_counts_pairs(answerable: list[float], adversarial: list[float]) -> None:
    won = sum((a > b) + 0.5 * (a == b) for a in answerable for b in adversarial)
    pairs = len(answerable) * len(adversarial)
    assert auroc(answerable, adversarial) == pytest.approx(won / pairs)
    swapped = auroc(adversarial, answerable)
    assert swapped is not None
    assert swapped == pytest.approx(1 - won / pairs)


@given(
    answerable=scores, adversarial=scores, rates=st.tuples(st.floats(0, 0.99), st.floats(0, 0.99))
)
def test_refusal_keeps_the_rate_and_no_threshold_does_better(
    answerable: list[float], adversarial: list[float], rates: tuple[float, float]
) -> None:
    low, high = sorted(rates)
    best = max(
        sum(one < threshold for one in adversarial) / len(adversarial)
        for threshold in (*answerable, *adversarial)
        if sum(one < threshold for one in answerable) <= low * len(answerable) + 1e-9
    )
    found = refusal_at(answerable, adversarial, low)
    assert found is not None
    # Thresholds between two scores refuse no more than those at a score, except above them all.
    assert found >= best
    above = refusal_at(answerable, adversarial, high)
    assert above is not None
    assert above >= found
