"""Commands that use a memory: remember, recall, ask, forget."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text
from typer import Argument, Option

from ecphoria.cli.connection import Shown, answering, connected, instant, showing
from ecphoria.cli.filters import Metadata, filtered, named_values, say_unknown
from ecphoria.cli.render import (
    draw_answer,
    draw_hits,
    draw_timings,
    draw_verdict,
    episodes_on_paths,
    path_nodes,
)
from ecphoria.cli.terminal import (
    FAILED,
    AsJson,
    confirm,
    counted,
    counted_kinds,
    if_interrupted,
    pairs,
    print_json,
    print_rows,
    read_input,
    stdout,
)
from ecphoria.client import Client
from ecphoria.errors import InvalidInput
from ecphoria.records.episode import MOST_IDS, Bucket, BucketKind, MemoryKind, Outcome, Receipt
from ecphoria.records.recall import DEFAULT_HITS, MOST_HITS, Match

if TYPE_CHECKING:
    from ecphoria.records.ask import CitedSentence
    from ecphoria.records.tenant import TenantStats
    from ecphoria.records.upkeep import Disk
    from ecphoria.wire.episodes import EraseAnswer

commands = typer.Typer(add_completion=False)

When = Annotated[
    str | None,
    Option(
        "--at", metavar="TIME", help="Time of the event, such as 2026-03-14T09:30. Default: now."
    ),
]
Hits = Annotated[
    list[int] | None,
    Option(
        "-k",
        "--limit",
        min=1,
        max=MOST_HITS,
        metavar="N",
        help=f"Number of memories to recall. Default: {DEFAULT_HITS}.",
    ),
]
Strategy = Annotated[str | None, Option(help="Strategy. Default: the tenant's.")]
Asker = Annotated[
    str | None, Option(help="Speaker or role that says `I` in the question. Default: user.")
]


def _one(counts: Sequence[int] | None) -> int:
    if len(set(counts or ())) > 1:
        raise InvalidInput("-k and --limit are names of one option; give one of them.", field="k")
    return counts[0] if counts else DEFAULT_HITS


def _draw_receipt(receipt: Receipt) -> None:
    known = receipt.outcome is Outcome.EXISTED
    stdout().print(f"{'Already remembered' if known else 'Remembered'}  [dim]{receipt.id}[/dim]")


@commands.command()
@answering(_draw_receipt)
def remember(
    client: Client,
    *,
    text: Annotated[str, Argument(metavar="TEXT", help="Text to remember; `-` reads stdin.")],
    speaker: Annotated[str | None, Option(help="Speaker.")] = None,
    role: Annotated[
        str | None, Option(help="Role of the speaker: user, assistant, tool or system.")
    ] = None,
    session: Annotated[str | None, Option(help="Session of the turn.")] = None,
    title: Annotated[str | None, Option(help="Title of a document.")] = None,
    source: Annotated[str | None, Option(help="Source: a file, an address, a tool.")] = None,
    metadata: Metadata = None,
    importance: Annotated[
        float | None, Option(min=0, max=1, metavar="SHARE", help="Importance, 0 to 1.")
    ] = None,
    kind: Annotated[
        MemoryKind | None, Option(help="Kind of the memory. Default: by its form.")
    ] = None,
    at: When = None,
) -> Receipt:
    """Append one episode; the next recall can find it."""
    return client.remember(
        read_input() if text == "-" else text,
        speaker=speaker,
        role=role,
        session=session,
        title=title,
        source=source,
        metadata=named_values(metadata, "metadata"),
        importance=importance,
        kind=kind,
        occurred_at=instant(at, "at"),
    )


@commands.command()
@connected
@filtered
def forget(
    client: Client,
    *,
    filters: dict[str, Any],
    ids: Annotated[list[str] | None, Argument(metavar="ID", help="Episodes to erase.")] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Only count what would go.")] = False,
    yes: Annotated[bool, Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase episodes by id, or those that pass all filters given; this cannot be undone."""
    by_filter = [one for one in filters.values() if one]
    if bool(ids) == bool(by_filter):
        also = " Not both." if ids else ""
        raise InvalidInput(
            f"Give ids of episodes, or filters such as --session.{also}", field="ID"
        )

    wanted = list(dict.fromkeys(ids or ()))
    parts = [wanted[at : at + MOST_IDS] for at in range(0, len(wanted) or 1, MOST_IDS)]
    found = _preview(client, parts, filters) if dry_run or not yes else None
    if found and found.matched and not dry_run:
        confirm(f"Erase {counted(found.matched, 'episode')}?{_also(found)}")
    needed = not dry_run and (found is None or found.matched > 0)
    erased = _erase(client, parts, filters) if needed else 0
    matched = found.matched if found else erased
    if as_json:
        removes = {"removes": asdict(found.removes)} if found and found.removes else {}
        print_json({"matched": matched, "erased": erased} | removes)
    elif not matched:
        stdout().print("Nothing matches." + _missing(len(wanted)))
        say_unknown(client, filters)
    elif dry_run and found:
        told = f"{counted(matched, 'episode')} would be erased.{_also(found)}"
        stdout().print(told + _missing(len(wanted) - matched))
    else:
        stdout().print(f"Erased {counted(erased, 'episode')}.{_missing(len(wanted) - matched)}")
    if ids and not matched:
        raise typer.Exit(FAILED)


def _preview(
    client: Client, parts: Sequence[Sequence[str]], filters: dict[str, Any]
) -> "EraseAnswer":
    """Count the episodes of all parts; only of one part also what goes with them.

    A session whose episodes are in two parts would be counted with neither.
    """
    found = [client.preview_erasure(ids=part, **filters) for part in parts]
    matched = sum(one.matched for one in found)
    unknown = {} if len(found) == 1 else {"removes": None}
    return found[0].model_copy(update={"matched": matched} | unknown)


def _erase(client: Client, parts: Sequence[Sequence[str]], filters: dict[str, Any]) -> int:
    """Erase part by part and show how far it is; return the number of erased episodes."""
    from ecphoria.cli.progress import watching  # noqa: PLC0415 (costly)

    again = "What is erased stays erased; run the same command again to erase the rest."
    erased, total = 0, sum(map(len, parts))
    with if_interrupted(lambda: again), watching() as watch:

        def tell(done: int, matched: int) -> None:
            if matched:
                watch("erasing", erased + done, total or matched)

        for part in parts:
            erased += client.erase(ids=part, watch=tell, **filters)
    return erased


def _missing(ids: int) -> str:
    return f" Not found: {counted(ids, 'id')}." if ids > 0 else ""


def _also(found: "EraseAnswer") -> str:
    """Say what goes with the episodes; traces stay."""
    if found.removes is None:
        return ""
    told = counted_kinds({**asdict(found.removes), "traces": 0})
    return f" With them: {told}." if told else ""


@commands.command()
@connected
@filtered
def recall(
    client: Client,
    *,
    filters: dict[str, Any],
    cue: Annotated[str, Argument(metavar="CUE", help="Question, in your own words.")],
    k: Hits = None,
    explain: Annotated[bool, Option("--explain", help="Show the path to each hit.")] = False,
    strategy: Strategy = None,
    asker: Asker = None,
    as_of: Annotated[
        str | None, Option("--as-of", metavar="TIME", help="Recall as it would have been then.")
    ] = None,
    known_at: Annotated[
        str | None,
        Option("--known-at", metavar="TIME", help="Use only what was recorded by this time."),
    ] = None,
    token_budget: Annotated[
        int | None, Option(min=1, metavar="N", help="Longest context, in tokens; see --json.")
    ] = None,
    include_dormant: Annotated[
        bool, Option("--include-dormant", help="Also search dormant memories.")
    ] = False,
    wake: Annotated[
        bool, Option("--wake", help="Make dormant memories live again if they answer.")
    ] = False,
    collapse: Annotated[
        bool,
        Option("--collapse/--no-collapse", help="Join memories that say the same into one hit."),
    ] = True,
    newest_first: Annotated[
        bool,
        Option(
            "--newest-first/--by-score", help="Rank a memory above the one that it makes outdated."
        ),
    ] = True,
    rerank: Annotated[
        bool | None,
        Option(
            "--rerank/--no-rerank",
            help="Have the reader order the first five turns. Default: the service's setting.",
        ),
    ] = None,
    lists: Annotated[
        bool, Option("--lists", help="Give at least 20 hits if the question asks for a list.")
    ] = False,
    read_cue: Annotated[
        bool, Option("--read-cue", help="Have the language model read the question.")
    ] = False,
    min_score: Annotated[
        float | None, Option(metavar="SCORE", help="Leave out hits with a lower score.")
    ] = None,
    min_confidence: Annotated[
        float | None,
        Option(metavar="SHARE", help="Refuse an answer with a lower confidence, 0 to 1."),
    ] = None,
    match: Annotated[
        Match, Option(help='Words that each hit must have; marks: "a phrase", +word.')
    ] = Match.ANY,
    record: Annotated[
        bool, Option("--record/--no-record", help="Leave a trace; without it only look.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Recall memories for a question, best first."""
    console = stdout()
    answer = client.recall(
        cue,
        k=_one(k),
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
        newest_first=newest_first,
        rerank=rerank,
        lists=lists,
        read_cue=read_cue,
        min_score=min_score,
        min_confidence=min_confidence,
        match=match,
        record=record,
    )
    if as_json:
        print_json(answer)
        return
    episodes = episodes_on_paths(client, path_nodes(answer)) if explain else {}
    console.print(draw_verdict(answer))
    console.print(draw_hits(answer, explain=explain, episodes=episodes))
    console.print(draw_timings(answer))
    if answer.woken:
        woken = counted(len(answer.woken), "dormant memory is", "dormant memories are")
        console.print(f"{woken} live again")
    if record:
        console.print(f"[dim]trace {answer.trace_id}[/dim]")


@commands.command()
@connected
def ask(
    client: Client,
    *,
    question: Annotated[str, Argument(metavar="QUESTION", help="Question, in your own words.")],
    k: Hits = None,
    strategy: Strategy = None,
    asker: Asker = None,
    session: Annotated[str | None, Option(help="Only memories of this session.")] = None,
    speaker: Annotated[str | None, Option(help="Only memories of this speaker.")] = None,
    min_confidence: Annotated[
        float | None,
        Option(metavar="SHARE", help="Ask the model only at this confidence or more, 0 to 1."),
    ] = None,
    brief: Annotated[
        bool, Option("--brief", help="Only the words that answer, no sentences.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Answer a question in words, with a quote for each sentence."""
    from rich.live import Live  # noqa: PLC0415 (costly)

    said: list[str] = []
    with Live(console=stdout(), transient=True) as shown:

        def show(sentence: "CitedSentence") -> None:
            said.append(sentence.text)
            shown.update(Text(" ".join(said)))

        answer = client.ask(
            question,
            k=_one(k),
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


def _draw_stats(found: "TenantStats") -> None:
    def said(value: object) -> str:
        return (
            f"{value:,}" if isinstance(value, int) else f"{value:%Y-%m-%d}" if value else "never"
        )

    told = asdict(found)
    # The scale of the gate is a table of figures, for `--json`; here is how many recalls made it.
    scale = told.pop("scale")
    told["recalls in scale"] = 0 if scale is None else round(scale["recalls"])
    del told["sums"]  # the service's own
    rows = pairs((name.replace("_", " "), said(value)) for name, value in told.items())
    rows.columns[1].justify = "right"
    stdout().print(rows)


def _draw_disk(found: "Disk") -> None:
    if found.bytes is None:
        stdout().print("Neo4j runs elsewhere; look at the size of its data folder there.")
        return
    sizes = asdict(found.bytes)
    sizes["sum without the log"] = sum(sizes.values()) - sizes["log"]
    rows = pairs((name.replace("_", " "), f"{size / 1e6:,.1f} MB") for name, size in sizes.items())
    rows.columns[1].justify = "right"
    stdout().print(rows)


def _draw_timeline(found: Iterable[Bucket]) -> None:
    rows = (
        (
            one.bucket or "no session",
            *(f"{count:,}" for count in (one.live, one.dormant, one.archived)),
            *(f"{at:%Y-%m-%d}" for at in (one.first_occurred_at, one.last_occurred_at)),
        )
        for one in found
    )
    columns = ("", "live", "dormant", "archived", "first", "last")
    print_rows(columns, rows, empty="There are no such episodes.")


@commands.command()
@showing()
def stats(
    client: Client,
    *,
    by: Annotated[
        BucketKind | None, Option(help="Count episodes by session, day or month instead.")
    ] = None,
    speaker: Annotated[
        str | None, Option(help="With --by: only episodes of this speaker.")
    ] = None,
    disk: Annotated[
        bool, Option("--disk", help="Size of the whole store on disk; for operators.")
    ] = False,
) -> Shown:
    """Count a tenant's graph by kind, or its episodes over time."""
    if by is None and speaker is not None:
        raise typer.BadParameter("--speaker needs --by")
    if disk and by is not None:
        raise typer.BadParameter("--disk counts the whole store, so it takes no --by")
    if disk:
        return client.admin.disk(), _draw_disk
    if by is None:
        return client.stats(), _draw_stats
    return client.graph.timeline(by, speaker=speaker), _draw_timeline
