"""A server of a test's own: the app is real, and so is the connection."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

__all__ = ["local_server"]


class PromptServer(uvicorn.Server):
    """A server that ends at once: uvicorn looks every 100 ms whether it should."""

    async def main_loop(self) -> None:
        await self.on_tick(0)
        while not self.should_exit:  # noqa: ASYNC110 (uvicorn sets a flag)
            await asyncio.sleep(0.005)


@contextmanager
def local_server(app: FastAPI) -> Iterator[str]:
    """Serve an app in a thread, on a free port; give its address."""
    server = PromptServer(uvicorn.Config(app, port=0, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.002)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()
