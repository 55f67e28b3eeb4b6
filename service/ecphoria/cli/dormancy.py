"""Commands of dormancy: what sleeps and why, sleep, wake, pin, and the policy."""

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ecphoria.cli.connection import DEFAULT_URL, Home, Key, Server, TenantName, connect
from ecphoria.cli.console import stdout
from ecphoria.model.dormancy import DormancyMode
from ecphoria.wire.dormancy import DormancyPolicyAnswer

__all__ = ["dormancy"]

dormancy = typer.Typer(no_args_is_help=True, help="What sleeps, and how a tenant forgets.")

_SHOWN = 1_000
"""Characters of a text that are listed."""

Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of episodes.")]


@dormancy.command("list")
def list_dormant(
    *,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="Most to show.")] = 20,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """List what sleeps, with the reason."""
    table = Table("id", "since", "what", "why", box=None, pad_edge=False)
    with connect(server, key, tenant, home) as client:
        for number, one in enumerate(client.dormant(page_size=min(limit, 1_000))):
            if number == limit:
                break
            text = escape(" ".join(one.text[:_SHOWN].split()))
            table.add_row(one.id, f"{one.dormant_at:%Y-%m-%d}", text, escape(one.reason))
    stdout().print(table if table.row_count else "Nothing sleeps.")


@dormancy.command("sleep")
def put_to_sleep(
    ids: Ids,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Put memories to sleep; pinned ones stay awake."""
    with connect(server, key, tenant, home) as client:
        slept = client.put_to_sleep(ids)
    stdout().print(f"{len(slept):,} put to sleep")


@dormancy.command("wake")
def wake(
    ids: Ids,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Make dormant memories live again, exactly as they were."""
    with connect(server, key, tenant, home) as client:
        woken = client.wake(ids)
    stdout().print(f"{len(woken):,} woken")


@dormancy.command("pin")
def pin(
    *,
    episode: Annotated[str, typer.Argument(metavar="ID", help="Id of an episode.")],
    off: Annotated[bool, typer.Option("--off", help="Take the pin away.")] = False,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Never let a memory be put to sleep."""
    with connect(server, key, tenant, home) as client:
        client.pin(episode, pinned=not off)
    stdout().print("No longer pinned." if off else "Pinned.")


@dormancy.command("policy")
def policy(
    *,
    mode: Annotated[
        DormancyMode | None, typer.Option(help="Set when consolidation puts memories to sleep.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Live memories to keep.")
    ] = None,
    quiet_days: Annotated[
        float | None,
        typer.Option(min=0, metavar="DAYS", help="Younger or lately woken memories stay awake."),
    ] = None,
    archive_days: Annotated[
        float | None,
        typer.Option(min=0, metavar="DAYS", help="Days asleep before the archive."),
    ] = None,
    second_look: Annotated[
        bool | None,
        typer.Option(
            "--second-look/--no-second-look",
            help="Look among what sleeps when the gate refuses a cue.",
        ),
    ] = None,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Show how the tenant forgets; with options, change that."""
    given = {
        "mode": mode,
        "budget": budget,
        "quiet_days": quiet_days,
        "archive_days": archive_days,
        "second_look": second_look,
    }
    changed = {name: value for name, value in given.items() if value is not None}
    with connect(server, key, tenant, home) as client:
        found = client.dormancy_policy()
        if changed:
            found = client.set_dormancy_policy(**(found.model_dump() | changed))
    _show(found)


def _show(found: DormancyPolicyAnswer) -> None:
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(style="dim")
    table.add_column()
    table.add_row("mode", found.mode)
    table.add_row("budget", f"{found.budget:,} live memories")
    table.add_row("quiet", f"{found.quiet_days:g} days")
    archived = "never" if found.archive_days is None else f"after {found.archive_days:g} days"
    table.add_row("archive", archived)
    table.add_row("second look", "on" if found.second_look else "off")
    stdout().print(table)
