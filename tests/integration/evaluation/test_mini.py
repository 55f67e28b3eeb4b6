"""The shipped set through the whole service: the figures it must give, again and again."""

import secrets
import time

import pytest

from ecphoria.errors import InvalidInput
from ecphoria_eval.datasets.dataset import Dataset, sampled
from ecphoria_eval.datasets.locomo import load_mini
from ecphoria_eval.evaluate import Wanted, evaluate
from ecphoria_eval.measures import mean, recall_at
from ecphoria_eval.report import Report, check, expected
from ecphoria_eval.run import Connect, Outcome
from tests.integration.evaluation.conftest import unwatched

STRATEGIES = (
    "ecphoria", "fusion", "dense", "lexical", "synapse", "ppr", "cls", "actr", "synaptic",
    "ecphory",
)  # fmt: skip
SAMPLE = 6


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

    if place:  # the same code ranks the passages again
        return
    _, again = await measured(sampled(dataset, SAMPLE), connect)
    before = {(row.strategy, row.question): row for row in outcome.rows}
    for row in again.rows:
        assert row.ranked == before[row.strategy, row.question].ranked
        # Of this one's score a part falls while one waits: how recently a memory was used.
        close = 1e-3 if row.strategy == "actr" else 1e-6
        assert row.scores == pytest.approx(before[row.strategy, row.question].scores, abs=close)


async def test_a_strategy_is_measured_without_each_of_its_mechanisms(connect: Connect) -> None:
    dataset = sampled(load_mini()[1], 4)  # the passages: a tenth of the memories
    report, outcome = await evaluate(
        dataset,
        Wanted(strategies=("synapse",), ablate=True, concurrency=4, steps=None),
        connect,
        unwatched,
        name=f"test-{secrets.token_hex(4)}",
        monotonic=time.perf_counter,
    )
    assert outcome.findings == {}
    assert list(report.strategies) == ["synapse"]
    # Off by default: inhibition, firing, concept seeds, associated, window, prior.
    assert sorted(report.ablations) == [
        f"synapse:without:{name}"
        for name in (
            "about", "activation", "consolidation", "fan effect", "mentions back", "node decay",
            "similar", "text score", "time decay",
        )
    ]  # fmt: skip
    ranked = {
        name: [row.ranked for row in outcome.rows if row.strategy == name]
        for name in ("synapse", "synapse:without:text score", "synapse:without:activation")
    }
    assert len(ranked["synapse"]) == len(dataset.questions)
    assert ranked["synapse:without:text score"] != ranked["synapse"]
    scores = {
        name: [row.scores for row in outcome.rows if row.strategy == name] for name in ranked
    }
    assert scores["synapse:without:activation"] != scores["synapse"]
    without = report.ablations["synapse:without:text score"]
    before, after = (
        mean([recall_at(row.ranked, row.gold, 5) for row in outcome.rows
              if row.strategy == name and row.scored]) or 0.0
        for name in ("synapse", "synapse:without:text score")
    )  # fmt: skip
    assert without.difference["recall@5"].mean == pytest.approx(after - before)


async def test_a_run_with_nothing_to_switch_off_says_what_has_mechanisms(connect: Connect) -> None:
    with pytest.raises(InvalidInput, match="these have: actr, cls, ecphoria"):
        await evaluate(
            sampled(load_mini()[1], 1),
            Wanted(strategies=("fusion",), ablate=True),
            connect,
            unwatched,
            name=f"test-{secrets.token_hex(4)}",
            monotonic=time.perf_counter,
        )
