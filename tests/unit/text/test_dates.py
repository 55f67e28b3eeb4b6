import math
from datetime import date

import numpy as np
import pytest

from ecphoria.text.dates import (
    PartialDate,
    date_affinities,
    date_affinity,
    partial_dates,
    resolve_dates,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 3 July", [(None, 7, 3)]),
        ("on July 3rd, 2023?", [(2023, 7, 3)]),
        ("the 2nd of May", [(None, 5, 2)]),
        ("in June 2023", [(2023, 6, None)]),
        ("in March", [(None, 3, None)]),
        ("in May", []),
        ("in May 2020", [(2020, 5, None)]),
        ("you may march", []),
        ("on 2023-07-03", [(2023, 7, 3)]),
        ("from 1 June to 4 August 2021", [(None, 6, 1), (2021, 8, 4)]),
        ("in 2023", []),
        ("July 45", [(None, 7, None)]),
    ],
)
def test_stated_dates(text: str, expected: list[tuple[int | None, int, int | None]]) -> None:
    assert [(d.year, d.month, d.day) for d in partial_dates(text)] == expected


def test_affinity_falls_with_distance_beyond_the_width() -> None:
    stated = (PartialDate(year=2023, month=7, day=3),)
    assert date_affinity(stated, date(2023, 7, 6)) == 1.0
    assert date_affinity(stated, date(2023, 7, 11)) == pytest.approx(math.exp(-1))
    assert date_affinity(stated, date(2024, 7, 3)) == pytest.approx(math.exp(-362 / 5))


def test_affinity_without_day_or_year() -> None:
    stated = (PartialDate(year=None, month=12, day=None),)
    assert date_affinity(stated, date(1999, 12, 31)) == 1.0
    assert date_affinity(stated, date(2020, 1, 15)) == pytest.approx(math.exp(-(330 - 16) / 15))


def test_the_best_of_several_dates_counts_for_each_day() -> None:
    stated = partial_dates("1 March 2020 or 1 June 2020")
    days = [date(2020, 3, 1), date(2020, 6, 4), date(2020, 4, 20)]
    years, months, in_month = (
        np.array([getattr(day, part) for day in days]) for part in ("year", "month", "day")
    )
    found = date_affinities(stated, years, months, in_month)
    assert found.tolist() == pytest.approx([date_affinity(stated, day) for day in days])
    assert found[:2].tolist() == [1.0, 1.0]


def test_no_stated_date_scores_nothing() -> None:
    assert date_affinity((), date(2020, 1, 1)) == 0.0


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
