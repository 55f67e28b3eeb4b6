"""Commands that look at what is stored: list, show, sessions, trace, strategies."""

from collections.abc import Iterable
from itertools import islice
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ecphoria.cli.connection import connected, stdout
from ecphoria.cli.memory import episodes_on_paths
from ecphoria.cli.render import draw_trace
from ecphoria.client import Client
from ecphoria.records.answered import to_json

AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
AsLines = Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")]


@connected
def list_episodes(
    client: Client,
    *,
    session: Annotated[str | None, typer.Option(help="Only this session.")] = None,
    speaker: Annotated[str | None, typer.Option(help="Only this speaker.")] = None,
    newest: Annotated[bool, typer.Option("--newest", help="The newest first.")] = False,
    count: Annotated[int, typer.Option("-n", min=1, help="Most episodes to show.")] = 20,
    as_json: AsLines = False,
) -> None:
    """List episodes in the order of their append."""
    found = client.list(
        session=session,
        speaker=speaker,
        order="newest" if newest else "oldest",
        page_size=min(count, 1_000),
    )
    for episode in islice(found, count):
        if as_json:
            typer.echo(to_json(episode))
            continue
        line = Text()
        line.append(f"{episode.id}  ", style="dim")
        line.append(f"{episode.occurred_at:%Y-%m-%d %H:%M}  ", style="when")
        line.append(f"{episode.speaker or episode.title or ''}  ", style="speaker")
        line.append(" ".join(episode.text.split()))
        line.truncate(max(stdout().width, 40), overflow="ellipsis")
        stdout().print(line)


@connected
def show(
    client: Client,
    *,
    episode: Annotated[str, typer.Argument(metavar="ID", help="Id of an episode.")],
    as_json: AsJson = False,
) -> None:
    """Show one episode with everything that was stored with it."""
    found = client.get(episode)
    if as_json:
        typer.echo(to_json(found, indent=2))
        return
    told: list[tuple[str, object]] = [
        ("id", found.id),
        ("title", found.title),
        ("speaker", found.speaker),
        ("role", found.role),
        ("session", found.session),
        ("occurred", f"{found.occurred_at:%Y-%m-%d %H:%M:%S %Z}"),
        ("recorded", f"{found.recorded_at:%Y-%m-%d %H:%M:%S %Z}"),
        ("source", found.source),
        ("importance", f"{found.importance:g}"),
        ("state", found.state.value),
        *found.metadata.items(),
    ]
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(style="dim")
    for name, value in told:
        if value is not None:
            table.add_row(escape(name), escape(str(value)))
    stdout().print(table)
    stdout().print()
    stdout().print(Text(found.text))


@connected
def sessions(client: Client, as_json: AsLines = False) -> None:
    """List the sessions by name."""
    found = client.sessions()
    if as_json:
        for session in found:
            typer.echo(to_json(session))
        return
    rows = [
        (
            session.name,
            f"{session.episodes:,}",
            f"{session.first_occurred_at:%Y-%m-%d}",
            f"{session.last_occurred_at:%Y-%m-%d}",
            ", ".join(session.speakers),
        )
        for session in found
    ]
    _print_table(("session", "episodes", "first", "last", "speakers"), rows)


@connected
def trace(
    client: Client,
    *,
    ident: Annotated[str, typer.Argument(metavar="ID", help="Id of a trace, from `recall`.")],
    as_json: AsJson = False,
) -> None:
    """Show how a recall found its memories."""
    found = client.trace(ident)
    if as_json:
        typer.echo(to_json(found, indent=2))
        return
    console = stdout()
    console.print(Text(found.cue, style="cue"))
    console.print(
        f"[dim]{found.strategy}, {found.created_at:%Y-%m-%d %H:%M}, {len(found.seeds):,} seeds, "
        f"{len(found.waves):,} waves[/dim]"
    )
    nodes = {step.node for hit in found.hits for step in hit.path if step.kind == "episode"}
    hits = {hit.episode for hit in found.hits}
    console.print(draw_trace(found, episodes_on_paths(client, nodes | hits)))
    console.print("[dim]--json has the waves, and the Cypher that draws it in Neo4j Browser[/dim]")


@connected
def strategies(client: Client, as_json: AsLines = False) -> None:
    """List the recall strategies and their presets; with --json the options too."""
    found = client.strategies()
    if as_json:
        for strategy in found:
            typer.echo(to_json(strategy))
        return
    rows = [
        (
            strategy.name,
            strategy.doc.split("\n")[0],
            ", ".join(strategy.presets),
            f"{len(strategy.parameters):,}",
        )
        for strategy in found
    ]
    _print_table(("strategy", "description", "presets", "options"), rows)
    stdout().print("[dim]--json describes the options[/dim]")


def _print_table(names: Iterable[str], rows: Iterable[tuple[str, ...]]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in names:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    stdout().print(table)
