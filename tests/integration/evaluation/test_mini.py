"""The shipped set through the whole service: the figures it must give, again and again."""

import secrets
import time
from collections.abc import Iterator

import pytest

from ecphoria.client import AsyncClient
from ecphoria.evaluation.datasets.dataset import Dataset, sampled
from ecphoria.evaluation.datasets.mini import load_mini
from ecphoria.evaluation.evaluate import Wanted, evaluate
from ecphoria.evaluation.expected import check, expected
from ecphoria.evaluation.report import Report
from ecphoria.evaluation.run import Connect, Outcome
from tests.acceptance.conftest import running, settings_for
from tests.conftest import Server

STRATEGIES = (
    "ecphoria", "fusion", "dense", "lexical", "synapse", "ppr", "cls", "actr", "synaptic",
    "ecphory",
)  # fmt: skip
SAMPLE = 12


@pytest.fixture(scope="module")
def connect(neo4j_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connect]:
    with running(settings_for(neo4j_server, tmp_path_factory.mktemp("home"))) as service:
        yield lambda tenant: AsyncClient(service.url, service.key, tenant=tenant, timeout=120)


def unwatched(_stage: str, _done: int, _total: int) -> None:
    """Nobody looks on."""


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
