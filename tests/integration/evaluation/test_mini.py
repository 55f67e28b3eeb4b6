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

DEFAULTS = ("ecphoria", "fusion", "dense", "lexical")
PAPERS = ("synapse", "ppr", "cls", "actr", "synaptic", "ecphory")
SAMPLE = 6


async def measured(
    dataset: Dataset, strategies: tuple[str, ...], connect: Connect
) -> tuple[Report, Outcome]:
    return await evaluate(
        dataset,
        Wanted(strategies=strategies, concurrency=4),
        connect,
        unwatched,
        name=f"test-{secrets.token_hex(4)}",
        monotonic=time.perf_counter,
    )


async def gives_its_figures(
    dataset: Dataset, strategies: tuple[str, ...], connect: Connect
) -> Outcome:
    report, outcome = await measured(dataset, strategies, connect)
    wanted = {
        suite: {name: figures[name] for name in strategies}
        for suite, figures in expected().items()
    }
    checks = check(wanted, report)
    assert len(checks) > len(strategies)
    assert [one for one in checks if not one.holds] == []
    assert outcome.findings == {}
    return outcome


# The papers' strategies take most of the time, and the passages show a fault of theirs too.
@pytest.mark.parametrize(
    "strategies",
    [DEFAULTS, pytest.param(PAPERS, marks=[pytest.mark.long, pytest.mark.timeout(900)])],
    ids=["defaults", "papers"],
)
async def test_the_conversation_gives_its_figures(
    connect: Connect, strategies: tuple[str, ...]
) -> None:
    await gives_its_figures(load_mini()[0], strategies, connect)


async def test_the_passages_give_their_figures_every_time(connect: Connect) -> None:
    dataset, strategies = load_mini()[1], DEFAULTS + PAPERS
    outcome = await gives_its_figures(dataset, strategies, connect)
    _, again = await measured(sampled(dataset, SAMPLE), strategies, connect)
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
