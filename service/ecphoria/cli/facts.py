"""Commands for facts, merges, feedback and engrams."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Annotated, Literal

import typer
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text
from typer import Argument, Option

from ecphoria.cli.connection import Shown, answering, first, instant, showing
from ecphoria.cli.terminal import (
    Limit,
    counted,
    id_column,
    print_rows,
    print_table,
    stdout,
    whole_id,
)
from ecphoria.client import Client
from ecphoria.records.episode import Engram, EngramKind
from ecphoria.records.fact import (
    Decision,
    FactHistory,
    FactSort,
    FactView,
    ListedDecision,
    Merge,
    MergeStatus,
    MergeView,
    Predicate,
    Standing,
)
from ecphoria.wire.facts import FeedbackAnswer

commands = typer.Typer(add_completion=False)
facts = typer.Typer(no_args_is_help=True, help="List facts, and decide about them.")
commands.add_typer(facts, name="facts")

AsOf = Annotated[
    str | None,
    Option("--as-of", metavar="TIME", help="Show the facts of this time instead of now."),
]
KnownAt = Annotated[
    str | None,
    Option(
        "--known-at", metavar="TIME", help="Use only episodes and decisions recorded by this time."
    ),
]
Why = Annotated[str, Option("--why", help="The reason, kept with the decision.")]
_FACT = Argument(metavar="FACT", help="Id of a fact, as listed, or its beginning.")
FactId = Annotated[str, _FACT]


def _draw_facts(found: Iterable[FactView]) -> None:
    print_table(_table(found), empty="There are no such facts.")


@facts.command("list")
@answering(_draw_facts)
def list_facts(
    client: Client,
    *,
    concept: Annotated[
        str | None,
        Argument(metavar="NAME", help="Only facts about this name, as subject or object."),
    ] = None,
    predicate: Annotated[str | None, Option(help="Only facts of this predicate.")] = None,
    standing: Annotated[Standing | None, Option(help="Only facts with this standing.")] = None,
    sort: Annotated[
        FactSort, Option(help="By id, or by time: the last stated first.")
    ] = FactSort.ID,
    current: Annotated[
        bool, Option("--current", help="Only facts that held at that time.")
    ] = False,
    limit: Limit = 50,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    every: Annotated[
        bool, Option("--all", help="With --as-of: also facts that did not hold at that time.")
    ] = False,
) -> Iterator[FactView]:
    """List facts with the times they held."""
    found = client.facts.list(
        concept,
        predicate=predicate,
        standing=standing,
        sort=sort,
        as_of=instant(as_of, "as-of"),
        known_at=instant(known_at, "known-at"),
    )
    # A time asks for the facts of that time, unless --all is given.
    held = current or (as_of is not None and not every)
    return islice((fact for fact in found if fact.valid or not held), limit)


def _draw_predicates(found: Sequence[Predicate]) -> None:
    rows = (
        (each.relation, each.predicate_class, "the tenant" if each.own else "default")
        for each in found
    )
    columns = ("predicate", "class", "set by")
    print_rows(columns, rows, empty="No predicate has a class of its own.")


@facts.command("predicates")
@answering(_draw_predicates)
def predicates(client: Client) -> Sequence[Predicate]:
    """List the predicates with a class, which says whether a new fact ends the old one."""
    return list(client.facts.predicates())


def _named(client: Client, fact: str) -> str:
    """Complete the beginning of a fact's id."""
    return whole_id(fact, lambda: (each.id for each in client.facts.list()), "facts")


def _draw_history(history: FactHistory) -> None:
    console = stdout()
    about = Text(f"{history.subject} · {history.relation}  ")
    console.print(about.append(history.predicate_class, style="dim"))
    console.print(_table(history.facts))
    undone = {decision.undoes for decision in history.decisions}
    for decision in history.decisions:
        _tell(decision, undone=decision.id in undone)


def _draw_decisions(found: Iterable[ListedDecision]) -> None:
    decisions = tuple(found)
    if not decisions:
        stdout().print("There are no decisions.")
    for decision in decisions:
        _tell(decision, undone=decision.undone)
        about = (decision.statement, decision.other_statement, decision.relation)
        stdout().print(Text(f"  {', '.join(filter(None, about))}"))


@facts.command("history")
@showing()
def show_history(
    client: Client,
    *,
    name: Annotated[str | None, _FACT] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Limit = 50,
) -> Shown:
    """Show all facts and decisions of a subject and predicate; without FACT all decisions."""
    then, known = instant(as_of, "as-of"), instant(known_at, "known-at")
    if name is None and (then or known):
        raise typer.BadParameter("--as-of and --known-at need FACT")
    if name is None:
        return first(limit, client.facts.decisions), _draw_decisions
    found = client.facts.history(_named(client, name), as_of=then, known_at=known)
    return found, _draw_history


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


@facts.command("retract")
@answering(_tell)
def retract(client: Client, *, name: FactId, why: Why = "") -> Decision:
    """Retract a fact, from all episodes that state it."""
    return client.facts.decide(_named(client, name), "retract", why=why)


@facts.command("undo")
@answering(_tell)
def undo(
    client: Client,
    *,
    decision: Annotated[
        str, Argument(metavar="DECISION", help="Id of a decision, as `history` shows it.")
    ],
    why: Why = "",
) -> Decision:
    """Undo a decision; undoing the undo restores it."""
    return client.facts.undo(decision, why=why)


def _table(found: Iterable[FactView]) -> Table:
    rows = Table.grid(padding=(0, 2, 0, 0))
    rows.columns = [Column(), Column(), Column(), id_column()]
    for fact in found:
        says = f"no longer {fact.predicate}" if fact.polarity == "negative" else fact.predicate
        line = Text(
            f"{fact.subject_name} {says} {fact.object_name}", style="" if fact.valid else "dim"
        )
        times = ", ".join(
            f"{_day(each.valid_from)} to {_day(each.valid_to)}" for each in fact.intervals
        )
        told = times if fact.standing is Standing.HELD else str(fact.standing)
        rows.add_row(line, told, f"{fact.confidence:.2f}", Text(fact.id, style="dim"))
    return rows


def _day(at: datetime | None) -> str:
    return "now" if at is None else f"{at:%Y-%m-%d}"


def _draw_merges(found: Iterable[Merge]) -> None:
    rows = Table.grid(padding=(0, 3, 0, 0))
    for merge in found:
        rows.add_row(merge.status.value, *map(Text, (merge.one, merge.other, merge.reason)))
        for side in merge.sides if isinstance(merge, MergeView) else ():
            for sample in side.samples:
                words = Text(" ".join(sample.text.split()), style="dim")
                rows.add_row("", Text(side.name, style="dim"), f"of {side.mentions:,}", words)
    print_table(rows, empty="There are no such merges.")


@facts.command("merges")
@showing()
def merges(
    client: Client,
    *,
    names: Annotated[
        tuple[str, str] | None,
        Argument(help="The two names of a listed merge, to accept it.", metavar="[ONE OTHER]"),
    ] = None,
    reject: Annotated[
        bool, Option("--reject", help="Reject it: they stay two, and it is not proposed again.")
    ] = False,
    undo: Annotated[
        bool, Option("--undo", help="Undo the decision: the merge is proposed again.")
    ] = False,
    status: Annotated[
        MergeStatus | None, Option(help="List only merges with this status.")
    ] = None,
) -> Shown:
    """List proposed merges, or accept one, so that recall treats two concepts as one."""
    if names is None:
        if reject or undo:
            raise typer.BadParameter("--reject and --undo need two names.")
        return client.facts.merges(status=status), _draw_merges
    if status is not None:
        raise typer.BadParameter("--status is for the list; with names give --reject or --undo.")
    if reject and undo:
        raise typer.BadParameter("give --reject or --undo, not both.")
    wanted: Literal["proposed", "rejected", "accepted"] = (
        "proposed" if undo else "rejected" if reject else "accepted"
    )
    return client.facts.decide_merge(*names, wanted), lambda decided: _draw_merges([decided])


def _draw_feedback(found: FeedbackAnswer) -> None:
    rows = (
        (
            judged.episode,
            "yes" if judged.useful else "no",
            f"{judged.reliability:.3f}",
            f"{judged.salience:.3f}",
        )
        for judged in found.episodes
    )
    columns = (id_column("episode"), "useful", "reliability", "salience")
    print_rows(columns, rows, empty="No hit was judged.")


@commands.command()
@answering(_draw_feedback)
def feedback(
    client: Client,
    *,
    trace: Annotated[str, Argument(metavar="TRACE", help="The recall's trace id.")],
    useful: Annotated[
        list[str] | None, Option(metavar="EPISODE", help="A hit that was useful; repeatable.")
    ] = None,
    not_useful: Annotated[
        list[str] | None, Option(metavar="EPISODE", help="A hit that was not; repeatable.")
    ] = None,
) -> FeedbackAnswer:
    """Mark hits of a recall as useful or not."""
    return client.feedback(trace, useful=useful or (), not_useful=not_useful or ())


def _draw_engrams(found: Iterable[Engram]) -> None:
    for engram in found:
        what = escape(f"session {engram.session}") if engram.session else engram.kind.value
        members = counted(engram.members, "memory", "memories")
        told = f"{members}, {engram.method}, {engram.recorded_at:%Y-%m-%d %H:%M}"
        stdout().print(f"[bold]{what}[/bold]  [dim]{escape(told)}[/dim]")
        points = [("decided", engram.decisions), ("still open", engram.open_questions)]
        said = [f'{word}: "{one.text}"' for word, quoted in points for one in quoted]
        topic = [f"about: {engram.topic}"] if engram.topic else []
        for line in (*topic, *engram.summary.split("\n"), *said):
            stdout().print(Text(f"  {line}"))


@commands.command()
@answering(_draw_engrams)
def engrams(
    client: Client,
    *,
    kind: Annotated[
        EngramKind | None, Option(help="Only engrams of sessions, or of clusters.")
    ] = None,
) -> Iterator[Engram]:
    """Show the summaries of sessions and of similar memories."""
    return client.engrams(kind=kind)
