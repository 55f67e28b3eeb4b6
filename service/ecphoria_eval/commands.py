"""Commands that measure: `ecphoria eval`."""

import inspect
import secrets
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ecphoria.cli.connection import offering, option
from ecphoria.cli.terminal import check_targets, stdout
from ecphoria.errors import InvalidInput
from ecphoria_eval.options import (
    Ablate,
    Concurrency,
    Corpus,
    Data,
    FactsNoise,
    FromNamesOnly,
    Judging,
    Keep,
    ManyData,
    Memories,
    Misspell,
    OneStrategy,
    OpenIE,
    Out,
    Prices,
    Questions,
    ReportFile,
    ReportWithRows,
    Rows,
    StatedFacts,
    Steps,
    Strategies,
    Sweep,
    TakeOut,
    Where,
    located,
    on_service,
    some,
)
from ecphoria_eval.show import draw_plots, keeping_rows, show_kept, show_live, show_report

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ecphoria.cli.progress import Watch
    from ecphoria_eval.datasets.dataset import Dataset
    from ecphoria_eval.evaluate import Wanted
    from ecphoria_eval.report import Report
    from ecphoria_eval.rows import Row
    from ecphoria_eval.run import Connect, Outcome

commands = typer.Typer(add_completion=False)
evaluation = typer.Typer(
    help="Measure recall on public data sets; comes with ecphoria-eval.", no_args_is_help=True
)
commands.add_typer(evaluation, name="eval")


def wanted_of(
    *,
    strategy: list[str] | None,
    step: list[str] | None,
    concurrency: int,
    keep: bool,
    ablate: bool = False,
    sweep: list[str] | None = None,
    take_out: bool = False,
) -> "Wanted":
    """Collect the options of a command."""
    from ecphoria_eval.evaluate import Wanted  # noqa: PLC0415 (costly)

    return Wanted(
        strategies=tuple(strategy or ()),
        ablate=ablate,
        sweep=tuple(sweep or ()),
        steps=_steps(step or ()),
        concurrency=concurrency,
        keep=keep,
        take_out=take_out,
    )


def _steps(given: "Sequence[str]") -> tuple[str, ...] | None:
    """Read the steps of a cycle: all if none is named, and no cycle for `none`."""
    return None if list(given) == ["none"] else tuple(given)


def measure(
    load: "Callable[[], Dataset]",
    wanted: "Wanted",
    where: Where,
    out: Path | None,
    rows: Path | None,
) -> None:
    """Load a data set, measure it, print and write the report."""
    from ecphoria_eval.report import write  # noqa: PLC0415 (costly)

    check_targets(out, rows)
    with keeping_rows(wanted.rows, out, rows):
        report, outcome = on_service(partial(evaluate_one, load(), wanted), where)
    # Printed first: a disk that is full by now takes the file only.
    show_report(report)
    show_kept(outcome)
    write(report, outcome, out, rows)
    if out is not None:
        draw_plots(report, outcome, out)


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
    from ecphoria_eval.datasets.told_apart import load_each  # noqa: PLC0415 (costly)
    from ecphoria_eval.evaluate import domains, write_domains  # noqa: PLC0415
    from ecphoria_eval.report import BASELINES  # noqa: PLC0415
    from ecphoria_eval.tables import domain_table  # noqa: PLC0415

    check_targets(out)
    datasets = {
        name: some(dataset, questions) for name, dataset in load_each(data, corpus, openie).items()
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
        show_kept(outcome)
    console = stdout()
    console.print()
    console.print(domain_table(domains({name: report for name, (report, _) in found.items()})))
    console.print("[dim]Points of 100; the smallest gain over the best baseline first.[/dim]")
    if out is not None:
        console.print(f"Report: {out}", style="dim", markup=False)


def _naming(name: str, watch: "Watch") -> "Watch":
    return lambda stage, done, total: watch(f"{name}: {stage}", done, total)


def _new_name(kind: str = "eval") -> str:
    """Make a prefix of tenants' names that no tenant has."""
    return f"{kind}-{secrets.token_hex(4)}"


def _read(data: Path, corpus: Path | None, questions: int | None) -> "Dataset":
    """Read a data set of any known format."""
    from ecphoria_eval.datasets.told_apart import load_each  # noqa: PLC0415 (costly)

    (dataset,) = load_each([data], corpus).values()
    return some(dataset, questions)


async def evaluate_one(
    dataset: "Dataset", wanted: "Wanted", connect: "Connect", watch: "Watch"
) -> "tuple[Report, Outcome]":
    """Measure a data set in tenants of a new name."""
    from ecphoria_eval.evaluate import evaluate  # noqa: PLC0415 (costly)

    return await evaluate(
        dataset, wanted, connect, watch, name=_new_name(), monotonic=time.perf_counter
    )


@evaluation.command()
@located
def dynamics(
    *,
    where: Where,
    task: Annotated[
        list[str] | None,
        typer.Option("--task", metavar="NAME", help="Run only this task; repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the generated data.")] = 1,
    out: ReportFile = None,
) -> None:
    """Check how memory changes over time and use, on generated data; exits with 1 on failure."""
    from ecphoria_eval.dynamics.report import measure, table, write  # noqa: PLC0415 (costly)

    check_targets(out)
    report = on_service(
        lambda connect, watch: measure(
            connect, watch, wanted=task or (), name=_new_name("dynamics"), seed=seed
        ),
        where,
    )
    stdout().print(table(report))
    if out is not None:
        write(report, out)
    if report.failed:
        raise typer.Exit(1)


_MEASURED = {
    parameter.name: parameter
    for parameter in (
        option("strategy", None, Strategies),
        option("ablate", default=False, annotation=Ablate),
        option("sweep", None, Sweep),
        option("take_out", default=False, annotation=TakeOut),
        option("step", None, Steps),
        option("questions", None, Questions),
        option("misspell", default=False, annotation=Misspell),
        option("out", None, Out),
        option("rows", None, Rows),
        option("concurrency", 1, Concurrency),
        option("keep", default=False, annotation=Keep),
    )
}


def measured(load: "Callable[..., Dataset]") -> "Callable[..., None]":
    """Turn a function that loads a data set into the command that measures it."""

    def run(*, where: Where, **options: Any) -> None:
        asked = {name: options.pop(name) for name in _MEASURED}
        kept = {name: asked.pop(name) for name in ("questions", "misspell")}
        out, rows = asked.pop("out"), asked.pop("rows")
        measure(lambda: some(load(**options), **kept), wanted_of(**asked), where, out, rows)

    own = inspect.signature(load).parameters.values()
    where = option("where", inspect.Parameter.empty, Where)
    return located(offering(run, load, [where, *own, *_MEASURED.values()]))


@evaluation.command()
@measured
def locomo(*, data: Data, facts: StatedFacts = None, noise: FactsNoise = False) -> "Dataset":
    """Find the evidence for questions about long conversations (LoCoMo)."""
    from ecphoria_eval.datasets.locomo import load_locomo  # noqa: PLC0415 (costly)

    if noise and facts is None:
        raise InvalidInput("--facts-noise moves facts; give --facts too.", field="facts-noise")
    return load_locomo(data, observations=facts is not None, noise=noise)


@evaluation.command()
@measured
def chats(*, data: Data) -> "Dataset":
    """Find the evidence for questions about chats with an assistant (LoCoMo's format)."""
    from ecphoria_eval.datasets.locomo import load_chats  # noqa: PLC0415 (costly)

    return load_chats(data)


@evaluation.command("all")
@located
def all_domains(
    *,
    where: Where,
    data: ManyData,
    corpus: Corpus = None,
    openie: OpenIE = None,
    strategy: Strategies = None,
    take_out: TakeOut = False,
    step: Steps = None,
    questions: Questions = None,
    out: ReportWithRows = None,
    concurrency: Concurrency = 1,
    keep: Keep = False,
) -> None:
    """Measure several data sets, and show the one with the smallest gain over the baselines."""
    measure_all(
        data,
        corpus,
        openie,
        questions=questions,
        wanted=wanted_of(
            strategy=strategy, step=step, concurrency=concurrency, keep=keep, take_out=take_out
        ),
        where=where,
        out=out,
    )


@evaluation.command()
@located
def live(
    *,
    where: Where,
    data: Data,
    corpus: Corpus = None,
    strategy: OneStrategy = None,
    questions: Questions = None,
    out: ReportWithRows = None,
) -> None:
    """Ask in the order of time, also before the evidence came, and store questions and replies."""
    from ecphoria_eval.evaluate import evaluate_live  # noqa: PLC0415 (costly)
    from ecphoria_eval.report import write  # noqa: PLC0415

    check_targets(out)
    dataset = _read(data, corpus, questions)
    rows: list[Row] = []
    work = partial(
        evaluate_live, dataset, strategy, name=_new_name(), monotonic=time.perf_counter, rows=rows
    )
    with keeping_rows(rows, out, None):
        report, outcome = on_service(work, where)
    show_live(report)
    write(report, outcome, out, None)


@evaluation.command()
@located
def qa(
    *,
    where: Where,
    data: Annotated[
        Path, typer.Option(metavar="FILE", help="Data set of any known format, with answers.")
    ],
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the service's language model, for the report."),
    ] = None,
    oracle: Annotated[
        bool,
        typer.Option(
            "--oracle",
            help="Ask no model: give the data's answer if its evidence is recalled (upper bound).",
        ),
    ] = False,
    judge: Judging = None,
    strategy: OneStrategy = None,
    names: FromNamesOnly = False,
    prices: Prices = None,
    corpus: Corpus = None,
    step: Steps = None,
    questions: Questions = None,
    out: Out = None,
) -> None:
    """Let the service's language model answer questions, and score its answers."""
    from ecphoria.settings import read_settings  # noqa: PLC0415
    from ecphoria_eval.judge import open_chat, open_judge  # noqa: PLC0415 (costly)
    from ecphoria_eval.prices import read_price  # noqa: PLC0415
    from ecphoria_eval.qa import AnswerReport, measure_answers, show_answers  # noqa: PLC0415

    if oracle == (model is not None):
        raise InvalidInput("Give either --model NAME or --oracle.", field="model")
    if oracle and names:
        raise InvalidInput("--names is for a model; leave out --oracle.", field="names")
    check_targets(out)
    price = read_price(prices, model)
    dataset = _read(data, corpus, questions)

    async def work(connect: "Connect", watch: "Watch") -> AnswerReport:
        llm = read_settings().llm
        reading = model if names else None
        async with open_judge(llm, judge) as judging, open_chat(llm, reading) as reader:
            return await measure_answers(
                dataset,
                connect,
                watch,
                name=_new_name(),
                model=model,
                steps=_steps(step) if step else None,
                judge=judging,
                strategy=strategy,
                price=price,
                names=reader,
            )

    show_answers(on_service(work, where), stdout(), out)


@evaluation.command()
@located
def facts(
    *,
    where: Where,
    keys: Annotated[int, typer.Option(min=1, max=1_000, help="Changing facts.")] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the stream.")] = 1,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Name of the service's language model, to let it read the facts."
        ),
    ] = None,
    out: Out = None,
) -> None:
    """Measure how often outdated facts outrank current ones, on a generated stream."""
    from ecphoria_eval.facts import measure_facts, show_facts  # noqa: PLC0415 (costly)

    check_targets(out)
    report = on_service(
        lambda connect, watch: measure_facts(
            connect, watch, name=_new_name(), keys=keys, seed=seed, model=model
        ),
        where,
    )
    show_facts(report, stdout(), out)


@evaluation.command()
@located
def changes(
    *,
    where: Where,
    split: Annotated[
        str, typer.Option(metavar="NAME", help="Sentences: `judge`, or `tune` of the rules.")
    ] = "judge",
    stores: Annotated[int, typer.Option(min=1, max=200, help="Number of stores.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of the talk.")] = 1,
    out: Out = None,
) -> None:
    """Measure whether the newest memory stands above those it makes outdated."""
    from ecphoria_eval.changes import measure_changes, show_changes  # noqa: PLC0415 (costly)

    check_targets(out)
    report = on_service(
        lambda connect, watch: measure_changes(
            connect, watch, _new_name(), split, stores=stores, seed=seed
        ),
        where,
    )
    show_changes(report, stdout(), out)


@evaluation.command()
@measured
def passages(*, data: Data, corpus: Corpus = None, openie: OpenIE = None) -> "Dataset":
    """Find the passages that a question needs together (2Wiki, HotpotQA, MuSiQue)."""
    from ecphoria_eval.datasets.passages import load_passages  # noqa: PLC0415 (costly)

    return load_passages(data, corpus, openie)


@evaluation.command()
@measured
def mixed(*, data: ManyData, corpus: Corpus = None, memories: Memories = None) -> "Dataset":
    """Ask the questions of several data sets of one store that holds them all."""
    from ecphoria_eval.datasets.mixed import load_mixed  # noqa: PLC0415 (costly)

    return load_mixed(data, corpus, memories)


@evaluation.command()
@located
def mini(
    *,
    where: Where,
    print_expected: Annotated[
        bool,
        typer.Option("--print-expected", help="Print the figures found, as the file has them."),
    ] = False,
) -> None:
    """Compare recall on the shipped sample with its expected figures."""
    from ecphoria_eval.datasets.locomo import load_mini  # noqa: PLC0415 (costly)
    from ecphoria_eval.evaluate import Wanted  # noqa: PLC0415
    from ecphoria_eval.report import check, expected, spelled  # noqa: PLC0415

    async def work(connect: "Connect", watch: "Watch") -> "list[Report]":
        return [
            (await evaluate_one(dataset, Wanted(), connect, watch))[0] for dataset in load_mini()
        ]

    reports = on_service(work, where)
    if print_expected:
        typer.echo(spelled(reports), nl=False)
        return
    wanted = expected()
    checks = [one for report in reports for one in check(wanted, report)]
    console = stdout()
    for report in reports:
        show_report(report)
    for one in checks:
        if one.holds:
            continue
        found = "nothing" if one.found is None else f"{one.found:.4f}"
        name = f"{one.suite} {one.strategy} {one.measure}"
        console.print(f"[error]{name}[/error] {found}, expected {one.expected:.4f}")
    held = sum(one.holds for one in checks)
    console.print(f"{held} of {len(checks)} figures as expected.")
    if held < len(checks):
        raise typer.Exit(1)


@evaluation.command()
def compare(
    *,
    before: Annotated[
        Path, typer.Argument(metavar="REPORT", help="Report of the first run, with its rows.")
    ],
    after: Annotated[
        Path, typer.Argument(metavar="REPORT", help="Report of the second run, on the same data.")
    ],
) -> None:
    """Compare two reports by paired bootstrap."""
    from ecphoria_eval.tables import compare as pair  # noqa: PLC0415 (costly)
    from ecphoria_eval.tables import comparison_table  # noqa: PLC0415

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
        str, typer.Option(metavar="N,N", help="Number of recalls at once.")
    ] = "1,4,16",
    tenants: Annotated[
        int, typer.Option(min=1, max=1_000, help="Number of tenants that share the episodes.")
    ] = 1,
    first: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Share of the first tenant.")
    ] = None,
    recalls: Annotated[
        int, typer.Option(min=10, max=10_000, help="Recalls for each strategy and concurrency.")
    ] = 200,
    strategy: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Strategy to measure; repeatable.")
    ] = None,
    new: Annotated[
        int,
        typer.Option(
            min=0,
            max=100_000,
            metavar="N",
            help="Number of new episodes to consolidate while recalls go on; 0 for none.",
        ),
    ] = 1_000,
    seed: Annotated[int, typer.Option(help="Seed of the generated talk.")] = 1,
    out: ReportFile = None,
) -> None:
    """Measure speed and size on generated talk, on a temporary Neo4j."""
    from ecphoria_eval.load_command import plan_of, run_load  # noqa: PLC0415 (costly)

    check_targets(out)
    plan = plan_of(
        nodes, clients, strategy or (),
        tenants=tenants, first=first, recalls=recalls, new=new, seed=seed,
    )  # fmt: skip
    run_load(plan, out)


@evaluation.command()
@located
def tune_synaptic(
    *,
    where: Where,
    data: Data,
    corpus: Corpus = None,
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
    out: ReportFile = None,
) -> None:
    """Fit the nine parameters of synaptic on half of a data set, and judge them on the rest."""
    from ecphoria_eval.tuning import show_tuning, tune  # noqa: PLC0415 (costly)

    check_targets(out)
    dataset = _read(data, corpus, questions)
    report = on_service(
        lambda connect, watch: tune(
            dataset, connect, watch, start=start, trials=trials, seed=seed, name=_new_name("tune")
        ),
        where,
    )
    show_tuning(report, stdout(), out)
