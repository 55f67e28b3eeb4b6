"""Learn from recalls: settings, feedback, effects that are due.

Pending effects are marked on their trace in the store, so a restart loses none. One transaction
under the tenant's lock applies the effects of a trace and removes the mark. So they are applied
once, even if several services work on them.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass

import structlog

from ecphoria.errors import Conflict, InvalidInput, NotFound, Unavailable
from ecphoria.learning.effects import effects_of, used
from ecphoria.learning.store import Judgement, LearningStore, LearningTransaction, Woken
from ecphoria.maths.retention import reliability, salience
from ecphoria.ports import Clock
from ecphoria.records.episode import usual_reliability
from ecphoria.records.history import USED_HITS, FeedbackResult, Learning, Use
from ecphoria.records.ids import EpisodeId, TenantId, TraceId


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Feedback: whether each of some hits was useful."""

    useful: Mapping[EpisodeId, bool]

    @classmethod
    def of(cls, useful: Collection[EpisodeId], not_useful: Collection[EpisodeId]) -> "Feedback":
        """Join both sides.

        Raises:
            InvalidInput: Both are empty, or a hit is on both.
        """
        if not (useful or not_useful):
            raise InvalidInput("name at least one hit, as useful or not", field="useful")
        if both := sorted(set(useful) & set(not_useful)):
            raise InvalidInput(f"{both[0]} cannot be both useful and not", field="not_useful")
        return cls(useful={**dict.fromkeys(useful, True), **dict.fromkeys(not_useful, False)})


async def apply_feedback(
    transaction: LearningTransaction, trace: TraceId, feedback: Feedback, at_ms: int
) -> Sequence[FeedbackResult]:
    """Apply feedback to hits, each once; hits whose memories are gone are left out.

    Where the tenant learns, a useful hit that the recall did not count as used is used now.
    """
    returned = await transaction.hits(trace)
    if strange := sorted(feedback.useful.keys() - returned):
        raise InvalidInput(f"the recall did not return {strange[0]}", field="useful")
    woken = [hit for hit in await transaction.woken(trace) if hit.id in feedback.useful]
    fresh = [hit for hit in woken if hit.useful is None]
    for hit in woken:
        if hit.useful is not None and hit.useful is not feedback.useful[hit.id]:
            raise Conflict(f"the hit {hit.id} of this recall was judged otherwise before")
    judgements = {hit.id: _judged(hit, useful=feedback.useful[hit.id]) for hit in fresh}
    if judgements:
        used_now = [hit.id for hit in fresh if feedback.useful[hit.id] and _newly_used(hit)]
        await transaction.judge(
            trace, list(judgements.values()), await _uses(transaction, used_now, at_ms)
        )
    return [_regard(hit, judgements.get(hit.id)) for hit in woken]


def _newly_used(hit: Woken) -> bool:
    return hit.on and not (hit.counted and hit.rank <= USED_HITS)


async def _uses(
    transaction: LearningTransaction, ids: Sequence[EpisodeId], at_ms: int
) -> Mapping[EpisodeId, Use]:
    known = await transaction.uses(ids)
    return dict(zip(known, used(list(known.values()), at_ms), strict=True)) if known else {}


def _judged(hit: Woken, *, useful: bool) -> Judgement:
    return Judgement(
        id=hit.id,
        useful=useful,
        first=usual_reliability(hit.role),
        rewards=hit.rewards + useful,
        penalties=hit.penalties + (not useful),
        salience=float(salience([hit.salience], [useful])[0]),
    )


def _regard(hit: Woken, judged: Judgement | None) -> FeedbackResult:
    now = judged or hit
    first = usual_reliability(hit.role)
    assert now.useful is not None, "judged now or before"
    return FeedbackResult(
        episode=hit.id,
        useful=now.useful,
        reliability=float(reliability([first], [now.rewards], [now.penalties])[0]),
        salience=now.salience,
    )


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
        """Switch learning from the tenant's recalls on or off.

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
    ) -> Sequence[FeedbackResult]:
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
            tenant, lambda transaction: apply_feedback(transaction, trace, feedback, at_ms)
        )

    async def begin(self) -> None:
        """Continue with the queue of an earlier process."""
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
        """Stop; waiting traces stay on the queue."""
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
