"""Commands that use a memory: remember, recall, ask, forget, import."""

import contextlib
import io
import sys
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from ecphoria.cli.connection import answering, connected, instant, saying
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
from ecphoria.errors import EcphoriaError, InvalidInput
from ecphoria.imports.exports import Format, Opened, opened, read_export
from ecphoria.imports.records import Batch, batches
from ecphoria.records.ask import CitedSentence
from ecphoria.records.episode import Outcome, Receipt
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
    if not answer.hits:
        say_unknown(client, filters)


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


@dataclass(slots=True, kw_only=True)
class _Tally:
    created: int = 0
    existed: int = 0
    refused: int = 0

    @property
    def seen(self) -> int:
        return self.created + self.existed + self.refused


@commands.command("import")
@saying("Run the same command again to go on from here; nothing is stored twice.")
@connected
def import_file(
    client: Client,
    *,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="File with one JSON object a line; `-` reads stdin."),
    ],
    form: Annotated[
        Format,
        typer.Option(
            "--format", help="The file's format; `chatgpt` and `claude` take the ZIP file too."
        ),
    ] = Format.EPISODES,
    batch: Annotated[
        int, typer.Option(min=1, max=1_000, help="Number of episodes in a request.")
    ] = 200,
) -> None:
    """Import a file of episodes or another product's export; run it again to resume."""
    tally = _Tally()
    with _opened(file, form) as found:
        client.stats()
        with _progress() as progress:
            task = progress.add_task(_counted(tally), total=found.size)
            try:
                for part in batches(found.records, items=batch, size=_BATCH_BYTES):
                    _send(client, part, tally)
                    progress.update(task, advance=part.size, description=_counted(tally))
            except EcphoriaError as error:
                error.message += " Run the same command again to go on from here."
                raise
    stdout().print(
        f"Imported {tally.created:,} new, {tally.existed:,} known before,"
        f" {tally.refused:,} refused."
    )
    if tally.refused:
        stderr().print("Mend the refused records and run the same command again.")
        raise typer.Exit(1)


def _opened(file: Path, form: Format) -> contextlib.AbstractContextManager[Opened]:
    if str(file) == "-":
        stdin = cast("io.BufferedReader", sys.stdin.buffer)
        return contextlib.nullcontext(Opened(records=read_export(stdin, form), size=None))
    return opened(file, form)


def _send(client: Client, part: Batch, tally: _Tally) -> None:
    refused = [(number, error.message) for number, error in part.bad]
    if part.good:
        answer = client.append_batch([request for _, request in part.good])
        tally.created += answer.created
        tally.existed += answer.existed
        refused += [
            (part.good[result.index][0], result.problem.detail)
            for result in answer.results
            if result.problem is not None
        ]
    for number, why in sorted(refused):
        tally.refused += 1
        if tally.refused <= _TOLD:
            stderr().print(f"[error]Record {number}:[/error] {escape(why)}", soft_wrap=True)
        elif tally.refused == _TOLD + 1:
            stderr().print("Further refused records are only counted.")


def _counted(tally: _Tally) -> str:
    return f"{tally.seen:,} episodes"


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=28),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=stderr(),
    )
