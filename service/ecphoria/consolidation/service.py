"""The consolidation service: one cycle is its steps in their order, and a report of them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import structlog

from ecphoria.consolidation.step import Cycle, Skipped, Step
from ecphoria.model.consolidation import ConsolidationReport, Outcome, StepReport, StepStatus
from ecphoria.model.ids import fresh_id
from ecphoria.model.job import Claimed, JobKind, Progress

__all__ = ["ConsolidationService"]

log = structlog.get_logger(__name__)


class ConsolidationService:
    """Consolidates a tenant's memory, as a job."""

    def __init__(self, *, steps: Sequence[Step], monotonic: Callable[[], float]) -> None:
        self._steps = tuple(steps)
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

        async def reached(place: str, report: StepReport | None = None) -> None:
            await watch(Progress(place=place, done=len(ended), total=len(chosen), ended=report))

        for step in chosen:
            if step.name not in ended:
                await reached(f"{step.name}: begin")
                report = await self._step(step, replace(cycle, reached=reached))
                ended[step.name] = report
                await reached(f"{step.name}: end", report)
        seconds = self._monotonic() - begun
        log.info("consolidated", cycle=cycle.id, seconds=round(seconds, 3))
        return ConsolidationReport(
            cycle=cycle.id,
            started_at=cycle.now,
            seconds=seconds,
            steps=tuple(ended[step.name] for step in chosen),
        )

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
        )
