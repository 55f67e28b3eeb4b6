"""A cue that names a speaker is judged by who said it, but only as far as something was found."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.records.tenant import (
    EVIDENCE,
    OPEN,
    SHIPPED,
    UNREAD,
    shipped_confidence,
    shipped_gate,
)

NOTHING = dict.fromkeys((*EVIDENCE, "names_one", "asks_when"), 0.0)
SHARE = st.floats(0, 1)


def logit(value: float) -> float:
    return math.log(value / (1 - value))


@given(SHARE, SHARE, SHARE, SHARE)
def test_other_cues_are_judged_by_what_was_found(
    joint: float, top: float, gap: float, unheard: float
) -> None:
    evidence = NOTHING | {"joint": joint, "top_similarity": top, "gap": gap, "unheard": unheard}
    total = -2.016 + 1.497 * joint + 1.786 * top + 3.867 * gap - 0.966 * unheard
    assert logit(shipped_confidence(evidence)) == pytest.approx(total, abs=1e-9)
    assert shipped_confidence(evidence) == OPEN.sure(evidence)


def test_a_name_alone_makes_no_answer() -> None:
    named = NOTHING | {"names_one": 1.0, "share": 0.5, "unheard": 0.4, "similarity": 0.2}
    assert SHIPPED.sure(named) > 0.8
    assert logit(shipped_confidence(named)) == pytest.approx(logit(OPEN.sure(named)) + 2.0)
    assert shipped_confidence(named) < 0.5


def test_the_wrong_speaker_is_refused_whatever_was_found() -> None:
    found = NOTHING | {"joint": 0.7, "top_similarity": 0.8, "gap": 0.7, "similarity": 0.8}
    wrong = found | {"names_one": 1.0, "share": -0.4, "coverage": -0.6, "unsaid": 0.7}
    assert shipped_confidence(found) > 0.8
    assert shipped_confidence(wrong) == SHIPPED.sure(wrong) < SHIPPED.threshold


@given(SHARE, SHARE, SHARE)
def test_a_cue_that_the_model_does_not_read_is_judged_without_its_cosines(
    joint: float, top: float, gap: float
) -> None:
    evidence = NOTHING | {"unread": 1.0, "joint": joint, "top_similarity": top, "gap": gap}
    assert logit(shipped_confidence(evidence)) == pytest.approx(-1.014 + 5.28 * joint, abs=1e-9)
    assert shipped_gate(evidence) is UNREAD


def test_nothing_found_is_refused_in_any_language() -> None:
    for unread in (0.0, 1.0):
        nothing = NOTHING | {"unread": unread}
        assert shipped_confidence(nothing) < shipped_gate(nothing).threshold
    assert shipped_gate(NOTHING | {"unread": 1.0, "names_one": 1.0}) is SHIPPED
