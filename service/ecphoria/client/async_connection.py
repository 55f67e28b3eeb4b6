"""The connection of the asynchronous client, which sends calls and reads their answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TypeVar

import httpx
from httpx_sse import EventSource

from ecphoria import records
from ecphoria.client.connections import AsyncConnections
from ecphoria.client.exchange import (
    Bookmarks,
    Call,
    Retries,
    error_of,
    read,
    unaddressable,
    unreachable,
)
from ecphoria.errors import Unavailable
from ecphoria.records.answered import adapter
from ecphoria.wire.base import Listing, Problem, error_from

_Read = TypeVar("_Read")
_Item = TypeVar("_Item")


class AsyncConnection:
    """Send calls over one connection, again where that is safe, and read the answers."""

    def __init__(
        self,
        base_url: str,
        connect: Callable[[], httpx.AsyncClient],
        retries: Retries,
        about_key: str = "",
    ) -> None:
        """Connect at the first call of each process and event loop.

        A key that is refused is told with `about_key`.
        """
        self._base_url = base_url
        self._about_key = about_key
        self._connections = AsyncConnections(connect)
        self._retries = retries
        self._bookmarks = Bookmarks()

    async def aclose(self) -> None:
        """Close the connections of this process and event loop."""
        connection = self._connections.close()
        if connection is not None:
            await connection.aclose()

    async def ask(
        self,
        answer_type: type[_Read],
        method: str,
        path: str,
        body: object = None,
        *,
        parameters: Mapping[str, object] | None = None,
        repeatable: bool = True,
        timeout_s: float | None = None,
    ) -> _Read:
        """Send the `Call` of these arguments, and read its answer."""
        call = Call(
            method,
            path,
            body=body,
            parameters=parameters or {},
            repeatable=repeatable,
            timeout_s=timeout_s,
        )
        return read(answer_type, await self.send(call))

    async def get(self, answer_type: type[_Read], path: str, **parameters: object) -> _Read:
        """Ask by GET; a parameter that is None is not sent."""
        return await self.ask(answer_type, "GET", path, parameters=parameters)

    async def post(
        self,
        answer_type: type[_Read],
        path: str,
        body: object = None,
        *,
        repeatable: bool = True,
        timeout_s: float | None = None,
    ) -> _Read:
        """Ask by POST."""
        return await self.ask(
            answer_type, "POST", path, body, repeatable=repeatable, timeout_s=timeout_s
        )

    async def each(
        self, page_type: type[Listing[_Item]], path: str, **parameters: object
    ) -> AsyncIterator[_Item]:
        """Iterate over the items of a list, page by page."""
        given = Call("GET", path, parameters=parameters).query()  # once, as it may be an iterator
        cursor: str | None = None
        while True:
            page = await self.get(page_type, path, cursor=cursor, **given)
            for item in page.items:
                yield item
            cursor = page.next_cursor
            if cursor is None:
                return

    async def events(self, call: Call) -> AsyncIterator[tuple[str, str]]:
        """Send a call once, and read the names and data of the events that it is answered with.

        Raises:
            EcphoriaError: No answer, another answer, or an event `problem`.
        """
        try:
            async with self._connections.here().stream(
                call.method,
                call.path,
                headers=call.headers() | self._bookmarks.sent(),
                content=call.content(),
                timeout=call.timeout_s or httpx.USE_CLIENT_DEFAULT,
            ) as answer:
                if not answer.is_success:
                    await answer.aread()
                    raise error_of(answer, self._about_key)
                self._bookmarks.learn(answer)
                async for event in EventSource(answer).aiter_sse():
                    if event.event == "problem":
                        raise error_from(Problem.model_validate_json(event.data))
                    yield event.event, event.data
        except httpx.TransportError as error:
            raise unreachable(self._base_url, call, error) from error

    async def send(self, call: Call) -> httpx.Response:
        """Send a call until it succeeds, or until `Retries` allows no further attempt."""
        attempt = 0
        while True:
            answer, cause = None, None
            try:
                answer = await self._connections.here().request(
                    call.method,
                    call.path,
                    params=call.query(),
                    headers=call.headers() | self._bookmarks.sent(),
                    content=call.content(),
                    timeout=call.timeout_s or httpx.USE_CLIENT_DEFAULT,
                )
            except (httpx.InvalidURL, UnicodeEncodeError) as error:
                raise unaddressable(error) from error
            except httpx.TransportError as error:
                cause = error
                failure = unreachable(self._base_url, call, error)
            else:
                if answer.is_success:
                    self._bookmarks.learn(answer)
                    return answer
                failure = error_of(answer, self._about_key)
            if not self._retries.allow(call, attempt, failure):
                raise failure from cause
            await asyncio.sleep(self._retries.pause_s(attempt, answer))
            attempt += 1

    async def answered(
        self, call: Call, watch: Callable[[records.ask.CitedSentence], object]
    ) -> records.ask.CitedAnswer:
        """Read an answer that comes in sentences, and tell each of them to `watch`.

        Raises:
            Unavailable: The answer ended before its end.
        """
        async for name, data in self.events(call):
            if name == "answer":
                answer: records.ask.CitedAnswer = adapter(records.ask.CitedAnswer).validate_json(
                    data
                )
                return answer
            watch(adapter(records.ask.CitedSentence).validate_json(data))
        raise Unavailable("The service ended the answer before its end; ask again.")


class AsyncCalls:
    """Calls about one subject, over a connection."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self._ask, self._each, self._send = connection.ask, connection.each, connection.send
        self._get, self._post = connection.get, connection.post
