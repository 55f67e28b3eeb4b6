"""Make unused memories dormant, archive them after a time, and wake them.

Sources: SYNAPSE's dormancy with a budget of live nodes, NeuromemoryAI's forgetting curve. By
    SYNAPSE's rule alone, with windows of five turns, every memory without a recall in fifty turns
    would become dormant. A budget makes memories dormant only if too many are live.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

import numpy as np

from ecphoria.consolidation.archive import ArchiveService
from ecphoria.consolidation.dormancy_store import DormancyCandidate, DormancyStore
from ecphoria.consolidation.service import TOLD, Cycle
from ecphoria.maths.arrays import FloatArray
from ecphoria.maths.retention import decay, retention_score, retrievability, strength
from ecphoria.ports import Clock
from ecphoria.records.history import DAY_MS, FIRST_STABILITY
from ecphoria.records.ids import EpisodeId, TenantId, fresh_id
from ecphoria.records.job import Change, StepOutcome
from ecphoria.records.settings import DormancyMode, DormancyPolicy, Stability
from ecphoria.records.upkeep import DormancyPreview

# A write locks its episodes until it commits, so it takes fewer than a read.
_PAGE = 5_000
_CHUNK = 200
_FADED = {DormancyMode.BUDGET: 0.5, DormancyMode.THRESHOLD: 0.01}
"""Largest retrievability R of a candidate."""
_LASTS: Mapping[Stability, Mapping[str, float]] = {
    Stability.BY_KIND: {"episodic": 30.0, "semantic": 150.0, "procedural": 300.0},
    Stability.PRINTED: {"episodic": 1.0, "semantic": 5.0, "procedural": 10.0},
}
"""S_0 in days by kind of memory; the printed ones are NeuromemoryAI's (3.5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """A memory that may become dormant, with its retention score."""

    candidate: DormancyCandidate
    recalled: float
    strength: float
    keep: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """Memories to make dormant, each with the reason, the lowest retention score first.

    Attributes:
        live: Number of live memories.
        faded: Number of memories that may become dormant; None if no memory was judged.
    """

    live: int
    faded: int | None = None
    reasons: tuple[tuple[EpisodeId, str], ...] = ()


class Dormancy:
    """Step that makes memories dormant by the tenant's policy; deterministic."""

    name = "dormancy"

    def __init__(self, store: DormancyStore) -> None:
        self._store = store

    async def run(self, cycle: Cycle) -> StepOutcome:
        """Make the memories dormant that the policy selects."""
        selected = await self.select(cycle, await self._store.policy(cycle.tenant))
        live, reasons = selected.live, selected.reasons
        if selected.faded is None:
            return StepOutcome(counts={"live": live, "dormant": 0})
        slept = 0
        due = () if cycle.dry_run else reasons
        async for chunk in cycle.chunks(due, _CHUNK, "dormancy: put to sleep"):
            done = await self._store.put_to_sleep(cycle.tenant, chunk, cycle.now, cycle.lease)
            slept += len(done)
        dormant = len(reasons) if cycle.dry_run else slept
        return StepOutcome(
            counts={"live": live - dormant, "faded": selected.faded, "dormant": dormant},
            changes=tuple(
                Change(kind="sleep", id=episode, detail=reason)
                for episode, reason in reasons[:TOLD]
            ),
        )

    async def select(self, cycle: Cycle, policy: DormancyPolicy) -> Selected:
        """Select the memories that a policy makes dormant, and change nothing."""
        live = await self._store.count_live(cycle.tenant)
        excess = live - policy.budget if policy.mode is DormancyMode.BUDGET else live
        if policy.mode is DormancyMode.OFF or excess <= 0:
            return Selected(live=live)
        quiet = cycle.now - timedelta(days=policy.quiet_days)
        judged = [
            verdict
            async for page in self._pages(cycle, quiet)
            for verdict in _judge(page, policy, cycle.now, quiet)
        ]
        chosen = _chosen(judged, excess, by_keep=policy.mode is DormancyMode.BUDGET)
        reasons = tuple((verdict.candidate.id, _reason(verdict, policy)) for verdict in chosen)
        return Selected(live=live, faded=len(judged), reasons=reasons)

    async def _pages(
        self, cycle: Cycle, before: datetime
    ) -> AsyncIterator[Sequence[DormancyCandidate]]:
        after = 0
        while page := await self._store.candidates(cycle.tenant, before, after, _PAGE):
            await cycle.reached("dormancy: look")
            yield page
            after = page[-1].turn


def _judge(
    page: Sequence[DormancyCandidate], policy: DormancyPolicy, instant: datetime, quiet: datetime
) -> Iterator[_Judged]:
    """Select candidates that have faded and were not used since an instant."""
    now, since = _milliseconds(instant), _milliseconds(quiet)
    used = np.array(
        [_or(candidate.used_ms, candidate.occurred_ms) for candidate in page], np.float64
    )
    stable = np.array(
        [_or(candidate.stability, FIRST_STABILITY) for candidate in page], np.float64
    )
    if policy.stability in _LASTS:
        # Recalls raise S in proportion to its first value.
        begun = [_LASTS[policy.stability][candidate.kind] for candidate in page]
        stable *= np.array(begun) / FIRST_STABILITY
    recalled = retrievability((now - used) / DAY_MS, stable)
    held = _strength(page, now)
    prior = np.array([_or(candidate.prior, 0.0) for candidate in page], np.float64)
    keep = retention_score(recalled, held, prior, [candidate.importance for candidate in page])
    # Inactivity counts days, not turns: a trace has the hits of a recall, not the activation of
    # every node (decision 0019).
    faded = recalled < _FADED[policy.mode]
    for row, candidate in enumerate(page):
        # A memory that a recall returned lately stays live, according to the stored traces
        # (decision 0019).
        is_quiet = candidate.woken_ms is None or candidate.woken_ms < since
        if is_quiet and faded[row]:
            yield _Judged(
                candidate=candidate,
                recalled=float(recalled[row]),
                strength=float(held[row]),
                keep=float(keep[row]),
            )


def _strength(page: Sequence[DormancyCandidate], now: float) -> FloatArray:
    since = np.array(
        [_or(candidate.chain_ms, candidate.occurred_ms) for candidate in page], np.float64
    )
    return strength(
        *decay(
            np.array([_or(candidate.working, 1.0) for candidate in page], np.float64),
            np.array([_or(candidate.lasting, 0.0) for candidate in page], np.float64),
            (now - since) / DAY_MS,
        )
    )


def _chosen(judged: Sequence[_Judged], most: int, *, by_keep: bool) -> list[_Judged]:
    """Select up to a number, the lowest scores first; keep the last evidence of each live fact."""
    order = sorted(
        judged,
        key=lambda one: (
            one.keep if by_keep else one.recalled,
            one.candidate.occurred_ms,
            one.candidate.id,
        ),
    )
    left: dict[str, int] = {}
    chosen: list[_Judged] = []
    for verdict in order:
        if len(chosen) == most:
            break
        facts = {fact: left.get(fact, evidence) for fact, evidence in verdict.candidate.facts}
        # Otherwise a current fact would lose its last live evidence (docs/howto/forgetting.md).
        if any(evidence <= 1 for evidence in facts.values()):
            continue
        left |= {fact: evidence - 1 for fact, evidence in facts.items()}
        chosen.append(verdict)
    return chosen


def _reason(judged: _Judged, policy: DormancyPolicy) -> str:
    if policy.mode is DormancyMode.THRESHOLD:
        return f"retrievability {judged.recalled:.4f}, below {_FADED[policy.mode]:g}"
    return (
        f"least worth keeping over {policy.budget:,} live memories: {judged.keep:.3f} "
        f"(retrievability {judged.recalled:.3f}, strength {judged.strength:.3f}, "
        f"prior {_or(judged.candidate.prior, 0.0):.3f}, "
        f"importance {judged.candidate.importance:.3f})"
    )


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def _milliseconds(instant: datetime) -> float:
    return 1e3 * instant.timestamp()


# Expired episodes are hidden already, so they may wait for a later look (docs/howto/expiry.md).
_ERASED_AT_ONCE = 200


class Erase(Protocol):
    """Erases some of a tenant's expired episodes."""

    async def __call__(
        self, tenant: TenantId, limit: int, *, dry_run: bool = False
    ) -> tuple[int, int]:
        """Return the number of erased episodes, and of those that could not be erased."""
        ...


class Expire:
    """Erases expired episodes, which no caller has seen since they expired."""

    name = "expire"

    def __init__(self, erase: Erase) -> None:
        self._erase = erase

    async def run(self, cycle: Cycle) -> StepOutcome:
        """Erase them; a dry run counts only the first of them."""
        erased = kept = 0
        while True:
            await cycle.reached("expire: erase")
            gone, kept = await self._erase(cycle.tenant, _ERASED_AT_ONCE, dry_run=cycle.dry_run)
            erased += gone
            if cycle.dry_run or gone == 0 or gone + kept < _ERASED_AT_ONCE:
                break
        unread = (f"archived episodes wait until the archive can be read: {kept}",) if kept else ()
        return StepOutcome(counts={"erased": erased}, degraded=unread)


_BY_REQUEST = "by request"

Wake = Callable[[TenantId, Sequence[EpisodeId]], Awaitable[tuple[EpisodeId, ...]]]
"""Makes dormant episodes live again, and returns their ids."""


class ForgettingService:
    """The dormancy service; `store` lists dormant episodes and pins episodes."""

    def __init__(
        self, store: DormancyStore, archive: ArchiveService, wake: Wake, clock: Clock
    ) -> None:
        self.store = store
        self._archive = archive
        self._wake = wake
        self._clock = clock

    async def preview(
        self, tenant: TenantId, changes: Mapping[str, Any], *, limit: int
    ) -> DormancyPreview:
        """Tell which memories a cycle would make dormant now, and change nothing.

        `changes` are values of the policy that differ from the tenant's; NotFound without the
        tenant.
        """
        policy = replace(await self.store.policy(tenant), **changes)
        cycle = Cycle(id=fresh_id(), tenant=tenant, now=self._clock.now())
        selected = await Dormancy(self.store).select(cycle, policy)
        return DormancyPreview(
            live=selected.live,
            dormant=len(selected.reasons),
            items=await self.store.describe(tenant, selected.reasons[:limit]),
        )

    async def sleep(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Sequence[EpisodeId]:
        """Make live episodes dormant unless pinned; return their ids."""
        reasons = [(episode, _BY_REQUEST) for episode in sorted(set(ids))]
        return await self.store.put_to_sleep(tenant, reasons, self._clock.now())

    async def wake(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Sequence[EpisodeId]:
        """Make dormant and archived episodes live again; return their ids.

        An episode with a damaged record stays archived.

        Raises:
            NotFound: No such tenant.
            ArchiveUnavailable: The archive cannot be read.
        """
        await self._archive.restore(tenant, ids)
        return await self._wake(tenant, ids)
