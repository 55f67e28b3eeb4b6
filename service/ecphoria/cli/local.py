"""Commands that run the service on this machine: serve, worker, demo."""

import asyncio
import contextlib
from typing import Annotated

import typer
from typer import Option

from ecphoria import runtime
from ecphoria.cli.extras import LocalHome, local_settings
from ecphoria.cli.terminal import INTERRUPTED

Port = Annotated[
    int | None,
    Option(min=0, max=65_535, metavar="PORT", help="Port to listen on; 0 takes a free one."),
]
commands = typer.Typer(add_completion=False)


@commands.command()
def serve(
    host: Annotated[str | None, Option(metavar="ADDRESS", help="Address to listen on.")] = None,
    port: Port = None,
    home: LocalHome = None,
    for_agents: Annotated[
        bool, Option("--for-agents", help="End with the last `ecphoria mcp` of this home.")
    ] = False,
) -> None:
    """Run the service, with a local Neo4j unless ECPHORIA_NEO4J__URI names another."""
    settings = local_settings(home, server={"host": host, "port": port})
    # Before anything costly is imported or started: a port in use is said at once.
    runtime.bound(settings.server.host, settings.server.port).close()
    from ecphoria.cli import serve as serving  # noqa: PLC0415 (costly; extra `server`)

    if for_agents:
        from ecphoria.cli.own_service import end_with_agents  # noqa: PLC0415 (extra `server`)

        end_with_agents(settings.home)
    # A signal cancels the service, which is how it is meant to end.
    with contextlib.suppress(asyncio.CancelledError):
        runtime.run(serving.serve(settings))


@commands.command()
def worker(
    *,
    concurrency: Annotated[
        int | None,
        Option(min=1, max=64, metavar="N", help="Number of jobs at once. Default: the setting."),
    ] = None,
    home: LocalHome = None,
) -> None:
    """Run background jobs of services on the same Neo4j, without answering requests."""
    from ecphoria.cli import serve as serving  # noqa: PLC0415 (extra `server`)

    wanted = concurrency or max(1, local_settings(home).jobs.workers)
    with contextlib.suppress(asyncio.CancelledError):
        runtime.run(serving.work(local_settings(home, jobs={"workers": wanted})))


@commands.command()
def demo(
    *,
    port: Port = None,
    home: LocalHome = None,
    keep: Annotated[
        bool, Option("--keep", help="Keep running until Ctrl-C, without asking.")
    ] = False,
) -> None:
    """Remember a sample conversation and recall five questions from it."""
    from ecphoria.cli import serve as serving  # noqa: PLC0415 (extra `server`)

    usual = local_settings(home)
    if port is None:
        port = serving.free_port(usual.server.host, usual.server.port)
    # A record would stand among the answers.
    level = None if "level" in usual.log.model_fields_set else "critical"
    settings = local_settings(home, server={"port": port}, log={"level": level})
    try:
        runtime.run(serving.show(settings, keep=keep))
    except asyncio.CancelledError as cancelled:
        raise typer.Exit(INTERRUPTED) from cancelled
