"""Which service a command talks to, and with which key."""

from pathlib import Path
from typing import Annotated

import typer

from ecphoria.client import Client
from ecphoria.errors import BadFile

__all__ = ["DEFAULT_URL", "Home", "Key", "Server", "TenantName", "admin_key", "connect"]

DEFAULT_URL = "http://127.0.0.1:8765"
_ADMIN_KEY_FILE = "admin.key"

Server = Annotated[
    str,
    typer.Option("--server", envvar="ECPHORIA_URL", metavar="URL", help="Address of the service."),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        envvar="ECPHORIA_API_KEY",
        metavar="KEY",
        help="API key; else the admin key that a service on this machine left in its home.",
    ),
]
TenantName = Annotated[
    str | None,
    typer.Option(
        "--tenant",
        envvar="ECPHORIA_TENANT",
        metavar="NAME",
        help="Tenant to act for, with an operator's key; `default` with the admin key.",
    ),
]
Home = Annotated[
    Path | None,
    typer.Option(
        "--home",
        envvar="ECPHORIA_HOME",
        metavar="DIR",
        help="Where the service on this machine keeps its things; else the user's data directory.",
    ),
]


def connect(
    server: str,
    key: str | None,
    tenant: str | None,
    home: Path | None,
    *,
    assumed: str | None = "default",
) -> Client:
    """Open the client a command uses; close it with `with`.

    Args:
        server: Address of the service.
        key: The key given, if one was.
        tenant: The tenant named, if one was.
        home: Where to look for the admin key.
        assumed: The tenant the admin key acts for if none was named.

    Raises:
        BadFile: The admin key is there but cannot be read.
    """
    if key is None:
        key = admin_key(home)
        if key is not None and tenant is None:
            tenant = assumed
    return Client(server, key, tenant=tenant)


def admin_key(home: Path | None) -> str | None:
    """Read the key the service made at its first start, if it made one on this machine."""
    place = home or _default_home()
    if place is None:
        return None
    file = place.expanduser() / _ADMIN_KEY_FILE
    try:
        return file.read_text(encoding="ascii").strip() or None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadFile(
            f"The admin key {file} cannot be read ({error.strerror}); give a key with --key.",
            path=str(file),
        ) from error


def _default_home() -> Path | None:
    try:
        import platformdirs  # noqa: PLC0415 (the light install has no service on this machine)
    except ImportError:
        return None
    return Path(platformdirs.user_data_dir("ecphoria"))
