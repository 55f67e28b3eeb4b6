"""Run an evaluation: one dataset, or one of each kind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ecphoria.cli.progress import Watch
from ecphoria.errors import InvalidInput
from ecphoria.records.strategy import StrategyInfo
from ecphoria_eval.datasets.dataset import Dataset, Suite
from ecphoria_eval.live import run_live
from ecphoria_eval.measures import HEADLINE, mean
from ecphoria_eval.report import Report, make_report
from ecphoria_eval.rows import (
    Arm,
    Row,
    ablations,
    chosen,
    sweeps,
    unconsolidated,
    write_json,
    write_rows,
)
from ecphoria_eval.run import ANY_TENANT, Connect, Outcome, Plan, run


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The strategies to measure, and how.

    Attributes:
        strategies: By name; empty for all that are known.
        ablate: Also measure each strategy that is named without each of its mechanisms; the
            default if none is named.
        sweep: Options with values, each of which these strategies are measured with too.
        take_out: Also ask the default with each question's evidence erased.
        with_default: Measure the default even if it is not among the strategies.
        steps, concurrency, keep, rows: As in `Plan`.
    """

    strategies: tuple[str, ...] = ()
    ablate: bool = False
    sweep: tuple[str, ...] = ()
    take_out: bool = False
    with_default: bool = False
    steps: tuple[str, ...] | None = ()
    concurrency: int = 1
    keep: bool = False
    rows: list[Row] = field(default_factory=list)


async def evaluate(
    dataset: Dataset,
    wanted: Wanted,
    connect: Connect,
    watch: Watch,
    *,
    name: str,
    monotonic: Callable[[], float],
) -> tuple[Report, Outcome]:
    """Measure a data set on a service.

    Args:
        dataset: What to remember and to ask.
        wanted: What to measure.
        connect: The way to the service.
        watch: Told the progress.
        name: Prefix of the tenants' names, which must be new.
        monotonic: Seconds from some fixed moment.

    Raises:
        InvalidInput: No strategy that is named has a mechanism to switch off or an option to vary.
        UnknownStrategy: The service has none of a name wanted.
        EcphoriaError: The service cannot be used.
    """
    async with connect(ANY_TENANT) as client:
        known = await client.strategies()
        service = await client.ready()
    default = known[0].name
    arms = chosen(known, wanted.strategies)
    varied = wanted.ablate or bool(wanted.sweep)
    needed = (varied and not wanted.strategies) or wanted.take_out or wanted.with_default
    if needed and default not in {arm.name for arm in arms}:
        arms += chosen(known, [default])
    ablated = _ablated(known, wanted, arms)
    arms += sweeps(known, _varied(known, wanted, arms), wanted.sweep)
    # A value of a sweep may be named as a strategy too.
    arms = list({arm.name: arm for arm in arms}.values())
    names = [arm.name for arm in arms]
    arms += [arm for arm in ablations(known, ablated) if arm.name not in names]
    plan = Plan(
        arms=arms,
        name=name,
        monotonic=monotonic,
        take_out=next(arm for arm in arms if arm.name == default) if wanted.take_out else None,
        unconsolidated=[unconsolidated(arm, default) for arm in ablated],
        steps=wanted.steps,
        concurrency=wanted.concurrency,
        keep=wanted.keep,
        rows=wanted.rows,
    )
    outcome = await run(dataset, connect, plan, watch)
    report = make_report(
        dataset,
        outcome,
        wanted=names,
        default=default,
        version=version("ecphoria"),
        service=service,
    )
    return report, outcome


async def evaluate_live(
    dataset: Dataset,
    strategy: str | None,
    connect: Connect,
    watch: Watch,
    *,
    name: str,
    monotonic: Callable[[], float],
    rows: list[Row],
) -> tuple[Report, Outcome]:
    """Measure one strategy, the default if none is named, as an agent uses it.

    `rows` is filled during the run, for one that ends early.

    The report has the replay without stored questions as the strategy, and the replay with them
    as its variant `live`.

    Raises:
        UnknownStrategy: The service has none of this name.
        EcphoriaError: The service cannot be used.
    """
    async with connect(ANY_TENANT) as client:
        known = await client.strategies()
        service = await client.ready()
    (arm,) = chosen(known, [strategy or known[0].name])
    plan = Plan(arms=[arm], name=name, monotonic=monotonic, rows=rows)
    outcome = await run_live(dataset, connect, plan, watch)
    report = make_report(
        dataset,
        outcome,
        wanted=[arm.name],
        default=arm.name,
        version=version("ecphoria"),
        service=service,
    )
    return report, outcome


def _varied(known: Sequence[StrategyInfo], wanted: Wanted, arms: Sequence[Arm]) -> list[Arm]:
    """Choose the arms that are named, the default if none is."""
    named = wanted.strategies or (known[0].name,)
    return [arm for arm in arms if arm.name in named]


def _ablated(known: Sequence[StrategyInfo], wanted: Wanted, arms: Sequence[Arm]) -> list[Arm]:
    """Choose the arms that are also measured without each mechanism."""
    if not wanted.ablate:
        return []
    able = {strategy.name for strategy in known if strategy.mechanisms}
    found = [arm for arm in _varied(known, wanted, arms) if arm.strategy in able]
    if not found:
        raise InvalidInput(
            f"no strategy of this run has a mechanism to switch off; these have: "
            f"{', '.join(sorted(able))}",
            field="ablate",
        )
    return found


class Domain(BaseModel):
    """The figures of one data set; None where not measured."""

    model_config = ConfigDict(frozen=True)

    name: str
    suite: Suite
    n: int
    measure: str
    default: float | None
    best: str | None
    best_value: float | None
    gain: float | None
    auroc: float | None
    auroc_taken_out: float | None
    ece: float | None
    ece_taken_out: float | None


def domains(reports: Mapping[str, Report]) -> list[Domain]:
    """Summarise each report; the smallest gain first, reports without a gain last."""
    found = [_domain(name, report) for name, report in reports.items()]
    return sorted(found, key=lambda one: (one.gain is None, one.gain or 0.0, one.name))


def document(reports: Mapping[str, Report], rows: Mapping[str, str]) -> dict[str, object]:
    """Build the content of the report file of several data sets.

    Args:
        reports: By name of the data set.
        rows: Name of the file of each one's rows.
    """
    found = domains(reports)
    measured = [domain for domain in found if domain.gain is not None]
    return {
        "suite": "all",
        "domains": {
            domain.name: reports[domain.name].document(rows[domain.name]) for domain in found
        },
        "table": [domain.model_dump(mode="json") for domain in found],
        "worst": measured[0].model_dump(mode="json") if measured else None,
        "mean_gain": mean_of_known([domain.gain for domain in found]),
    }


def write_domains(measured: Mapping[str, tuple[Report, Outcome]], out: Path) -> None:
    """Write one report of all, and beside it the rows of each data set.

    Raises:
        BadFile: A file cannot be written.
    """
    rows = {name: out.with_suffix(f".{name}.rows.jsonl") for name in measured}
    for name, (_, outcome) in measured.items():
        write_rows(rows[name], outcome.rows)
    content = document(
        {name: report for name, (report, _) in measured.items()},
        {name: path.name for name, path in rows.items()},
    )
    write_json(out, content)


def _domain(name: str, report: Report) -> Domain:
    own = report.strategies.get(report.default)
    judged = None if own is None else own.abstention
    without = None if judged is None else judged.taken_out
    measure = HEADLINE[report.suite][0]
    gain = report.gain
    return Domain(
        name=name,
        suite=report.suite,
        n=report.n,
        measure=measure,
        default=None if own is None else own.measures[measure],
        best=None if gain is None else gain.best,
        best_value=None if gain is None else gain.best_value,
        gain=None if gain is None else gain.gain,
        auroc=None if judged is None else judged.auroc,
        auroc_taken_out=None if without is None else without.auroc,
        ece=None if judged is None else judged.ece,
        ece_taken_out=None if without is None else without.ece,
    )


def mean_of_known(values: Sequence[float | None]) -> float | None:
    """Average what was measured."""
    return mean([value for value in values if value is not None])
