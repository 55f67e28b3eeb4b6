"""The Python client: `AsyncClient`, and `Client`, its synchronous twin; each loads when used."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ecphoria.client.async_client import AsyncClient
    from ecphoria.client.exchange import Retries
    from ecphoria.client.sync_client import Client

__all__ = ["AsyncClient", "Client", "Retries"]

_HOMES = {"AsyncClient": "async_client", "Client": "sync_client", "Retries": "exchange"}


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
