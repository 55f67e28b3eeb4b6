"""`ecphoria eval tune-synaptic`: fit a mechanism's parameters."""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ecphoria.cli.connection import MeasuredHome as Home
from ecphoria.cli.connection import MeasuredServer as Server
from ecphoria.cli.connection import MeasuringKey as Key
from ecphoria.cli.connection import Where, check_targets, on_service, refusing, stdout

if TYPE_CHECKING:
    from ecphoria.evaluation.run import Connect, Watch


def tune_synaptic(
    *,
    data: Annotated[
        Path, typer.Option(metavar="FILE", help="Data set of any known format, with evidence.")
    ],
    corpus: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File of passages, if the data does not contain them."),
    ] = None,
    start: Annotated[
        str,
        typer.Option(
            metavar="NAME[:OPTION=VALUE,...]", help="Where to start, and the options that stay."
        ),
    ] = "synaptic",
    trials: Annotated[int, typer.Option(min=4, max=10_000, help="Settings to try.")] = 64,
    questions: Annotated[
        int | None,
        typer.Option(min=2, metavar="N", help="Number of questions to use, evenly spread."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything drawn.")] = 1,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the report here, as JSON.")
    ] = None,
    server: Server = None,
    key: Key = None,
    home: Home = None,
) -> None:
    """Fit the nine parameters of synaptic on half of a data set, and judge them on the rest."""
    with refusing():
        from ecphoria.evaluation.datasets.dataset import sampled  # noqa: PLC0415 (costly)
        from ecphoria.evaluation.datasets.told_apart import load_any  # noqa: PLC0415 (costly)
        from ecphoria.evaluation.tuning import show_tuning, tune  # noqa: PLC0415 (costly)

        check_targets(out)
        dataset = load_any(data, corpus, None)
        if questions is not None:
            dataset = sampled(dataset, questions)

        async def work(connect: "Connect", watch: "Watch") -> None:
            name = f"tune-{secrets.token_hex(4)}"
            report = await tune(
                dataset, connect, watch, start=start, trials=trials, seed=seed, name=name
            )
            show_tuning(report, stdout(), out)

        on_service(work, Where(server=server, key=key, home=home))
