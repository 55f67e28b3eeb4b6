"""Commands that use a memory: remember, recall, ask, forget, import."""

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from ecphoria.cli.connection import answering, connected, instant
from ecphoria.cli.filters import Metadata, filtered, named_values, say_unknown
from ecphoria.cli.progress import Watch, watching
from ecphoria.cli.render import (
    draw_answer,
    draw_hits,
    draw_timings,
    draw_verdict,
    episodes_on_paths,
    path_nodes,
)
from ecphoria.cli.terminal import (
    AsJson,
    confirm,
    counted,
    if_interrupted,
    pairs,
    print_json,
    stderr,
    stdout,
)
from ecphoria.client import Client
from ecphoria.errors import EcphoriaError, InvalidInput, Misconfigured
from ecphoria.imports.exports import Format, Opened, opened, opened_stream
from ecphoria.imports.records import Batch, batches
from ecphoria.records.ask import CitedSentence
from ecphoria.records.episode import Outcome, Receipt
from ecphoria.records.recall import Match
from ecphoria.records.tenant import TenantStats

commands = typer.Typer(add_completion=False)

When = Annotated[
    str | None,
    typer.Option(
        "--at", metavar="INSTANT", help="Time of the event, such as 2026-03-14T09:30:00Z."
    ),
]
Hits = Annotated[int, typer.Option("-k", min=1, max=200, help="Number of memories to recall.")]
Strategy = Annotated[str | None, typer.Option(help="Strategy. Default: the tenant's.")]
Asker = Annotated[
    str | None, typer.Option(help="Speaker or role that says `I` in the question. Default: user.")
]


def _draw_receipt(receipt: Receipt) -> None:
    known = receipt.outcome is Outcome.EXISTED
    stdout().print(f"{'Already remembered' if known else 'Remembered'}  [dim]{receipt.id}[/dim]")


@commands.command()
@answering(_draw_receipt)
def remember(
    client: Client,
    *,
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="Text to remember; `-` reads stdin.")
    ],
    speaker: Annotated[str | None, typer.Option(help="Speaker.")] = None,
    role: Annotated[
        str | None, typer.Option(help="Role of the speaker: user, assistant, tool or system.")
    ] = None,
    session: Annotated[str | None, typer.Option(help="Session of the turn.")] = None,
    title: Annotated[str | None, typer.Option(help="Title of a document.")] = None,
    source: Annotated[str | None, typer.Option(help="Source: a file, an address, a tool.")] = None,
    metadata: Metadata = None,
    importance: Annotated[
        float | None, typer.Option(min=0, max=1, metavar="SHARE", help="Importance, 0 to 1.")
    ] = None,
    at: When = None,
) -> Receipt:
    """Append one episode; the next recall can find it."""
    return client.remember(
        sys.stdin.read() if text == "-" else text,
        speaker=speaker,
        role=role,
        session=session,
        title=title,
        source=source,
        metadata=named_values(metadata, "metadata"),
        importance=importance,
        occurred_at=instant(at, "at"),
    )


@commands.command()
@connected
@filtered
def forget(
    client: Client,
    *,
    filters: dict[str, Any],
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Episodes to erase.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count the episodes.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase episodes by id, or those that pass all filters given; this cannot be undone."""
    by_filter = [one for one in filters.values() if one]
    if bool(ids) == bool(by_filter):
        raise InvalidInput("Give ids of episodes, or filters such as --session.", field="ID")

    def erase(*, dry_run: bool, watch: Watch = lambda *_: None) -> int:
        return client.erase(**filters, dry_run=dry_run, watch=partial(watch, "erasing"))

    matched = len(ids) if ids else erase(dry_run=True)
    erased = 0
    if matched and not dry_run:
        if not yes:
            confirm(f"Erase {counted(matched, 'episode')}?")
        again = "What is erased stays erased; run the same command again to erase the rest."
        with if_interrupted(lambda: again), watching() as watch:
            erased = len(ids) if ids else erase(dry_run=False, watch=watch)
            for done, ident in enumerate(ids or (), start=1):
                client.delete(ident)
                watch("erasing", done, matched)
    if as_json:
        print_json({"matched": matched, "erased": erased})
    elif not matched:
        stdout().print("Nothing matches.")
        say_unknown(client, filters)
    elif dry_run:
        stdout().print(f"{counted(matched, 'episode')} would be erased.")
    else:
        stdout().print(f"Erased {counted(erased, 'episode')}.")


@commands.command()
@connected
@filtered
def recall(
    client: Client,
    *,
    filters: dict[str, Any],
    cue: Annotated[str, typer.Argument(metavar="CUE", help="Question, in your own words.")],
    k: Hits = 5,
    explain: Annotated[bool, typer.Option("--explain", help="Show the path to each hit.")] = False,
    strategy: Strategy = None,
    asker: Asker = None,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="INSTANT", help="Recall as it would have been then."),
    ] = None,
    known_at: Annotated[
        str | None,
        typer.Option(
            "--known-at", metavar="INSTANT", help="Use only what was recorded by this time."
        ),
    ] = None,
    token_budget: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Longest context, in tokens; see --json."),
    ] = None,
    include_dormant: Annotated[
        bool, typer.Option("--include-dormant", help="Also search dormant memories.")
    ] = False,
    wake: Annotated[
        bool, typer.Option("--wake", help="Make dormant memories live again if they answer.")
    ] = False,
    collapse: Annotated[
        bool,
        typer.Option(
            "--collapse/--no-collapse", help="Join memories that say the same into one hit."
        ),
    ] = True,
    read_cue: Annotated[
        bool, typer.Option("--read-cue", help="Have the language model read the question.")
    ] = False,
    min_score: Annotated[
        float | None, typer.Option(metavar="SCORE", help="Leave out hits with a lower score.")
    ] = None,
    min_confidence: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Refuse an answer with a lower confidence, 0 to 1."),
    ] = None,
    match: Annotated[
        Match, typer.Option(help='Words that each hit must have; marks: "a phrase", +word.')
    ] = Match.ANY,
    as_json: AsJson = False,
) -> None:
    """Recall memories for a question, best first."""
    console = stdout()
    answer = client.recall(
        cue,
        k=k,
        explain=explain,
        strategy=strategy,
        **filters,
        as_of=instant(as_of, "as-of"),
        known_at=instant(known_at, "known-at"),
        token_budget=token_budget,
        include_dormant=include_dormant,
        wake=wake,
        asker=asker,
        collapse=collapse,
        read_cue=read_cue,
        min_score=min_score,
        min_confidence=min_confidence,
        match=match,
    )
    if as_json:
        print_json(answer)
        return
    episodes = episodes_on_paths(client, path_nodes(answer, k)) if explain else {}
    console.print(draw_verdict(answer))
    console.print(draw_hits(answer, limit=k, explain=explain, episodes=episodes))
    console.print(draw_timings(answer))
    if answer.woken:
        woken = counted(len(answer.woken), "dormant memory is", "dormant memories are")
        console.print(f"{woken} live again")
    console.print(f"[dim]trace {answer.trace_id}[/dim]")


@commands.command()
@connected
def ask(
    client: Client,
    *,
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="Question, in your own words.")
    ],
    k: Hits = 10,
    strategy: Strategy = None,
    asker: Asker = None,
    session: Annotated[str | None, typer.Option(help="Only memories of this session.")] = None,
    speaker: Annotated[str | None, typer.Option(help="Only memories of this speaker.")] = None,
    min_confidence: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Ask the model only at this confidence or more, 0 to 1."
        ),
    ] = None,
    brief: Annotated[
        bool, typer.Option("--brief", help="Only the words that answer, no sentences.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Answer a question in words, with a quote for each sentence."""
    said: list[str] = []
    with Live(console=stdout(), transient=True) as shown:

        def show(sentence: CitedSentence) -> None:
            said.append(sentence.text)
            shown.update(Text(" ".join(said)))

        answer = client.ask(
            question,
            k=k,
            strategy=strategy,
            asker=asker,
            session=session,
            speaker=speaker,
            min_confidence=min_confidence,
            brief=brief,
            watch=show if stdout().is_terminal and not as_json else None,
        )
    if as_json:
        print_json(answer)
        return
    cited = {citation.episode for sentence in answer.sentences for citation in sentence.citations}
    stdout().print(draw_answer(answer, episodes_on_paths(client, cited)))


def _draw_stats(found: TenantStats) -> None:
    def said(value: object) -> str:
        return (
            f"{value:,}" if isinstance(value, int) else f"{value:%Y-%m-%d}" if value else "never"
        )

    rows = pairs((name.replace("_", " "), said(value)) for name, value in asdict(found).items())
    rows.columns[1].justify = "right"
    stdout().print(rows)


@commands.command()
@answering(_draw_stats)
def stats(client: Client) -> TenantStats:
    """Count a tenant's graph by kind."""
    return client.stats()


_BATCH_BYTES = 4_000_000
_TOLD = 20
_RESUME = "Run the same command again to go on from here; nothing is stored twice."


@dataclass(slots=True, kw_only=True)
class _Tally:
    created: int = 0
    existed: int = 0
    refused: int = 0

    @property
    def seen(self) -> int:
        return self.created + self.existed + self.refused


SourceUser = Annotated[
    str,
    typer.Option(envvar="ECPHORIA_SOURCE_USER", metavar="NAME", help="User of Graphiti's Neo4j."),
]
SourcePassword = Annotated[
    str,
    typer.Option(
        envvar="ECPHORIA_SOURCE_PASSWORD",
        metavar="PASSWORD",
        help="Password of Graphiti's Neo4j; other users see options, so prefer the variable.",
    ),
]


@commands.command("import")
@connected
def import_file(
    client: Client,
    *,
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="File, ZIP archive or folder; `-` reads stdin; bolt://HOST:PORT is Graphiti.",
        ),
    ],
    form: Annotated[
        Format | None, typer.Option("--format", help="The format. Default: told by the content.")
    ] = None,
    batch: Annotated[
        int, typer.Option(min=1, max=1_000, help="Number of episodes in a request.")
    ] = 200,
    group: Annotated[
        str | None, typer.Option(metavar="ID", help="Only this group of Graphiti.")
    ] = None,
    source_user: SourceUser = "neo4j",
    source_password: SourcePassword = "",
    source_database: Annotated[
        str, typer.Option(metavar="NAME", help="Database of Graphiti's Neo4j.")
    ] = "neo4j",
    as_json: AsJson = False,
) -> None:
    """Import episodes or another product's memory; run it again to resume."""
    graph = partial(
        _graphiti,
        user=source_user,
        password=source_password,
        database=source_database,
        group=group,
    )
    tally = _Tally()
    with (
        if_interrupted(lambda: f"{counted(tally.seen, 'episode')} were sent. {_RESUME}"),
        _opened(source, form, graph) as found,
    ):
        client.stats()
        if form is None and found.form is not Format.EPISODES:
            stderr().print(f"Read as {found.form}; --format chooses another format.")
        _import(client, found, tally, batch)
    if as_json:
        print_json(asdict(tally))
    else:
        stdout().print(
            f"Imported {tally.created:,} new, {tally.existed:,} known before,"
            f" {tally.refused:,} refused."
        )
    if tally.refused:
        stderr().print("Mend the refused records and run the same command again.")
        raise typer.Exit(1)


def _import(client: Client, found: Opened, tally: _Tally, batch: int) -> None:
    try:
        with _progress(found.size) as advance:
            for part in batches(found.records, items=batch, size=_BATCH_BYTES):
                _send(client, part, tally)
                advance(part.size, tally)
    except EcphoriaError as error:
        error.message += f" {_RESUME}"
        raise
    for reason, times in found.left_out.most_common():
        stderr().print(f"Left out: {times:,} {escape(reason)}")


def _opened(
    source: str,
    form: Format | None,
    graphiti: Callable[[str], contextlib.AbstractContextManager[Opened]],
) -> contextlib.AbstractContextManager[Opened]:
    if "://" in source:
        if form not in {None, Format.GRAPHITI}:
            raise InvalidInput("Only Graphiti is read from an address.", field="--format")
        return graphiti(source)
    if source == "-":
        stdin = cast("io.BufferedReader", sys.stdin.buffer)
        return contextlib.nullcontext(opened_stream(stdin, form))
    return opened(Path(source), form)


def _graphiti(
    uri: str, *, user: str, password: str, database: str, group: str | None
) -> contextlib.AbstractContextManager[Opened]:
    try:
        from ecphoria.imports.graphiti import opened_graph  # noqa: PLC0415 (extra `server`)
        from ecphoria.neo4j_store.session import GraphOptions  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise Misconfigured(
            f"Reading Graphiti needs {missing.name}: pip install 'ecphoria[server]'."
        ) from missing
    options = GraphOptions(uri=uri, user=user, password=password, database=database)
    return opened_graph(options, group)


def _send(client: Client, part: Batch, tally: _Tally) -> None:
    refused = [(record, error.message) for record, error in part.bad]
    if part.good:
        answer = client.append_batch([request for _, request in part.good])
        tally.created += answer.created
        tally.existed += answer.existed
        refused += [
            (part.good[result.index][0], result.problem.detail)
            for result in answer.results
            if result.problem is not None
        ]
    for record, why in sorted(refused, key=lambda told: told[0].number):
        tally.refused += 1
        if tally.refused <= _TOLD:
            place = f" ({record.place})" if record.place else ""
            stderr().print(
                f"[error]Record {record.number:}{escape(place)}:[/error] {escape(why)}",
                soft_wrap=True,
            )
        elif tally.refused == _TOLD + 1:
            stderr().print("Further refused records are only counted.")


@contextlib.contextmanager
def _progress(size: int | None) -> Iterator[Callable[[int, _Tally], None]]:
    """Show how far the import is: a bar on a terminal, else a line a tenth."""
    if not stderr().is_terminal:
        done = 0
        with watching() as watch:
            if size:
                watch("importing", 0, size)  # the time left is reckoned from now

            def tell(advance: int, _: _Tally) -> None:
                nonlocal done
                done += advance
                if size:
                    watch("importing", done, size)

            yield tell
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=28),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=stderr(),
    ) as progress:
        task = progress.add_task("0 episodes", total=size)
        yield lambda advance, tally: progress.update(
            task, advance=advance, description=f"{tally.seen:,} episodes"
        )
