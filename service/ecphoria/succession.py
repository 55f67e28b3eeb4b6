"""Follow the embedding model of the store: new services replace those of the old model."""

import asyncio
from functools import partial

import structlog

from ecphoria.app import Services, assemble, open_embedder
from ecphoria.embedding.service import Reembedder, ReembedderOptions
from ecphoria.embedding.store import ReembeddingStore
from ecphoria.errors import EcphoriaError
from ecphoria.jobs.worker import crash_at

_MOVE_LOOKS, _MOVE_S = 200, 0.05
_FOLLOW_S, _FAILED_S = 0.5, 5.0

log = structlog.get_logger(__name__)


class Succession:
    """The current services; a change of the embedding model replaces them.

    Each process on the store follows it, and one of them makes the vectors of the new model.
    """

    def __init__(self, services: Services) -> None:
        """Follow the store from now on, in the running event loop."""
        self.current = services
        base, jobs = services.base, services.settings.jobs
        self._poll_s = max(jobs.poll_s, _FOLLOW_S)
        self._works = jobs.workers > 0
        self._store = ReembeddingStore(base.graph)
        self._reembedder = Reembedder(
            base.graph,
            partial(open_embedder, services.settings),
            ReembedderOptions(lease_s=jobs.lease_s, pause_s=jobs.pause_s),
            crash_at(jobs.fault),
        )
        self._retiring: set[asyncio.Task[None]] = set()
        self._task = asyncio.create_task(self._follow())

    async def close(self) -> None:
        """Close everything, and release a change of the model."""
        self._task.cancel()
        for task in self._retiring:
            task.cancel()  # at the end without waiting
        await asyncio.gather(self._task, *self._retiring, return_exceptions=True)
        await self._reembedder.close()
        await self.current.close()

    async def moved_from(self, services: Services) -> bool:
        """Wait until other services have replaced these; return whether they have."""
        for _ in range(_MOVE_LOOKS):
            if self.current is not services:
                return True
            await asyncio.sleep(_MOVE_S)
        return False

    async def _follow(self) -> None:
        while True:
            busy, pause_s = False, self._poll_s
            try:
                found = await self._store.generation()
                if found.generation != self.current.generation:
                    await self._succeed(found.generation)
                busy = self._works and await self._reembedder.run_one()
            except EcphoriaError as error:
                log.warning("embedding_model_not_followed", code=error.code)
                pause_s = _FAILED_S
            except Exception as error:
                log.error("embedding_model_not_followed", exc_info=error)  # noqa: TRY400
                pause_s = _FAILED_S
            if not busy:
                await asyncio.sleep(pause_s)

    async def _succeed(self, generation: int) -> None:
        """Build services with the store's model, and let the old ones end their requests."""
        old = self.current
        row = await self._store.find()
        assert row is not None, "the store has changed its model"
        choice = row.embedder()
        embedder = self._reembedder.take_embedder(choice) or await open_embedder(
            old.settings, choice
        )
        self.current = await assemble(old.base, embedder, generation)
        log.info("services_succeeded", model=embedder.model, generation=generation)
        task = asyncio.create_task(_retire(old))
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)


async def _retire(services: Services) -> None:
    """Close services when the last request to them has ended."""
    try:
        await asyncio.sleep(services.settings.limits.read_s)
    finally:
        await asyncio.shield(services.own.aclose())
