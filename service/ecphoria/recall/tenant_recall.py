"""Recall by a tenant's settings: its own strategy, a second look, and another strategy on trial.

The shadow of a recall runs after the answer, when no recall is running. It records nothing, and
its errors are counted. The answer is the same with and without it (decision 0014).
"""

import asyncio
import hashlib
import struct
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import Context
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import structlog

from ecphoria.errors import EcphoriaError, Unavailable
from ecphoria.maths.fusion import overlap, rank_biased_overlap, rank_difference, same_first
from ecphoria.recall.service import RecallService
from ecphoria.records.episode import State
from ecphoria.records.history import USED_HITS
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Cue, RecallOptions, RecallResult
from ecphoria.records.settings import Choice, TenantSettings, Trial
from ecphoria.records.strategy import Comparison, ShadowReport
from ecphoria.runtime import Bounded

# Comparisons stay in memory: in the graph, each would cost a write for figures that are read once
# (decision 0014).
WINDOW = 1_000
"""Number of newest comparisons that are kept of a tenant."""
_AVERAGED = (
    "overlap", "rank_overlap", "same_first", "same_verdict", "live_tokens", "shadow_tokens"
)  # fmt: skip


class ShadowStats:
    """Counts of one tenant's shadow, and its newest comparisons."""

    def __init__(self) -> None:
        self.compared = self.dropped = self.failed = 0
        self._newest: deque[Comparison] = deque(maxlen=WINDOW)

    def add(self, comparison: Comparison) -> None:
        """Count a comparison, and drop the oldest beyond the window."""
        self.compared += 1
        self._newest.append(comparison)

    def report(self) -> ShadowReport:
        """Add up; O(window)."""
        kept = tuple(self._newest)
        counts = ShadowReport(
            compared=self.compared, dropped=self.dropped, failed=self.failed, window=len(kept)
        )
        return _figures(counts, kept) if kept else counts


def compared(live: RecallResult, shadow: RecallResult) -> Comparison:
    """Compare an answer with that of its shadow."""
    ours = [hit.episode.id for hit in live.hits]
    theirs = [hit.episode.id for hit in shadow.hits]
    return Comparison(
        overlap=overlap(ours, theirs),
        rank_overlap=rank_biased_overlap(ours, theirs),
        same_first=same_first(ours, theirs),
        same_verdict=live.verdict is shadow.verdict,
        rank_difference=rank_difference(ours, theirs),
        live_ms=_own_ms(live),
        shadow_ms=_own_ms(shadow),
        live_tokens=live.context_tokens,
        shadow_tokens=shadow.context_tokens,
    )


def _own_ms(result: RecallResult) -> float:
    """Time without the encoder, because the shadow reuses the vector."""
    return max(0.0, result.timings_ms["total"] - result.timings_ms["encode"])


def _figures(counts: ShadowReport, kept: Sequence[Comparison]) -> ShadowReport:
    moved = [
        comparison.rank_difference for comparison in kept if comparison.rank_difference is not None
    ]
    live, shadow = (
        np.quantile([getattr(comparison, side) for comparison in kept], (0.5, 0.95))
        for side in ("live_ms", "shadow_ms")
    )
    means: dict[str, Any] = {
        name: _mean([getattr(one, name) for one in kept]) for name in _AVERAGED
    }
    return replace(
        counts,
        rank_difference=_mean(moved) if moved else None,
        live_p50_ms=float(live[0]),
        live_p95_ms=float(live[1]),
        shadow_p50_ms=float(shadow[0]),
        shadow_p95_ms=float(shadow[1]),
        **means,
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


SettingsOf = Callable[[TenantId], Awaitable[TenantSettings]]
"""Gives the settings of a tenant."""
Wake = Callable[[TenantId, Sequence[EpisodeId]], Awaitable[Sequence[EpisodeId]]]
"""Makes dormant memories live again; returns those that were dormant."""

# A busy service drops samples and counts them, instead of queueing more (decision 0014).
_WAITING = 64
_TENANTS = 256
# Shadows run only when no recall has been running for this time (decision 0014).
_LULL_S = 0.02
_LONGEST_S = 10.0
_GRACE_S = 5.0

log = structlog.get_logger(__name__)

Told = Callable[[str, str, Comparison | None], None]
"""Called with the shadow's strategy, the result (compared, dropped, failed), and the
comparison."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sampled:
    """An answered recall that the shadow runs again."""

    tenant: TenantId
    stats: ShadowStats
    cue: Cue
    choice: Choice
    options: RecallOptions
    answer: RecallResult


class TenantRecall:
    """Recalls by the tenant's default strategy, and looks among dormant memories if wanted.

    A sample is compared with the tenant's shadow. Memories wake only if the gate accepts the
    search that found them: a refusal does not show that they are needed.
    """

    def __init__(
        self,
        recalls: RecallService,
        settings_of: SettingsOf,
        told: Told,
        wake: Wake,
        *,
        grace_s: float = _GRACE_S,
    ) -> None:
        """Wait at the end up to `grace_s` for recalls on their way."""
        self._wake = wake
        self._grace_s = grace_s
        self._recalls = recalls
        self._settings_of = settings_of
        self._told = told
        self._all_stats = Bounded[TenantId, tuple[tuple[Choice | None, Trial], ShadowStats]](
            _TENANTS
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
        """Recall a cue; if refused and the tenant wants it, search dormant memories too.

        Without `record`, there is no trace, no comparison with the shadow and no second search,
        and no memory wakes.

        Raises:
            InvalidInput: An empty cue, an option out of bounds; the message says what to send.
            UnknownStrategy: No such strategy.
            NotFound: No such tenant.
            Unavailable: The store or the encoder does not answer, or the service stops.
        """
        answer = await self._recall(tenant, cue, options, record=record, shadowed=record)
        # A recall without a trace changes nothing (docs/howto/learning.md).
        if not record:
            return answer
        if answer.verdict.refused and not options.include_dormant:
            answer = await self._look_again(tenant, cue, options, answer)
        dormant = _dormant(answer)
        if dormant and not answer.verdict.refused and (options.wake or answer.second_look):
            answer = replace(answer, woken=tuple(await self._wake(tenant, dormant)))
        return answer

    async def _look_again(
        self, tenant: TenantId, cue: Cue, options: RecallOptions, refused: RecallResult
    ) -> RecallResult:
        """Keep the refusal unless the tenant wants a second look, and a dormant memory answers.

        The trial is compared with the first look only.
        """
        # Dormant memories are in no index, so they are compared one by one, and only if the live
        # ones give no answer (docs/howto/forgetting.md).
        if not (await self._settings_of(tenant)).dormancy.second_look:
            return refused
        wider = replace(options, include_dormant=True)
        try:
            answer = await self._recall(tenant, cue, wider, record=True, shadowed=False)
        except Unavailable as error:
            # That the live memories do not answer is known, so it is told.
            unread = f"dormant memories were not searched: {error}"
            return replace(refused, degraded=(*refused.degraded, unread))
        if not answer.verdict.refused and _dormant(answer):
            return replace(answer, second_look=True)
        return refused

    async def _recall(
        self, tenant: TenantId, cue: Cue, options: RecallOptions, *, record: bool, shadowed: bool
    ) -> RecallResult:
        """Recall by the tenant's default strategy unless one is named.

        A `shadowed` recall may be repeated by the strategy on trial.
        """
        if self._closed:
            raise Unavailable("The service is stopping; ask again when it is back.")
        with self._on_its_way():
            if options.strategy is not None:
                return await self._recalls.recall(tenant, cue, options, record=record)
            settings = await self._settings_of(tenant)
            asked = _by(settings.live, options)
            answer = await self._recalls.recall(tenant, cue, asked, record=record)
        shadowed = shadowed and not self._closed
        if shadowed and settings.trial is not None and sampled(cue, settings.trial.share):
            self._offer(tenant, cue, options, settings, answer)
        return answer

    def report(self, tenant: TenantId, settings: TenantSettings) -> ShadowReport:
        """Sum the comparisons of this process with the strategy on trial."""
        return self._stats(tenant, settings).report() if settings.trial else ShadowReport()

    def reset(self, tenant: TenantId) -> None:
        """Drop the tenant's comparisons, pending ones included."""
        self._all_stats.pop(tenant, None)

    async def drain(self) -> None:
        """Wait until every shadow that waits has run."""
        if self._worker is not None:
            await self._worker

    async def close(self) -> None:
        """Take no more recalls, drop the shadows, and wait for running recalls."""
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
        settings: TenantSettings,
        answer: RecallResult,
    ) -> None:
        assert settings.trial is not None, "only asked with a trial"
        stats, choice = self._stats(tenant, settings), settings.trial.choice
        if len(self._waiting) >= _WAITING:
            stats.dropped += 1
            self._told(choice.strategy, "dropped", None)
            return
        self._waiting.append(
            _Sampled(
                tenant=tenant, stats=stats, cue=cue, choice=choice, options=options, answer=answer
            )
        )
        if self._worker is None or self._worker.done():
            # Its own context: the shadow is no part of the request that happened to start it.
            self._worker = asyncio.get_running_loop().create_task(self._work(), context=Context())

    def _stats(self, tenant: TenantId, settings: TenantSettings) -> ShadowStats:
        """Find the tally of this very pair of strategies; another pair starts a new one."""
        assert settings.trial is not None, "only asked with a trial"
        pair = (settings.live, settings.trial)
        known, stats = self._all_stats.get(tenant, (None, None))
        if stats is None or known != pair:
            stats = ShadowStats()
        self._all_stats[tenant] = (pair, stats)
        return stats

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

    async def _compare(self, sample: _Sampled) -> None:
        strategy = sample.choice.strategy
        try:
            async with asyncio.timeout(_LONGEST_S):
                answer = await self._recalls.recall(
                    sample.tenant,
                    sample.cue,
                    replace(sample.options, strategy=strategy, options=sample.choice.options),
                    record=False,
                )
            comparison = compared(sample.answer, answer)
        except Exception as error:  # noqa: BLE001 (a shadow's fault stays in the shadow)
            sample.stats.failed += 1
            reason = error.code if isinstance(error, EcphoriaError) else type(error).__name__
            log.warning("shadow_failed", tenant_id=sample.tenant, strategy=strategy, reason=reason)
            self._told(strategy, "failed", None)
            return
        sample.stats.add(comparison)
        self._told(strategy, "compared", comparison)


def _dormant(answer: RecallResult) -> list[EpisodeId]:
    return [
        hit.episode.id for hit in answer.hits[:USED_HITS] if hit.episode.state is State.DORMANT
    ]


def sampled(cue: Cue, share: float) -> bool:
    """Tell whether a cue belongs to the sample; a larger share includes the cues of a smaller one.

    `h / 2^64 < share`, h the first 8 bytes of the cue's BLAKE2b.
    """
    vector = () if cue.vector is None else cue.vector
    body = (cue.text or "").encode() + b"\0" + struct.pack(f"<{len(vector)}d", *vector)
    # Sampling by the cue, not by chance: a sample can be repeated, and a larger share contains a
    # smaller one (decision 0014).
    place = int.from_bytes(hashlib.blake2b(body, digest_size=8).digest())
    return place < share * 2**64


def _by(choice: Choice | None, options: RecallOptions) -> RecallOptions:
    """Ask for the tenant's default; the caller's own options count more than its."""
    if choice is None:
        return options
    return replace(
        options, strategy=choice.strategy, options={**choice.options, **options.options}
    )
