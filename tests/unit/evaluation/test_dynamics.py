"""What the tasks of `eval dynamics` compute from what they saw, and how it is written."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.errors import InvalidInput
from ecphoria_eval.dynamics.agents import Benefit, Continuity, Relevance
from ecphoria_eval.dynamics.firing import Firing, equal_count
from ecphoria_eval.dynamics.ground import axis, lean
from ecphoria_eval.dynamics.links import Bridge
from ecphoria_eval.dynamics.report import TASKS, DynamicsReport, Finding, measure, table, write
from tests.unit.evaluation.conftest import unwatched
from tests.unit.evaluation.doubles import TinyService

FIRED = Firing(silent_fires=0, monotone=True, fires_at=0.35)


def report(**findings: Finding) -> DynamicsReport:
    return DynamicsReport(
        version="1", seed=1, embedder="minilm", engine={"neo4j": "2026.01.4"}, findings=findings
    )


def test_a_memory_that_never_fired_leaves_a_report_that_is_json(tmp_path: Path) -> None:
    target = tmp_path / "r.json"
    write(report(lif=Firing(silent_fires=0, monotone=False, fires_at=None)), target)
    assert json.loads(target.read_text(), parse_constant=pytest.fail)["lif"]["fires_at"] is None


def test_equal_count_is_that_of_the_worked_example() -> None:
    found = equal_count([({"a", "b", "c"}, ["a", "x", "b", "c"], {"a", "b", "c", "d"})])
    assert (found.erc, found.baseline_erc, found.baseline_erc_mg) == (0.75, 0.5, 0.75)
    assert (found.mean_set_size, found.precision) == (3, 1.0)


def test_nothing_fired_is_nothing_found_and_the_baseline_keeps_its_guarantee() -> None:
    found = equal_count([(set(), ["a"], {"a"}), ({"a", "z"}, ["z", "a"], {"a"})])
    assert (found.erc, found.baseline_erc, found.baseline_erc_mg) == (0.5, 0.5, 1.0)
    assert (found.mean_set_size, found.precision) == (1.0, 0.25)


@given(st.floats(-1.0, 1.0))
def test_a_direction_leans_by_its_cosine(cosine: float) -> None:
    found = lean(axis(0, 3), axis(2, 3), cosine)
    assert found[0] == pytest.approx(cosine)
    assert np.linalg.norm(found) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("finding", "holds"),
    [
        (FIRED, True),
        (Firing(silent_fires=1, monotone=True, fires_at=0.35), False),
        (Firing(silent_fires=0, monotone=False, fires_at=0.35), False),
        (Bridge(nearest_hit=False, depth0_hit=False, depth1_hit=True), True),
        (Bridge(nearest_hit=False, depth0_hit=True, depth1_hit=True), False),
        (Bridge(nearest_hit=False, depth0_hit=False, depth1_hit=False), False),
        (Continuity(recall_at_3=0.8, words_at_3=0.4, paper_at_3=0.4), True),
        (Continuity(recall_at_3=0.7, words_at_3=1.0, paper_at_3=1.0), False),
        (Relevance(old_first=1.0, actr_first=1.0, paper_first=0.0), True),
        (Relevance(old_first=1.0, actr_first=0.9, paper_first=0.0), False),
        (Benefit(signal_before=0.0, signal_after=1.0, asleep=0.9, used_asleep=0), True),
        (Benefit(signal_before=1.0, signal_after=1.0, asleep=0.9, used_asleep=0), False),
        (Benefit(signal_before=0.0, signal_after=1.0, asleep=0.9, used_asleep=1), False),
    ],
)
def test_a_bound_holds_or_not(finding: Finding, holds: bool) -> None:
    assert finding.holds is holds
    assert report(task=finding).failed == (() if holds else ("task",))


def test_the_report_is_written_and_shown(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    write(report(lif=FIRED), target)
    told = json.loads(target.read_text())
    assert told["suite"] == "dynamics"
    assert told["lif"] == {"silent_fires": 0, "monotone": True, "fires_at": 0.35}
    assert table(report(lif=FIRED)).row_count == 1


async def test_a_task_nobody_knows_is_refused(service: TinyService) -> None:
    with pytest.raises(InvalidInput, match=f"no task `sleep`; choose from: {', '.join(TASKS)}"):
        await measure(service.connect, unwatched, wanted=["sleep"], name="t", seed=1)
