"""The command that gives passages to older episodes."""

from typing import Annotated

import typer

from ecphoria.cli.connection import DEFAULT_URL, Home, Key, Server, TenantName, connect
from ecphoria.cli.console import stdout
from ecphoria.cli.consolidating import following

__all__ = ["passages"]


def passages(
    *,
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
    """Cut long episodes that were stored before there were passages; new ones need no command."""
    with connect(server, key, tenant, home) as client:
        job = client.start_passages()
        if wait:
            with following() as watch:
                job = client.wait_for_job(job.id, timeout_s=timeout, watch=watch)
    if as_json:
        typer.echo(job.model_dump_json(indent=2))
    elif job.report is None:
        typer.echo(job.id)
    else:
        counts = job.report.steps[0].counts
        episodes, made = counts["episodes"], counts["passages"]
        stdout().print(f"{episodes:,} episodes cut into {made:,} passages")
