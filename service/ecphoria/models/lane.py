"""A thread of an embedder's own, and the check of its texts."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ecphoria.errors import EncoderUnavailable, InvalidInput

T = TypeVar("T")


class Lane:
    """Runs work items one after another in one thread, in the order of arrival."""

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
