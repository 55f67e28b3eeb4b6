"""Connections: one that brings no request in time is closed."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["bounded"]


def bounded(seconds: float) -> type[H11Protocol]:
    """Make the protocol of a server that waits so long for a request's headers.

    uvicorn bounds only the pause between two requests; a connection that sends nothing, or half
    a header, would stay open without end.
    """

    class Bounded(H11Protocol):
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
