"""Connections to the endpoint of a model: bounded, without redirects, past a proxy if local."""

from collections.abc import AsyncIterator
from urllib.request import getproxies

import httpx

from ecphoria.errors import Misconfigured
from ecphoria.hosts import is_loopback


class AnswerTooLong(httpx.TransportError):
    """The endpoint answers with more bytes than any answer needs, or compressed."""


def open_client(
    base_url: str,
    *,
    timeout: float,
    most_bytes: int,
    transport: httpx.AsyncBaseTransport | None = None,
) -> httpx.AsyncClient:
    """Make a client for an endpoint; connect to nothing yet.

    A proxy of the environment is not used for an endpoint on the own machine. The `timeout` is in
    seconds, to connect and between two parts of an answer.

    Raises:
        Misconfigured: A proxy of the environment cannot be used.
    """

    async def bound(response: httpx.Response) -> None:
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _Bounded(response.stream, most_bytes)
        # A few bytes may unpack to any length, and none were asked for.
        if response.headers.get("content-encoding", "identity") != "identity":
            raise AnswerTooLong("the answer is compressed, against the request")

    try:
        return httpx.AsyncClient(
            transport=transport,
            trust_env=transport is None and not _is_local(base_url),
            follow_redirects=False,
            timeout=timeout,
            headers={"accept-encoding": "identity"},
            event_hooks={"response": [bound]},
        )
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        named = ", ".join(f"{name.upper()}_PROXY" for name in sorted(getproxies()))
        raise Misconfigured(
            f"The proxy of the environment ({named}) cannot be used for {base_url}: {error}. "
            "Name one with http:// or https://, unset it, or name the host in NO_PROXY.",
            setting=named,
        ) from error


class _Bounded(httpx.AsyncByteStream):
    """The body of an answer, up to a bound."""

    def __init__(self, stream: httpx.AsyncByteStream, most_bytes: int) -> None:
        self._stream = stream
        self._left = most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._left -= len(part)
            if self._left < 0:
                raise AnswerTooLong("the answer is too long")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def _is_local(base_url: str) -> bool:
    host = httpx.URL(base_url).host
    return is_loopback(host) or host.endswith(".localhost")
