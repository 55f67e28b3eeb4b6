"""The connections of a client: one set for each process, and for each event loop.

A child that was forked must not use connections of its parent, because both would read the same
answers. A connection of an event loop does not work in another one.
"""

import os
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from ecphoria.errors import Unavailable

_Connection = TypeVar("_Connection")


class _Process:
    """Stands for the process, whose threads share connections."""


_PROCESS = _Process()


class Connections(Generic[_Connection]):
    """Connections that all threads of a process share."""

    def __init__(self, connect: Callable[[], _Connection]) -> None:
        """Open nothing yet; `connect` is called once for each process and event loop."""
        self._connect = connect
        self._closed = False
        self._left: object = None
        self._begin()

    def here(self) -> _Connection:
        """Give the connections of this process and event loop; open them at the first call.

        Raises:
            Unavailable: The client was closed.
        """
        if self._closed:
            raise Unavailable("This client was closed; make a new one.")
        if self._pid != os.getpid():
            # The open connections belong to the parent, so they are kept and never used.
            self._left = self._open
            self._begin()
        place = self._place()
        with self._lock:
            found = self._open.get(place)
            if found is None:
                found = self._open[place] = self._connect()
            return found

    def close(self) -> _Connection | None:
        """Open no more; give the connections of this place, which the caller closes."""
        self._closed = True
        if self._pid != os.getpid():
            return None
        with self._lock:
            return self._open.pop(self._place(), None)

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._open: WeakKeyDictionary[Any, _Connection] = WeakKeyDictionary()

    def _place(self) -> object:
        return _PROCESS


class AsyncConnections(Connections[_Connection]):
    """Connections of an event loop each."""

    def _place(self) -> object:
        import asyncio  # noqa: PLC0415 (costly, and a synchronous client does without)

        return asyncio.get_running_loop()
