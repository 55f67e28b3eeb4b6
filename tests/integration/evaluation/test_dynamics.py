"""The tasks of `eval dynamics` against the whole service: each keeps its bound."""

import secrets

import pytest

from ecphoria_eval.dynamics.report import TASKS, measure
from ecphoria_eval.run import Connect
from tests.integration.evaluation.conftest import unwatched

SLOW = {"erc", "contradictions"}  # what they measure has tests of its own
LONG = {"consolidation"}
"""Two minutes; `make test-long` runs them."""


@pytest.mark.parametrize(
    "task",
    [
        pytest.param(task, marks=pytest.mark.long) if task in LONG else task
        for task in sorted(TASKS.keys() - SLOW)
    ],
)
async def test_a_task_keeps_its_bound(connect: Connect, task: str) -> None:
    name = f"test-{secrets.token_hex(4)}"
    report = await measure(connect, unwatched, wanted=[task], name=name, seed=1)
    assert report.failed == (), report.findings
    async with connect(None) as operator:
        assert not [one for one in await operator.admin.tenants() if one.name.startswith(name)]
