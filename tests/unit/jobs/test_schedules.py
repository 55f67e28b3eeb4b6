from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.jobs.service import marked, next_due
from ecphoria.records.ids import TenantId
from ecphoria.records.job import ScheduleMark, ScheduleState
from ecphoria.records.settings import Schedule
from ecphoria.settings import ConsolidationSettings

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
NEW = ScheduleState(
    tenant=TenantId("a" * 32), settings=None, turn=0, scheduled_turn=0, light_turn=0, due_at=None,
    active_at=None, now=NOW,
)  # fmt: skip
LIGHT = ("associate",)
DAILY = Schedule(daily_at="03:30")


def whole(turn: int, due_at: datetime | None = None) -> ScheduleMark:
    return ScheduleMark(is_due=True, scheduled_turn=turn, light_turn=turn, due_at=due_at)


@pytest.mark.parametrize(
    ("turn", "due"), [(0, False), (4, False), (5, True), (11, True), (1_000, True)]
)
def test_episodes_are_counted_from_the_last_cycle(turn: int, due: bool) -> None:
    schedule = Schedule(every_episodes=5)
    mark = marked(replace(NEW, turn=turn), schedule)
    assert mark == (whole(turn) if due else None)
    assert marked(replace(NEW, turn=turn + 4, scheduled_turn=turn), schedule) is None


def test_a_new_schedule_by_time_waits_for_its_instant() -> None:
    first = NOW.replace(day=2, hour=3, minute=30)
    assert marked(NEW, DAILY) == ScheduleMark(
        is_due=False, scheduled_turn=0, light_turn=0, due_at=first
    )
    waiting = replace(NEW, due_at=first)
    assert marked(waiting, DAILY) is None
    assert marked(replace(waiting, now=first - timedelta(seconds=1)), DAILY) is None
    due = marked(replace(waiting, now=first, turn=7), DAILY)
    assert due == whole(7, first + timedelta(days=1))


def test_what_was_missed_for_days_is_due_once() -> None:
    late = marked(replace(NEW, due_at=NOW - timedelta(days=9)), DAILY)
    assert late is not None
    assert late.is_due
    assert late.due_at == NOW.replace(day=2, hour=3, minute=30)
    assert marked(replace(NEW, due_at=late.due_at), DAILY) is None


def test_a_count_that_comes_due_leaves_the_instant_as_it_is() -> None:
    both = Schedule(every_episodes=5, every_hours=6)
    standing = replace(NEW, turn=5, due_at=NOW + HOUR)
    assert marked(standing, both) == whole(5, NOW + HOUR)


def test_a_schedule_that_ends_forgets_its_instant() -> None:
    standing = replace(NEW, due_at=NOW - HOUR, turn=100)
    assert marked(standing, Schedule()) == ScheduleMark(
        is_due=False, scheduled_turn=0, light_turn=0, due_at=None
    )


def test_a_clock_that_goes_backwards_makes_nothing_due_twice() -> None:
    standing = replace(NEW, due_at=NOW)
    due = marked(standing, DAILY)
    assert due is not None
    before = replace(standing, due_at=due.due_at, now=NOW - timedelta(days=3))
    assert marked(before, DAILY) is None


def test_a_light_cycle_comes_between_whole_ones() -> None:
    both = Schedule(every_episodes=12, light_episodes=5)
    standing = replace(NEW, turn=5)
    light = marked(standing, both, LIGHT)
    assert light == ScheduleMark(
        is_due=True, scheduled_turn=0, light_turn=5, due_at=None, steps=LIGHT
    )
    after = replace(standing, light_turn=5)
    assert marked(replace(after, turn=9), both, LIGHT) is None
    assert marked(replace(after, turn=12), both, LIGHT) == whole(12), "it stands for the light one"


def test_a_light_cycle_leaves_the_instant_of_the_whole_one() -> None:
    both = Schedule(every_hours=6, light_episodes=5)
    mark = marked(replace(NEW, turn=5, due_at=NOW + HOUR), both, LIGHT)
    assert mark == ScheduleMark(
        is_due=True, scheduled_turn=0, light_turn=5, due_at=NOW + HOUR, steps=LIGHT
    )
    first = marked(replace(NEW, turn=5), both, LIGHT)
    assert first is not None
    assert (first.is_due, first.due_at) == (True, NOW + 6 * HOUR)


def test_a_light_cycle_waits_until_the_tenant_is_quiet() -> None:
    own = ConsolidationSettings().schedule
    assert own == Schedule(light_episodes=5, light_idle_minutes=1.0), "the service's own default"
    quiet = replace(NEW, turn=5, active_at=NOW - timedelta(minutes=1))
    light = marked(quiet, own, LIGHT)
    assert light is not None
    assert (light.is_due, light.light_turn, light.steps) == (True, 5, LIGHT)
    assert marked(replace(quiet, active_at=NOW - timedelta(seconds=59)), own, LIGHT) is None
    assert marked(replace(quiet, turn=4), own, LIGHT) is None
    assert marked(replace(quiet, light_turn=5), own, LIGHT) is None
    assert ConsolidationSettings(light_episodes=0).schedule == Schedule()


def test_an_idle_memory_is_consolidated_once() -> None:
    idle = Schedule(idle_minutes=10)
    quiet = replace(NEW, turn=3, active_at=NOW - timedelta(minutes=10))
    assert marked(replace(quiet, active_at=NOW - timedelta(minutes=9)), idle) is None
    assert marked(quiet, idle) == whole(3)
    done = replace(quiet, scheduled_turn=3, now=NOW + 50 * HOUR)
    assert marked(done, idle) is None, "nothing is new"
    assert marked(replace(done, turn=4), idle) == whole(4)
    assert marked(replace(quiet, turn=0), idle) is None
    assert marked(replace(quiet, active_at=None), idle) is None
    assert marked(replace(quiet, active_at=NOW + HOUR), idle) is None, "another machine's clock"
    assert marked(quiet, Schedule(every_episodes=9)) is None


@given(
    schedule=st.builds(
        Schedule,
        every_hours=st.none() | st.floats(0.01, 8_760),
        daily_at=st.none() | st.times().map(lambda at: at.isoformat("minutes")),
    ),
    after=st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)),  # noqa: DTZ001 (made aware)
)
def test_the_next_instant_lies_ahead_and_within_the_period(
    schedule: Schedule, after: datetime
) -> None:
    instant = after.replace(tzinfo=UTC)
    found = next_due(schedule, instant)
    assert (found is None) == (schedule == Schedule())
    if found is not None:
        assert found > instant
        longest = schedule.every_hours or 24.0
        assert found - instant <= timedelta(hours=max(longest, 24.0))
        if schedule.every_hours is None:
            assert found.time().isoformat("minutes") == schedule.daily_at
