"""The least score and the least confidence a caller asks for."""

from dataclasses import replace

import numpy as np
import pytest

from ecphoria.recall.gate import Judgement
from ecphoria.recall.pipeline import Ranked
from ecphoria.recall.service import judge_floors
from ecphoria.recall.walk import Walk
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import RecallOptions, Verdict
from ecphoria.records.traced import GateKind, Limits
from tests.unit.recall.builders import episode

LIMITS = Limits(gate=GateKind.SHIPPED, threshold=0.25, verify_below=0.4)
SURE = Judgement(
    verdict=Verdict.ANSWER, confidence=0.7, judged_by=LIMITS, evidence={}, reasons=("it says so",)
)


def ranked(*scores: float) -> Ranked:
    parts = np.array(scores)[:, None]
    return Ranked(
        ids=tuple(EpisodeId(str(row)) for row in range(len(scores))),
        parts=parts, part_names=("text",), walk=Walk(), path=lambda _: (),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("floor", "k", "hits"), [(None, 2, 2), (None, 9, 3), (0.5, 9, 2), (0.5, 1, 1), (2.0, 9, 0)]
)
def test_hits_below_the_least_score_are_left_out(floor: float | None, k: int, hits: int) -> None:
    assert ranked(0.9, 0.5, 0.1).count_above(RecallOptions(k=k, min_score=floor)) == hits


@pytest.mark.parametrize(
    ("scores", "gap", "close"),
    [
        ((1.0, 0.95), 0.1, True),
        ((1.0, 0.75), 0.25, False),
        ((1.0, 1.0), 0.0, False),
        ((1.0, 0.95), 0.0, False),
        ((1.0,), 0.1, False),
        ((), 0.1, False),
        ((0.0, 0.0), 0.1, False),
        ((-0.2, -0.2), 0.1, False),
    ],
)
def test_a_gap_below_a_share_of_the_first_score_is_for_the_reader(
    scores: tuple[float, ...], gap: float, close: bool
) -> None:
    assert replace(ranked(*scores), reader_gap=gap).undecided is close


@pytest.mark.parametrize(
    ("characters", "k", "hits"),
    [(0, 3, 3), (9, 3, 2), (8, 3, 1), (1, 3, 1), (99, 2, 2), (9, 0, 0)],
)
def test_the_first_hits_that_fit_into_the_characters_are_given_and_at_least_one(
    characters: int, k: int, hits: int
) -> None:
    texts = {EpisodeId(str(row)): episode("x" * size) for row, size in enumerate((4, 5, 3))}
    found = replace(ranked(0.9, 0.5, 0.1), characters=characters, episodes=texts)
    assert found.count_within(k) == hits


def test_less_confidence_than_asked_for_is_a_refusal_with_its_reason() -> None:
    found = judge_floors(SURE, RecallOptions(min_confidence=0.8), hits=3)
    assert found.verdict is Verdict.REFUSE
    assert found.verdict.refused
    assert found.reasons == ("the confidence 0.70 is below `min_confidence` 0.80", "it says so")


def test_no_hit_above_the_least_score_is_a_refusal() -> None:
    found = judge_floors(SURE, RecallOptions(min_score=0.5), hits=0)
    assert found.verdict is Verdict.REFUSE
    assert found.reasons[0] == "no memory reaches `min_score` 0.5"


def test_enough_of_both_changes_nothing() -> None:
    assert judge_floors(SURE, RecallOptions(min_score=0.5, min_confidence=0.7), hits=1) is SURE


def test_an_empty_answer_stays_empty() -> None:
    empty = Judgement(
        verdict=Verdict.EMPTY, confidence=0.0, judged_by=LIMITS, evidence={}, reasons=("nothing",)
    )
    assert judge_floors(empty, RecallOptions(min_score=1, min_confidence=1), hits=0) is empty
