"""The command that checks how memory changes: `ecphoria eval dynamics`."""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ecphoria.cli.connection import MeasuredHome as Home
from ecphoria.cli.connection import MeasuredServer as Server
from ecphoria.cli.connection import MeasuringKey as Key
from ecphoria.cli.connection import Where, check_targets, on_service, refusing, stdout

if TYPE_CHECKING:
    from ecphoria.evaluation.dynamics.report import DynamicsReport
    from ecphoria.evaluation.run import Connect, Watch


def dynamics(
    *,
    task: Annotated[
        list[str] | None,
        typer.Option("--task", metavar="NAME", help="Run only this task; repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the generated data.")] = 1,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the report here, as JSON.")
    ] = None,
    server: Server = None,
    key: Key = None,
    home: Home = None,
) -> None:
    """Check how memory changes over time and use, on generated data; exits with 1 on failure."""
    with refusing():
        from ecphoria.evaluation.dynamics.report import measure, table, write  # noqa: PLC0415 (costly)

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
