"""Measure consolidation on a grown store: the first cycle, and the cycle of what came since."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from ecphoria.errors import EcphoriaError
from ecphoria.evaluation.load_report import ConsolidationRun, CycleRun, latency, ratio
from ecphoria.jobs.service import JobService
from ecphoria.model.ids import TenantId
from ecphoria.model.job import ENDED, JobState

__all__ = ["consolidate", "measure_consolidation"]

_LOOK_S = 0.1
_PAUSE_S = 0.2
"""Between recalls: an agent thinks about what it was told."""

Ask = Callable[[], Awaitable[float]]
"""Recalls once; the milliseconds it took on the service's own clock."""
Watch = Callable[[str, int, int], None]
"""Told which cycle runs, how many of its steps are done, and how many there are."""


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
    """Consolidate what has grown, then some more with up to five recalls a second beside it.

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
        await asyncio.sleep(_LOOK_S)
        job = await jobs.find(tenant, job.id)
        if job.progress.done:
            watch(job.progress.done, job.progress.total)
    if job.state is not JobState.DONE or job.report is None:
        raise EcphoriaError(f"the cycle ended as {job.state}: {job.fault and job.fault.message}")
    return CycleRun(
        episodes=episodes,
        seconds=time.perf_counter() - begun,
        steps={step.name: step.seconds for step in job.report.steps},
    )
