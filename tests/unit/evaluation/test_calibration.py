"""Fitting a gate: against theory, on hand-made evidence, and through the client."""

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.errors import BadFile, InvalidInput
from ecphoria.evaluation.calibration import (
    Calibration,
    Sample,
    ask_labelled,
    ask_memories,
    calibrate,
)
from ecphoria.evaluation.datasets.dataset import load_labelled
from ecphoria.evaluation.datasets.locomo import load_mini
from ecphoria.maths.gate import confidence, fit_logistic
from ecphoria.records.tenant import EVIDENCE, OPEN
from tests.unit.evaluation.doubles import TinyService

NAMES = ("share", "unheard")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def samples(seed: int, size: int = 120, groups: int = 3) -> list[Sample]:
    """Evidence of which `share` tells and `unheard` does not; a quarter cannot be answered."""
    random = np.random.default_rng(seed)
    return [
        Sample(
            evidence={
                **dict.fromkeys((*EVIDENCE, "names_one"), 0.0),
                "share": float(random.normal() + (1.5 if place % 4 else 0.0)),
                "unheard": float(random.uniform()),
            },
            answerable=bool(place % 4),
            group=f"g{place % groups}",
        )
        for place in range(size)
    ]


def fitted(given: list[Sample], rate: float = 0.05) -> Calibration:
    return calibrate(given, names=NAMES, false_refusals=rate, data_sha256="0" * 64, fitted_at=NOW)


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
            alone = confidence(
                [one.evidence[name] for name in NAMES], bias=rest.bias, weights=rest.weights
            )
            assert row.confidence == pytest.approx(alone)
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
            evidence=dict.fromkeys((*EVIDENCE, "names_one"), 0.0), answerable=place < yes, group=""
        )
        for place in range(yes + no)
    ]
    with pytest.raises(InvalidInput, match=f"here are {yes} and {no}"):
        fitted(data)


def test_a_rate_that_is_no_share_is_refused() -> None:
    with pytest.raises(InvalidInput, match="share"):
        fitted(samples(1), 1.0)


def test_a_labelled_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    rows = [{"question": "a?", "answerable": True}, {"question": "b?", "answerable": False}]
    rows[1]["group"] = "x"
    file.write_text("\n\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    found = load_labelled(file)
    assert [(one.text, one.answerable, one.group) for one in found.questions] == [
        ("a?", True, ""),
        ("b?", False, "x"),
    ]
    assert len(found.sha256) == 64


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"question": "a?"}', "q.jsonl, line 1: `answerable` is missing"),
        ('{"question": "a?", "answerable": 1}', "`answerable` is not true or false"),
        ('{"question": " ", "answerable": true}', "`question` is not text to ask"),
        ('{"answerable": true}', "`question` is missing"),
        ('{"question": "a?", "answerable": true, "grup": "x"}', "there is no field `grup`"),
        ("[]", "is not a JSON object"),
        ("{", "is not JSON"),
    ],
)
def test_a_line_that_is_no_question_is_named(tmp_path: Path, line: str, told: str) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(line, encoding="utf-8")
    with pytest.raises(BadFile) as caught:
        load_labelled(file)
    assert told in caught.value.message


async def test_labelled_questions_are_asked_of_their_tenant(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    lines = [{"question": f"question {n}", "answerable": n % 2 == 0} for n in range(4)]
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    service = TinyService(tenants={"mine": []}, refuse={"question 3": (422, "invalid-input")})
    told: list[tuple[str, int, int]] = []
    asked = await ask_labelled(
        load_labelled(file), service.connect, lambda *all_: told.append(all_), "mine"
    )
    assert [one.answerable for one in asked.samples] == [True, False, True]
    assert [one.evidence["share"] for one in asked.samples] == pytest.approx([-0.3] * 3)
    assert asked.findings == {"recalls that failed: invalid-input": 1}
    assert {tenant for tenant, _ in service.asked} == {"mine"}
    assert told[-1] == ("asking", 4, 4)


async def test_conversations_are_remembered_asked_and_erased() -> None:
    dataset = load_mini()[0]
    service = TinyService()
    asked = await ask_memories(
        dataset, service.connect, lambda *_: None, name="try", monotonic=lambda: 0.0
    )
    wanted = [one for one in dataset.questions if one.scored or one.adversarial]
    assert [one.answerable for one in asked.samples] == [one.scored for one in wanted]
    assert {one.group for one in asked.samples} == {"sample"}
    assert service.tenants == {}
