"""Figures of a load benchmark, also of consolidation."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ecphoria.cli.progress import Watch
from ecphoria.errors import EcphoriaError
from ecphoria.jobs.service import JobService
from ecphoria.records.ids import TenantId
from ecphoria.records.job import ENDED, JobState


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Percentiles of one kind of call, in milliseconds."""

    p50: float
    p95: float
    p99: float
    max: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRun:
    """Recalls of so many clients at once.

    Attributes:
        phases: By phase of the recall, `total` among them, on the service's own clock.
        ratio_p50, ratio_p95: Of `total` to one vector query on the same store, asked in turn
            with the recalls of one client.
    """

    clients: int
    recalls: int
    recalls_per_second: float
    ratio_p50: float
    ratio_p95: float
    phases: Mapping[str, Latency]


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleRun:
    """One cycle of all steps, from asking for it to its end.

    Attributes:
        episodes: That were new to it.
        steps: Seconds by step; the counts of the graph before and after are in none of them.
    """

    episodes: int
    seconds: float
    steps: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationRun:
    """Consolidation of one tenant's store.

    Attributes:
        first: Of all that the store has grown by since the size before.
        next: Of what was appended after that, while recalls went on.
        alone, beside: Recalls of the first strategy, one at a time, before and during it.
        slower: p95 beside it to p95 alone.
    """

    first: CycleRun
    next: CycleRun
    alone: Latency
    beside: Latency
    slower: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """Recalls one at a time, each followed by one vector query of the same cue."""

    recall: Latency
    nearest: Latency
    ratio_p50: float
    ratio_p95: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerRun:
    """Times of recalls and appends in tenants of one size.

    Attributes:
        episodes: Of each of them.
        cold: The first recalls after the store has grown; `warm` those of as many other cues.
        append: Single appends of a turn with its vector.
        seed_recall: Share of the exact ten nearest among the first ten seeds of a recall.
    """

    episodes: int
    cold: Paired
    warm: Paired
    append: Latency
    seed_recall: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeRun:
    """One size of the store.

    Attributes:
        nodes: Episodes in the store, over all tenants.
        owners: The first tenant, and `others` if there are any; the first strategy.
        ingest_per_second: With vectors given; `ingest_encoded_per_second` with encoding.
        readable_ms: From sending an append to holding it in a recall's hits.
        nearest: The yardstick: one vector query, top 10, filtered by tenant.
        index_recall: Share of the exact ten nearest that the yardstick finds.
        seed_recall: The same of the first ten of a recall's seeds, which are fetched in excess
            and scored again.
        service_mb: Resident memory of this process: service, its clients and the made-up talk.
        consolidation: Measured last; what it appends counts for the size after.
    """

    nodes: int
    ingest_per_second: float
    ingest_encoded_per_second: float
    readable_ms: Latency
    nearest: Latency
    index_recall: float
    seed_recall: float
    service_mb: float
    server_mb: float
    strategies: Mapping[str, tuple[ClientRun, ...]]
    owners: Mapping[str, OwnerRun]
    consolidation: ConsolidationRun | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """A whole run.

    Attributes:
        bytes_per_episode: On disk at the last size, after the store was stopped: indexes and
            the empty store's own files included, transaction logs left out.
        disk: The same by kind, and the transaction log.
    """

    version: str
    engine: Mapping[str, str]
    embedder: str
    seed: int
    tenants: int
    cores: int
    bytes_per_episode: float
    disk: Mapping[str, float]
    sizes: tuple[SizeRun, ...]
    suite: str = "load"


def latency(milliseconds: Sequence[float]) -> Latency:
    """Take percentiles, linearly interpolated."""
    p50, p95, p99 = np.percentile(milliseconds, (50, 95, 99))
    return Latency(p50=float(p50), p95=float(p95), p99=float(p99), max=max(milliseconds))


def paired(recall: Sequence[float], nearest: Sequence[float]) -> Paired:
    """Compare recalls with vector queries, both in milliseconds."""
    ours, yardstick = latency(recall), latency(nearest)
    return Paired(
        recall=ours,
        nearest=yardstick,
        ratio_p50=ratio(ours.p50, yardstick.p50),
        ratio_p95=ratio(ours.p95, yardstick.p95),
    )


def ratio(value: float, yardstick: float) -> float:
    """Divide; nothing measured counts as 0."""
    return value / yardstick if yardstick > 0 else 0.0


_POLL_S = 0.1
_PAUSE_S = 0.2
"""Between recalls: an agent thinks about what it was told."""

Ask = Callable[[], Awaitable[float]]
"""Recalls once; the milliseconds it took on the service's own clock."""


async def measure_consolidation(
    jobs: JobService,
    tenant: TenantId,
    *,
    grown: int,
    append: Callable[[], Awaitable[int]],
    ask: Ask,
    asked: int,
    watch: Watch,
) -> ConsolidationRun:
    """Consolidate a grown store, then new episodes beside up to five recalls a second.

    Args:
        jobs: Where cycles are asked for.
        tenant: Whose store.
        grown: Episodes of the tenant since its last cycle.
        append: Appends those that come then, and tells how many.
        ask: Recalls, one at a time.
        asked: How many recalls tell what is normal.
        watch: Told how far each cycle has come.

    Raises:
        EcphoriaError: A cycle failed.
    """
    first = await consolidate(jobs, tenant, grown, watch=partial(watch, "first cycle"))
    new = await append()
    normal = [await _asked(ask) for _ in range(asked)]
    cycle = asyncio.create_task(
        consolidate(jobs, tenant, new, watch=partial(watch, f"cycle of {new:,} new"))
    )
    during: list[float] = []
    while not cycle.done():
        during.append(await _asked(ask))
    after = await cycle
    alone, beside = latency(normal), latency(during)
    return ConsolidationRun(
        first=first, next=after, alone=alone, beside=beside, slower=ratio(beside.p95, alone.p95)
    )


async def _asked(ask: Ask) -> float:
    milliseconds = await ask()
    await asyncio.sleep(_PAUSE_S)
    return milliseconds


async def consolidate(
    jobs: JobService,
    tenant: TenantId,
    episodes: int,
    *,
    steps: Sequence[str] = (),
    watch: Callable[[int, int], None] = lambda _done, _total: None,
) -> CycleRun:
    """Run a cycle, of all steps if none is named, as anybody would, and time them.

    Raises:
        EcphoriaError: It did not come to its end.
    """
    begun = time.perf_counter()
    job = await jobs.consolidate(tenant, steps=steps)
    while job.state not in ENDED:
        await asyncio.sleep(_POLL_S)
        job = await jobs.store.find(tenant, job.id)
        if job.progress.done:
            watch(job.progress.done, job.progress.total)
    if job.state is not JobState.DONE or job.report is None:
        raise EcphoriaError(f"the cycle ended as {job.state}: {job.fault and job.fault.message}")
    return CycleRun(
        episodes=episodes,
        seconds=time.perf_counter() - begun,
        steps={step.name: step.seconds for step in job.report.steps},
    )
