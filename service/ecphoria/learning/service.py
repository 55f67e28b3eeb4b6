"""Learning behind the answers: stored traces are the queue, and one worker empties it.

A trace whose effects are due says so in the store, so a restart loses none. Each is applied in
one transaction under the tenant's lock that also takes it off the queue: once, however many
services work on it.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from contextvars import Context

import structlog

from ecphoria.errors import NotFound, Unavailable
from ecphoria.graph.learning import LearningStore, LearningTransaction
from ecphoria.learning.effects import effects_of
from ecphoria.learning.feedback import Feedback, taken
from ecphoria.model.ids import EpisodeId, TenantId, TraceId
from ecphoria.model.learning import Learning, Regard
from ecphoria.ports.world import Clock

__all__ = ["LearningService"]

_AT_A_TIME = 100
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0

log = structlog.get_logger(__name__)

Told = Callable[[str], None]
"""Told what came of a trace: applied, gone, or failed."""


class LearningService:
    """Lets a tenant's memory change by being used, if the tenant wants that."""

    def __init__(self, store: LearningStore, clock: Clock, told: Told = lambda _: None) -> None:
        self._store = store
        self._clock = clock
        self._told = told
        self._woken: dict[TenantId, None] = {}
        self._worker: asyncio.Task[None] | None = None
        self._closed = False

    async def of(self, tenant: TenantId) -> Learning:
        """Tell whether the tenant learns, and how much it did.

        Raises:
            NotFound: There is no such tenant.
        """
        return await self._store.find(tenant)

    async def switch(self, tenant: TenantId, *, on: bool) -> Learning:
        """Learn from the tenant's recalls from now on, or no more.

        Raises:
            NotFound: There is no such tenant.
        """
        await self._store.switch(tenant, on=on, now=self._clock.now())
        return await self._store.find(tenant)

    async def judge(
        self,
        tenant: TenantId,
        trace: TraceId,
        *,
        useful: Collection[EpisodeId],
        not_useful: Collection[EpisodeId],
    ) -> Sequence[Regard]:
        """Take feedback on hits of a recall; the same again changes nothing.

        Raises:
            InvalidInput: No hits, one judged both ways, or one the recall did not return.
            Conflict: A hit was judged otherwise before.
            NotFound: No such trace in this tenant, or it was dropped.
            Unavailable: The store does not answer; nothing was written.
        """
        feedback = Feedback.of(useful, not_useful)
        at_ms = round(self._clock.now().timestamp() * 1e3)
        return await self._store.change(
            tenant, lambda transaction: taken(transaction, trace, feedback, at_ms)
        )

    async def begin(self) -> None:
        """Take up what an earlier process left on the queue."""
        for tenant in await self._store.waiting():
            self.wake(tenant)

    def wake(self, tenant: TenantId) -> None:
        """Work on the tenant's queue, soon; called when a trace joined it.

        Once closed it does nothing: recalls may end later than what they need, and the trace
        stays on the queue.
        """
        if self._closed:
            return
        self._woken[tenant] = None
        if self._worker is None or self._worker.done():
            # Its own context: learning is no part of the request that happened to start it.
            self._worker = asyncio.get_running_loop().create_task(self._work(), context=Context())

    async def drain(self) -> None:
        """Wait until every queue this process knows of is empty."""
        if self._worker is not None:
            await self._worker

    async def close(self) -> None:
        """Stop for good; what waits stays on the queue."""
        self._closed = True
        self._woken.clear()
        if self._worker is not None:
            self._worker.cancel()
            with suppress(asyncio.CancelledError):
                await self._worker

    async def _work(self) -> None:
        pause = _FIRST_PAUSE_S
        while self._woken:
            tenant = next(iter(self._woken))
            try:
                await self._empty(tenant)
            except Unavailable as error:
                log.warning("learning_waits", tenant_id=tenant, reason=error.code)
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)
            except Exception:
                # The next trace wakes the queue again.
                log.exception("learning_stopped", tenant_id=tenant)
            else:
                pause = _FIRST_PAUSE_S

    async def _empty(self, tenant: TenantId) -> None:
        """Apply a tenant's traces, oldest first; one that joins meanwhile wakes it again."""
        self._woken.pop(tenant)
        try:
            while waiting := await self._store.pending(tenant, _AT_A_TIME):
                for trace in waiting:
                    self._told(await self._learn(tenant, trace))
        except NotFound:
            return
        except Unavailable:
            self._woken[tenant] = None
            raise

    async def _learn(self, tenant: TenantId, trace: TraceId) -> str:
        async def work(transaction: LearningTransaction) -> bool:
            found = await transaction.trace(trace)
            if found is None:
                return False
            await transaction.write(found, await effects_of(found, transaction))
            return True

        try:
            return "applied" if await self._store.change(tenant, work) else "gone"
        except (NotFound, Unavailable):
            raise
        except Exception:
            # One bad trace must not stop the queue.
            log.exception("learning_failed", tenant_id=tenant, trace=trace)
            await self._store.give_up(tenant, trace)
            return "failed"
