"""Commands of background work: list jobs, look at one, cancel, retry."""

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ecphoria.cli.connection import DEFAULT_URL, Home, Key, Server, TenantName, connect
from ecphoria.cli.console import stdout
from ecphoria.cli.consolidating import following, show_report
from ecphoria.model.job import JobKind, JobState
from ecphoria.wire.jobs import JobAnswer

__all__ = ["jobs"]

JobName = Annotated[str, typer.Argument(metavar="JOB", help="Its id.")]

jobs = typer.Typer(no_args_is_help=True, help="Background work on a tenant's memory.")


@jobs.command("list")
def list_jobs(
    *,
    state: Annotated[
        JobState | None, typer.Option(help="Only those in this state, as `dead`.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, metavar="N", help="Most to list.")] = 20,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """List jobs, the newest first."""
    with connect(server, key, tenant, home) as client:
        found = client.jobs(state=state, limit=limit)
    columns = ("id", "kind", "state", "asked by", "queued", "attempts", "")
    table = Table(*columns, box=None, header_style="dim", pad_edge=False)
    for job in found:
        queued = f"{job.created_at:%Y-%m-%d %H:%M:%S}"
        table.add_row(
            job.id, job.kind, job.state, job.trigger, queued, str(job.attempts), _remark(job)
        )
    stdout().print(table)


@jobs.command("show")
def show_job(
    *,
    job: JobName,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for its end.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Show how a job stands, and once it is done what it did."""
    with connect(server, key, tenant, home) as client:
        if wait:
            with following() as watch:
                found = client.wait_for_job(job, watch=watch)
        else:
            found = client.job(job)
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        _show(found)


@jobs.command("cancel")
def cancel_job(
    job: JobName,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """End a job that waits; one that runs ends at the next place it reaches."""
    with connect(server, key, tenant, home) as client:
        _show(client.cancel_job(job))


@jobs.command("retry")
def retry_job(
    job: JobName,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Queue a job again that failed, died or was cancelled."""
    with connect(server, key, tenant, home) as client:
        _show(client.retry_job(job))


def _show(job: JobAnswer) -> None:
    stdout().print(f"[bold]{job.kind}[/bold] {job.state}  {_remark(job)}".rstrip())
    if job.report is not None:
        show_report(job.report, dry_run=job.kind is JobKind.DRY_RUN)


def _remark(job: JobAnswer) -> str:
    if job.fault is not None:
        return escape(job.fault.message)
    if job.cancelling and job.state is JobState.RUNNING:
        return "ends at the next place"
    if job.state is JobState.RUNNING:
        return escape(f"{job.progress.done} of {job.progress.total} steps, {job.progress.place}")
    return f"{job.report.seconds:.1f} s" if job.report is not None else ""
