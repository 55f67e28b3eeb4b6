"""The consolidation service: one cycle is its steps in their order, and a report of them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import structlog

from ecphoria.consolidation.step import Cycle, Skipped, Step
from ecphoria.model.consolidation import (
    ConsolidationReport,
    GraphSize,
    Outcome,
    StepReport,
    StepStatus,
)
from ecphoria.model.ids import fresh_id
from ecphoria.model.job import Claimed, JobKind, Progress
from ecphoria.ports.survey import Survey

__all__ = ["ConsolidationService"]

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
        self, *, steps: Sequence[Step], survey: Survey, monotonic: Callable[[], float]
    ) -> None:
        self._steps = tuple(steps)
        self._survey = survey
        self._monotonic = monotonic

    @property
    def steps(self) -> tuple[str, ...]:
        """Name the steps, in their order."""
        return tuple(step.name for step in self._steps)

    async def run(
        self, claimed: Claimed, watch: Callable[[Progress], Awaitable[None]]
    ) -> ConsolidationReport:
        """Run the steps a job asks for, after those that an earlier attempt brought to their end.

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
        chosen = [step for step in self._steps if not job.steps or step.name in job.steps]
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
