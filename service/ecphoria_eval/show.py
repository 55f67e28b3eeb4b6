"""Print what evaluations found."""

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from ecphoria.cli.render import reliability_table
from ecphoria.cli.terminal import stderr, stdout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ecphoria_eval.report import Report
    from ecphoria_eval.rows import Row
    from ecphoria_eval.run import Outcome


def show_kept(outcome: "Outcome") -> None:
    """Name the tenants that were left in the store."""
    if outcome.tenants:
        stdout().print(f"[dim]Kept in the store: {', '.join(outcome.tenants)}[/dim]")


@contextmanager
def keeping_rows(rows: "Sequence[Row]", out: Path | None, named: Path | None) -> "Iterator[None]":
    """If this block ends early, write the rows until then, beside where all of them would be."""
    from ecphoria_eval.report import rows_file  # noqa: PLC0415 (costly)
    from ecphoria_eval.rows import write_rows  # noqa: PLC0415

    try:
        yield
    except BaseException:
        if rows and (whole := rows_file(out, named)) is not None:
            path = whole.with_name(f"{whole.name}.partial")
            write_rows(path, rows)
            stderr().print(f"Rows measured until then: {path}", style="dim", markup=False)
        raise


def show_report(report: "Report") -> None:
    """Print the tables of one data set."""
    from ecphoria_eval.tables import (  # noqa: PLC0415 (costly)
        ablation_table,
        equal_table,
        gain_table,
        refusal_table,
        strategy_table,
        verdict_table,
    )

    console = stdout()
    without = f", {report.n_adversarial:,} without an answer" if report.n_adversarial else ""
    console.print(
        f"\n[bold]{escape(report.data)}[/bold]  [dim]{report.n:,} questions{without};"
        f" {report.embedder}; Neo4j {report.engine['neo4j']}[/dim]"
    )
    console.print(strategy_table(report))
    for table in (verdict_table(report), equal_table(report), gain_table(report)):
        if table is not None:
            console.print()
            console.print(table)
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
    _show_findings(report)


def _show_findings(report: "Report") -> None:
    for finding, count in report.findings.items():
        stdout().print(f"[dim]{count:,} {escape(finding)}[/dim]")


def show_live(report: "Report") -> None:
    """Print both replays of `ecphoria eval live`."""
    from ecphoria_eval.tables import ablation_table, live_table  # noqa: PLC0415 (costly)

    console = stdout()
    console.print(live_table(report))
    console.print()
    console.print(ablation_table(report))
    console.print(
        "[dim]Points of 100; AUROC and ECE compare each question after its evidence with the same"
        " question before it.[/dim]"
    )
    _show_findings(report)


def draw_plots(report: "Report", outcome: "Outcome", out: Path) -> None:
    """Draw the plots beside a report, and name the files."""
    from ecphoria_eval.plots import draw  # noqa: PLC0415 (costly)

    console = stdout()
    console.print(f"[dim]Report: {escape(str(out))}[/dim]")
    for path in draw(report, outcome.rows, out):
        console.print(f"[dim]Plot: {escape(str(path))}[/dim]")
