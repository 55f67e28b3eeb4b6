"""Phrases resolve to days, against the day on which they are said."""

from datetime import date

import pytest

from ecphoria.text.dates import resolve_dates

WEDNESDAY = date(2024, 5, 15)


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
