"""Connections: one that brings no request in time is closed, one that brings no HTTP is told."""

import asyncio
from http import HTTPStatus

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from ecphoria.api.problems import render
from ecphoria.wire.problem import Problem

__all__ = ["bounded"]

_NOT_HTTP = Problem(
    type="about:blank",
    title=HTTPStatus.BAD_REQUEST.phrase,
    status=HTTPStatus.BAD_REQUEST,
    detail="This cannot be read as HTTP/1.1; check the first line, and send shorter headers.",
)


class _Telling(H11Protocol):
    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 (uvicorn's own words)
        """Answer with a problem; uvicorn would answer plain text."""
        answer = render(_NOT_HTTP, None, None)
        headers = [*answer.raw_headers, (b"connection", b"close")]
        for event in (
            h11.Response(
                status_code=answer.status_code,
                headers=headers,
                reason=_NOT_HTTP.title.encode(),
            ),
            h11.Data(data=bytes(answer.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def bounded(seconds: float) -> type[H11Protocol]:
    """Make the protocol of a server that waits so long for a request's headers.

    uvicorn bounds only the pause between two requests; a connection that sends nothing, or half
    a header, would stay open without end.
    """

    class Bounded(_Telling):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._await_headers()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._await_headers()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._await_headers()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._stop_waiting()

        def _await_headers(self) -> None:
            """Let the time run from the connection, or the answer before, until the headers."""
            if self.cycle is not None and not self.cycle.response_complete:
                self._stop_waiting()
            elif self._deadline is None:
                self._deadline = self.loop.call_later(seconds, self.transport.close)

        def _stop_waiting(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Bounded
