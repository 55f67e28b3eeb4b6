"""One evaluation from beginning to end: what the service can do, a run, a report."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

from ecphoria.evaluation.arms import ablations, chosen, unconsolidated
from ecphoria.evaluation.datasets.dataset import Dataset
from ecphoria.evaluation.report import Report, make_report
from ecphoria.evaluation.run import Connect, Outcome, Plan, Watch, run

__all__ = ["Wanted", "evaluate"]

_ANY_TENANT = "default"
"""A tenant that every service has, to ask what the service can do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to measure, and how.

    Attributes:
        strategies: By name; empty for all that are known.
        ablate: Also measure the default without each of its mechanisms.
        take_out: Also ask the default with each question's evidence erased.
        with_default: Measure the default even if it is not among the strategies.
        steps, concurrency, keep: As in `Plan`.
    """

    strategies: tuple[str, ...] = ()
    ablate: bool = False
    take_out: bool = False
    with_default: bool = False
    steps: tuple[str, ...] | None = ()
    concurrency: int = 1
    keep: bool = False


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
        UnknownStrategy: The service has none of a name wanted.
        EcphoriaError: The service cannot be used.
    """
    async with connect(_ANY_TENANT) as client:
        known = await client.strategies()
        service = await client.ready()
    default = known[0].name
    arms = chosen(known, wanted.strategies)
    needed = wanted.ablate or wanted.take_out or wanted.with_default
    if needed and default not in {arm.name for arm in arms}:
        arms += chosen(known, [default])
    names = [arm.name for arm in arms]
    if wanted.ablate:
        arms += [arm for arm in ablations(known) if arm.name not in names]
    plan = Plan(
        arms=arms,
        name=name,
        monotonic=monotonic,
        take_out=next(arm for arm in arms if arm.name == default) if wanted.take_out else None,
        unconsolidated=unconsolidated(default) if wanted.ablate else None,
        steps=wanted.steps,
        concurrency=wanted.concurrency,
        keep=wanted.keep,
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
