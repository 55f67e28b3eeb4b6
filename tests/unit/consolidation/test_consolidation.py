from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime

import pytest

from ecphoria.consolidation.service import ConsolidationService, Cycle, GraphSurvey, Skipped
from ecphoria.errors import StoreUnavailable
from ecphoria.records.ids import JobId, TenantId
from ecphoria.records.job import (
    Change,
    Claimed,
    Degrees,
    Gap,
    GraphSize,
    Job,
    JobKind,
    JobState,
    Lease,
    Progress,
    StepOutcome,
    StepReport,
    StepStatus,
    Trigger,
)

TENANT = TenantId("a" * 32)
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
LEASE = Lease(job="j", token=3)


class Counting:
    """A step that tells how often it ran, and keeps the cycles it ran in."""

    name = "counting"

    def __init__(self) -> None:
        self.cycles: list[Cycle] = []

    async def run(self, cycle: Cycle) -> StepOutcome:
        self.cycles.append(cycle)
        await cycle.reached("counting: half")
        change = Change(kind="count", id="x")
        return StepOutcome(counts=Counter(runs=len(self.cycles)), changes=(change,))


class Impossible:
    name = "impossible"

    async def run(self, _: Cycle) -> StepOutcome:
        raise Skipped("the plugin is missing; install it")


class Failing:
    name = "failing"

    async def run(self, _: Cycle) -> StepOutcome:
        raise StoreUnavailable


class Lesser:
    name = "lesser"

    async def run(self, _: Cycle) -> StepOutcome:
        return StepOutcome(degraded=("nobody was there to ask",))


class Growing(GraphSurvey):
    """A graph that is an episode larger each time somebody looks."""

    def __init__(self) -> None:
        self.turns = 0
        self.walks = 0

    async def turn(self, tenant: TenantId) -> int:
        assert tenant == TENANT
        self.turns += 1
        return self.turns

    async def size(self, tenant: TenantId) -> GraphSize:
        self.walks += 1
        turn = await self.turn(tenant)
        return GraphSize(turn=turn, nodes={"Episode": turn}, edges={"NEXT": turn - 1})

    async def degrees(self, tenant: TenantId) -> dict[str, Degrees]:
        assert tenant == TENANT
        return {"SIMILAR": Degrees(p50=0, p90=1, p99=2, most=3)}

    async def gaps(self, tenant: TenantId, *, least: int, limit: int) -> list[Gap]:
        assert tenant == TENANT
        return [Gap(refused=least, traces=("t",))][:limit]


def claimed(
    kind: JobKind = JobKind.CONSOLIDATION,
    *steps: str,
    ended: tuple[StepReport, ...] = (),
    before: GraphSize | None = None,
) -> Claimed:
    job = Job(
        id=JobId("j"), tenant=TENANT, kind=kind, state=JobState.RUNNING,
        trigger=Trigger.REQUEST, steps=steps, attempts=1, created_at=BEGUN, run_after=BEGUN,
        started_at=BEGUN, finished_at=None, cancelling=False, progress=Progress(), ended=ended,
        before=before, report=None, fault=None,
    )  # fmt: skip
    return Claimed(job=job, lease=LEASE)


def service(*steps: object, survey: GraphSurvey | None = None) -> ConsolidationService:
    ticks = iter(range(1_000))
    return ConsolidationService(
        steps=steps,  # type: ignore[arg-type]
        survey=survey or Growing(),
        monotonic=lambda: float(next(ticks)),
    )


async def unwatched(_: Progress) -> None:
    pass


async def test_a_cycle_runs_its_steps_in_order_and_goes_on_past_a_skipped_one() -> None:
    step = Counting()
    report = await service(Impossible(), step).run(claimed(), unwatched)
    assert [(one.name, one.status, one.reason, one.counts) for one in report.steps] == [
        ("impossible", StepStatus.SKIPPED, "the plugin is missing; install it", {}),
        ("counting", StepStatus.DONE, "", {"runs": 1}),
    ]
    assert report.steps[1].changes == (Change(kind="count", id="x"),)
    assert asdict(report)["steps"][1]["counts"] == {"runs": 1}
    assert [one.seconds for one in report.steps] == [1.0, 1.0]
    assert report.seconds == 5.0
    (cycle,) = step.cycles
    assert (cycle.id, cycle.now, cycle.lease) == (report.cycle, BEGUN, LEASE)
    assert not cycle.dry_run


async def test_every_place_is_told_with_the_steps_done() -> None:
    seen: list[Progress] = []

    async def watch(progress: Progress) -> None:
        seen.append(progress)

    await service(Impossible(), Counting()).run(claimed(), watch)
    assert [(one.place, one.done, one.total) for one in seen] == [
        ("survey: before", 0, 2),
        ("impossible: begin", 0, 2),
        ("impossible: end", 1, 2),
        ("counting: begin", 1, 2),
        ("counting: half", 1, 2),
        ("counting: end", 2, 2),
        ("survey: after", 2, 2),
    ]
    assert [one.ended and one.ended.name for one in seen] == [
        None, None, "impossible", None, None, "counting", None
    ]  # fmt: skip
    assert [one.before and one.before.turn for one in seen] == [1, *([None] * 6)]


async def test_a_whole_cycle_tells_what_became_of_the_graph() -> None:
    report = await service(Counting()).run(claimed(), unwatched)
    assert report.before == GraphSize(turn=1, nodes={"Episode": 1}, edges={"NEXT": 0})
    assert report.after == GraphSize(turn=2, nodes={"Episode": 2}, edges={"NEXT": 1})
    assert report.degrees["SIMILAR"].most == 3
    assert report.gaps == (Gap(refused=3, traces=("t",)),)


@pytest.mark.parametrize(
    "some", [claimed(JobKind.DRY_RUN), claimed(JobKind.CONSOLIDATION, "counting")]
)
async def test_a_dry_run_and_a_part_of_a_cycle_walk_over_nothing(some: Claimed) -> None:
    survey = Growing()
    report = await service(Counting(), survey=survey).run(some, unwatched)
    assert (report.before, report.after) == (GraphSize(turn=1), GraphSize(turn=2))
    assert (report.degrees, report.gaps, survey.walks) == ({}, (), 0)


async def test_a_later_attempt_keeps_what_the_first_saw() -> None:
    first = GraphSize(turn=7, nodes={"Episode": 7})
    survey = Growing()
    report = await service(Counting(), survey=survey).run(claimed(before=first), unwatched)
    assert (report.before, survey.walks) == (first, 1)


async def test_what_was_missing_is_told_by_step() -> None:
    report = await service(Impossible(), Counting(), Lesser()).run(claimed(), unwatched)
    assert report.degraded == (
        "impossible: the plugin is missing; install it", "lesser: nobody was there to ask"
    )  # fmt: skip


async def test_an_attempt_goes_on_after_the_steps_that_ended_before() -> None:
    before = StepReport(name="failing", status=StepStatus.DONE, seconds=7, counts={"n": 1})
    step = Counting()
    report = await service(Failing(), step).run(claimed(ended=(before,)), unwatched)
    assert report.steps[0] == before
    assert [one.name for one in report.steps] == ["failing", "counting"]
    assert report.seconds == 3 + before.seconds
    assert len(step.cycles) == 1


async def test_a_job_may_want_a_dry_run_of_some_steps() -> None:
    step = Counting()
    report = await service(Failing(), step).run(claimed(JobKind.DRY_RUN, "counting"), unwatched)
    assert [one.name for one in report.steps] == ["counting"]
    assert step.cycles[0].dry_run


async def test_each_attempt_has_a_cycle_of_its_own() -> None:
    step = Counting()
    consolidation = service(step)
    reports = [await consolidation.run(claimed(), unwatched) for _ in range(2)]
    assert reports[0].cycle != reports[1].cycle


async def test_a_failure_ends_the_cycle() -> None:
    step = Counting()
    with pytest.raises(StoreUnavailable):
        await service(Failing(), step).run(claimed(), unwatched)
    assert step.cycles == []


async def test_the_watcher_ends_a_cycle_by_raising() -> None:
    step = Counting()

    async def watch(progress: Progress) -> None:
        if progress.place == "counting: half":
            raise InterruptedError

    with pytest.raises(InterruptedError):
        await service(step, Failing()).run(claimed(), watch)
    assert len(step.cycles) == 1
