"""Commands that look at what is stored, such as list, show, traces and concepts."""

import webbrowser
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Annotated, Any

import typer
from rich.text import Text
from typer import Argument, Option

from ecphoria.cli.connection import (
    Home,
    Key,
    Server,
    Shown,
    TenantName,
    answering,
    connect,
    connected,
    first,
    showing,
)
from ecphoria.cli.filters import filtered, say_unknown
from ecphoria.cli.render import draw_trace, draw_verdict, episodes_on_paths, said_by
from ecphoria.cli.terminal import (
    AsJson,
    Limit,
    counted,
    id_column,
    pairs,
    print_json,
    print_rows,
    stderr,
    stdout,
)
from ecphoria.client import Client
from ecphoria.client.defaults import DEFAULT_URL, explorer_address
from ecphoria.errors import NotFound
from ecphoria.records.episode import Episode, Session, State
from ecphoria.records.graph import Concept, ConceptSort, Neighbourhood, NodeColumns
from ecphoria.records.recall import Trace, TraceSummary, Verdict
from ecphoria.records.start_context import StartContext

commands = typer.Typer(add_completion=False)


@commands.command()
def explore(
    *,
    write: Annotated[
        bool, Option("--write", help="Let the browser change the memory too.")
    ] = False,
    browser: Annotated[
        bool, Option("--open/--no-open", help="Open a browser, or only print the address.")
    ] = True,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Open the explorer in a browser, signed in for one tenant.

    The address works once, within two minutes. The browser's own key ends after 12 hours.
    """
    with connect(server, key, tenant, home) as client:
        made = client.admin.explorer_ticket(write=write)
    address = explorer_address(server, made.ticket)
    typer.echo(address)
    if browser and stdout().is_terminal:
        webbrowser.open(address)


@commands.command("list")
@connected
@filtered
def list_episodes(
    client: Client,
    *,
    filters: dict[str, Any],
    state: Annotated[State | None, Option(help="Only live, dormant or archived episodes.")] = None,
    pinned: Annotated[
        bool | None, Option("--pinned/--not-pinned", help="Only pinned episodes, or others.")
    ] = None,
    newest: Annotated[bool, Option("--newest", help="The newest first.")] = False,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """List episodes in the order of their append."""
    order = "newest" if newest else "oldest"
    found = first(limit, client.list, **filters, state=state, pinned=pinned, order=order)
    if as_json:
        print_json(found)
        return
    console = stdout()
    shown = list(found)
    if not shown:
        stderr().print("There are no such episodes.")
        say_unknown(client, filters)
    for episode in shown:
        line = Text.assemble(
            (f"{episode.id}  ", "dim"),
            (f"{episode.occurred_at:%Y-%m-%d %H:%M}  ", "when"),
            (f"{said_by(episode)}  ", "speaker"),
            " ".join(episode.text.split()),
        )
        line.truncate(max(console.width, 40), overflow="ellipsis")
        console.print(line)


def _draw_episode(found: Episode) -> None:
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
        ("state", f"{found.state.value}, pinned" if found.pinned else found.state.value),
        ("uses", found.uses),
        ("last used", found.last_used_at and f"{found.last_used_at:%Y-%m-%d %H:%M:%S %Z}"),
        ("retrievability", found.retrievability and f"{found.retrievability:.3f}"),
        *found.metadata.items(),
    ]
    stdout().print(pairs((name, None if value is None else str(value)) for name, value in told))
    stdout().print()
    stdout().print(Text(found.text), soft_wrap=True)


def _draw_around(found: Neighbourhood) -> None:
    label, edges = found.nodes.label, found.edges
    place = _in_time(found.nodes)
    told = zip(edges.tail, edges.head, edges.type, edges.weight, strict=True)
    shown = sorted(told, key=lambda edge: (place[edge[0]], edge[2], -edge[3], place[edge[1]]))
    rows = (
        (label[tail], kind, label[head], f"{weight:.2f}") for tail, head, kind, weight in shown
    )
    print_rows(("from", "edge", "to", "weight"), rows, empty="Nothing is around it.")
    if found.left_out:
        stderr().print(f"[dim]{counted(found.left_out, 'node')} more did not fit[/dim]")


def _in_time(nodes: NodeColumns) -> list[tuple[bool, float, int, str]]:
    """Give each node what sorts it: memories by time, then concepts by name."""
    return [
        (at is None, 0.0 if at is None else at.timestamp(), ordinal or 0, label)
        for at, ordinal, label in zip(nodes.occurred_at, nodes.ordinal, nodes.label, strict=True)
    ]


@commands.command()
@showing()
def show(
    client: Client,
    *,
    node: Annotated[
        str,
        Argument(
            metavar="ID",
            help="Id of an episode; with --around also of a concept, concept:NAME, session:NAME.",
        ),
    ],
    around: Annotated[bool, Option("--around", help="Show the edges around it instead.")] = False,
    hops: Annotated[int, Option(min=1, max=2, help="With --around: edges to walk.")] = 1,
    limit: Annotated[
        int, Option(min=1, max=2_000, metavar="N", help="With --around: most nodes.")
    ] = 50,
) -> Shown:
    """Show one episode with all that was stored with it, or what is around a node."""
    if around:
        return client.graph.around(node, hops=hops, limit=limit), _draw_around
    try:
        return client.get(node), _draw_episode
    except NotFound as unknown:
        others = "`ecphoria trace ID` shows a recall, `show ID --around` a concept or a session."
        raise NotFound(f"{unknown.message}; {others}", **unknown.fields) from unknown


def _draw_sessions(found: Iterable[Session]) -> None:
    rows = ((one.name, f"{one.episodes:,}", *_span(one), ", ".join(one.speakers)) for one in found)
    columns = ("session", "episodes", "first", "last", "speakers")
    print_rows(columns, rows, empty="There are no sessions.")


def _span(one: Session | Concept) -> tuple[str, str]:
    """Write the first and the last day."""
    return f"{one.first_occurred_at:%Y-%m-%d}", f"{one.last_occurred_at:%Y-%m-%d}"


@commands.command()
@answering(_draw_sessions)
def sessions(client: Client) -> Iterator[Session]:
    """List the sessions by name."""
    return client.sessions()


def _draw_trace(client: Client, found: Trace) -> None:
    console = stdout()
    console.print(Text(found.cue, style="cue"))
    console.print(
        f"[dim]{found.strategy}, {found.created_at:%Y-%m-%d %H:%M}, "
        f"{counted(len(found.seeds), 'seed')}, {counted(len(found.waves), 'wave')}[/dim]"
    )
    console.print(draw_verdict(found))
    nodes = {step.node for hit in found.hits for step in hit.path if step.kind == "episode"}
    hits = {hit.episode for hit in found.hits}
    console.print(draw_trace(found, episodes_on_paths(client, nodes | hits)))
    console.print("[dim]--json has the waves, and the Cypher that draws it in Neo4j Browser[/dim]")


def _draw_traces(found: Iterable[TraceSummary]) -> None:
    """List traces: in a pipe one a line; on a terminal the texts are below, each on its line."""
    console = stdout()
    empty = True
    for one in found:
        empty = False
        head = Text.assemble(
            (f"{one.id}  ", "dim"),
            (f"{one.created_at:%Y-%m-%d %H:%M}  ", "when"),
            (f"{one.verdict} {one.confidence:.2f}", f"verdict.{one.verdict}"),
        )
        texts = [Text(" ".join(text.split())) for text in (one.cue, one.first_label or "") if text]
        if not console.is_terminal:
            console.print(Text("  ").join([head, *texts]))
            continue
        console.print(head)
        for mark, text in zip(("  ", "  → "), texts, strict=False):
            line = Text.assemble((mark, "rail"), text)
            line.truncate(console.width, overflow="ellipsis")
            console.print(line)
    if empty:
        console.print("There are no such traces.")


@commands.command()
@showing()
def trace(
    client: Client,
    *,
    ident: Annotated[
        str | None,
        Argument(
            metavar="ID", help="Id of a trace, from `recall`. Default: list the newest traces."
        ),
    ] = None,
    limit: Limit = 20,
    verdict: Annotated[
        Verdict | None, Option(help="Without an id: only recalls with this verdict.")
    ] = None,
    strategy: Annotated[
        str | None, Option(help="Without an id: only recalls by this strategy.")
    ] = None,
) -> Shown:
    """Show how a recall found its memories; without an id, list the newest traces."""
    if ident is not None:
        if verdict or strategy:
            raise typer.BadParameter("give an id, or --verdict and --strategy, not both.")
        return client.trace(ident), partial(_draw_trace, client)
    return first(limit, client.graph.traces, verdict=verdict, strategy=strategy), _draw_traces


def _draw_concepts(found: Iterable[Concept]) -> None:
    rows = ((one.name, f"{one.mentions:,}", *_span(one), one.id) for one in found)
    columns = ("concept", "memories", "first", "last", id_column())
    print_rows(columns, rows, empty="There are no such concepts.")


@commands.command()
@answering(_draw_concepts)
def concepts(
    client: Client,
    *,
    name: Annotated[
        str | None, Argument(metavar="NAME", help="Only concepts with this in the name.")
    ] = None,
    limit: Limit = 20,
    sort: Annotated[
        ConceptSort, Option(help="The most mentioned, by name, or the last mentioned.")
    ] = ConceptSort.MENTIONS,
) -> Iterator[Concept]:
    """List the people, places, things and topics that memories speak of."""
    return first(limit, client.graph.concepts, name, sort=sort)


def _draw_context(told: StartContext) -> None:
    for reason in told.reasons:
        stderr().print(reason, markup=False)
    if told.context:
        stdout().print(told.context, markup=False, highlight=False, soft_wrap=True)


@commands.command()
@answering(_draw_context)
def context(
    client: Client,
    *,
    token_budget: Annotated[
        int | None, Option(min=1, metavar="N", help="Longest context, in tokens.")
    ] = None,
    session: Annotated[
        str | None, Option(help="Session of the latest turns. Default: the last one.")
    ] = None,
    speaker: Annotated[str | None, Option(help="Only this speaker's sessions and facts.")] = None,
) -> StartContext:
    """Print what a session of an agent should start with."""
    return client.context(token_budget=token_budget, session=session, speaker=speaker)
