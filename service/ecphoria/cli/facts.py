"""Commands for facts, merges, learning and engrams."""

from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ecphoria.cli.connection import connected, instant, stdout
from ecphoria.client import Client
from ecphoria.records.answered import to_json
from ecphoria.records.episode import Engram, EngramKind
from ecphoria.records.fact import Decision, Merge, MergeStatus, Standing
from ecphoria.records.history import Learning
from ecphoria.wire.facts import FactAnswer

AsOf = Annotated[
    str | None,
    typer.Option("--as-of", metavar="INSTANT", help="Show the facts of this time instead of now."),
]
KnownAt = Annotated[
    str | None,
    typer.Option(
        "--known-at",
        metavar="INSTANT",
        help="Use only episodes and decisions recorded by this time.",
    ),
]
Why = Annotated[str, typer.Option("--why", help="The reason, kept with the decision.")]
FactId = Annotated[str, typer.Argument(metavar="FACT", help="Id of a fact, as listed.")]

fact = typer.Typer(no_args_is_help=True, help="Show the history of a fact, or decide about it.")


@connected
def facts(
    client: Client,
    *,
    concept: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Only facts about this name, as subject or object."),
    ] = None,
    predicate: Annotated[str | None, typer.Option(help="Only facts of this predicate.")] = None,
    current: Annotated[
        bool, typer.Option("--current", help="Only facts that held at that time.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of facts.")] = 50,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one fact a line.")] = False,
) -> None:
    """List facts with the times they held."""
    found = client.facts(
        concept,
        predicate=predicate,
        as_of=instant(as_of, "as-of"),
        known_at=instant(known_at, "known-at"),
    )
    shown = list(islice((fact for fact in found if fact.valid or not current), limit))
    if as_json:
        for fact in shown:
            typer.echo(fact.model_dump_json())
        return
    stdout().print(_table(shown))


@fact.command("history")
@connected
def show_history(
    client: Client, *, name: FactId, as_of: AsOf = None, known_at: KnownAt = None
) -> None:
    """Show all facts and decisions of the same subject and predicate."""
    history = client.fact_history(
        name, as_of=instant(as_of, "as-of"), known_at=instant(known_at, "known-at")
    )
    console = stdout()
    console.print(f"{history.subject} · {history.relation}  [dim]{history.predicate_class}[/dim]")
    console.print(_table(history.facts))
    undone = {decision.undoes for decision in history.decisions}
    for decision in history.decisions:
        _tell(decision, undone=decision.id in undone)


@fact.command("retract")
@connected
def retract(client: Client, *, name: FactId, why: Why = "") -> None:
    """Retract a fact, from all episodes that state it."""
    _tell(client.decide(name, "retract", why=why))


@fact.command("undo")
@connected
def undo(
    client: Client,
    *,
    decision: Annotated[
        str, typer.Argument(metavar="DECISION", help="Id of a decision, as `history` shows it.")
    ],
    why: Why = "",
) -> None:
    """Undo a decision; undoing the undo restores it."""
    _tell(client.undo(decision, why=why))


def _table(found: Iterable[FactAnswer]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for fact in found:
        says = f"no longer {fact.predicate}" if fact.polarity == "negative" else fact.predicate
        line = Text(f"{fact.subject} {says} {fact.object}", style="" if fact.valid else "dim")
        times = ", ".join(
            f"{_day(each.valid_from)} to {_day(each.valid_to)}" for each in fact.intervals
        )
        told = times if fact.standing is Standing.HELD else str(fact.standing)
        table.add_row(line, told, f"{fact.confidence:.2f}", Text(fact.id, style="dim"))
    return table


def _day(at: datetime | None) -> str:
    return "now" if at is None else f"{at:%Y-%m-%d}"


def _tell(decision: Decision, *, undone: bool = False) -> None:
    line = Text(f"{decision.recorded_at:%Y-%m-%d %H:%M}  {decision.ruling}")
    if decision.undoes:
        line.append(f" of {decision.undoes}")
    if undone:
        line.append(" (undone)")
    if decision.why:
        line.append(f"  {decision.why}")
    line.append(f"  {decision.id}", style="dim")
    stdout().print(line)


merges = typer.Typer(no_args_is_help=True, help="Manage proposed merges of concepts.")

Pair = Annotated[
    tuple[str, str], typer.Argument(help="The two names, as listed.", metavar="ONE OTHER")
]


@merges.command("list")
@connected
def list_merges(
    client: Client,
    status: Annotated[
        MergeStatus | None, typer.Option(help="Only merges with this status.")
    ] = None,
) -> None:
    """List the merges that consolidation proposed, with the reason."""
    table = Table.grid(padding=(0, 3, 0, 0))
    cursor: str | None = None
    while True:
        page = client.list_merges(status=status, cursor=cursor, limit=1_000)
        for merge in page.items:
            table.add_row(*_cells(merge))
        cursor = page.next_cursor
        if cursor is None:
            break
    stdout().print(table)


@merges.command("accept")
@connected
def accept(client: Client, names: Pair) -> None:
    """Accept a merge: recall treats two concepts as one."""
    _show(client.accept_merge(*names))


@merges.command("reject")
@connected
def reject(client: Client, names: Pair) -> None:
    """Reject a merge; it is not proposed again."""
    _show(client.reject_merge(*names))


@merges.command("undo")
@connected
def undo_merge(client: Client, names: Pair) -> None:
    """Undo the decision about two concepts."""
    _show(client.undo_merge(*names))


def _show(merge: Merge) -> None:
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_row(*_cells(merge))
    stdout().print(table)


def _cells(merge: Merge) -> tuple[str, ...]:
    return merge.status.value, escape(merge.one), escape(merge.other), escape(merge.reason)


learning = typer.Typer(no_args_is_help=True, help="Manage learning from recalls.")


@learning.command("show")
@connected
def show_learning(client: Client) -> None:
    """Show whether a tenant learns from recalls, and the numbers of learned and waiting ones."""
    _show_learning(client.learning())


@learning.command("on")
@connected
def switch_on(client: Client) -> None:
    """Learn from a tenant's recalls from now on."""
    _show_learning(client.set_learning(on=True))


@learning.command("off")
@connected
def switch_off(client: Client) -> None:
    """Stop learning; learned values stay, pending effects are dropped."""
    _show_learning(client.set_learning(on=False))


@learning.command("feedback")
@connected
def give_feedback(
    client: Client,
    trace: Annotated[str, typer.Argument(metavar="TRACE", help="The recall's trace id.")],
    *,
    useful: Annotated[
        list[str] | None,
        typer.Option(metavar="EPISODE", help="A hit that was useful; repeatable."),
    ] = None,
    not_useful: Annotated[
        list[str] | None, typer.Option(metavar="EPISODE", help="A hit that was not; repeatable.")
    ] = None,
) -> None:
    """Mark hits of a recall as useful or not."""
    found = client.feedback(trace, useful=useful or (), not_useful=not_useful or ())
    table = Table("episode", "useful", "reliability", "salience", box=None, header_style="dim")
    for judged in found.episodes:
        told = "yes" if judged.useful else "no"
        table.add_row(judged.episode, told, f"{judged.reliability:.3f}", f"{judged.salience:.3f}")
    stdout().print(table)


def _show_learning(found: Learning) -> None:
    stdout().print(f"learning  {'on' if found.on else 'off'}")
    stdout().print(f"recalls   {found.recalls:,} learned from, {found.pending:,} waiting")


@connected
def engrams(
    client: Client,
    *,
    kind: Annotated[
        EngramKind | None, typer.Option(help="Only engrams of sessions, or of clusters.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
) -> None:
    """Show the summaries of sessions and of similar memories."""
    for engram in client.engrams(kind=kind):
        if as_json:
            typer.echo(to_json(engram))
        else:
            _show_engrams(engram)


def _show_engrams(engram: Engram) -> None:
    what = escape(f"session {engram.session}") if engram.session else engram.kind.value
    told = f"{engram.members:,} memories, {engram.method}, {engram.recorded_at:%Y-%m-%d %H:%M}"
    stdout().print(f"[bold]{what}[/bold]  [dim]{escape(told)}[/dim]")
    for line in engram.summary.split("\n"):
        stdout().print(f"  {escape(line)}", highlight=False)
