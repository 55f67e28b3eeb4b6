"""The shipped set and its expected figures."""

from collections import Counter

from ecphoria_eval.datasets.dataset import Suite
from ecphoria_eval.datasets.locomo import load_mini
from ecphoria_eval.measures import MEASURES
from ecphoria_eval.report import TOLERANCE, check, expected, spelled
from tests.unit.evaluation.conftest import measured, small


def test_the_mini_set_is_whole() -> None:
    conversation, passages = load_mini()
    categories = Counter(one.category for one in conversation.questions)
    assert categories == {"1": 16, "2": 16, "3": 5, "4": 31, "5": 18}
    assert sum(one.scored for one in conversation.questions) == 68
    assert len(conversation.collections[0].memories) == 394
    assert len(passages.collections[0].memories) == 40
    assert {len(one.gold) for one in passages.questions} == {2}
    assert not conversation.findings


def test_figures_are_expected_of_the_bars_and_the_graph() -> None:
    wanted = expected()
    for suite in ("locomo", "passages"):
        assert set(wanted[suite]) >= {"ecphoria", "fusion", "dense", "lexical"}
        assert set(wanted[suite]["ecphoria"]) >= {*MEASURES[Suite(suite)]}


async def test_a_figure_may_be_off_by_its_rounding_only() -> None:
    report, _ = await measured(small())
    exact = report.strategies["ecphoria"].measures["mrr"]
    assert exact is not None
    near = {"locomo": {"ecphoria": {"mrr": exact + 0.9 * TOLERANCE}}}
    far = {"locomo": {"ecphoria": {"mrr": exact + 1.1 * TOLERANCE}, "none": {"mrr": 0.0}}}
    assert [one.holds for one in check(near, report)] == [True]
    assert [one.holds for one in check(far, report)] == [False, False]
    assert check({"passages": near["locomo"]}, report) == []


async def test_figures_found_can_become_those_expected() -> None:
    report, _ = await measured(small())
    assert "mrr: 0.8333" in spelled([report])
