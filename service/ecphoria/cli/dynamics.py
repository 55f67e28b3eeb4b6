"""The command `eval dynamics`."""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ecphoria.cli.console import stdout
from ecphoria.cli.measuring import Home, Key, Server, Where, check_targets, on_service, refusing

if TYPE_CHECKING:
    from ecphoria.evaluation.dynamics.report import DynamicsReport
    from ecphoria.evaluation.run import Connect, Watch

__all__ = ["dynamics"]


def dynamics(
    *,
    task: Annotated[
        list[str] | None,
        typer.Option("--task", metavar="NAME", help="Run this one only; repeat it for more."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the generated data.")] = 1,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the report here, as JSON.")
    ] = None,
    server: Server = None,
    key: Key = None,
    home: Home = None,
) -> None:
    """Check on made-up data how memory behaves over time and use; 1 if a bound fails."""
    with refusing():
        from ecphoria.evaluation.dynamics.report import table, write  # noqa: PLC0415 (costly)
        from ecphoria.evaluation.dynamics.tasks import measure  # noqa: PLC0415

        check_targets(out)
        found: list[DynamicsReport] = []

        async def work(connect: "Connect", watch: "Watch") -> None:
            name = f"dynamics-{secrets.token_hex(4)}"
            found.append(await measure(connect, watch, wanted=task or (), name=name, seed=seed))

        on_service(work, Where(server=server, key=key, home=home))
        (report,) = found
        stdout().print(table(report))
        if out is not None:
            write(report, out)
        if report.failed:
            raise typer.Exit(1)
