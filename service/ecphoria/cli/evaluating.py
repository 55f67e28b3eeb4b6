"""What the commands that measure recall share: how they run, and what they print."""

import secrets
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from ecphoria.cli.console import stderr, stdout
from ecphoria.cli.measuring import Where, check_targets, on_service
from ecphoria.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ecphoria.evaluation.datasets.dataset import Dataset
    from ecphoria.evaluation.evaluate import Wanted
    from ecphoria.evaluation.report import Report
    from ecphoria.evaluation.run import Connect, Outcome, Watch

__all__ = ["evaluate_one", "measure", "measure_all", "show_report", "some", "wanted_of"]


def some(dataset: "Dataset", questions: int | None) -> "Dataset":
    """Keep so many questions, all if no number is given."""
    from ecphoria.evaluation.datasets.dataset import sampled  # noqa: PLC0415 (costly)

    return dataset if questions is None else sampled(dataset, questions)


def wanted_of(
    strategies: list[str] | None,
    steps: list[str] | None,
    concurrency: int,
    *,
    ablate: bool,
    keep: bool,
    take_out: bool = False,
) -> "Wanted":
    """Gather what the options say."""
    from ecphoria.evaluation.evaluate import Wanted  # noqa: PLC0415 (costly)

    return Wanted(
        strategies=tuple(strategies or ()),
        ablate=ablate,
        steps=None if steps == ["none"] else tuple(steps or ()),
        concurrency=concurrency,
        keep=keep,
        take_out=take_out,
    )


def measure(
    load: "Callable[[], Dataset]",
    wanted: "Wanted",
    where: Where,
    out: Path | None,
    rows: Path | None,
) -> None:
    """Load a data set, measure it, print and write what came out."""
    from ecphoria.evaluation.report import write  # noqa: PLC0415 (costly)

    check_targets(out, rows)
    dataset = load()
    found: list[tuple[Report, Outcome]] = []

    async def work(connect: "Connect", watch: "Watch") -> None:
        found.append(await evaluate_one(dataset, wanted, connect, watch))

    on_service(work, where)
    report, outcome = found[0]
    write(report, outcome, out, rows)
    show_report(report)
    _show_kept(outcome)
    if out is not None:
        _draw(report, outcome, out)


def measure_all(
    data: "Sequence[Path]",
    corpus: Path | None,
    openie: Path | None,
    *,
    questions: int | None,
    wanted: "Wanted",
    where: Where,
    out: Path | None,
) -> None:
    """Measure data sets one after the other, and print the one with the smallest gain first."""
    from ecphoria.evaluation.datasets.told_apart import load_any, named  # noqa: PLC0415 (costly)
    from ecphoria.evaluation.domains import (  # noqa: PLC0415
        domain_table,
        domains,
        write_domains,
    )
    from ecphoria.evaluation.gains import BASELINES  # noqa: PLC0415

    check_targets(out)
    datasets = {
        name: some(load_any(path, corpus, openie), questions) for name, path in named(data).items()
    }
    wanted = replace(wanted, strategies=wanted.strategies or BASELINES, with_default=True)
    found: dict[str, tuple[Report, Outcome]] = {}

    async def work(connect: "Connect", watch: "Watch") -> None:
        for name, dataset in datasets.items():
            found[name] = await evaluate_one(dataset, wanted, connect, _naming(name, watch))
            if out is not None:
                # A long run that ends early leaves what it has measured.
                write_domains(found, out)

    on_service(work, where)
    for report, outcome in found.values():
        show_report(report)
        _show_kept(outcome)
    console = stdout()
    console.print()
    console.print(domain_table(domains({name: report for name, (report, _) in found.items()})))
    console.print("[dim]Points of 100; the smallest gain over the best baseline first.[/dim]")
    if out is not None:
        console.print(f"[dim]Report: {out}[/dim]")


def _show_kept(outcome: "Outcome") -> None:
    if outcome.tenants:
        stdout().print(f"[dim]Kept in the store: {', '.join(outcome.tenants)}[/dim]")


def _naming(name: str, watch: "Watch") -> "Watch":
    return lambda stage, done, total: watch(f"{name}: {stage}", done, total)


async def evaluate_one(
    dataset: "Dataset", wanted: "Wanted", connect: "Connect", watch: "Watch"
) -> "tuple[Report, Outcome]":
    """Measure a data set in tenants of a new name."""
    from ecphoria.evaluation.evaluate import evaluate  # noqa: PLC0415 (costly)

    name = f"eval-{secrets.token_hex(4)}"
    return await evaluate(dataset, wanted, connect, watch, name=name, monotonic=time.perf_counter)


def show_report(report: "Report") -> None:
    """Print the tables of one data set."""
    from ecphoria.evaluation.tables import (  # noqa: PLC0415 (costly)
        ablation_table,
        gain_table,
        refusal_table,
        reliability_table,
        strategy_table,
    )

    console = stdout()
    without = f", {report.n_adversarial:,} without an answer" if report.n_adversarial else ""
    console.print(
        f"\n[bold]{escape(report.data)}[/bold]  [dim]{report.n:,} questions{without};"
        f" {report.embedder}; Neo4j {report.engine['neo4j']}[/dim]"
    )
    console.print(strategy_table(report))
    by_kind = gain_table(report)
    if by_kind is not None:
        console.print()
        console.print(by_kind)
    if report.ablations:
        console.print()
        console.print(ablation_table(report))
    own = report.strategies.get(report.default)
    judged = None if own is None else own.abstention
    if judged is not None and (bins := (judged.taken_out or judged).reliability):
        console.print()
        console.print(refusal_table(judged))
        console.print()
        console.print(reliability_table(bins))
    console.print("[dim]Points of 100; milliseconds without encoding the cue.[/dim]")
    for finding, count in report.findings.items():
        console.print(f"[dim]{count:,} {escape(finding)}[/dim]")


def _draw(report: "Report", outcome: "Outcome", out: Path) -> None:
    from ecphoria.evaluation.plots import draw  # noqa: PLC0415 (costly)

    console = stdout()
    console.print(f"[dim]Report: {out}[/dim]")
    try:
        for path in draw(report, outcome.rows, out):
            console.print(f"[dim]Plot: {path}[/dim]")
    except Misconfigured as error:
        stderr().print(error.message)
