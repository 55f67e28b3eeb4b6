"""Phrases resolve to days, against the day on which they are said."""

from datetime import date, timedelta

import numpy as np
import pytest

from ecphoria.text.dates import date_affinities, days_near, resolve_dates, told_times
from ecphoria.text.dating import PartialDate

WEDNESDAY = date(2024, 5, 15)

# Months have 30 days for the affinity, so these dates stay inside of one.
PARTIAL = [
    PartialDate(year=2024, month=5, day=14, exact=True),
    PartialDate(year=2023, month=5, day=8),
    PartialDate(year=2023, month=4, day=None),
]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("I saw it yesterday", date(2024, 5, 14), date(2024, 5, 14)),
        ("the day before yesterday", date(2024, 5, 13), date(2024, 5, 13)),
        ("Tonight!", WEDNESDAY, WEDNESDAY),
        ("last week", date(2024, 5, 6), date(2024, 5, 12)),
        ("next weekend", date(2024, 5, 25), date(2024, 5, 26)),
        ("last Friday", date(2024, 5, 10), date(2024, 5, 10)),
        ("last Wednesday", date(2024, 5, 8), date(2024, 5, 8)),
        ("next Wednesday", date(2024, 5, 22), date(2024, 5, 22)),
        ("this Friday", date(2024, 5, 17), date(2024, 5, 17)),
        ("two months ago", date(2024, 3, 1), date(2024, 3, 31)),
        ("six months ago", date(2023, 11, 1), date(2023, 11, 30)),
        ("10 days ago", date(2024, 5, 5), date(2024, 5, 5)),
        ("a couple of weeks ago", date(2024, 4, 28), date(2024, 5, 4)),
        ("three years ago", date(2021, 1, 1), date(2021, 12, 31)),
        ("next month", date(2024, 6, 1), date(2024, 6, 30)),
        ("last year", date(2023, 1, 1), date(2023, 12, 31)),
        ("in the last three days", date(2024, 5, 12), date(2024, 5, 15)),
        ("over the past week", date(2024, 5, 8), date(2024, 5, 15)),
        ("the past 2 months", date(2024, 3, 16), date(2024, 5, 15)),
        ("last few days", date(2024, 5, 12), date(2024, 5, 15)),
        ("on 20 October", date(2024, 10, 20), date(2024, 10, 20)),
        ("last May", date(2023, 5, 1), date(2023, 5, 31)),
        ("last March", date(2024, 3, 1), date(2024, 3, 31)),
        ("next May", date(2025, 5, 1), date(2025, 5, 31)),
        ("next June", date(2024, 6, 1), date(2024, 6, 30)),
        ("this May", date(2024, 5, 1), date(2024, 5, 31)),
        ("2021", date(2021, 1, 1), date(2021, 12, 31)),
        ("since 2019", date(2019, 1, 1), date(2019, 12, 31)),
        ("2023-07-03", date(2023, 7, 3), date(2023, 7, 3)),
        ("in November 1999", date(1999, 11, 1), date(1999, 11, 30)),
    ],
)
def test_dates_are_resolved_against_the_day_they_were_said(
    text: str, first: date, last: date
) -> None:
    [found] = resolve_dates(text, WEDNESDAY)
    assert (found.first, found.last) == (first, last)


def test_a_date_without_a_year_is_the_nearest() -> None:
    [found] = resolve_dates("on 30 December", date(2024, 1, 4))
    assert found.first == date(2023, 12, 30)


def test_dates_come_in_order_and_once() -> None:
    found = resolve_dates("yesterday, 3 May, and again yesterday", WEDNESDAY)
    assert [days.first for days in found] == [date(2024, 5, 14), date(2024, 5, 3)]


@pytest.mark.parametrize("text", ["31 June", "30 February 2021", "no date", "may be"])
def test_what_is_no_date_is_left_out(text: str) -> None:
    assert resolve_dates(text, WEDNESDAY) == ()


@pytest.mark.parametrize("said_on", [date.min, date.max])
def test_the_ends_of_the_calendar_are_no_error(said_on: date) -> None:
    text = "yesterday tomorrow last week next week 3 May 900 years ago next year last month"
    assert resolve_dates(text, said_on)


@pytest.mark.parametrize(
    ("stated", "first", "last"),
    [
        (PartialDate(year=2024, month=5, day=14, exact=True), (2024, 5, 14), (2024, 5, 14)),
        (PartialDate(year=2023, month=5, day=8), (2023, 5, 5), (2023, 5, 11)),
        (PartialDate(year=2023, month=2, day=None), (2023, 2, 1), (2023, 2, 28)),
        (PartialDate(year=None, month=5, day=15), (2024, 5, 12), (2024, 5, 18)),
        (PartialDate(year=None, month=5, day=16), (2023, 5, 13), (2023, 5, 19)),
        (PartialDate(year=None, month=12, day=None), (2023, 12, 1), (2023, 12, 31)),
    ],
)
def test_the_days_near_a_date_are_past_ones(
    stated: PartialDate, first: tuple[int, int, int], last: tuple[int, int, int]
) -> None:
    days = days_near(stated, WEDNESDAY)
    assert days is not None
    assert (days.first, days.last) == (date(*first), date(*last))


@pytest.mark.parametrize("stated", PARTIAL)
def test_the_days_near_a_date_are_those_of_full_affinity(stated: PartialDate) -> None:
    days = days_near(stated, WEDNESDAY)
    assert days is not None
    around = [days.first + timedelta(days=step) for step in range(-5, 40)]
    years, months, numbers = (
        np.array([getattr(day, part) for day in around]) for part in ("year", "month", "day")
    )
    affinity = date_affinities([stated], years, months, numbers)
    inside = np.array([days.first <= day <= days.last for day in around])
    assert affinity[inside].min() == 1.0
    # A month reaches a day into its neighbours.
    assert affinity[~inside].max() < 1.0 or stated.day is None


def test_no_days_are_near_an_impossible_date() -> None:
    assert days_near(PartialDate(year=2023, month=2, day=29), WEDNESDAY) is None


@pytest.mark.parametrize(
    ("text", "asked_on", "latest", "earliest"),
    [
        ("What broke since March?", WEDNESDAY, (2024, 5), (2024, 3)),
        ("What broke since June?", WEDNESDAY, (2024, 5), (2023, 6)),
        ("Was ist seit März kaputt?", WEDNESDAY, (2024, 5), (2024, 3)),
        ("in the last 3 months", WEDNESDAY, (2024, 5), (2024, 2)),
        ("Was haben wir in den letzten 3 Monaten gekauft?", WEDNESDAY, (2024, 5), (2024, 2)),
        ("the past two quarters", WEDNESDAY, (2024, 5), (2023, 11)),
        ("last quarter", WEDNESDAY, (2024, 3), (2024, 1)),
        ("Was war im letzten Quartal?", WEDNESDAY, (2024, 3), (2024, 1)),
        ("this spring", WEDNESDAY, (2024, 5), (2024, 3)),
        ("last spring", WEDNESDAY, (2023, 5), (2023, 3)),
        ("Wo waren wir letzten Sommer?", WEDNESDAY, (2023, 8), (2023, 6)),
        ("L'été dernier, nous étions où ?", WEDNESDAY, (2023, 8), (2023, 6)),
        ("since the summer, since summer", WEDNESDAY, (2024, 5), (2023, 6)),
        ("this winter", date(2024, 1, 10), (2024, 2), (2023, 12)),
        ("last winter", date(2024, 1, 10), (2023, 2), (2022, 12)),
        ("last fall", date(2024, 1, 10), (2023, 11), (2023, 9)),
    ],
)
def test_a_cue_tells_a_time_of_months(
    text: str, asked_on: date, latest: tuple[int, int], earliest: tuple[int, int]
) -> None:
    found = [one.date for one in told_times(text, asked_on)]
    assert all(one.day is None for one in found)
    assert [(one.year, one.month) for one in (found[0], found[-1])] == [latest, earliest]


@pytest.mark.parametrize("text", ["this autumn", "last year", "since 2019", "the last 3 years"])
def test_what_is_to_come_or_too_long_is_no_told_time(text: str) -> None:
    assert told_times(text, WEDNESDAY) == ()


def test_a_short_time_until_now_is_told_by_its_weeks() -> None:
    assert [one.date.day for one in told_times("since last week", WEDNESDAY)] == [12, 7]
    assert [one.date.day for one in told_times("seit Montag habe ich Husten", WEDNESDAY)] == [14]
