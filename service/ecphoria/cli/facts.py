"""Commands of facts: what is claimed of a name, how it changed, and what you decide about it."""

from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from ecphoria.cli.connection import DEFAULT_URL, Home, Key, Server, TenantName, connect
from ecphoria.cli.console import stdout
from ecphoria.cli.instants import instant
from ecphoria.model.fact import Standing
from ecphoria.wire.facts import DecisionAnswer, FactAnswer

__all__ = ["fact", "facts"]

AsOf = Annotated[
    str | None,
    typer.Option("--as-of", metavar="INSTANT", help="Tell what held then, not now."),
]
KnownAt = Annotated[
    str | None,
    typer.Option("--known-at", metavar="INSTANT", help="Look only at what was recorded by then."),
]
Why = Annotated[str, typer.Option("--why", help="The reason, kept with the decision.")]
FactId = Annotated[str, typer.Argument(metavar="FACT", help="Id of a fact, as listed.")]

fact = typer.Typer(no_args_is_help=True, help="One fact: its history, and decisions about it.")


def facts(
    *,
    concept: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Only facts with this name at an end.")
    ] = None,
    predicate: Annotated[str | None, typer.Option(help="Only facts of this predicate.")] = None,
    current: Annotated[
        bool, typer.Option("--current", help="Leave out what did not hold then.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="Facts shown.")] = 50,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one fact a line.")] = False,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """List facts with the times they held."""
    with connect(server, key, tenant, home) as client:
        found = client.facts(
            concept,
            predicate=predicate,
            as_of=instant(as_of, "as-of"),
            known_at=instant(known_at, "known-at"),
        )
        shown = list(islice((one for one in found if one.valid or not current), limit))
    if as_json:
        for one in shown:
            typer.echo(one.model_dump_json())
        return
    stdout().print(_table(shown))


@fact.command("history")
def show_history(
    *,
    name: FactId,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Show all that was claimed of a fact's subject and predicate, and decided about it."""
    with connect(server, key, tenant, home) as client:
        history = client.fact_history(
            name, as_of=instant(as_of, "as-of"), known_at=instant(known_at, "known-at")
        )
    console = stdout()
    console.print(f"{history.subject} · {history.relation}  [dim]{history.predicate_class}[/dim]")
    console.print(_table(history.facts))
    undone = {one.undoes for one in history.decisions}
    for one in history.decisions:
        _tell(one, undone=one.id in undone)


@fact.command("retract")
def retract(
    *,
    name: FactId,
    why: Why = "",
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Decide that a fact is wrong, whoever states it."""
    with connect(server, key, tenant, home) as client:
        _tell(client.decide(name, "retract", why=why))


@fact.command("undo")
def undo(
    *,
    decision: Annotated[
        str, typer.Argument(metavar="DECISION", help="Id of a decision, as `history` shows it.")
    ],
    why: Why = "",
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Take a decision back; undo the undo, and it counts again."""
    with connect(server, key, tenant, home) as client:
        _tell(client.undo(decision, why=why))


def _table(found: Iterable[FactAnswer]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for one in found:
        says = f"no longer {one.predicate}" if one.polarity == "negative" else one.predicate
        line = Text(f"{one.subject} {says} {one.object}", style="" if one.valid else "dim")
        times = ", ".join(
            f"{_day(each.valid_from)} to {_day(each.valid_to)}" for each in one.intervals
        )
        told = times if one.standing is Standing.HELD else str(one.standing)
        table.add_row(line, told, f"{one.confidence:.2f}", Text(one.id, style="dim"))
    return table


def _day(at: datetime | None) -> str:
    return "now" if at is None else f"{at:%Y-%m-%d}"


def _tell(decision: DecisionAnswer, *, undone: bool = False) -> None:
    line = Text(f"{decision.recorded_at:%Y-%m-%d %H:%M}  {decision.ruling}")
    if decision.undoes:
        line.append(f" of {decision.undoes}")
    if undone:
        line.append(" (undone)")
    if decision.why:
        line.append(f"  {decision.why}")
    line.append(f"  {decision.id}", style="dim")
    stdout().print(line)
