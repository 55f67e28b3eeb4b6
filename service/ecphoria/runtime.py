"""The process: its event loop, threads, garbage collection and socket; check texts to encode."""

import asyncio
import errno
import gc
import os
import socket
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, MutableMapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from ecphoria.errors import EncoderUnavailable, InvalidInput, Misconfigured, Timeout

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")

_LONG = 50_000
"""Number of characters whose reading takes a few milliseconds, ten times the cost of a thread."""

# A thread that computes cannot be stopped, so its request ends with `timeout` instead (decision
# 0041).
_TEXT_S, _CHARACTERS_A_SECOND = 30.0, 10_000
"""Time of one piece of work on texts; a slow machine under load reads ten times as much."""

_REMEMBERED = 1_000
"""Callers whose last turn a lane remembers."""


class Bounded(MutableMapping[K, V]):
    """A map that drops its oldest entries beyond a bound; to write an entry makes it the newest.

    >>> kept = Bounded[str, int](2)
    >>> kept["a"], kept["b"], kept["a"], kept["c"] = 1, 2, 3, 4
    >>> dict(kept)
    {'a': 3, 'c': 4}
    """

    def __init__(self, most: int, size: Callable[[V], int] = lambda _: 1) -> None:
        """Keep entries whose sizes add up to `most`; by default the size of each is 1."""
        self._most = most
        self._size = size
        self._entries: dict[K, V] = {}
        # Remembered, so that a write measures one entry and not all.
        self._sizes: dict[K, int] = {}
        self._total = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[K]:
        return iter(self._entries)

    def __getitem__(self, key: K) -> V:
        return self._entries[key]

    def __delitem__(self, key: K) -> None:
        del self._entries[key]
        self._total -= self._sizes.pop(key)

    def __setitem__(self, key: K, value: V) -> None:
        self.pop(key, None)
        self._entries[key] = value
        self._sizes[key] = self._size(value)
        self._total += self._sizes[key]
        while self._total > self._most:
            del self[next(iter(self))]

    def touch(self, key: K) -> None:
        """Write an entry again if it is there: it is then the newest, with its present size."""
        if key in self:
            self[key] = self[key]


class CallerGone(Exception):
    """The caller closed the connection, so its work is cancelled."""


@dataclass(slots=True, eq=False)
class Requester:
    """The caller for whom work is done.

    Attributes:
        name: Callers of one name share their turns.
        is_gone: Whether it has closed its connection.
        limits: The open blocks of `while_wanted`.
    """

    name: str = ""
    is_gone: bool = False
    limits: set[asyncio.Timeout] = field(default_factory=set)

    def leave(self) -> None:
        """Cancel the work in all blocks of `while_wanted`, now and later."""
        self.is_gone = True
        for limit in self.limits:
            if not limit.expired():
                limit.reschedule(0.0)


_REQUESTER: ContextVar[Requester | None] = ContextVar("requester", default=None)


def work_for(name: str) -> Requester:
    """Work for a caller in this task from now on."""
    caller = Requester(name=name)
    _REQUESTER.set(caller)
    return caller


@asynccontextmanager
async def while_wanted(seconds: float | None, late: str) -> AsyncIterator[None]:
    """Cancel the block when its time is over or its caller is gone.

    Args:
        seconds: Longest that the block may take; None for no limit.
        late: Message of the timeout.

    Raises:
        CallerGone: The caller has closed its connection.
        Timeout: The time is over.
    """
    caller = _REQUESTER.get() or Requester()
    if caller.is_gone:
        raise CallerGone
    try:
        async with asyncio.timeout(seconds) as limit:
            caller.limits.add(limit)
            try:
                yield
            finally:
                caller.limits.discard(limit)
    except TimeoutError:
        if not limit.expired():
            raise
        raise (CallerGone() if caller.is_gone else Timeout(late)) from None


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` on uvloop where it is installed; a recall takes a tenth less there."""
    with asyncio.Runner(loop_factory=faster()) as runner:
        return runner.run(main)


def faster() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Give what makes a loop of uvloop, if that is installed."""
    try:
        # A tenth of a recall's time; an append gains as much (decision 0028).
        import uvloop  # noqa: PLC0415 (not for Windows)
    except ImportError:
        return None
    return uvloop.new_event_loop


async def run_off_loop(work: Callable[[], T], characters: int) -> T:
    """Run `work` on texts; in a thread if they are long, so that other requests continue.

    Args:
        work: Must not change what others read meanwhile.
        characters: Length of the texts together.

    Raises:
        CallerGone: The caller has closed its connection.
        Timeout: It takes too long; the thread cannot be stopped, but nobody waits for it.
    """
    return work() if characters < _LONG else await run_text(work, characters)


async def run_text(work: Callable[[], T], characters: int) -> T:
    """Run `work` on texts in a thread, however short they are; else like `run_off_loop`."""
    # The time grows with the length, then the request ends with `timeout` (decision 0041).
    seconds = _TEXT_S + characters / _CHARACTERS_A_SECOND
    async with while_wanted(seconds, "This text takes too long to read; send it in parts."):
        return await _TEXTS.run(work)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Piece:
    """A piece of work that waits for a thread."""

    number: int
    caller: str
    is_urgent: bool
    done: Future[Any]
    work: Callable[[], Any]

    def do(self) -> None:
        """Do the work unless it was cancelled."""
        if not self.done.set_running_or_notify_cancel():
            return
        try:
            self.done.set_result(self.work())
        except BaseException as error:  # noqa: BLE001 (told to who waits)
            self.done.set_exception(error)


_LAST_PIECE_S = 4.0
"""Seconds that a stop waits for the work of a lane: less than it has for all it closes."""


class Lane:
    """Threads for pieces of work; callers take turns, and each has one thread at a time.

    The threads are daemons: work that does not end must not hold up the end of the process.
    """

    def __init__(self, name: str, *, threads: int = 1) -> None:
        """Prepare a lane; its threads start with the work."""
        self._name = name
        self._most = threads
        self._threads = 0
        self._number = 0
        self._waiting: list[_Piece] = []
        self._running: set[str] = set()
        self._served = Bounded[str, int](_REMEMBERED)
        self._closed = False
        self._changed = threading.Condition()

    async def run(self, work: Callable[[], T], *, is_urgent: bool = False) -> T:
        """Do work off the event loop; urgent work goes before all waiting work.

        Raises:
            EncoderUnavailable: The lane was closed before the work began.
        """
        done: Future[T] = Future()
        piece = self._queue(done, partial(copy_context().run, work), is_urgent=is_urgent)
        try:
            return await asyncio.wrap_future(done)
        except asyncio.CancelledError:
            with self._changed, suppress(ValueError):
                self._waiting.remove(piece)
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise _closed() from None

    def close(self) -> None:
        """Finish the current work and end the threads; waiting work is refused."""
        with self._changed:
            self._closed = True
            refused, self._waiting = self._waiting, []
            self._changed.notify_all()
        for piece in refused:
            piece.done.cancel()

    async def ended(self, within_s: float = _LAST_PIECE_S) -> None:
        """Wait until no work runs, or the time is over; call it after `close`.

        If the process ends while a thread computes outside of Python, C++ aborts the process.
        """
        await asyncio.to_thread(self._wait, within_s)

    def _wait(self, within_s: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._running, within_s)

    def _queue(self, done: Future[T], work: Callable[[], T], *, is_urgent: bool) -> _Piece:
        """Put work in the queue, and start a thread if there are too few."""
        caller = (_REQUESTER.get() or Requester()).name
        with self._changed:
            if self._closed:
                raise _closed()
            self._number += 1
            piece = _Piece(
                number=self._number, caller=caller, is_urgent=is_urgent, done=done, work=work
            )
            self._waiting.append(piece)
            if self._threads < min(self._most, len(self._running) + len(self._waiting)):
                name = f"{self._name}_{self._threads}"
                # Daemon threads with a queue of our own: Python waits at its end for the threads
                # of asyncio's executor (decision 0041).
                threading.Thread(target=self._serve, name=name, daemon=True).start()
                self._threads += 1
            self._changed.notify()
        return piece

    def _serve(self) -> None:
        while (piece := self._next()) is not None:
            piece.do()
            with self._changed:
                self._running.discard(piece.caller)
                self._changed.notify_all()
            del piece  # what it holds must not live until the next one comes

    def _next(self) -> _Piece | None:
        """Wait for a piece of the caller served longest ago; None when the lane is closed."""
        with self._changed:
            while not self._closed:
                # One piece of a tenant at a time, so two long appends cannot take all threads
                # (decision 0041).
                ready = [piece for piece in self._waiting if piece.caller not in self._running]
                if ready:
                    chosen = min(ready, key=self._rank)
                    self._waiting.remove(chosen)
                    self._running.add(chosen.caller)
                    self._number += 1
                    self._served[chosen.caller] = self._number
                    return chosen
                self._changed.wait()
            return None

    def _rank(self, piece: _Piece) -> tuple[bool, int, int]:
        return not piece.is_urgent, self._served.get(piece.caller, 0), piece.number


class Lanes:
    """Two threads of an encoder, so that a short request never waits behind a long one."""

    def __init__(self, name: str, *, short: int) -> None:
        """Prepare the lanes; a request of up to `short` characters is a short one."""
        self._most = short
        self._short, self._long = Lane(f"{name}-short"), Lane(f"{name}-long")

    def of(self, texts: Sequence[str]) -> Lane:
        """Choose the lane of a request."""
        return self._short if sum(map(len, texts)) <= self._most else self._long

    async def close(self) -> None:
        """Finish the current work and end the threads; waiting work is refused."""
        for lane in (self._short, self._long):
            lane.close()
        await asyncio.gather(self._short.ended(), self._long.ended())


# Long texts take turns by tenant, so that one tenant cannot hold up the others (decision 0041).
_TEXTS = Lane("text", threads=4)
"""Threads for work on long texts. Python runs one of them at a time; more of them only let other
callers go on beside a text that takes long."""


def groups(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Cut texts into groups that are encoded together, the shortest texts first.

    Args:
        lengths: Tokens or characters of each text.
        most: Length of a group whose texts are padded to its longest; one longer text is a group.

    Yields:
        Places of texts in `lengths`.
    """
    group: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if group and (len(group) + 1) * lengths[place] > most:
            yield group
            group = []
        group.append(place)
    if group:
        yield group


def in_parts(whole: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Cut a sequence into parts of at most `size` items.

    >>> list(in_parts("abcde", 2))
    ['ab', 'cd', 'e']
    """
    return (whole[start : start + size] for start in range(0, len(whole), size))


def _closed() -> EncoderUnavailable:
    return EncoderUnavailable("The service is stopping; send the request again when it is back.")


def require_encodable(texts: Sequence[str]) -> None:
    """Refuse lone surrogates, which no tokenizer and no wire format can carry.

    Raises:
        InvalidInput: Names the text by its index and the character by its offset.
    """
    for index, text in enumerate(texts):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"Text {index} holds half of a surrogate pair at character {error.start}; "
                "send valid Unicode.",
                index=index,
                offset=error.start,
            ) from error


def usable_cores() -> int:
    """Count the processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def bound(host: str, port: int) -> socket.socket:
    """Bind a socket to listen on.

    Raises:
        Misconfigured: The address cannot be listened on.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise Misconfigured(f"There is no address {host} to listen on.") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise Misconfigured(
            f"Cannot listen on {host} port {port}: {error.strerror}. {_remedy(error)}", port=port
        ) from error
    return listener


def _remedy(failed: OSError) -> str:
    if failed.errno == errno.EADDRNOTAVAIL:
        return "Give an address of this machine by --host or ECPHORIA_SERVER__HOST."
    other = "another port by --port or ECPHORIA_SERVER__PORT (0 takes a free one)."
    if failed.errno == errno.EADDRINUSE:
        return f"Stop the program that does, or choose {other}"
    return f"Choose {other}"


_NEW_OBJECTS, _YOUNG_PASSES, _OLD_PASSES = 100_000, 20, 20


def tune_garbage_collection() -> None:
    """Exclude start-up objects from collection, and collect after 100,000 objects, not 700.

    A batch makes and drops a million objects, nearly all without cycles, beside tables that live
    as long as the process; walking these again and again took an eighth of an append.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, _YOUNG_PASSES, _OLD_PASSES)


class SystemClock:
    """The machine's time."""

    def now(self) -> datetime:
        """Tell the present instant, aware UTC."""
        return datetime.now(UTC)
