"""Commands for dormant and archived memories."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Annotated

import typer
from rich.text import Text

from ecphoria.cli.connection import answering, connected
from ecphoria.cli.terminal import (
    FAILED,
    AsJson,
    counted,
    id_column,
    print_json,
    print_table,
    stderr,
    stdout,
    table,
)
from ecphoria.client import Client
from ecphoria.records.upkeep import ArchivedMemory, DormancyPreview, Restored
from ecphoria.wire.upkeep import ArchiveAnswer

commands = typer.Typer(add_completion=False)
dormancy = typer.Typer(no_args_is_help=True, help="Manage dormant memories.")
archive = typer.Typer(no_args_is_help=True, help="Manage archived memories.")
commands.add_typer(dormancy, name="dormancy")
commands.add_typer(archive, name="archive")

_SHOWN = 1_000
"""Characters of a text that are listed."""

Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of episodes.")]
Limit = Annotated[int, typer.Option(min=1, metavar="N", help="Maximum number of rows.")]


@dormancy.command("list")
@connected
def list_dormant(
    client: Client,
    *,
    following: Annotated[
        bool,
        typer.Option(
            "--next", help="The memories that the policy would make dormant now instead."
        ),
    ] = False,
    expiring: Annotated[
        bool, typer.Option("--expiring", help="The memories that expire, the soonest first.")
    ] = False,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """List dormant memories, with the reason."""
    if expiring:
        _list_expiring(client, limit, as_json=as_json)
        return
    if following:
        found = client.archive.preview(limit=min(limit, 1_000))
        (print_json if as_json else _draw_preview)(found)
        return
    sleepers = islice(client.archive.dormant(page_size=min(limit, 1_000)), limit)
    if as_json:
        print_json(sleepers)
        return
    rows = table(id_column(), "since", "what", "why")
    for sleeper in sleepers:
        text = Text(" ".join(sleeper.text[:_SHOWN].split()))
        rows.add_row(sleeper.id, f"{sleeper.dormant_at:%Y-%m-%d}", text, Text(sleeper.reason))
    print_table(rows, empty="Nothing is dormant.")
    if archived := client.stats().archived:
        verb = "is" if archived == 1 else "are"
        said = f"{counted(archived, 'memory', 'memories')} more {verb} archived"
        stderr().print(f"[dim]{said}: ecphoria archive list[/dim]")


def _list_expiring(client: Client, limit: int, *, as_json: bool) -> None:
    found = islice(client.archive.expiring(page_size=min(limit, 1_000)), limit)
    if as_json:
        print_json(found)
        return
    rows = table(id_column(), "expires", "what")
    for memory in found:
        text = Text(" ".join(memory.text[:_SHOWN].split()))
        rows.add_row(memory.id, f"{memory.expires_at:%Y-%m-%d %H:%M}", text)
    print_table(rows, empty="No memory expires.")


def _draw_preview(found: DormancyPreview) -> None:
    rows = table(id_column(), "what", "why")
    for memory in found.items:
        rows.add_row(memory.id, Text(memory.label), Text(memory.reason))
    print_table(rows, empty="Nothing would become dormant.")
    stderr().print(f"[dim]{found.dormant:,} of {found.live:,} live memories[/dim]")


@dormancy.command("sleep")
@connected
def put_to_sleep(client: Client, *, ids: Ids, as_json: AsJson = False) -> None:
    """Make memories dormant, except pinned ones; exits with 1 if one did not become dormant."""
    _tell_changed(ids, client.archive.sleep(ids), "made dormant", as_json=as_json)


@dormancy.command("wake")
@connected
def wake(client: Client, *, ids: Ids, as_json: AsJson = False) -> None:
    """Make dormant memories live again, exactly as they were; exits with 1 if one was not."""
    _tell_changed(ids, client.archive.wake(ids), "live again", as_json=as_json)


def _tell_changed(ids: Sequence[str], changed: Sequence[str], verb: str, *, as_json: bool) -> None:
    if as_json:
        print_json(changed)
    else:
        stdout().print(f"{counted(len(changed), 'memory', 'memories')} {verb}")
    left = [ident for ident in ids if ident not in {*changed}]
    if left:
        stderr().print(
            Text(f"Not changed, because unknown, pinned or so already: {' '.join(left)}")
        )
        raise typer.Exit(FAILED)


@dormancy.command("pin")
@connected
def pin(
    client: Client,
    *,
    episode: Annotated[str, typer.Argument(metavar="ID", help="Id of an episode.")],
    off: Annotated[bool, typer.Option("--off", help="Unpin it.")] = False,
) -> None:
    """Pin a memory, so that it never becomes dormant."""
    client.pin(episode, pinned=not off)
    stdout().print("No longer pinned." if off else "Pinned.")


def _draw_added(done: ArchiveAnswer) -> None:
    stdout().print(f"{done.archived:,} archived")
    if done.archived:
        stderr().print(
            "[dim]ecphoria archive list shows them, ecphoria archive restore ID undoes it[/dim]"
        )


@archive.command("add")
@answering(_draw_added)
def archive_dormant(
    client: Client,
    *,
    days: Annotated[
        float,
        typer.Option(
            min=0, metavar="DAYS", help="Only memories that have been dormant for this long."
        ),
    ] = 90.0,
) -> ArchiveAnswer:
    """Move long dormant memories to the files of the archive."""
    return client.archive.add(days=days)


def _draw_archived(found: Iterator[ArchivedMemory]) -> None:
    rows = table(id_column(), "archived", "words", "who", "what")
    for memory in found:
        rows.add_row(
            memory.id,
            f"{memory.archived_at:%Y-%m-%d}",
            f"{memory.terms:,}",
            Text(memory.speaker or memory.title or ""),
            Text(memory.summary),
        )
    print_table(rows, empty="Nothing is archived.")


@archive.command("list")
@answering(_draw_archived)
def list_archived(
    client: Client,
    *,
    session: Annotated[str | None, typer.Option(help="Only memories of this session.")] = None,
    speaker: Annotated[str | None, typer.Option(help="Only memories of this speaker.")] = None,
    limit: Limit = 20,
) -> Iterator[ArchivedMemory]:
    """List archived memories in the order of their append."""
    page_size = min(limit, 1_000)
    found = client.archive.list(session=session, speaker=speaker, page_size=page_size)
    return islice(found, limit)


def _draw_restored(done: Restored) -> None:
    stdout().print(f"{len(done.restored):,} restored")
    if done.damaged:
        stdout().print(
            f"[error]{len(done.damaged):,} damaged[/error], put their files back from a backup:"
        )
        for episode in done.damaged:
            stdout().print(episode)


@archive.command("restore")
@answering(_draw_restored, fails=lambda done: bool(done.damaged))
def restore(client: Client, *, ids: Ids) -> Restored:
    """Make archived memories dormant again, byte for byte."""
    return client.archive.restore(ids)
