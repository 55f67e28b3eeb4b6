"""The event loop of a process that serves or measures, and the cores it may use."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

__all__ = ["aside", "run", "usable_cores"]

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


async def aside(work: Callable[[], T], characters: int) -> T:
    """Run `work` on texts; in a thread if they are long, so that other requests go on.

    Args:
        work: Must not change what others read meanwhile.
        characters: Length of the texts together.
    """
    return work() if characters < _LONG else await asyncio.to_thread(work)


def usable_cores() -> int:
    """Count the processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
