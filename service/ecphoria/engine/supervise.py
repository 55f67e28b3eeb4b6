"""Watch over a managed server while a service uses it; start it again when it dies or fails."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import structlog

from ecphoria.engine.progress import Report
from ecphoria.engine.service import Endpoint, Engine
from ecphoria.errors import EngineError

__all__ = ["supervised"]

log = structlog.get_logger(__name__)

_LOOK_S: Final = 1.0
_LONGEST_PAUSE_S: Final = 60.0


@asynccontextmanager
async def supervised(engine: Engine, report: Report) -> AsyncIterator[Endpoint]:
    """Use the server for a while, and start it again whenever it dies or fails meanwhile.

    It comes back on the same ports, so that open drivers reconnect by themselves.

    Raises:
        EngineError: The first start failed; see `Engine.running`.
    """
    running = engine.running(report)
    endpoint = await asyncio.to_thread(running.__enter__)
    watching = asyncio.create_task(_watch(engine))
    try:
        yield endpoint
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await asyncio.to_thread(running.__exit__, None, None, None)


async def _watch(engine: Engine) -> None:
    """Look every second whether the server died or failed; run until cancelled.

    A start that fails, for instance because the disk is full, is tried again after a pause that
    doubles up to a minute.
    """
    pause_s = _LOOK_S
    while True:
        await asyncio.sleep(pause_s)
        try:
            revived = await asyncio.to_thread(engine.revive)
        except EngineError as error:
            pause_s = min(2.0 * pause_s, _LONGEST_PAUSE_S)
            log.error(  # noqa: TRY400 (its message says what to do; a traceback adds nothing)
                "neo4j_restart_failed",
                reason=error.fields.get("reason"),
                detail=error.message,
                again_in_s=pause_s,
            )
            continue
        pause_s = _LOOK_S
        if revived is not None:
            log.warning("neo4j_restarted", pid=revived.pid)
