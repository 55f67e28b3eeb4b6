from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.jobs.scheduler import marked, next_due
from ecphoria.model.ids import TenantId
from ecphoria.model.schedule import Mark, Schedule, Standing

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
NEW = Standing(tenant=TenantId("a" * 32), own=None, turn=0, scheduled_turn=0, due_at=None, now=NOW)
DAILY = Schedule(daily_at=time(3, 30))


@pytest.mark.parametrize(
    ("turn", "due"), [(0, False), (4, False), (5, True), (11, True), (1_000, True)]
)
def test_episodes_are_counted_from_the_last_cycle(turn: int, due: bool) -> None:
    schedule = Schedule(every_episodes=5)
    mark = marked(replace(NEW, turn=turn), schedule)
    assert mark == (Mark(is_due=True, scheduled_turn=turn, due_at=None) if due else None)
    assert marked(replace(NEW, turn=turn + 4, scheduled_turn=turn), schedule) is None


def test_a_new_schedule_by_time_waits_for_its_instant() -> None:
    first = NOW.replace(day=2, hour=3, minute=30)
    assert marked(NEW, DAILY) == Mark(is_due=False, scheduled_turn=0, due_at=first)
    waiting = replace(NEW, due_at=first)
    assert marked(waiting, DAILY) is None
    assert marked(replace(waiting, now=first - timedelta(seconds=1)), DAILY) is None
    due = marked(replace(waiting, now=first, turn=7), DAILY)
    assert due == Mark(is_due=True, scheduled_turn=7, due_at=first + timedelta(days=1))


def test_what_was_missed_for_days_is_due_once() -> None:
    late = marked(replace(NEW, due_at=NOW - timedelta(days=9)), DAILY)
    assert late is not None
    assert late.is_due
    assert late.due_at == NOW.replace(day=2, hour=3, minute=30)
    assert marked(replace(NEW, due_at=late.due_at), DAILY) is None


def test_a_count_that_comes_due_leaves_the_instant_as_it_is() -> None:
    both = Schedule(every_episodes=5, every_hours=6)
    standing = replace(NEW, turn=5, due_at=NOW + HOUR)
    assert marked(standing, both) == Mark(is_due=True, scheduled_turn=5, due_at=NOW + HOUR)


def test_a_schedule_that_ends_forgets_its_instant() -> None:
    standing = replace(NEW, due_at=NOW - HOUR, turn=100)
    assert marked(standing, Schedule()) == Mark(is_due=False, scheduled_turn=0, due_at=None)


def test_a_clock_that_goes_backwards_makes_nothing_due_twice() -> None:
    standing = replace(NEW, due_at=NOW)
    due = marked(standing, DAILY)
    assert due is not None
    before = replace(standing, due_at=due.due_at, now=NOW - timedelta(days=3))
    assert marked(before, DAILY) is None


@given(
    schedule=st.builds(
        Schedule,
        every_hours=st.none() | st.floats(0.01, 8_760),
        daily_at=st.none() | st.times().map(lambda at: at.replace(second=0, microsecond=0)),
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
            assert found.time() == schedule.daily_at
