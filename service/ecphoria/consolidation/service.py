"""Run consolidation step by step."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol, TypeVar

import structlog

from ecphoria.consolidation.knn_store import KnnProgress
from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.ports import Survey
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.records.job import (
    Claimed,
    ConsolidationReport,
    Degrees,
    Gap,
    GraphSize,
    JobKind,
    Lease,
    Outcome,
    Progress,
    StepReport,
    StepStatus,
)

T = TypeVar("T")

TOLD = 100
"""Changes that a step tells one by one."""


class Skipped(Exception):
    """A step cannot run; the message gives the reason and the remedy."""


async def _go_on(_: str) -> None:
    """Ignore the progress of a cycle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """One pass over a tenant's memory.

    Attributes:
        id: Names it in what it writes.
        now: The one instant at which it judges ages, aware UTC.
        lease: The right every write is checked against, in the write's own transaction; None
            where no job stands behind the cycle.
        dry_run: Whether to tell what would change, and write nothing.
        reached: Called between chunks with the name of the place. Who watches the cycle tells
            its progress there, renews the lease, and may end it by raising.
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
        """Go through items in parts, each after the place is reached."""
        for first in range(0, len(items), size):
            await self.reached(place)
            yield items[first : first + size]


class Step(Protocol):
    """One pass over a tenant's graph; running it again changes nothing.

    It writes in chunks, each a transaction that leaves a valid graph, so that a cycle cut
    short anywhere is completed by running it again.
    """

    name: str

    async def run(self, cycle: Cycle) -> Outcome:
        """Run the step; in a dry run only plan its changes.

        Raises:
            Skipped: It cannot be done here.
            LeaseLost: Another worker has taken the job; nothing more was written.
        """
        ...


_REFUSED = 3
"""Times a cue is refused until it is a gap."""
_GAPS = 20

log = structlog.get_logger(__name__)


class ConsolidationService:
    """Consolidates a tenant's memory, as a job.

    A cycle of all steps counts the graph before and after: a walk over all of it. One of some
    steps does not, so that its cost is that of what is new.
    """

    def __init__(
        self,
        *,
        steps: Sequence[Step],
        survey: Survey,
        monotonic: Callable[[], float],
        on_request: Sequence[str] = (),
    ) -> None:
        """Take the parts.

        Args:
            steps: The steps in their order.
            survey: Counts the graph.
            monotonic: Seconds that never go back.
            on_request: Steps that run only in a cycle that names them.
        """
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

        Its one instant is when the job was first begun, by the store's clock: an attempt after a
        crash judges ages as the first did.

        Args:
            claimed: The job, and the lease every write is checked against.
            watch: Told each place that is reached; ends the cycle by raising.

        Raises:
            LeaseLost: Another worker has the job; nothing more was written.
            Unavailable: The store does not answer; what was done until then stays, and running
                again completes it.
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
        """Report how a cycle leaves the graph, before anything else is known of it."""
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
        outcome = Outcome()
        try:
            outcome = await step.run(cycle)
        except Skipped as skipped:
            reason = str(skipped)
            log.warning("consolidation_step_skipped", step=step.name, reason=reason)
        return StepReport(
            name=step.name,
            status=StepStatus.SKIPPED if reason else StepStatus.DONE,
            seconds=self._monotonic() - begun,
            counts=dict(outcome.counts),  # a Counter is no mapping to `dataclasses.asdict`
            changes=outcome.changes,
            reason=reason,
            degraded=outcome.degraded,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Nodes:
    label: str
    nodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edges:
    type: str
    edges: int
    faulty: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Degrees:
    type: str
    half: int
    nine_tenths: int
    nearly_all: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gap:
    refused: int
    traces: list[str]


_FIND_PROGRESS = Statement("consolidation.find_progress", KnnProgress)
_COUNT_NODES = Statement("consolidation.count_nodes", _Nodes)
_COUNT_EDGES = Statement("consolidation.count_edges", _Edges)
_COUNT_DEGREES = Statement("consolidation.count_degrees", _Degrees)
_LIST_GAPS = Statement("consolidation.list_gaps", _Gap)


class GraphSurvey:
    """Counts a tenant's graph; implements `ports.survey.Survey`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def turn(self, tenant: TenantId) -> int:
        """Count the episodes appended so far."""
        found = await self._graph.run_one(_FIND_PROGRESS, tenant=tenant)
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
            nodes={row.label: row.nodes for row in nodes},
            edges={row.type: row.edges for row in edges},
            faulty_edges=sum(row.faulty for row in edges),
        )

    async def degrees(self, tenant: TenantId) -> Mapping[str, Degrees]:
        """Tell how many associations live nodes have, by type."""
        return {
            row.type: Degrees(p50=row.half, p90=row.nine_tenths, p99=row.nearly_all, most=row.most)
            for row in await self._graph.run(_COUNT_DEGREES, tenant=tenant)
        }

    async def gaps(self, tenant: TenantId, *, least: int, limit: int) -> Sequence[Gap]:
        """List the cues refused so often since the last whole cycle, the most refused first."""
        rows = await self._graph.run(_LIST_GAPS, tenant=tenant, least=least, limit=limit)
        return [Gap(refused=row.refused, traces=tuple(row.traces)) for row in rows]
