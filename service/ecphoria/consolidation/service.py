"""The consolidation service: one cycle is its steps in their order, and a report of them."""

from collections.abc import Callable, Sequence

import structlog

from ecphoria.consolidation.step import Cycle, Skipped, Step
from ecphoria.errors import Conflict
from ecphoria.model.consolidation import ConsolidationReport, Outcome, StepReport, StepStatus
from ecphoria.model.ids import TenantId, fresh_id
from ecphoria.ports.world import Clock

__all__ = ["ConsolidationService"]

log = structlog.get_logger(__name__)


class ConsolidationService:
    """Consolidates a tenant's memory, one cycle of a tenant at a time."""

    def __init__(
        self, *, steps: Sequence[Step], clock: Clock, monotonic: Callable[[], float]
    ) -> None:
        self._steps = steps
        self._clock = clock
        self._monotonic = monotonic
        self._running: set[TenantId] = set()

    async def consolidate(self, tenant: TenantId) -> ConsolidationReport:
        """Run every step now.

        Raises:
            Conflict: A cycle of this tenant is under way.
            Unavailable: The store does not answer; what was done until then stays, and running
                again completes it.
        """
        if tenant in self._running:
            raise Conflict("a consolidation of this tenant is under way; wait for its end")
        self._running.add(tenant)
        try:
            return await self._cycle(tenant)
        finally:
            self._running.discard(tenant)

    async def _cycle(self, tenant: TenantId) -> ConsolidationReport:
        begun = self._monotonic()
        cycle = Cycle(id=fresh_id(), tenant=tenant, now=self._clock.now())
        steps = [await self._step(step, cycle) for step in self._steps]
        seconds = self._monotonic() - begun
        log.info("consolidated", cycle=cycle.id, seconds=round(seconds, 3))
        return ConsolidationReport(
            cycle=cycle.id, started_at=cycle.now, seconds=seconds, steps=tuple(steps)
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
            counts=outcome.counts,
            changes=outcome.changes,
            reason=reason,
        )
