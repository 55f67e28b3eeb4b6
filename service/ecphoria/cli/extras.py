"""Settings and extras of the commands that run the service on this machine."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ecphoria.errors import Misconfigured

_EXTRAS = "pip install 'ecphoria[server,local]'"

LocalHome = Annotated[
    Path | None,
    typer.Option(
        "--home",
        metavar="DIR",
        help="Home directory, for keys and the local store.",
        show_default=False,
    ),
]


def given_settings(host: str | None, port: int | None, home: Path | None) -> dict[str, object]:
    """Give the settings that options of the command line set."""
    server = {"host": host, "port": port}
    told = {name: value for name, value in server.items() if value is not None}
    return {"server": told} | ({} if home is None else {"home": home})


@contextlib.contextmanager
def needed() -> Iterator[None]:
    """Say which parts to install when one is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("ecphoria"):
            raise
        raise Misconfigured(
            f"This command runs the service here, and `{error.name}` is not installed: {_EXTRAS}.",
            module=error.name,
        ) from error
