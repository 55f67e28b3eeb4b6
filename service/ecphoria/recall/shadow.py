"""Recall as a tenant set it: its default strategy, and another tried in its shadow.

The shadow of a recall runs after the answer, when no recall is on its way; it records nothing,
and what goes wrong in it is counted. The answer is the same with and without it.
"""

import asyncio
import hashlib
import struct
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context
from dataclasses import dataclass, replace

import structlog

from ecphoria.errors import EcphoriaError, Unavailable
from ecphoria.recall.policies import TenantPolicies
from ecphoria.recall.service import RecallService
from ecphoria.recall.tally import Tally, compared
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import (
    Choice,
    Comparison,
    Cue,
    Policy,
    RecallOptions,
    RecallResult,
    Shadow,
    ShadowReport,
)

_WAITING = 64
_TENANTS = 256
_LULL_S = 0.02
_LONGEST_S = 10.0
_GRACE_S = 5.0

log = structlog.get_logger(__name__)

Told = Callable[[str, str, Comparison | None], None]
"""Told the shadow's strategy, what came of it (compared, dropped, failed), and the comparison."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sampled:
    """An answered recall whose shadow is to run."""

    tenant: TenantId
    tally: Tally
    cue: Cue
    choice: Choice
    options: RecallOptions
    answer: RecallResult


class ShadowedRecall:
    """Recalls by the tenant's default, and compares a sample with the tenant's shadow."""

    def __init__(
        self,
        recalls: RecallService,
        policies: TenantPolicies,
        told: Told,
        *,
        grace_s: float = _GRACE_S,
    ) -> None:
        """Wait at the end up to `grace_s` for recalls on their way."""
        self._grace_s = grace_s
        self._recalls = recalls
        self._policies = policies
        self._told = told
        self._tallies: OrderedDict[TenantId, tuple[tuple[Choice | None, Shadow], Tally]] = (
            OrderedDict()
        )
        self._waiting: deque[_Sampled] = deque()
        self._worker: asyncio.Task[None] | None = None
        self._live = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._closed = False

    async def recall(
        self, tenant: TenantId, cue: Cue, options: RecallOptions, *, record: bool = True
    ) -> RecallResult:
        """Wake what a cue calls for, by the tenant's default unless a strategy is named.

        Args:
            tenant: Whose memories.
            cue: What is asked.
            options: How.
            record: Leave a trace, and take part in the comparison with the shadow.

        Raises:
            InvalidInput: An empty cue, an option out of bounds; the message says what to send.
            UnknownStrategy: No such strategy.
            NotFound: No such tenant.
            Unavailable: The store or the encoder does not answer, or the service stops.
        """
        if self._closed:
            raise Unavailable("The service is stopping; ask again when it is back.")
        with self._on_its_way():
            if options.strategy is not None:
                return await self._recalls.recall(tenant, cue, options, record=record)
            policy = await self._policies.of(tenant)
            asked = _by(policy.live, options)
            answer = await self._recalls.recall(tenant, cue, asked, record=record)
        shadowed = record and not self._closed
        if shadowed and policy.shadow is not None and sampled(cue, policy.shadow.share):
            self._offer(tenant, cue, options, policy, answer)
        return answer

    def report(self, tenant: TenantId, policy: Policy) -> ShadowReport:
        """Add up what this process compared under the policy."""
        return self._tally(tenant, policy).report() if policy.shadow else ShadowReport()

    def reset(self, tenant: TenantId) -> None:
        """Forget the tenant's comparisons; those under way count for nothing."""
        self._tallies.pop(tenant, None)

    async def drain(self) -> None:
        """Wait until every shadow that waits has run."""
        if self._worker is not None:
            await self._worker

    async def close(self) -> None:
        """Take no more recalls, leave the shadows, and wait for the recalls on their way."""
        self._closed = True
        self._waiting.clear()
        if self._worker is not None:
            self._worker.cancel()
            with suppress(asyncio.CancelledError):
                await self._worker
        with suppress(TimeoutError):
            async with asyncio.timeout(self._grace_s):
                await self._idle.wait()

    @contextmanager
    def _on_its_way(self) -> Iterator[None]:
        self._live += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._live -= 1
            if not self._live:
                self._idle.set()

    def _offer(
        self,
        tenant: TenantId,
        cue: Cue,
        options: RecallOptions,
        policy: Policy,
        answer: RecallResult,
    ) -> None:
        assert policy.shadow is not None, "only asked with a shadow"
        tally, choice = self._tally(tenant, policy), policy.shadow.choice
        if len(self._waiting) >= _WAITING:
            tally.dropped += 1
            self._told(choice.strategy, "dropped", None)
            return
        self._waiting.append(
            _Sampled(
                tenant=tenant, tally=tally, cue=cue, choice=choice, options=options, answer=answer
            )
        )
        if self._worker is None or self._worker.done():
            # Its own context: the shadow is no part of the request that happened to start it.
            self._worker = asyncio.get_running_loop().create_task(self._work(), context=Context())

    def _tally(self, tenant: TenantId, policy: Policy) -> Tally:
        """Find the tally of this very pair of strategies; another pair starts a new one."""
        assert policy.shadow is not None, "only asked with a shadow"
        pair = (policy.live, policy.shadow)
        known, tally = self._tallies.get(tenant, (None, None))
        if tally is None or known != pair:
            tally = Tally()
            self._tallies[tenant] = (pair, tally)
        self._tallies.move_to_end(tenant)
        while len(self._tallies) > _TENANTS:
            self._tallies.popitem(last=False)
        return tally

    async def _work(self) -> None:
        while self._waiting:
            await self._lull()
            if self._waiting:
                await self._compare(self._waiting.popleft())

    async def _lull(self) -> None:
        """Wait until for a moment no recall is on its way."""
        while True:
            await self._idle.wait()
            await asyncio.sleep(_LULL_S)
            if self._idle.is_set():
                return

    async def _compare(self, one: _Sampled) -> None:
        strategy = one.choice.strategy
        try:
            async with asyncio.timeout(_LONGEST_S):
                answer = await self._recalls.recall(
                    one.tenant,
                    one.cue,
                    replace(one.options, strategy=strategy, options=one.choice.options),
                    record=False,
                )
            comparison = compared(one.answer, answer)
        except Exception as error:  # noqa: BLE001 (a shadow's fault stays in the shadow)
            one.tally.failed += 1
            reason = error.code if isinstance(error, EcphoriaError) else type(error).__name__
            log.warning("shadow_failed", tenant_id=one.tenant, strategy=strategy, reason=reason)
            self._told(strategy, "failed", None)
            return
        one.tally.add(comparison)
        self._told(strategy, "compared", comparison)


def sampled(cue: Cue, share: float) -> bool:
    """Whether a cue belongs to the share; always the same cues, and more of them for more.

    `h / 2^64 < share`, h the first 8 bytes of the cue's BLAKE2b.
    """
    vector = () if cue.vector is None else cue.vector
    body = (cue.text or "").encode() + b"\0" + struct.pack(f"<{len(vector)}d", *vector)
    place = int.from_bytes(hashlib.blake2b(body, digest_size=8).digest())
    return place < share * 2**64


def _by(choice: Choice | None, options: RecallOptions) -> RecallOptions:
    """Ask for the tenant's default; the caller's own options count more than its."""
    if choice is None:
        return options
    return replace(
        options, strategy=choice.strategy, options={**choice.options, **options.options}
    )
