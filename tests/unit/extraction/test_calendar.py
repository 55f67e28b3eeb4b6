"""The days of a fact are those of the offset in which its turn was told."""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.extraction.reading import PromptTurns, Said, Unread, checked
from ecphoria.records.episode import Statement, offset_of
from ecphoria.records.ids import EpisodeId

DAY = timedelta(days=1)
START = datetime(2020, 1, 2, tzinfo=UTC)
TEXT = "Noor moved to Delft then."


def weekday_before(today: date, weekday: int) -> date:
    return next(day for day in (today - n * DAY for n in range(1, 8)) if day.weekday() == weekday)


def month_before(today: date) -> tuple[date, date]:
    last = today.replace(day=1) - DAY
    return last.replace(day=1), last


def alone(day: date) -> tuple[date, date]:
    return day, day


PHRASES: Mapping[str, Callable[[date], tuple[date, date]]] = {
    "today": alone,
    "this morning": alone,
    "yesterday": lambda today: alone(today - DAY),
    "the day before yesterday": lambda today: alone(today - 2 * DAY),
    "last night": lambda today: alone(today - DAY),
    "tomorrow": lambda today: alone(today + DAY),
    "3 days ago": lambda today: alone(today - 3 * DAY),
    "last Friday": lambda today: alone(weekday_before(today, 4)),
    "last Sunday": lambda today: alone(weekday_before(today, 6)),
    "last month": month_before,
    "last year": lambda today: (date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)),
    "2019-05-03": lambda _: alone(date(2019, 5, 3)),
    "2019": lambda _: (date(2019, 1, 1), date(2019, 12, 31)),
}
"""Phrases, and the first and the last day that they mean on a day."""

moments = st.builds(
    lambda minute, quarters: (START + timedelta(minutes=minute)).astimezone(
        timezone(timedelta(minutes=15 * quarters))
    ),
    st.integers(0, 10 * 366 * 24 * 60),
    st.integers(-48, 56),
)


def told(at: datetime, **phrases: str) -> Statement:
    """Read a fact with these phrases in a turn of this moment, stored as the service does."""
    turn = Unread(
        id=EpisodeId("e1"), turn=1, title=None, text=TEXT, speaker="Noor", role="user",
        session="s", occurred_at=at.astimezone(UTC), utc_offset=offset_of(at),
    )  # fmt: skip
    fact = {
        "turn": 1, "subject": "Noor", "predicate": "lives in", "object": "Delft",
        "qualifier": "", "negated": False, "valid_from": "", "valid_to": "",
        "quote": "moved to Delft", **phrases,
    }  # fmt: skip
    said = Said.model_validate({"names": [], "facts": [fact]})
    found, _ = checked(said, PromptTurns(turns=(turn,)), frozenset())
    (statement,) = found[turn.id].facts
    return statement


@given(at=moments, phrase=st.sampled_from(sorted(PHRASES)))
def test_a_fact_begins_at_the_midnight_that_begins_the_day_of_the_speaker(
    at: datetime, phrase: str
) -> None:
    first, _ = PHRASES[phrase](at.date())
    begins = told(at, valid_from=phrase).valid_from
    assert begins == datetime(first.year, first.month, first.day, tzinfo=at.tzinfo)


@given(at=moments, phrase=st.sampled_from(sorted(PHRASES)))
def test_a_fact_ends_at_the_midnight_after_its_last_day(at: datetime, phrase: str) -> None:
    _, last = PHRASES[phrase](at.date())
    after = last + DAY
    ends = told(at, valid_from="2001", valid_to=phrase).valid_to
    assert ends == datetime(after.year, after.month, after.day, tzinfo=at.tzinfo)


@given(at=moments)
def test_the_line_of_a_turn_has_the_day_of_the_speaker(at: datetime) -> None:
    turn = Unread(
        id=EpisodeId("e1"), turn=1, title=None, text=TEXT, speaker="Noor", role="user",
        session="s", occurred_at=at.astimezone(UTC), utc_offset=offset_of(at),
    )  # fmt: skip
    assert f"[1] {at:%Y-%m-%d} Noor:" in PromptTurns(turns=(turn,)).prompt


@pytest.mark.parametrize("phrase", ["31 December 9999", "1 January 1", "0001-01-01"])
@pytest.mark.parametrize("hours", [-12, 0, 14])
def test_the_ends_of_the_calendar_are_no_fault(phrase: str, hours: int) -> None:
    at = datetime(2026, 5, 2, 7, 30, tzinfo=timezone(timedelta(hours=hours)))
    told(at, valid_from=phrase)
    told(at, valid_to=phrase)
