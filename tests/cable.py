"""A connection to Neo4j that a test can interrupt."""

import asyncio
import contextlib
import threading
from collections.abc import Callable


class Cable:
    """A connection to Neo4j that can be pulled out."""

    def __init__(self, host: str, port: int) -> None:
        self._target = host, port
        self._loop = asyncio.new_event_loop()
        self._open: set[asyncio.StreamWriter] = set()
        self._plugged = True
        self._allowance: int | None = None
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        made = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._carry, "127.0.0.1", 0), self._loop
        )
        self._server = made.result(timeout=10)
        self.port: int = self._server.sockets[0].getsockname()[1]

    def pull(self) -> None:
        self._plugged = False
        self._loop.call_soon_threadsafe(self._cut)

    def pull_after(self, size: int) -> None:
        """Let so many bytes through to Neo4j, and be pulled by the next."""
        self._allowance = size

    def plug(self) -> None:
        self._allowance = None
        self._plugged = True

    def close(self) -> None:
        async def end() -> None:
            self._server.close()
            self._cut()
            await asyncio.sleep(0.2)

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(timeout=10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()

    def _cut(self) -> None:
        for writer in list(self._open):
            writer.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._plugged:
            writer.transport.abort()
            return
        far_reader, far_writer = await asyncio.open_connection(*self._target)
        self._open |= {writer, far_writer}
        await asyncio.gather(
            _pump(reader, far_writer, self._spend), _pump(far_reader, writer, lambda _: None)
        )
        self._open -= {writer, far_writer}

    def _spend(self, size: int) -> None:
        if self._allowance is not None:
            self._allowance -= size
            if self._allowance < 0:
                self._plugged = False
                self._cut()


async def _pump(
    source: asyncio.StreamReader, sink: asyncio.StreamWriter, spend: Callable[[int], None]
) -> None:
    with contextlib.suppress(OSError):
        while piece := await source.read(4_096):
            spend(len(piece))
            sink.write(piece)
            await sink.drain()
    sink.transport.abort()
