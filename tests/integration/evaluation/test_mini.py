"""The shipped set through the whole service: the figures it must give, again and again."""

import secrets
import time

import pytest

from ecphoria.evaluation.datasets.dataset import Dataset, sampled
from ecphoria.evaluation.datasets.locomo import load_mini
from ecphoria.evaluation.evaluate import Wanted, evaluate
from ecphoria.evaluation.report import Report, check, expected
from ecphoria.evaluation.run import Connect, Outcome
from tests.integration.evaluation.conftest import unwatched

STRATEGIES = (
    "ecphoria", "fusion", "dense", "lexical", "synapse", "ppr", "cls", "actr", "synaptic",
    "ecphory",
)  # fmt: skip
SAMPLE = 12


async def measured(dataset: Dataset, connect: Connect) -> tuple[Report, Outcome]:
    return await evaluate(
        dataset,
        Wanted(strategies=STRATEGIES, concurrency=4),
        connect,
        unwatched,
        name=f"test-{secrets.token_hex(4)}",
        monotonic=time.perf_counter,
    )


@pytest.mark.parametrize("place", [0, 1], ids=["conversation", "passages"])
async def test_the_mini_set_gives_its_figures_every_time(connect: Connect, place: int) -> None:
    dataset = load_mini()[place]
    report, outcome = await measured(dataset, connect)
    checks = check(expected(), report)
    assert len(checks) > len(STRATEGIES)
    assert [one for one in checks if not one.holds] == []
    assert outcome.findings == {}

    _, again = await measured(sampled(dataset, SAMPLE), connect)
    before = {(row.strategy, row.question): row for row in outcome.rows}
    for row in again.rows:
        assert row.ranked == before[row.strategy, row.question].ranked
        # Of this one's score a part falls while one waits: how recently a memory was used.
        close = 1e-3 if row.strategy == "actr" else 1e-6
        assert row.scores == pytest.approx(before[row.strategy, row.question].scores, abs=close)
