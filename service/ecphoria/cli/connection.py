"""The connection of a command to a service: its options, and how its answer is printed."""

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer import Option

from ecphoria.cli.terminal import FAILED, AsJson, print_json
from ecphoria.client import Client
from ecphoria.client.defaults import (
    DEFAULT_TENANT,
    DEFAULT_URL,
    Target,
    default_url,
    local_key,
    origin_of_key,
)
from ecphoria.client.exchange import trimmed
from ecphoria.errors import InvalidInput, Unauthenticated
from ecphoria.wire.base import LARGEST_PAGE


def _place(context: typer.Context, option: typer.CallbackParam, value: str) -> str:
    """Check --server; without it, a service with the settings of this environment is meant."""
    source = context.get_parameter_source(str(option.name))
    if source is not None and source.name == "DEFAULT":
        return default_url()
    if not value.startswith(("http://", "https://")):
        # Not repeated, as it may be a key.
        raise InvalidInput(
            "--server (or ECPHORIA_URL) is the address of a service with its scheme, such as "
            "http://127.0.0.1:8765.",
            field="--server",
        )
    return trimmed(value)


CONNECTION = "Connection"
"""The part of a command's help with the options of the connection."""

Server = Annotated[
    str,
    Option(
        "--server",
        envvar="ECPHORIA_URL",
        metavar="URL",
        help="Address of the service.",
        rich_help_panel=CONNECTION,
        callback=_place,
    ),
]
Key = Annotated[
    str | None,
    Option(
        "--key",
        envvar="ECPHORIA_API_KEY",
        metavar="KEY",
        help="API key. Default: the admin key that a local service wrote to its home directory.",
        rich_help_panel=CONNECTION,
    ),
]
TenantName = Annotated[
    str | None,
    Option(
        "--tenant",
        envvar="ECPHORIA_TENANT",
        metavar="NAME",
        help="Tenant to act for, with an operator's key; `default` with the admin key.",
        rich_help_panel=CONNECTION,
    ),
]
Home = Annotated[
    Path | None,
    Option(
        "--home",
        envvar="ECPHORIA_HOME",
        metavar="DIR",
        help="Home directory of the local service. Default: the user's data directory.",
        rich_help_panel=CONNECTION,
    ),
]
Operator = Annotated[
    bool,
    Option("--operator", help="An operator's key, which acts for every tenant; not of --tenant."),
]


class Caller(Enum):
    """For whom a command calls the service."""

    TENANT = "a tenant"
    OPERATOR = "all tenants, with an operator's key"
    EITHER = "a tenant, or with --operator an operator"


def option(name: str, default: object, annotation: object) -> inspect.Parameter:
    """Make an option that several commands offer."""
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


_AS_JSON = option("as_json", default=False, annotation=AsJson)
_OPERATOR = option("operator", default=False, annotation=Operator)
_TENANT = option("tenant", None, TenantName)
_PLACE = (option("server", DEFAULT_URL, Server), option("key", None, Key))
_HOME = option("home", None, Home)
_CONNECTIONS = {
    Caller.TENANT: (*_PLACE, _TENANT, _HOME),
    Caller.OPERATOR: (*_PLACE, _HOME),
    Caller.EITHER: (_OPERATOR, *_PLACE, _TENANT, _HOME),
}
_Answer = TypeVar("_Answer")
_Run = TypeVar("_Run", bound=Callable[..., Any])
Shown = tuple[Any, Callable[[Any], None]]
"""An answer, and the function that prints it for a reader."""


@contextmanager
def connect(
    server: str,
    key: str | None,
    tenant: str | None,
    home: Path | None,
    *,
    assumed: str | None = DEFAULT_TENANT,
) -> Iterator[Client]:
    """Open the client a command uses; if its key is refused, say where that key is from.

    If no tenant is named, the admin key in `home` acts for the tenant `assumed`; BadFile if it is
    there but cannot be read.
    """
    found = target_of(server, key, tenant, home, assumed=assumed)
    # No other key is looked for.
    with Client(found.url, found.key or "", tenant=found.tenant) as client:
        try:
            yield client
        except Unauthenticated as refused:
            said = _about_key(found, home, is_given=key is not None)
            raise Unauthenticated(f"{refused.message} {said}", **refused.fields) from refused


def _about_key(sent: Target, home: Path | None, *, is_given: bool) -> str:
    """Say where the key of a call is from, or was looked for, and how to give another one."""
    origin = None if is_given else origin_of_key(sent.url, home, sent.key)
    if origin is None:
        return "On the command line: --key, or ECPHORIA_API_KEY."
    return (
        f"{origin}: `--home` names the home of the service, `--key` or ECPHORIA_API_KEY another "
        "key."
    )


def target_of(
    server: str,
    key: str | None,
    tenant: str | None,
    home: Path | None,
    *,
    assumed: str | None = DEFAULT_TENANT,
) -> Target:
    """Tell which service a command calls, and as whom; see `connect`."""
    if key is None:
        key = local_key(server, home)
        if key is not None and tenant is None:
            tenant = assumed
    return Target(url=server, key=key, tenant=tenant)


def connected(
    command: Callable[..., None], *, caller: Caller = Caller.TENANT
) -> Callable[..., None]:
    """Give a command the options of the connection, and call it with an open client first."""
    offered = _CONNECTIONS[caller]

    def run(**options: Any) -> None:
        given = {parameter.name: options.pop(parameter.name) for parameter in offered}
        as_operator = given.pop("operator", caller is Caller.OPERATOR)
        given = {"tenant": None, **given}
        if as_operator:
            given["tenant"] = None  # ECPHORIA_TENANT may name one
        assumed = None if as_operator else DEFAULT_TENANT
        with connect(**given, assumed=assumed) as client:
            command(client, **options)

    own = [*inspect.signature(command).parameters.values()][1:]
    return offering(run, command, [*own, *offered])


def showing(
    *, fails: Callable[[Any], bool] = lambda _: False, caller: Caller = Caller.TENANT
) -> Callable[[Callable[..., Shown]], Callable[..., None]]:
    """Turn a function that asks a client into a command that prints its answer.

    The function returns the answer, and what prints it for a reader; with `--json` it is printed
    as it is. If `fails` is true of the answer, the command ends with 1.
    """

    def decorate(ask: Callable[..., Shown]) -> Callable[..., None]:
        def run(client: Client, *, as_json: bool, **options: Any) -> None:
            answer, draw = ask(client, **options)
            (print_json if as_json else draw)(answer)
            if fails(answer):
                raise typer.Exit(FAILED)

        parameters = [*inspect.signature(ask).parameters.values(), _AS_JSON]
        return connected(offering(run, ask, parameters), caller=caller)

    return decorate


def answering(
    draw: Callable[[_Answer], None],
    *,
    fails: Callable[[_Answer], bool] = lambda _: False,
    caller: Caller = Caller.TENANT,
) -> Callable[[Callable[..., _Answer]], Callable[..., None]]:
    """Turn a function into a command as `showing` does, with one form of answers."""

    def decorate(ask: Callable[..., _Answer]) -> Callable[..., None]:
        def run(*arguments: Any, **options: Any) -> Shown:
            return ask(*arguments, **options), draw

        parameters = [*inspect.signature(ask).parameters.values()]
        return showing(fails=fails, caller=caller)(offering(run, ask, parameters))

    return decorate


def offering(
    run: _Run, command: Callable[..., object], parameters: Sequence[inspect.Parameter]
) -> _Run:
    """Give `run` the name and the help of a command, and these options."""
    functools.update_wrapper(run, command)
    # Typer reads the options of a command from its signature and its annotations.
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def first(
    limit: int, listing: Callable[..., Iterator[_Answer]], *arguments: Any, **filters: Any
) -> Iterator[_Answer]:
    """Take the first items of a listing of the client, from pages no larger than needed."""
    found = listing(*arguments, **filters, page_size=min(limit, LARGEST_PAGE))
    return islice(found, limit)


def instant(text: str | None, field: str) -> datetime | None:
    """Read a time; without an offset it is one of this machine's clock, a date alone its midnight.

    Raises:
        InvalidInput: It is no time; the message shows some.
    """
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        # A naive time is taken for one of this machine, with summer time as it was then.
        return found if found.tzinfo else found.astimezone()
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"`{text}` is no time; write it like 2026-03-14, 2026-03-14T09:30 or, with an offset, "
            "2026-03-14T09:30:00Z.",
            field=field,
        ) from None
