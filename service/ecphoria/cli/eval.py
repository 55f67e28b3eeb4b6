"""Commands that measure: how much of the evidence is recalled, and how fast."""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ecphoria.cli.console import stdout
from ecphoria.cli.dynamics import dynamics
from ecphoria.cli.evaluating import (
    evaluate_one,
    measure,
    measure_all,
    show_report,
    some,
    wanted_of,
)
from ecphoria.cli.measuring import Home, Key, Server, Where, check_targets, on_service, refusing

if TYPE_CHECKING:
    from ecphoria.evaluation.report import Report
    from ecphoria.evaluation.run import Connect, Watch

__all__ = ["evaluation"]

evaluation = typer.Typer(help="Measure recall on public data sets.", no_args_is_help=True)
evaluation.command()(dynamics)

Data = Annotated[Path, typer.Option("--data", metavar="FILE", help="The data, or a folder of it.")]
Corpus = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The passages, where the data does not hold them."),
]
OpenIE = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="What a model extracted from them (HippoRAG's format)."),
]
Strategies = Annotated[
    list[str] | None,
    typer.Option(
        "--strategy",
        metavar="NAME[:OPTION=VALUE,...]",
        help="Measure this one, perhaps with options: `cls:preset=paper`; repeat it for more.",
    ),
]
Ablate = Annotated[
    bool, typer.Option("--ablate", help="Also measure the default without each mechanism.")
]
TakeOut = Annotated[
    bool,
    typer.Option(
        "--take-out",
        help="Ask the default once more with each question's evidence erased from the store.",
    ),
]
Steps = Annotated[
    list[str] | None,
    typer.Option(
        "--step",
        metavar="NAME",
        help="Consolidate by this step only; repeat it for more; `none`: not at all.",
    ),
]
Questions = Annotated[
    int | None,
    typer.Option("--questions", min=1, metavar="N", help="Ask only so many, evenly spread."),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Write the report here, rows and plots beside it."),
]
Rows = Annotated[
    Path | None, typer.Option("--rows", metavar="FILE", help="Write the rows here instead.")
]
Concurrency = Annotated[
    int, typer.Option(min=1, max=64, metavar="N", help="Questions asked at a time.")
]
Keep = Annotated[bool, typer.Option("--keep", help="Leave what was appended in the store.")]


@evaluation.command()
def locomo(
    *,
    data: Data,
    strategy: Strategies = None,
    ablate: Ablate = False,
    take_out: TakeOut = False,
    step: Steps = None,
    questions: Questions = None,
    out: Out = None,
    rows: Rows = None,
    server: Server = None,
    key: Key = None,
    home: Home = None,
    concurrency: Concurrency = 1,
    keep: Keep = False,
) -> None:
    """Find the evidence for questions about long conversations (LoCoMo)."""
    with refusing():
        from ecphoria.evaluation.datasets.locomo import load_locomo  # noqa: PLC0415 (costly)

        measure(
            lambda: some(load_locomo(data), questions),
            wanted_of(strategy, step, concurrency, ablate=ablate, keep=keep, take_out=take_out),
            Where(server=server, key=key, home=home),
            out,
            rows,
        )


@evaluation.command()
def chats(
    *,
    data: Data,
    strategy: Strategies = None,
    ablate: Ablate = False,
    take_out: TakeOut = False,
    step: Steps = None,
    questions: Questions = None,
    out: Out = None,
    rows: Rows = None,
    server: Server = None,
    key: Key = None,
    home: Home = None,
    concurrency: Concurrency = 1,
    keep: Keep = False,
) -> None:
    """Find the evidence for questions about chats with an assistant (LoCoMo's format)."""
    with refusing():
        from ecphoria.evaluation.datasets.locomo import load_chats  # noqa: PLC0415 (costly)

        measure(
            lambda: some(load_chats(data), questions),
            wanted_of(strategy, step, concurrency, ablate=ablate, keep=keep, take_out=take_out),
            Where(server=server, key=key, home=home),
            out,
            rows,
        )


@evaluation.command("all")
def all_domains(
    *,
    data: Annotated[
        list[Path],
        typer.Option("--data", metavar="FILE", help="A data set of any format; repeat it."),
    ],
    corpus: Corpus = None,
    openie: OpenIE = None,
    strategy: Strategies = None,
    take_out: TakeOut = False,
    step: Steps = None,
    questions: Questions = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the report here, rows beside it."),
    ] = None,
    server: Server = None,
    key: Key = None,
    home: Home = None,
    concurrency: Concurrency = 1,
    keep: Keep = False,
) -> None:
    """Measure several data sets, and tell on which the default gains least over the baselines."""
    with refusing():
        measure_all(
            data,
            corpus,
            openie,
            questions=questions,
            wanted=wanted_of(
                strategy, step, concurrency, ablate=False, keep=keep, take_out=take_out
            ),
            where=Where(server=server, key=key, home=home),
            out=out,
        )


@evaluation.command()
def facts(
    *,
    keys: Annotated[int, typer.Option(min=1, max=1_000, help="Changing facts.")] = 200,
    seed: Annotated[int, typer.Option(help="Of the stream.")] = 1,
    out: Out = None,
    server: Server = None,
    key: Key = None,
    home: Home = None,
) -> None:
    """Tell whether facts that are over outrank those that hold, on a stream made for it."""
    with refusing():
        from ecphoria.evaluation.facts import measure_facts, show_facts  # noqa: PLC0415 (costly)

        check_targets(out)

        async def work(connect: "Connect", watch: "Watch") -> None:
            name = f"eval-{secrets.token_hex(4)}"
            report = await measure_facts(connect, watch, name=name, keys=keys, seed=seed)
            show_facts(report, stdout(), out)

        on_service(work, Where(server=server, key=key, home=home))


@evaluation.command()
def passages(
    *,
    data: Data,
    corpus: Corpus = None,
    openie: OpenIE = None,
    strategy: Strategies = None,
    ablate: Ablate = False,
    take_out: TakeOut = False,
    step: Steps = None,
    questions: Questions = None,
    out: Out = None,
    rows: Rows = None,
    server: Server = None,
    key: Key = None,
    home: Home = None,
    concurrency: Concurrency = 1,
    keep: Keep = False,
) -> None:
    """Find the passages that a question needs together (2Wiki, HotpotQA, MuSiQue)."""
    with refusing():
        from ecphoria.evaluation.datasets.passages import load_passages  # noqa: PLC0415 (costly)

        measure(
            lambda: some(load_passages(data, corpus, openie), questions),
            wanted_of(strategy, step, concurrency, ablate=ablate, keep=keep, take_out=take_out),
            Where(server=server, key=key, home=home),
            out,
            rows,
        )


@evaluation.command()
def mini(
    *,
    print_expected: Annotated[
        bool,
        typer.Option("--print-expected", help="Print the figures found, as the file has them."),
    ] = False,
    server: Server = None,
    key: Key = None,
    home: Home = None,
) -> None:
    """Check recall on the shipped sample against the figures it must give."""
    from ecphoria.evaluation.datasets.mini import load_mini  # noqa: PLC0415 (costly)
    from ecphoria.evaluation.evaluate import Wanted  # noqa: PLC0415
    from ecphoria.evaluation.expected import check, expected, spelled  # noqa: PLC0415

    reports: list[Report] = []

    async def work(connect: "Connect", watch: "Watch") -> None:
        for dataset in load_mini():
            report, _ = await evaluate_one(dataset, Wanted(), connect, watch)
            reports.append(report)

    on_service(work, Where(server=server, key=key, home=home))
    if print_expected:
        typer.echo(spelled(reports), nl=False)
        return
    wanted = expected()
    checks = [one for report in reports for one in check(wanted, report)]
    console = stdout()
    for report in reports:
        show_report(report)
    for one in checks:
        if not one.holds:
            found = "nothing" if one.found is None else f"{one.found:.4f}"
            console.print(
                f"[error]{one.suite} {one.strategy} {one.measure}[/error]"
                f" {found}, expected {one.expected:.4f}"
            )
    failed = sum(not one.holds for one in checks)
    console.print(f"{len(checks) - failed} of {len(checks)} figures as expected.")
    if failed:
        raise typer.Exit(1)


@evaluation.command()
def compare(
    *,
    before: Annotated[Path, typer.Argument(metavar="REPORT", help="A report with its rows.")],
    after: Annotated[Path, typer.Argument(metavar="REPORT", help="Another, of the same data.")],
) -> None:
    """Tell how sure the difference of two reports is, by paired bootstrap."""
    with refusing():
        from ecphoria.evaluation.compare import compare as pair  # noqa: PLC0415 (costly)
        from ecphoria.evaluation.tables import comparison_table  # noqa: PLC0415

        found = pair(before, after)
        console = stdout()
        console.print(comparison_table(found))
        console.print("[dim]Points of 100, with 95 % intervals.[/dim]")
        if found.alone:
            console.print(f"[dim]In one report only: {', '.join(found.alone)}[/dim]")
        if found.unpaired:
            console.print(f"[dim]Questions in one report only: {found.unpaired:,}[/dim]")


@evaluation.command()
def load(
    *,
    nodes: Annotated[
        str, typer.Option(metavar="N,N", help="Sizes of the store, in episodes.")
    ] = "1000,10000",
    clients: Annotated[
        str, typer.Option(metavar="N,N", help="Recalls under way at a time.")
    ] = "1,4,16",
    tenants: Annotated[int, typer.Option(min=1, max=1_000, help="Tenants that share them.")] = 1,
    recalls: Annotated[
        int, typer.Option(min=10, max=10_000, help="Recalls of each strategy and concurrency.")
    ] = 200,
    strategy: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Measure this one; repeat it for more."),
    ] = None,
    new: Annotated[
        int,
        typer.Option(
            min=0,
            max=100_000,
            metavar="N",
            help="Consolidate each size, then so many new episodes while recalls go on; 0: none.",
        ),
    ] = 1_000,
    seed: Annotated[int, typer.Option(help="Of the made-up talk.")] = 1,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report here, as JSON.")
    ] = None,
) -> None:
    """Measure speed and size on made-up talk, on a Neo4j of its own that is removed again."""
    with refusing():
        from ecphoria.evaluation.load_command import plan_of, run_load  # noqa: PLC0415 (costly)

        check_targets(out)
        plan = plan_of(
            nodes, clients, strategy or (), tenants=tenants, recalls=recalls, new=new, seed=seed
        )
        run_load(plan, out)
