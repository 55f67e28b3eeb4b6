"""The service that `ecphoria mcp` starts when none answers on this machine.

Each `ecphoria mcp` holds a shared lock on one file while it runs, and the service that one of them
started ends when it is granted an exclusive lock on it. The system frees a lock when its process
ends, even by SIGKILL, so the service ends with its last agent.
"""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from ecphoria.client import AsyncClient
from ecphoria.client.defaults import default_url
from ecphoria.engine.home import held, held_if_free
from ecphoria.errors import EcphoriaError, Unavailable

_WAIT_S: Final = 20.0
"""Longest that a call waits for the start; clients give up after 30 s or more."""
_LOOK_S: Final = 0.5
_TRIES: Final = 3
_TAIL: Final = 600


class OwnService:
    """Start the service of a home, unless one answers, and tell how far it is.

    The start goes on in the background, so that a handshake is answered at once.
    """

    def __init__(self, home: Path, url: str) -> None:
        """Prepare; nothing is started yet."""
        self._home = home
        self._url = url
        self._began = time.monotonic()
        self._up = asyncio.Event()
        self._failed: str | None = None
        self._log = home / "mcp-service.log"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Use the service in the block; it may end after the last such block on this machine."""
        with ExitStack() as use:
            task = asyncio.create_task(self._start(use))
            try:
                yield
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    @property
    def is_up(self) -> bool:
        """Tell whether the service answers."""
        return self._up.is_set() and self._failed is None

    async def wait(self) -> None:
        """Wait until the service answers, but not longer than a client does.

        Raises:
            Unavailable: It does not answer yet; call again. Or it cannot be started.
        """
        with suppress(TimeoutError):
            await asyncio.wait_for(self._up.wait(), _WAIT_S)
        if self._failed is not None:
            raise Unavailable(self._failed)
        if not self._up.is_set():
            seconds = time.monotonic() - self._began
            raise Unavailable(
                f"The memory is starting, since {seconds:.0f} s; the first time it downloads "
                f"270 MB. Call again in a minute. {self._log} tells how far it is."
            )

    async def _start(self, use: ExitStack) -> None:
        self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
        # In a thread: a service that is ending holds it until it has ended.
        lock = held(users_of(self._home), shared=True)
        await asyncio.to_thread(use.enter_context, lock)
        with held_if_free(self._home / "mcp-start.lock") as mine:
            # Another `ecphoria mcp` starts it, if the lock is taken.
            child: subprocess.Popen[bytes] | None = None
            tries = 0
            while not await self._answers():
                if mine and (child is None or child.poll() is not None):
                    if tries == _TRIES:
                        self._failed = f"The memory cannot be started: {self._last_words()}"
                        break
                    tries += 1
                    child = self._spawn()
                await asyncio.sleep(_LOOK_S)
        self._up.set()

    async def _answers(self) -> bool:
        try:
            async with AsyncClient(self._url, "", timeout=5.0) as client:
                await client.ready()
        except EcphoriaError:
            return False
        return True

    def _spawn(self) -> subprocess.Popen[bytes]:
        code = "from ecphoria.cli.main import run; run()"
        command = [sys.executable, "-c", code, "serve", "--home", str(self._home), "--for-agents"]
        with self._log.open("wb") as log:
            return subprocess.Popen(  # noqa: S603 (our own command)
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _last_words(self) -> str:
        try:
            return self._log.read_text(encoding="utf-8", errors="replace").strip()[-_TAIL:]
        except OSError:
            return f"{self._log} tells why."


def users_of(home: Path) -> Path:
    """Name the file that every `ecphoria mcp` of a home locks."""
    return home / "mcp-users.lock"


def end_with_agents(home: Path) -> None:
    """End this process when no `ecphoria mcp` of the home runs any more."""

    def wait() -> None:
        with held(users_of(home)):
            os.kill(os.getpid(), signal.SIGTERM)
            threading.Event().wait()  # until the end, so that a new agent starts another one

    threading.Thread(target=wait, name="agents", daemon=True).start()


def is_own(url: str) -> bool:
    """Tell whether a service at this address would be that of this environment."""
    return url.rstrip("/") == default_url()
