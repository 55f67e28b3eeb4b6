"""Commands for tenants, their keys, and copies of the store."""

import contextlib
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich.markup import escape
from rich.text import Text
from typer import Argument, Option

from ecphoria import runtime
from ecphoria.cli.connection import Caller, Shown, answering, connected, showing
from ecphoria.cli.extras import LocalHome, local_settings
from ecphoria.cli.progress import watching
from ecphoria.cli.terminal import (
    check_targets,
    confirm,
    counted,
    counted_kinds,
    id_column,
    if_interrupted,
    pairs,
    print_entries,
    print_rows,
    stderr,
    stdout,
    whole_id,
)
from ecphoria.client import Client
from ecphoria.errors import NotFound
from ecphoria.records.tenant import ApiKey, IssuedKey, Me, Scope, Tenant
from ecphoria.wire.admin import LONGEST_LIFE_S, ErasureAnswer

if TYPE_CHECKING:
    from ecphoria.portability.service import Copied, Portability, Report

_DAY_S = 86_400

commands = typer.Typer(add_completion=False)
tenants = typer.Typer(no_args_is_help=True, help="Manage tenants; needs an operator's key.")
keys = typer.Typer(no_args_is_help=True, help="Manage the API keys of a tenant.")
backup = typer.Typer(
    no_args_is_help=True, help="Back up the whole store to a file, and restore it."
)
commands.add_typer(tenants, name="tenants")
commands.add_typer(keys, name="keys")
commands.add_typer(backup, name="backup")


def _draw_tenants(found: list[Tenant]) -> None:
    rows = ((tenant.name, f"{tenant.created_at:%Y-%m-%d}", tenant.id) for tenant in found)
    print_rows(("name", "created", id_column()), rows, empty="There are no tenants.")


@tenants.command("list")
@answering(_draw_tenants, caller=Caller.OPERATOR)
def list_tenants(client: Client) -> list[Tenant]:
    """List the tenants."""
    return list(client.admin.tenants())


def _draw_created(made: Tenant) -> None:
    stdout().print(f"Created {made.name}  [dim]{made.id}[/dim]")


@tenants.command("create")
@answering(_draw_created, caller=Caller.OPERATOR)
def create_tenant(
    client: Client,
    *,
    name: Annotated[
        str, Argument(metavar="NAME", help="Lower-case letters, digits, `-` and `_`.")
    ],
) -> Tenant:
    """Create a tenant."""
    return client.admin.create_tenant(name)


@tenants.command("erase")
@showing(caller=Caller.OPERATOR)
def erase_tenant(
    client: Client,
    *,
    name: Annotated[str, Argument(metavar="NAME", help="The tenant to erase.")],
    yes: Annotated[bool, Option("--yes", help="Do not ask for confirmation.")] = False,
) -> Shown:
    """Erase a tenant with everything it owns; this cannot be undone."""
    if not yes:
        if name not in {tenant.name for tenant in client.admin.tenants()}:
            raise NotFound(f"There is no tenant `{name}`; `ecphoria tenants list` has all.")
        confirm(f"Erase every memory of {name}?")
    return client.admin.erase_tenant(name), partial(_draw_erased, name)


def _draw_erased(name: str, erased: ErasureAnswer) -> None:
    stdout().print(f"Erased {name}: {counted_kinds(erased.removed) or 'it was empty'}.")


def _draw_keys(found: list[ApiKey]) -> None:
    print_entries(
        ("id", "begins with", "created", "name"),
        (
            (
                (item.id, item.prefix, _day(item.created_at), item.name),
                {
                    "scopes": " ".join(item.scopes),
                    "expires": _day(item.expires_at),
                    "revoked": _day(item.revoked_at),
                },
            )
            for item in found
        ),
        empty="There are no keys.",
    )


def _day(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d}" if at else ""


@keys.command("list")
@answering(_draw_keys, caller=Caller.EITHER)
def list_keys(client: Client) -> list[ApiKey]:
    """List a tenant's keys, without their secrets."""
    return list(client.admin.keys())


def _draw_me(me: Me) -> None:
    told = [
        ("tenant", me.tenant),
        ("key", me.key_name),
        ("id", me.key),
        ("scopes", ", ".join(me.scopes)),
        ("expires", f"{me.expires_at:%Y-%m-%d %H:%M}" if me.expires_at else None),
        ("operator", "yes" if me.operator else "no"),
    ]
    stdout().print(pairs(told))


@keys.command("show")
@answering(_draw_me, caller=Caller.EITHER)
def show_key(client: Client) -> Me:
    """Show the key in use, its tenant, and what it may do."""
    return client.admin.me()


def _draw_issued(made: IssuedKey) -> None:
    stdout().print(f"Issued {escape(made.name)}  [dim]{made.id}[/dim]")
    typer.echo(made.secret)


@keys.command("issue")
@answering(_draw_issued, caller=Caller.EITHER)
def issue_key(
    client: Client,
    *,
    name: Annotated[str, Argument(metavar="NAME", help="Purpose of the key.")],
    scope: Annotated[list[Scope], Option(help="Scope of the key; repeatable.")],
    days: Annotated[
        float | None,
        Option(
            min=0.001,
            max=LONGEST_LIFE_S / _DAY_S,
            help="Days until the key is refused. Default: no end.",
        ),
    ] = None,
) -> IssuedKey:
    """Issue a key of a tenant; its secret is printed this once."""
    seconds = None if days is None else round(days * _DAY_S)
    return client.admin.issue_key(name, scope, expires_in_s=seconds)


def _revoke_key(
    client: Client,
    *,
    key_id: Annotated[str, Argument(metavar="ID", help="The key's id, or its beginning.")],
) -> None:
    """Revoke a key; it is refused within seconds."""
    listed = client.admin.keys
    client.admin.revoke_key(whole_id(key_id, lambda: (known.id for known in listed()), "keys"))
    stdout().print("Revoked.")


keys.command("revoke")(connected(_revoke_key, caller=Caller.EITHER))

NewFile = Annotated[Path, Argument(metavar="FILE", help="Backup file; must not exist yet.")]
OldFile = Annotated[
    Path, Argument(metavar="FILE", exists=True, dir_okay=False, help="Backup file.")
]
Discard = Annotated[
    bool,
    Option(
        "--discard",
        help="Store nothing; delete what an interrupted run with this file has stored in part.",
    ),
]


@backup.command("create")
def create_backup(file: NewFile, home: LocalHome = None) -> None:
    """Back up every tenant, every key and the archive to one file, while the service runs."""
    check_targets(file)
    _tell(file, _run(home, lambda copies, report: copies.backup(file, report)))


@backup.command("restore")
def restore_backup(file: OldFile, *, discard: Discard = False, home: LocalHome = None) -> None:
    """Restore a backup into an empty store; run it again to resume."""
    _put(file, home, discard=discard, whole=True)


@tenants.command("export")
def export_tenant(
    name: Annotated[str, Argument(metavar="NAME", help="Tenant to export.")],
    file: NewFile,
    home: LocalHome = None,
) -> None:
    """Export a tenant to a file, while the service runs."""
    check_targets(file)
    _tell(file, _run(home, lambda copies, report: copies.export(name, file, report)))


@tenants.command("import")
def import_tenant(
    file: OldFile,
    *,
    without_keys: Annotated[
        bool, Option("--without-keys", help="Leave out the tenant's API keys.")
    ] = False,
    discard: Discard = False,
    home: LocalHome = None,
) -> None:
    """Import an exported tenant into this store; run it again to resume."""
    _put(file, home, discard=discard, whole=False, keys=not without_keys)


def _put(file: Path, home: Path | None, *, discard: bool, whole: bool, keys: bool = True) -> None:
    if discard:
        interrupted = _run(home, lambda copies, _: copies.discard(file))
        stdout().print(
            "Deleted what the interrupted run has stored in part. Complete tenants stay."
            if interrupted
            else "Nothing to delete: no run with this file was interrupted."
        )
        return
    done = _run(
        home,
        lambda copies, report: (
            copies.restore(file, report) if whole else copies.take_in(file, report, keys=keys)
        ),
    )
    stdout().print(f"Stored {_counts(done)}.")
    if done.keys and not whole:
        brought = counted(done.keys, "API key")
        stdout().print(
            f"{brought} came with it: who has the secret of a key can use this tenant. "
            "`ecphoria keys list` has the keys, `ecphoria keys revoke` ends one."
        )


def _tell(file: Path, done: "Copied") -> None:
    size = file.stat().st_size / 1e6
    said = Text(f"Copied {_counts(done)} to {file} ({size:,.1f} MB).")
    stdout().print(said, soft_wrap=True)


def _counts(done: "Copied") -> str:
    kinds = ((done.tenants, "tenant"), (done.nodes, "node"), (done.edges, "edge"))
    return ", ".join(counted(number, noun) for number, noun in kinds)


T = TypeVar("T")


def _run(home: Path | None, work: "Callable[[Portability, Report], Awaitable[T]]") -> T:
    """Open the store that the settings name, as `serve` would, and work on it."""
    from ecphoria.app import Reports, open_copies  # noqa: PLC0415 (extra `server`)
    from ecphoria.cli.engine import drawn  # noqa: PLC0415 (extra `local`)

    async def run() -> T:
        async with contextlib.AsyncExitStack() as stack:
            with drawn(stderr()) as engine:
                reports = Reports(engine=engine)
                copies = await stack.enter_async_context(
                    open_copies(local_settings(home), reports)
                )
            with watching() as report:
                return await work(copies, report)

    with if_interrupted(lambda: "An import or a restore goes on if you run it again."):
        return runtime.run(run())
