"""A small data set, and a run of it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

import pytest
from pydantic import TypeAdapter

from ecphoria.records.episode import NewEpisode
from ecphoria.records.strategy import StrategyInfo
from ecphoria.wire.admin import ReadinessAnswer
from ecphoria_eval.datasets.dataset import Collection, Dataset, Question, Suite
from ecphoria_eval.report import Report, make_report
from ecphoria_eval.rows import Arm, ablations, chosen, unconsolidated
from ecphoria_eval.run import Outcome, Plan, run
from tests.unit.evaluation.doubles import READINESS, STRATEGIES, TinyService

READY = ReadinessAnswer.model_validate(READINESS)
KNOWN = TypeAdapter(tuple[StrategyInfo, ...]).validate_python(STRATEGIES)


def memories(*texts: str) -> Mapping[str, NewEpisode]:
    return {f"m{place}": NewEpisode(text=text) for place, text in enumerate(texts)}


def asked(ident: str, text: str, category: str, *gold: str) -> Question:
    return Question(id=ident, text=text, category=category, gold=gold, official=gold)


def small(suite: Suite = Suite.LOCOMO) -> Dataset:
    first = Collection(
        name="one",
        memories=memories("red kiln", "blue wheel", "green glaze", "red glaze"),
        questions=(
            asked("q1", "red kiln", "1", "m0", "m3"),
            asked("q2", "blue", "4", "m1"),
            asked("q3", "who broke it", "5"),
        ),
    )
    second = Collection(
        name="two",
        memories=memories("a loaf", "an oven"),
        questions=(asked("q1", "an oven", "4", "m0"), asked("q2", "nothing", "3")),
    )
    return Dataset(
        suite=suite,
        source="small.json",
        sha256="0" * 64,
        collections=(first, second),
        findings={"empty sessions": 1},
    )


def plan(
    *arms: Arm,
    concurrency: int = 1,
    keep: bool = False,
    unconsolidated: Sequence[Arm] = (),
    take_out: Arm | None = None,
    steps: tuple[str, ...] | None = (),
) -> Plan:
    ticks = count()
    return Plan(
        arms=arms or chosen(KNOWN, ["ecphoria"]),
        name="eval-x",
        monotonic=lambda: float(next(ticks)),
        concurrency=concurrency,
        keep=keep,
        unconsolidated=unconsolidated,
        take_out=take_out,
        steps=steps,
    )


def unwatched(stage: str, done: int, total: int) -> None:
    assert done <= total


async def measured(dataset: Dataset, *, take_out: bool = False) -> tuple[Report, Outcome]:
    own = chosen(KNOWN, ["ecphoria"])
    arms = [*own, *ablations(KNOWN, own)]
    whole = plan(
        *arms,
        unconsolidated=[unconsolidated(own[0], "ecphoria")],
        take_out=own[0] if take_out else None,
    )
    outcome = await run(dataset, TinyService().connect, whole, unwatched)
    report = make_report(
        dataset, outcome, wanted=["ecphoria"], default="ecphoria", version="1.2.3", service=READY
    )
    return report, outcome


@pytest.fixture
def service() -> Iterator[TinyService]:
    """A service that must be left empty."""
    made = TinyService()
    yield made
    assert made.tenants == {}
