"""Learn from recalls: feedback, and pending effects.

Traces with pending effects have a mark in the store, so a restart loses none. One transaction
under the tenant's lock applies the effects of a trace and removes the mark. So each is applied
once, even with several services (decision 0015).
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from contextvars import Context

import structlog

from ecphoria.errors import Conflict, InvalidInput, NotFound, Unavailable
from ecphoria.learning.effects import effects_of, used
from ecphoria.learning.store import HitJudgement, LearningStore, LearningTransaction, TracedMemory
from ecphoria.maths.retention import reliability, salience
from ecphoria.ports import Clock
from ecphoria.records.episode import usual_reliability
from ecphoria.records.history import USED_HITS, FeedbackResult, Use
from ecphoria.records.ids import EpisodeId, TenantId, TraceId


def _feedback(
    useful: Collection[EpisodeId], not_useful: Collection[EpisodeId]
) -> dict[EpisodeId, bool]:
    """Tell of each judged hit whether it was useful.

    Raises:
        InvalidInput: Both lists are empty, or a hit is in both.
    """
    if not (useful or not_useful):
        raise InvalidInput("name at least one hit, as useful or not", field="useful")
    if both := sorted(set(useful) & set(not_useful)):
        raise InvalidInput(
            f"the hit {both[0]} is in both lists; send it in one", field="not_useful"
        )
    return {**dict.fromkeys(useful, True), **dict.fromkeys(not_useful, False)}


async def apply_feedback(
    transaction: LearningTransaction,
    trace: TraceId,
    feedback: Mapping[EpisodeId, bool],
    at_ms: int,
) -> Sequence[FeedbackResult]:
    """Apply feedback, whether a hit was useful, to each hit once; skip hits that are erased.

    If the tenant learns, a useful hit counts as used now unless the recall counted it already.
    """
    returned = await transaction.hits(trace)
    if strange := sorted(feedback.keys() - returned):
        raise InvalidInput(
            f"the recall did not return {strange[0]}; name its hits", field="useful"
        )
    existing = [hit for hit in await transaction.existing_hits(trace) if hit.id in feedback]
    fresh = [hit for hit in existing if hit.useful is None]
    for hit in existing:
        if hit.useful is not None and hit.useful is not feedback[hit.id]:
            raise Conflict(
                f"the hit {hit.id} of this recall was judged otherwise before, which stays; leave "
                "it out"
            )
    judgements = {hit.id: _judged(hit, useful=feedback[hit.id]) for hit in fresh}
    if judgements:
        used_now = [hit.id for hit in fresh if feedback[hit.id] and _newly_used(hit)]
        await transaction.judge(
            trace, list(judgements.values()), await _uses(transaction, used_now, at_ms)
        )
    return [_feedback_result(hit, judgements.get(hit.id)) for hit in existing]


def _newly_used(hit: TracedMemory) -> bool:
    return hit.on and not (hit.counted and hit.rank <= USED_HITS)


async def _uses(
    transaction: LearningTransaction, ids: Sequence[EpisodeId], at_ms: int
) -> Mapping[EpisodeId, Use]:
    known = await transaction.uses(ids)
    return dict(zip(known, used(list(known.values()), at_ms), strict=True)) if known else {}


def _judged(hit: TracedMemory, *, useful: bool) -> HitJudgement:
    return HitJudgement(
        id=hit.id,
        useful=useful,
        first=usual_reliability(hit.role),
        rewards=hit.rewards + useful,
        penalties=hit.penalties + (not useful),
        salience=float(salience([hit.salience], [useful])[0]),
    )


def _feedback_result(hit: TracedMemory, judged: HitJudgement | None) -> FeedbackResult:
    now = judged or hit
    first = usual_reliability(hit.role)
    assert now.useful is not None, "judged now or before"
    return FeedbackResult(
        episode=hit.id,
        useful=now.useful,
        reliability=float(reliability([first], [now.rewards], [now.penalties])[0]),
        salience=now.salience,
    )


# The queue is a mark on stored traces, because a second queue could disagree with them
# (decision 0015).
_AT_A_TIME = 100
# While the store is away, each attempt waits twice as long as the one before.
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0

log = structlog.get_logger(__name__)

Told = Callable[[str], None]
"""Called with the result of a trace: applied, gone, or failed."""


class LearningService:
    """Changes memories by their use, for tenants that switch learning on."""

    def __init__(self, store: LearningStore, clock: Clock, told: Told = lambda _: None) -> None:
        self._store = store
        self._clock = clock
        self._told = told
        self._queue: dict[TenantId, None] = {}
        self._worker: asyncio.Task[None] | None = None
        self._closed = False

    async def judge(
        self,
        tenant: TenantId,
        trace: TraceId,
        *,
        useful: Collection[EpisodeId],
        not_useful: Collection[EpisodeId],
    ) -> Sequence[FeedbackResult]:
        """Store feedback on hits of a recall; a repeat changes nothing.

        Raises:
            InvalidInput: No hits, a hit judged both ways, or a hit that the recall did not return.
            Conflict: A hit has the opposite judgement already.
            NotFound: No such trace in this tenant, or it was dropped.
            Unavailable: The store does not answer; nothing was written.
        """
        feedback = _feedback(useful, not_useful)
        at_ms = round(self._clock.now().timestamp() * 1e3)
        return await self._store.change(
            tenant, lambda transaction: apply_feedback(transaction, trace, feedback, at_ms)
        )

    async def begin(self) -> None:
        """Continue the queue of an earlier process."""
        for tenant in await self._store.waiting():
            self.wake(tenant)

    def wake(self, tenant: TenantId) -> None:
        """Start work on the tenant's queue; called when a trace was added.

        After `close` it does nothing, because recalls may end later than this service; the trace
        stays on the queue.
        """
        if self._closed:
            return
        self._queue[tenant] = None
        if self._worker is None or self._worker.done():
            # Use a new context: learning does not belong to the request that started it.
            self._worker = asyncio.get_running_loop().create_task(self._work(), context=Context())

    async def drain(self) -> None:
        """Wait until every queue this process knows of is empty."""
        if self._worker is not None:
            await self._worker

    async def close(self) -> None:
        """Stop; waiting traces stay on the queue."""
        self._closed = True
        self._queue.clear()
        if self._worker is not None:
            self._worker.cancel()
            with suppress(asyncio.CancelledError):
                await self._worker

    async def _work(self) -> None:
        pause = _FIRST_PAUSE_S
        while self._queue:
            tenant = next(iter(self._queue))
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
        """Apply a tenant's traces, oldest first; a trace added meanwhile wakes it again."""
        self._queue.pop(tenant)
        try:
            while waiting := await self._store.pending(tenant, _AT_A_TIME):
                for trace in waiting:
                    self._told(await self._learn(tenant, trace))
        except NotFound:
            return
        except Unavailable:
            self._queue[tenant] = None
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
