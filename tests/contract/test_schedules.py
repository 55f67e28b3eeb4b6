"""Schedules on the real server: due once, however many look."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta

import pytest

from ecphoria.errors import NotFound
from ecphoria.jobs.service import Scheduler, SchedulerOptions, ScheduleStore, marked
from ecphoria.jobs.store import JobStore
from ecphoria.neo4j_store.session import Graph
from ecphoria.neo4j_store.traces import TraceStore
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.records.job import JobState, ScheduleMark, ScheduleState, Trigger
from ecphoria.records.settings import Schedule
from ecphoria.settings import ConsolidationSettings
from tests.contract.memories import START, appended, episode_id, turn, write
from tests.contract.tenants import set_settings
from tests.contract.traces import a_trace

EVERY_TWO = Schedule(every_episodes=2)


@pytest.fixture(scope="module")
def jobs(graph: Graph) -> JobStore:
    return JobStore(graph, keep=9)


@pytest.fixture(scope="module")
def schedules(graph: Graph) -> ScheduleStore:
    return ScheduleStore(graph)


async def append(graph: Graph, tenant: TenantId, *numbers: int) -> None:
    rows = (turn(tenant, n, session=f"s{n}", ordinal=0) for n in numbers)
    await write(graph, tenant, appended(*rows))


def by(schedule: Schedule) -> Callable[[ScheduleState], ScheduleMark | None]:
    return lambda standing: marked(standing, schedule)


async def test_a_schedule_comes_back_as_it_was_given_and_goes(
    graph: Graph, schedules: ScheduleStore, tenant: TenantId, other_tenant: TenantId
) -> None:
    assert (await schedules.find(tenant)).own is None
    given = Schedule(
        every_episodes=7,
        every_hours=1.5,
        daily_at="03:30",
        idle_minutes=2.5,
        light_episodes=5,
        light_idle_minutes=1.5,
    )
    await set_settings(graph, tenant, schedule=asdict(given))
    assert (await schedules.find(tenant)).own == given
    listed = await schedules.standings(own_only=True)
    assert [one.own for one in listed if one.tenant in {tenant, other_tenant}] == [given]
    everybody = {one.tenant for one in await schedules.standings(own_only=False)}
    assert {tenant, other_tenant} <= everybody
    await set_settings(graph, tenant, schedule=None)
    assert (await schedules.find(tenant)).own is None
    with pytest.raises(NotFound):
        await schedules.find(TenantId(fresh_id()))


async def test_of_eight_schedulers_one_queues_the_cycle(
    schedules: ScheduleStore, jobs: JobStore, graph: Graph, tenant: TenantId
) -> None:
    await append(graph, tenant, 1, 2)
    queued = await asyncio.gather(*(schedules.advance(tenant, by(EVERY_TWO)) for _ in range(8)))
    (job,) = [one for one in queued if one is not None]
    assert (job.trigger, job.state) == (Trigger.SCHEDULE, JobState.QUEUED)
    assert (await schedules.find(tenant)).scheduled_turn == 2
    await append(graph, tenant, 3)
    assert await schedules.advance(tenant, by(EVERY_TWO)) is None
    await append(graph, tenant, 4)
    joined = await schedules.advance(tenant, by(EVERY_TWO))
    assert joined is not None
    assert joined.id == job.id


async def test_what_is_due_by_time_is_due_once(
    graph: Graph, schedules: ScheduleStore, jobs: JobStore, tenant: TenantId
) -> None:
    hourly = Schedule(every_hours=1)
    await set_settings(graph, tenant, schedule=asdict(hourly))
    assert await schedules.advance(tenant, by(hourly)) is None
    first = await schedules.find(tenant)
    assert first.due_at is not None
    assert timedelta(minutes=59) < first.due_at - first.now <= timedelta(hours=1)
    overdue = ScheduleMark(
        is_due=False, scheduled_turn=0, light_turn=0, due_at=first.now - timedelta(hours=5)
    )
    await schedules.advance(tenant, lambda _: overdue)
    for due in (True, False):
        assert (await schedules.advance(tenant, by(hourly)) is not None) is due
    again = await schedules.find(tenant)
    assert again.due_at is not None
    assert again.due_at > again.now
    assert len(await jobs.list(tenant, limit=9)) == 1
    await set_settings(graph, tenant, schedule={"every_hours": 2})
    assert (await schedules.find(tenant)).due_at is None


async def test_a_scheduler_that_dies_in_the_middle_leaves_it_to_the_next(
    schedules: ScheduleStore,
    jobs: JobStore,
    graph: Graph,
    tenant: TenantId,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def die(*_: object) -> None:
        raise KeyboardInterrupt

    await append(graph, tenant, 1, 2)
    with monkeypatch.context() as patched:
        patched.setattr("ecphoria.jobs.service.add_job", die)
        with pytest.raises(KeyboardInterrupt):
            await schedules.advance(tenant, by(EVERY_TWO))
    assert (await schedules.find(tenant)).scheduled_turn == 0
    assert await jobs.list(tenant, limit=9) == []
    assert await schedules.advance(tenant, by(EVERY_TWO)) is not None


async def test_a_scheduler_keeps_own_schedules_and_the_services(
    schedules: ScheduleStore,
    jobs: JobStore,
    graph: Graph,
    tenant: TenantId,
    other_tenant: TenantId,
) -> None:
    woken: list[str] = []
    for one in (tenant, other_tenant):
        await append(graph, one, 1, 2)
    await set_settings(graph, tenant, schedule=asdict(EVERY_TWO))

    def scheduler(default: Schedule) -> Scheduler:
        options = SchedulerOptions(default=default)
        return Scheduler(schedules, jobs, options, queued=lambda: woken.append("up"))

    assert await scheduler(Schedule()).tick() == 1
    assert woken == ["up"]
    assert len(await jobs.list(tenant, limit=9)) == 1
    assert await jobs.list(other_tenant, limit=9) == []
    await set_settings(graph, tenant, schedule={"every_episodes": None})
    await append(graph, tenant, 3, 4)
    # Other tests' tenants may be due too: the service's schedule is everybody's.
    assert await scheduler(Schedule(every_episodes=2)).tick() >= 1
    assert len(await jobs.list(other_tenant, limit=9)) == 1
    assert (await schedules.find(tenant)).scheduled_turn == 2


async def test_a_light_cycle_is_queued_and_a_whole_one_swallows_it(
    schedules: ScheduleStore, jobs: JobStore, graph: Graph, tenant: TenantId
) -> None:
    steps = ("merge", "associate")

    def decide(standing: ScheduleState) -> ScheduleMark | None:
        return marked(standing, Schedule(every_episodes=4, light_episodes=2), steps)

    await append(graph, tenant, 1, 2)
    light = await schedules.advance(tenant, decide)
    assert light is not None
    assert light.steps == steps
    assert await schedules.advance(tenant, decide) is None
    standing = await schedules.find(tenant)
    assert (standing.scheduled_turn, standing.light_turn) == (0, 2)
    await append(graph, tenant, 3, 4)
    whole = await schedules.advance(tenant, decide)
    assert whole is not None
    assert (whole.id, whole.steps) == (light.id, ())
    assert await jobs.claim(whole.id, 60.0) is not None
    await append(graph, tenant, 5, 6)
    again = await schedules.advance(tenant, decide)
    assert again is not None
    assert again.id != whole.id, "one runs, and one more waits"
    assert again.steps == steps


async def test_by_default_a_quiet_tenant_gets_a_light_cycle(
    schedules: ScheduleStore,
    jobs: JobStore,
    graph: Graph,
    tenant: TenantId,
    other_tenant: TenantId,
) -> None:
    options = SchedulerOptions(default=ConsolidationSettings().schedule, light=("associate",))
    scheduler = Scheduler(schedules, jobs, options)
    await append(graph, tenant, 1, 2, 3, 4)
    await append(graph, other_tenant, 1, 2, 3, 4, 5)
    now = (await schedules.find(other_tenant)).now
    recalled = a_trace(other_tenant, created_at=now, seeds=(), hits=())
    await TraceStore(graph, keep=9).save(other_tenant, [recalled])
    await scheduler.tick()
    assert await jobs.list(tenant, limit=9) == [], "four are too few"
    await append(graph, tenant, 5)
    await scheduler.tick()
    (job,) = await jobs.list(tenant, limit=9)
    assert (job.trigger, job.steps) == (Trigger.SCHEDULE, ("associate",))
    assert await jobs.list(other_tenant, limit=9) == [], "somebody recalls there"
    await jobs.cancel(tenant, job.id)


async def test_a_memory_is_active_when_something_is_appended_or_recalled(
    schedules: ScheduleStore, graph: Graph, tenant: TenantId
) -> None:
    assert (await schedules.find(tenant)).active_at is None
    await append(graph, tenant, 1, 2)
    appended_at = START + timedelta(days=1)
    assert (await schedules.find(tenant)).active_at == appended_at
    await write(graph, tenant, appended(removed=(episode_id(tenant, "2"),)))
    assert (await schedules.find(tenant)).active_at == appended_at
    early, late = appended_at - timedelta(days=1), appended_at + timedelta(days=1)
    for at in (early, late):
        trace = a_trace(tenant, created_at=at, seeds=(), hits=())
        await TraceStore(graph, keep=9).save(tenant, [trace])
        assert (await schedules.find(tenant)).active_at == max(at, appended_at)
    await set_settings(graph, tenant, schedule={"idle_minutes": 10})
    listed = await schedules.standings(own_only=True)
    assert [one.active_at for one in listed if one.tenant == tenant] == [late]
    job = await schedules.advance(tenant, by(Schedule(idle_minutes=10)))
    assert job is not None
    assert job.steps == ()
    assert await schedules.advance(tenant, by(Schedule(idle_minutes=10))) is None


async def test_nobody_is_scheduled_while_being_erased(schedules: ScheduleStore) -> None:
    assert await schedules.advance(TenantId(fresh_id()), by(EVERY_TWO)) is None
