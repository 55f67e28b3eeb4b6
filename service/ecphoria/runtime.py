"""Keep the event loop responsive by threads and garbage collection; check texts to encode."""

import asyncio
import gc
import os
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, TypeVar

from ecphoria.errors import EncoderUnavailable, InvalidInput

T = TypeVar("T")

_LONG = 50_000
"""Characters that take a few milliseconds to look through, ten times as long as a thread costs."""


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` on uvloop where it is installed; a recall takes a tenth less there."""
    with asyncio.Runner(loop_factory=_faster()) as runner:
        return runner.run(main)


def _faster() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop  # noqa: PLC0415 (not for Windows)
    except ImportError:
        return None
    return uvloop.new_event_loop


async def run_off_loop(work: Callable[[], T], characters: int) -> T:
    """Run `work` on texts; in a thread if they are long, so that other requests continue.

    Args:
        work: Must not change what others read meanwhile.
        characters: Length of the texts together.
    """
    return work() if characters < _LONG else await asyncio.to_thread(work)


class Lane:
    """Thread of an embedder: it does one piece of work after another, in the order of arrival."""

    def __init__(self, name: str) -> None:
        self._threads = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def run(self, work: Callable[[], T]) -> T:
        """Do work off the event loop.

        Raises:
            EncoderUnavailable: The lane was closed before the work began.
        """
        try:
            done = self._threads.submit(work)
        except RuntimeError as error:  # so an executor says that it was shut down
            raise _closed() from error
        try:
            return await asyncio.wrap_future(done)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise _closed() from None

    def close(self) -> None:
        """Finish the current work and end the thread; waiting work is refused."""
        self._threads.shutdown(wait=False, cancel_futures=True)


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
