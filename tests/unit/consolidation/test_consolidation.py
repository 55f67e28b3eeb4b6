import asyncio
from datetime import UTC, datetime

import pytest

from ecphoria.consolidation.service import ConsolidationService
from ecphoria.consolidation.step import Cycle, Skipped
from ecphoria.errors import Conflict, StoreUnavailable
from ecphoria.model.consolidation import Outcome, StepStatus
from ecphoria.model.ids import TenantId

TENANT, OTHER = TenantId("a" * 32), TenantId("b" * 32)


class FixedClock:
    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)


class Counting:
    """A step that waits until it may end, then tells how often it ran."""

    name = "counting"

    def __init__(self) -> None:
        self.runs = 0
        self.may_end = asyncio.Event()
        self.cycles: list[str] = []

    async def run(self, cycle: Cycle) -> Outcome:
        self.cycles.append(cycle.id)
        await self.may_end.wait()
        self.runs += 1
        return Outcome(counts={"runs": self.runs})


class Impossible:
    name = "impossible"

    async def run(self, _: Cycle) -> Outcome:
        raise Skipped("the plugin is missing; install it")


class Failing:
    name = "failing"

    async def run(self, _: Cycle) -> Outcome:
        raise StoreUnavailable


def service(*steps: object) -> ConsolidationService:
    ticks = iter(range(1_000))
    return ConsolidationService(
        steps=steps,  # type: ignore[arg-type]
        clock=FixedClock(),
        monotonic=lambda: float(next(ticks)),
    )


async def test_a_cycle_runs_its_steps_in_order_and_goes_on_past_a_skipped_one() -> None:
    step = Counting()
    step.may_end.set()
    report = await service(Impossible(), step).consolidate(TENANT)
    assert [(one.name, one.status, one.reason, one.counts) for one in report.steps] == [
        ("impossible", StepStatus.SKIPPED, "the plugin is missing; install it", {}),
        ("counting", StepStatus.DONE, "", {"runs": 1}),
    ]
    assert [one.seconds for one in report.steps] == [1.0, 1.0]
    assert report.seconds == 5.0
    assert step.cycles == [report.cycle]


async def test_a_tenant_has_one_cycle_at_a_time_and_tenants_do_not_wait_for_each_other() -> None:
    step = Counting()
    consolidation = service(step)
    first = asyncio.create_task(consolidation.consolidate(TENANT))
    await asyncio.sleep(0)
    with pytest.raises(Conflict, match="under way"):
        await consolidation.consolidate(TENANT)
    second = asyncio.create_task(consolidation.consolidate(OTHER))
    step.may_end.set()
    reports = await asyncio.gather(first, second)
    assert len({report.cycle for report in reports}) == 2


async def test_after_a_failure_the_next_cycle_may_run() -> None:
    consolidation = service(Failing())
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await consolidation.consolidate(TENANT)
