"""What confidence is worth, on examples worked out by hand."""

import pytest

from ecphoria.calibration.separation import calibration_error, reliability_bins
from ecphoria_eval.measures import abstention
from ecphoria_eval.rows import Row


def row(
    question: str,
    confidence: float = 0.5,
    *,
    category: str = "1",
    taken_out: bool = False,
    verdict: str = "answer",
    error: str | None = None,
) -> Row:
    return Row(
        strategy="s",
        collection="c",
        question=question,
        category=category,
        gold=() if category == "5" else ("a",),
        confidence=confidence,
        taken_out=taken_out,
        verdict=verdict,
        error=error,
    )


def test_both_kinds_of_question_weigh_the_same() -> None:
    (only,) = reliability_bins([0.5] * 30, [0.55])
    assert (only.n, only.low, only.high) == (31, 0.5, 0.6)
    assert only.right == pytest.approx(0.5)
    assert only.confidence == pytest.approx(0.525)
    assert calibration_error([0.5] * 30, [0.55]) == pytest.approx(0.025)


def test_bins_are_tenths_and_certainty_is_in_the_last() -> None:
    found = reliability_bins([1.0, 0.95, 0.1], [0.0, 0.1])
    assert [(one.low, one.n) for one in found] == [(0.0, 1), (0.1, 2), (0.9, 2)]
    assert sum(one.weight for one in found) == pytest.approx(1.0)
    assert [one.right for one in found] == [0.0, pytest.approx(0.4), 1.0]


def test_a_confidence_that_is_right_has_no_error_and_one_that_is_wrong_has_all() -> None:
    assert calibration_error([1.0, 1.0], [0.0]) == 0.0
    assert calibration_error([0.0], [1.0]) == 1.0


def test_one_kind_alone_says_nothing() -> None:
    assert reliability_bins([0.5], []) == []
    assert calibration_error([], [0.5]) is None


def test_a_question_is_paired_with_itself_without_its_evidence() -> None:
    rows = [
        row("p", 0.9),
        row("q", 0.4),
        row("r", 0.1),
        row("p", 0.2, taken_out=True),
        row("q", 0.6, taken_out=True),
        row("u", 0.3, category="5"),
    ]
    found = abstention(rows)
    # Of the data: .9 .4 .1 against .3; taken out: .9 .4 against .2 .6, since `r` was not asked.
    assert found.auroc == pytest.approx(2 / 3)
    assert found.taken_out is not None
    assert found.taken_out.n == 2
    assert found.taken_out.auroc == pytest.approx(3 / 4)
    assert found.taken_out.refusal_at_frr["0.10"] == 0.5
    assert found.taken_out.ece == pytest.approx((0.1 + 0.6 + 0.2 + 0.6) / 4)


def test_without_anything_taken_out_there_is_no_such_figure() -> None:
    assert abstention([row("p", 0.9)]).taken_out is None


def test_refusals_are_counted_apart_with_and_without_an_answer() -> None:
    rows = [
        row("p", verdict="refuse"),
        row("q", verdict="verify"),
        row("r"),
        row("s", verdict="failed", error="timeout"),
        row("p", taken_out=True, verdict="refuse"),
        row("u", category="5", verdict="refuse"),
        row("v", category="5", verdict="empty"),
        row("w", category="5"),
    ]
    refused = abstention(rows).refused
    assert (refused.with_answer, refused.without_answer) == (1 / 4, 2 / 3)


def test_a_question_that_failed_refused_nothing() -> None:
    rows = [row("p", 0.9), row("q", 0.4), row("u", 0.3, category="5")]
    rows.append(row("q", 0.1, taken_out=True))
    failed = {"error": "timeout", "verdict": "failed"}
    rows += [row("v", 0.0, category="5", **failed), row("p", 0.0, taken_out=True, **failed)]  # type: ignore[arg-type]  # one value a name
    found = abstention(rows)
    # .9 and .4 stand above .3, and below what failed.
    assert found.auroc == 0.5
    assert found.refusal_at_frr["0.10"] == 0.5
    assert found.taken_out is not None
    assert found.taken_out.auroc == 0.5
