"""Commands that use a memory: remember, recall, stats."""

import sys
from typing import Annotated

import typer
from rich.table import Table

from ecphoria.cli.connection import DEFAULT_URL, Home, Key, Server, TenantName, connect
from ecphoria.cli.console import stdout
from ecphoria.cli.drawing import draw_hits, draw_timings, draw_verdict, path_nodes
from ecphoria.cli.instants import instant
from ecphoria.client import Client
from ecphoria.errors import NotFound
from ecphoria.model.episode import Outcome
from ecphoria.wire.episodes import EpisodeAnswer

__all__ = ["episodes_on_paths", "recall", "remember", "stats"]

When = Annotated[
    str | None,
    typer.Option("--at", metavar="INSTANT", help="When it was so, like 2026-03-14T09:30:00Z."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]


def remember(
    *,
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="What was said or written; `-` reads stdin.")
    ],
    speaker: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    session: Annotated[str | None, typer.Option(help="The stream of turns it belongs to.")] = None,
    title: Annotated[str | None, typer.Option(help="Title, for a document.")] = None,
    source: Annotated[str | None, typer.Option(help="Where it came from.")] = None,
    at: When = None,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Remember one thing; the next recall can find it."""
    text = sys.stdin.read() if text == "-" else text
    with connect(server, key, tenant, home) as client:
        receipt = client.remember(
            text,
            speaker=speaker,
            session=session,
            title=title,
            source=source,
            occurred_at=instant(at, "at"),
        )
    known = receipt.outcome is Outcome.EXISTED
    stdout().print(f"{'Already remembered' if known else 'Remembered'}  [dim]{receipt.id}[/dim]")


def recall(
    *,
    cue: Annotated[
        str, typer.Argument(metavar="CUE", help="What to be reminded of, as you would ask it.")
    ],
    k: Annotated[int, typer.Option("-k", help="Number of memories wanted.")] = 5,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the path that woke each memory.")
    ] = False,
    strategy: Annotated[
        str | None, typer.Option(help="Mechanism to recall by; else the service's default.")
    ] = None,
    asker: Annotated[
        str | None, typer.Option(help="Who says `I` in the cue: a speaker or a role; else user.")
    ] = None,
    session: Annotated[str | None, typer.Option(help="Wake only this session.")] = None,
    speaker: Annotated[str | None, typer.Option(help="Wake only what this one said.")] = None,
    include_dormant: Annotated[
        bool, typer.Option("--include-dormant", help="Look among what sleeps too.")
    ] = False,
    wake: Annotated[
        bool, typer.Option("--wake", help="Make what slept and answers live again.")
    ] = False,
    collapse: Annotated[
        bool,
        typer.Option(
            "--collapse/--no-collapse", help="Join memories that say the same into one hit."
        ),
    ] = True,
    min_score: Annotated[
        float | None, typer.Option(metavar="SCORE", help="Leave out hits with a lower score.")
    ] = None,
    min_confidence: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Refuse an answer with a lower confidence, 0 to 1."),
    ] = None,
    as_json: AsJson = False,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Wake what a cue reminds of, best first."""
    console = stdout()
    with connect(server, key, tenant, home) as client:
        answer = client.recall(
            cue,
            k=k,
            explain=explain,
            strategy=strategy,
            session=session,
            speaker=speaker,
            include_dormant=include_dormant,
            wake=wake,
            asker=asker,
            collapse=collapse,
            min_score=min_score,
            min_confidence=min_confidence,
        )
        if as_json:
            typer.echo(answer.model_dump_json(indent=2))
            return
        episodes = episodes_on_paths(client, path_nodes(answer, k)) if explain else {}
    console.print(draw_verdict(answer))
    console.print(draw_hits(answer, limit=k, explain=explain, episodes=episodes))
    console.print(draw_timings(answer))
    if answer.woken:
        noun = "memory is" if len(answer.woken) == 1 else "memories are"
        console.print(f"{len(answer.woken):,} dormant {noun} live again")
    console.print(f"[dim]trace {answer.trace_id}[/dim]")


def stats(
    as_json: AsJson = False,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Count what a tenant's memory holds."""
    with connect(server, key, tenant, home) as client:
        counted = client.stats()
    if as_json:
        typer.echo(counted.model_dump_json(indent=2))
        return
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(style="dim")
    table.add_column(justify="right")
    for name, value in counted:
        shown = f"{value:,}" if isinstance(value, int) else value and f"{value:%Y-%m-%d}"
        table.add_row(name.replace("_", " "), shown or "never")
    stdout().print(table)


def episodes_on_paths(client: Client, nodes: set[str]) -> dict[str, EpisodeAnswer]:
    """Fetch episodes a path leads through; one deleted meanwhile is left out."""
    found: dict[str, EpisodeAnswer] = {}
    for node in sorted(nodes):
        try:
            found[node] = client.get(node)
        except NotFound:
            continue
    return found
