"""The Python client: `AsyncClient`, and `Client`, its synchronous twin."""

from ecphoria.client.async_client import AsyncClient
from ecphoria.client.exchange import Retries
from ecphoria.client.sync_client import Client

__all__ = ["AsyncClient", "Client", "Retries"]
