"""Fitting a gate: against theory, and on hand-made evidence."""

import math
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.calibration.fitting import calibrate
from ecphoria.errors import InvalidInput
from ecphoria.maths.gate import fit_logistic, logits
from ecphoria.records.calibration import Calibration, FitOptions, Sample
from ecphoria.records.tenant import EVIDENCE, EVIDENCE_NAMES, OPEN, STATED

NAMES = (*EVIDENCE, STATED)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def samples(seed: int, size: int = 120, groups: int = 3) -> list[Sample]:
    """Evidence of which `share` tells and `unheard` does not; a quarter cannot be answered."""
    random = np.random.default_rng(seed)
    return [
        Sample(
            evidence={
                **dict.fromkeys((*NAMES, "names_one"), 0.0),
                "share": float(random.normal() + (1.5 if place % 4 else 0.0)),
                "unheard": float(random.uniform()),
            },
            answerable=bool(place % 4),
            group=f"g{place % groups}",
        )
        for place in range(size)
    ]


def fitted(given: list[Sample], rate: float = 0.05) -> Calibration:
    options = FitOptions(false_refusals=rate, judged=True)
    return calibrate(given, options, data_sha256="0" * 64, fitted_at=NOW)


def test_the_gate_is_the_fit_of_all_and_its_worth_that_of_the_left_out() -> None:
    data = samples(1)
    found = fitted(data)
    table = np.array([[one.evidence[name] for name in NAMES] for one in data])
    labels = np.array([one.answerable for one in data])
    whole = fit_logistic(table, labels)
    assert list(found.gate.weights.values()) == pytest.approx(whole.weights.tolist(), abs=1e-6)
    assert found.by_group
    out = np.array([one.group == "g1" for one in data])
    rest = fit_logistic(table[~out], labels[~out])
    for one, row in zip(data, found.judged, strict=True):
        if one.group == "g1":
            odds = logits(rest, [[one.evidence[name] for name in NAMES]])[0]
            assert row.confidence == pytest.approx(1.0 / (1.0 + math.exp(-odds)))
    pairs = [
        (a.confidence > b.confidence) + 0.5 * (a.confidence == b.confidence)
        for a in found.judged if a.answerable
        for b in found.judged if not b.answerable
    ]  # fmt: skip
    assert found.auroc == pytest.approx(sum(pairs) / len(pairs))
    assert set(found.group_auroc) == {"g0", "g1", "g2"}


@given(st.integers(0, 30), st.sampled_from([0.0, 0.021, 0.05, 0.2, 0.5]))
def test_no_more_is_refused_than_was_allowed(seed: int, rate: float) -> None:
    fit = fitted(samples(seed), rate).gate.fit
    assert fit is not None
    assert fit.false_refusals <= rate + 1e-9
    gate = fitted(samples(seed), rate).gate
    assert gate.threshold <= gate.verify_below


def test_the_same_samples_give_the_same_gate() -> None:
    assert fitted(samples(2)) == fitted(samples(2))


def test_one_group_is_left_out_by_fifths() -> None:
    found = fitted(samples(3, groups=1))
    assert not found.by_group
    assert found.auroc > 0.7


def test_groups_that_leave_too_little_are_not_left_out() -> None:
    data = samples(4, size=44, groups=1)
    lone = [
        Sample(evidence=one.evidence, answerable=one.answerable, group=str(one.answerable))
        for one in data
    ]
    assert not fitted(lone).by_group


def test_the_shipped_gate_is_told_beside_it() -> None:
    data = samples(6)
    sure = [OPEN.weights["unheard"] * one.evidence["unheard"] for one in data]
    yes = [value for value, one in zip(sure, data, strict=True) if one.answerable]
    no = [value for value, one in zip(sure, data, strict=True) if not one.answerable]
    won = sum(a > b for a in yes for b in no) / (len(yes) * len(no))
    assert fitted(data).shipped_auroc == pytest.approx(won)


def test_labels_without_a_reason_are_worth_nothing() -> None:
    random = np.random.default_rng(5)
    data = [
        Sample(evidence=one.evidence, answerable=bool(random.integers(2)), group=one.group)
        for one in samples(5, size=600)
    ]
    assert fitted(data).auroc == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize(("yes", "no"), [(100, 9), (9, 100), (0, 0)])
def test_too_few_questions_are_refused(yes: int, no: int) -> None:
    data = [
        Sample(
            evidence=dict.fromkeys((*NAMES, "names_one"), 0.0), answerable=place < yes, group=""
        )
        for place in range(yes + no)
    ]
    with pytest.raises(InvalidInput, match=f"here are {yes} and {no}"):
        fitted(data)


def test_a_rate_that_is_no_share_is_refused() -> None:
    with pytest.raises(InvalidInput, match="share"):
        fitted(samples(1), 1.0)


@pytest.mark.parametrize("figure", [-2.0, 0.0, 1e-300, 2.0])
def test_figures_at_their_bounds_give_a_gate(figure: float) -> None:
    names = EVIDENCE_NAMES
    data = [
        Sample(
            evidence=dict.fromkeys(names, figure if place % 3 else -figure),
            answerable=place % 2 > 0,
        )
        for place in range(40)
    ]
    found = calibrate(data, FitOptions(question_type=True), data_sha256="0" * 64, fitted_at=NOW)
    assert all(math.isfinite(weight) for weight in found.gate.weights.values())
    assert math.isfinite(found.gate.bias)
    assert 0.0 <= found.gate.threshold <= found.gate.verify_below <= 1.0


def test_of_many_groups_several_are_left_out_together() -> None:
    data = samples(8, size=1_000, groups=250)
    found = fitted(data)
    assert found.by_group
    assert {one.group for one in found.judged} == {f"g{number}" for number in range(250)}
    assert found.auroc > 0.7
