"""The command that consolidates a memory: now, or on trial."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ecphoria.cli.connection import DEFAULT_URL, Home, Key, Server, TenantName, connect
from ecphoria.cli.console import counting, stderr, stdout
from ecphoria.wire.consolidation import ConsolidationAnswer, StepAnswer
from ecphoria.wire.jobs import JobAnswer

__all__ = ["consolidate", "following", "show_report"]


def consolidate(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell what would change, and write nothing.")
    ] = False,
    step: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this step; repeatable. All if none is named."),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait for the end, or print the job's id.")
    ] = True,
    timeout: Annotated[
        float, typer.Option(min=1, metavar="S", help="Longest to wait, in seconds.")
    ] = 3_600.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Go over a tenant's memory now, step by step; repeating it changes nothing."""
    with connect(server, key, tenant, home) as client:
        job = client.start_consolidation(steps=step or (), dry_run=dry_run)
        if wait:
            with following() as watch:
                job = client.wait_for_job(job.id, timeout_s=timeout, watch=watch)
    if job.report is None:
        typer.echo(job.model_dump_json(indent=2) if as_json else job.id)
    elif as_json:
        typer.echo(job.report.model_dump_json(indent=2))
    else:
        show_report(job.report, dry_run=dry_run)


@contextmanager
def following() -> Iterator[Callable[[JobAnswer], None]]:
    """Draw how far a job has come, a step at a time, with the time left."""
    with counting(stderr()) as progress:
        drawn = progress.add_task("waiting", total=None)

        def watch(job: JobAnswer) -> None:
            progress.update(
                drawn,
                description=escape(job.progress.place) or job.state.value,
                completed=job.progress.done,
                total=job.progress.total or None,
            )

        yield watch


def show_report(report: ConsolidationAnswer, *, dry_run: bool) -> None:
    """Print what each step did, and in a dry run also what it would change."""
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(style="bold")
    table.add_column(justify="right", style="dim")
    table.add_column()
    for step in report.steps:
        counts = ", ".join(f"{name} {count:,}" for name, count in step.counts.items())
        said = f"{step.status}: {step.reason}" if step.reason else counts
        said = "; ".join((said, *step.degraded))
        table.add_row(step.name, f"{step.seconds:.1f} s", escape(said))
    stdout().print(table)
    _show_graph(report)
    if dry_run:
        _show_changes(report.steps)
        stdout().print("[dim]a dry run: nothing was written[/dim]")
    stdout().print(f"[dim]cycle {report.cycle}, {report.seconds:.1f} s[/dim]")


def _show_graph(report: ConsolidationAnswer) -> None:
    """Print what became of the counts, what was missing, and what was asked in vain."""
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(style="bold")
    table.add_column()
    if report.before and report.after and report.after.nodes:
        changed = ", ".join((*_growth(report.before.nodes, report.after.nodes),
                             *_growth(report.before.edges, report.after.edges)))  # fmt: skip
        table.add_row("graph", f"at turn {report.after.turn:,}: {changed or 'no count changed'}")
    if report.after and report.after.faulty_edges:
        table.add_row("faulty", f"{report.after.faulty_edges:,} edges: ask ecphoria doctor")
    for edge, one in report.degrees.items():
        told = f"half {one.p50}, 90 % up to {one.p90}, 99 % up to {one.p99}, at most {one.most}"
        table.add_row("degrees", f"{edge}: {told}")
    for gap in report.gaps:
        table.add_row("gap", f"refused {gap.refused:,} times, the last as {gap.traces[0]}")
    if table.row_count:
        stdout().print(table)


def _growth(before: Mapping[str, int], after: Mapping[str, int]) -> Iterator[str]:
    for name in sorted(before.keys() | after.keys()):
        if more := after.get(name, 0) - before.get(name, 0):
            yield f"{name} {more:+,}"


def _show_changes(steps: tuple[StepAnswer, ...]) -> None:
    if not any(step.changes for step in steps):
        return
    table = Table("step", "would", "what", "how", box=None, header_style="dim", pad_edge=False)
    for step in steps:
        for change in step.changes:
            table.add_row(step.name, change.kind, change.id, escape(change.detail))
    stdout().print()
    stdout().print(table)
    stdout().print()
