"""Run the steps of consolidation."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol, TypeVar

import structlog

from ecphoria.consolidation.knn_store import FIND_PROGRESS
from ecphoria.neo4j_store.session import Statement, Store
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.records.job import (
    Claimed,
    ConsolidationReport,
    Degrees,
    Gap,
    GraphSize,
    JobKind,
    Lease,
    Progress,
    StepOutcome,
    StepReport,
    StepStatus,
)
from ecphoria.runtime import in_parts

T = TypeVar("T")

TOLD = 100
"""Number of changes that the report of a step lists one by one."""


class Skipped(Exception):
    """A step cannot run; the message gives the reason and the remedy."""


async def _go_on(_: str) -> None:
    """Ignore the progress of a cycle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """One pass over a tenant's memory.

    Attributes:
        id: The id of the cycle, stored with its writes.
        now: The instant at which all ages are computed, aware UTC.
        lease: The lease of the job, which each write checks in its own transaction; None without a
            job.
        dry_run: Report changes and write nothing.
        reached: Called between chunks with the name of the checkpoint. The caller reports progress
            there, renews the lease, and may end the cycle by raising an error.
    """

    id: str
    tenant: TenantId
    now: datetime
    lease: Lease | None = None
    dry_run: bool = False
    reached: Callable[[str], Awaitable[None]] = _go_on

    async def chunks(
        self, items: Sequence[T], size: int, place: str
    ) -> AsyncIterator[Sequence[T]]:
        """Yield items in chunks; report the checkpoint before each chunk."""
        for chunk in in_parts(items, size):
            await self.reached(place)
            yield chunk


class Step(Protocol):
    """One pass over a tenant's graph; running it again changes nothing.

    It writes in chunks. Each chunk is one transaction and leaves a valid graph, so an interrupted
    cycle is completed by another run.
    """

    name: str

    async def run(self, cycle: Cycle) -> StepOutcome:
        """Run the step; in a dry run only list its changes.

        Raises:
            Skipped: The step cannot run here.
            LeaseLost: Another worker has taken the job; nothing more was written.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edges:
    type: str
    edges: int
    faulty: int


_COUNT_NODES = Statement("tenants.count_nodes", tuple[str, int])
_COUNT_EDGES = Statement("consolidation.count_edges", _Edges)
_COUNT_DEGREES = Statement("consolidation.count_degrees", tuple[str, Degrees])
_LIST_GAPS = Statement("consolidation.list_gaps", Gap)


_NOT_MEMORIES: Final = frozenset({"Tenant", "Trace", "Job", "Tombstone", "Item", "ApiKey"})
"""Labels that the size of a graph leaves out."""


class GraphSurvey(Store):
    """Counts a tenant's graph."""

    async def turn(self, tenant: TenantId) -> int:
        """Count the episodes appended so far."""
        found = await self._graph.run_one(FIND_PROGRESS, tenant=tenant)
        return found.turn if found else 0

    async def size(self, tenant: TenantId) -> GraphSize:
        """Count nodes by label and edges by type, and the edges that lack weight or family."""
        turn = await self.turn(tenant)
        nodes, edges = await asyncio.gather(
            self._graph.run(_COUNT_NODES, tenant=tenant),
            self._graph.run(_COUNT_EDGES, tenant=tenant),
        )
        return GraphSize(
            turn=turn,
            nodes={label: count for label, count in nodes if label not in _NOT_MEMORIES},
            edges={row.type: row.edges for row in edges},
            faulty_edges=sum(row.faulty for row in edges),
        )

    async def degrees(self, tenant: TenantId) -> Mapping[str, Degrees]:
        """Count the associations of live nodes, by type."""
        return dict(await self._graph.run(_COUNT_DEGREES, tenant=tenant))

    async def gaps(self, tenant: TenantId, *, least: int, limit: int) -> Sequence[Gap]:
        """List cues refused often since the last full cycle, the most refused first."""
        return await self._graph.run(_LIST_GAPS, tenant=tenant, least=least, limit=limit)


# Cues that are equal except for case are counted together (docs/explanation/consolidation.md).
_REFUSED = 3
"""Number of refusals from which a cue is reported as a gap."""
_GAPS = 20

log = structlog.get_logger(__name__)


class ConsolidationService:
    """Runs a consolidation of a tenant's memory, as a job.

    A cycle of all steps counts the graph before and after, which reads all of it. A cycle of some
    steps does not, so its cost depends only on what is new.
    """

    def __init__(
        self,
        *,
        steps: Sequence[Step],
        survey: GraphSurvey,
        monotonic: Callable[[], float],
        on_request: Sequence[str] = (),
    ) -> None:
        """Run these steps in order; those `on_request` only in a cycle that names them."""
        self._steps = tuple(steps)
        self._on_request = frozenset(on_request)
        self._survey = survey
        self._monotonic = monotonic

    @property
    def steps(self) -> tuple[str, ...]:
        """Name the steps, in their order."""
        return tuple(step.name for step in self._steps)

    async def run(
        self, claimed: Claimed, watch: Callable[[Progress], Awaitable[None]]
    ) -> ConsolidationReport:
        """Run the steps of a job, after those that an earlier attempt finished.

        Ages are computed at the instant when the job first began, by the store's clock. So an
        attempt after a crash computes the same ages as the first (decision 0017).

        Args:
            claimed: The job, and the lease every write is checked against.
            watch: Called at each checkpoint; ends the cycle by raising an error.

        Raises:
            LeaseLost: Another worker has the job; nothing more was written.
            Unavailable: The store does not answer; finished work stays, and another run completes
                it.
        """
        job, begun = claimed.job, self._monotonic()
        assert job.started_at is not None, "a claimed job was begun"
        cycle = Cycle(
            id=fresh_id(),
            tenant=job.tenant,
            now=job.started_at,
            lease=claimed.lease,
            dry_run=job.kind is JobKind.DRY_RUN,
        )
        usual = {step.name for step in self._steps} - self._on_request
        wanted = set(job.steps) or usual
        chosen = [step for step in self._steps if step.name in wanted]
        ended = {report.name: report for report in job.ended}
        whole = not job.steps and not cycle.dry_run

        async def reached(
            place: str, report: StepReport | None = None, before: GraphSize | None = None
        ) -> None:
            done, total = len(ended), len(chosen)
            await watch(Progress(place=place, done=done, total=total, ended=report, before=before))

        before = job.before or await self._size(cycle, whole=whole)
        await reached("survey: before", before=before)
        for step in chosen:
            if step.name not in ended:
                await reached(f"{step.name}: begin")
                report = await self._step(step, replace(cycle, reached=reached))
                ended[step.name] = report
                await reached(f"{step.name}: end", report)
        await reached("survey: after")
        surveyed = await self._surveyed(cycle, whole=whole)
        seconds = self._monotonic() - begun + sum(report.seconds for report in job.ended)
        log.info("consolidated", cycle=cycle.id, seconds=round(seconds, 3))
        steps = tuple(ended[step.name] for step in chosen)
        return replace(surveyed, before=before, seconds=seconds, steps=steps)

    async def _surveyed(self, cycle: Cycle, *, whole: bool) -> ConsolidationReport:
        """Start the report of a cycle with the graph's state after it."""
        report = ConsolidationReport(
            cycle=cycle.id,
            started_at=cycle.now,
            seconds=0.0,
            steps=(),
            after=await self._size(cycle, whole=whole),
        )
        if not whole:
            return report
        gaps = await self._survey.gaps(cycle.tenant, least=_REFUSED, limit=_GAPS)
        degrees = await self._survey.degrees(cycle.tenant)
        return replace(report, degrees=degrees, gaps=tuple(gaps))

    async def _size(self, cycle: Cycle, *, whole: bool) -> GraphSize:
        if whole:
            return await self._survey.size(cycle.tenant)
        return GraphSize(turn=await self._survey.turn(cycle.tenant))

    async def _step(self, step: Step, cycle: Cycle) -> StepReport:
        begun, reason = self._monotonic(), ""
        outcome = StepOutcome()
        try:
            outcome = await step.run(cycle)
        except Skipped as skipped:
            reason = str(skipped)
            log.warning("consolidation_step_skipped", step=step.name, reason=reason)
        return StepReport(
            name=step.name,
            status=StepStatus.SKIPPED if reason else StepStatus.DONE,
            seconds=self._monotonic() - begun,
            counts=dict(outcome.counts),  # `dataclasses.asdict` cannot copy a Counter
            changes=outcome.changes,
            reason=reason,
            degraded=outcome.degraded,
        )
