"""The tuner of `synaptic` through the whole service."""

import secrets

import pytest

from ecphoria.errors import InvalidInput
from ecphoria_eval.datasets.dataset import Dataset, sampled
from ecphoria_eval.datasets.locomo import load_mini
from ecphoria_eval.run import Connect
from ecphoria_eval.tuning import RANGES, TuningReport, tune
from tests.integration.evaluation.conftest import unwatched


def few() -> Dataset:
    """Questions of the passages, which are a tenth of the memories of the conversation."""
    return sampled(load_mini()[1], 16)


async def tuned(connect: Connect, seed: int, start: str = "synaptic") -> TuningReport:
    return await tune(
        few(), connect, unwatched,
        start=start, trials=8, seed=seed, name=f"test-{secrets.token_hex(4)}",
    )  # fmt: skip


async def test_it_betters_the_objective_and_the_same_seed_finds_the_same(connect: Connect) -> None:
    shares: list[float] = []

    def watch(stage: str, done: int, total: int) -> None:
        if stage == "asking":
            shares.append(done / total)

    start = "synaptic:tau_rule=frozen,hops=1"
    report = await tuned(connect, 3, start)
    before, after = report.training
    assert after.score > before.score, "what fires by default was never fitted to anything"
    assert report.found.keys() - report.start.keys() <= RANGES.keys()
    assert report.found["tau_rule"] == "frozen"
    assert abs(report.held_out[0].sets.questions - report.training[0].sets.questions) <= 1
    again = await tune(
        few(), connect, watch,
        start=start, trials=8, seed=3, name=f"test-{secrets.token_hex(4)}",
    )  # fmt: skip
    assert again == report
    assert shares == sorted(shares)
    assert shares[-1] <= 1.0
    async with connect(None) as operator:
        assert not [one for one in await operator.admin.tenants() if one.name.startswith("test-")]


async def test_only_this_mechanism_has_these_parameters(connect: Connect) -> None:
    with pytest.raises(InvalidInput, match="synaptic"):
        await tuned(connect, 1, "cls")
