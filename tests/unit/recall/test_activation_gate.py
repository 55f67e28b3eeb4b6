"""The verdict lies between the two cuts of a gate."""

from dataclasses import replace

import pytest

from ecphoria.recall.gate import Judgement, judge_activation
from ecphoria.recall.pipeline import ActivationGate
from ecphoria.records.recall import Verdict
from ecphoria.records.traced import GateKind, Limits

LIMITS = Limits(gate=GateKind.SHIPPED, threshold=0.25, verify_below=0.4)
SURE = Judgement(
    verdict=Verdict.ANSWER, confidence=0.7, judged_by=LIMITS, evidence={}, reasons=("it says so",)
)


@pytest.mark.parametrize(
    ("activation", "verdict"),
    [
        (0.0, Verdict.REFUSE),
        (0.1999, Verdict.REFUSE),
        (0.2, Verdict.VERIFY),
        (0.4999, Verdict.VERIFY),
        (0.5, Verdict.ANSWER),
        (3.0, Verdict.ANSWER),
    ],
)
def test_a_cut_belongs_to_what_is_above_it(activation: float, verdict: Verdict) -> None:
    gate = ActivationGate(activation=activation, threshold=0.2, verify_below=0.5)
    found = judge_activation(SURE, gate)
    assert found.verdict is verdict
    assert found.confidence == min(1.0, activation)
    assert found.judged_by == Limits(gate=GateKind.STRATEGY, threshold=0.2, verify_below=0.5)
    side = "is below" if verdict is Verdict.REFUSE else "is not below"
    assert side in found.reasons[0]
    assert ("it says so" in found.reasons) == (verdict is Verdict.REFUSE)


def test_no_memory_stays_no_memory_whatever_the_activation() -> None:
    empty = replace(SURE, verdict=Verdict.EMPTY)
    gate = ActivationGate(activation=9.0, threshold=0.2, verify_below=0.5)
    assert judge_activation(empty, gate) is empty
    assert judge_activation(SURE, None) is SURE
