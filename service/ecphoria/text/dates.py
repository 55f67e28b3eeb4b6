"""Find dates in text: partly stated ones in a cue, resolved ones in a memory."""

import calendar
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from ecphoria.text.tokens import (
    DAY_PARTS,
    MONTH_NAME,
    MONTHS,
    NUMBER_WORDS,
    RELATIVE_DATE,
    WEEKDAYS,
)

_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?:1\d|20)\d\d"
_STATED = re.compile(
    rf"\b(?:(?P<before>{_DAY})\s+(?:of\s+)?)?(?P<month>{MONTH_NAME})\b"
    rf"(?:\s+(?P<after>{_DAY})\b(?!\d))?(?:,?\s+(?P<year>{_YEAR})\b)?"
    rf"|\b(?P<iso_year>{_YEAR})-(?P<iso_month>0[1-9]|1[0-2])-(?P<iso_day>0[1-9]|[12]\d|3[01])\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialDate:
    """A date as far as it was stated; None is what was left open."""

    year: int | None
    month: int
    day: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DayRange:
    """Calendar days from `first` to `last`, both included."""

    first: date
    last: date


def _partial(match: re.Match[str]) -> PartialDate | None:
    if match["iso_year"]:
        return PartialDate(
            year=int(match["iso_year"]), month=int(match["iso_month"]), day=int(match["iso_day"])
        )
    day, year = match["before"] or match["after"], match["year"]
    month = MONTHS.index(match["month"].lower()) + 1
    if match["month"] == "May" and not (day or year):
        return None
    return PartialDate(
        year=int(year) if year else None,
        month=month,
        day=int(day.rstrip("sthndr")) if day else None,
    )


def partial_dates(text: str) -> tuple[PartialDate, ...]:
    """Find `3 July`, `July 3rd, 2023`, `June 2023`, `March`, `2023-07-03`, in order.

    Month names count capitalised and in full; `May` alone is no date.
    """
    found = (_partial(match) for match in _STATED.finditer(text))
    return tuple(partial for partial in found if partial is not None)


def date_affinities(
    dates: Sequence[PartialDate],
    years: NDArray[np.int64],
    months: NDArray[np.int64],
    days: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Score many calendar days against the stated dates, 0 to 1; all 0 if none is stated.

    `exp(-max(0, |delta| - w) / s)`, delta in days with months of 30 and years of 365, w = 3 and
    s = 5 if a day is stated, else w = 16 and s = 15 around the 15th; the best date counts. Without
    a stated year, month and day alone are compared, not wrapped at New Year.
    Shapes: `years`, `months`, `days` and the result are alike.
    """
    best = np.zeros(np.shape(years), dtype=np.float64)
    for stated in dates:
        width, scale = (3.0, 5.0) if stated.day else (16.0, 15.0)
        delta = 30.0 * (months - stated.month) + (days - (stated.day or 15))
        if stated.year:
            delta = delta + 365.0 * (years - stated.year)
        np.maximum(best, np.exp(-np.maximum(0.0, np.abs(delta) - width) / scale), out=best)
    return best


def date_affinity(dates: Sequence[PartialDate], day: date) -> float:
    """Score one day; see `date_affinities`."""
    parts = (np.array(value) for value in (day.year, day.month, day.day))
    return float(date_affinities(dates, *parts))


def resolve_dates(text: str, said_on: date) -> tuple[DayRange, ...]:
    """Resolve stated and relative dates to ranges of days, in order of appearance, once each.

    A date without a year is the one nearest to `said_on`. Impossible dates (31 June) and those
    outside the calendar are left out.
    """
    found = [(match.start(), _stated_range(match, said_on)) for match in _STATED.finditer(text)]
    found += [
        (match.start(), _relative_range(match, said_on)) for match in RELATIVE_DATE.finditer(text)
    ]
    found.sort(key=lambda entry: entry[0])
    return tuple(dict.fromkeys(days for _, days in found if days is not None))


def _month(year: int, month: int) -> DayRange:
    """All days of a month."""
    last = calendar.monthrange(year, month)[1]
    return DayRange(first=date(year, month, 1), last=date(year, month, last))


def _stated_range(match: re.Match[str], said_on: date) -> DayRange | None:
    stated = _partial(match)
    if stated is None:
        return None
    years = (stated.year,) if stated.year else range(said_on.year - 1, said_on.year + 2)
    ranges = list(_candidate_ranges(stated, years))
    return min(ranges, key=lambda days: abs(days.first - said_on), default=None)


def _candidate_ranges(stated: PartialDate, years: Sequence[int]) -> Iterator[DayRange]:
    for year in years:
        try:
            if stated.day:
                exact = date(year, stated.month, stated.day)
                yield DayRange(first=exact, last=exact)
            else:
                yield _month(year, stated.month)
        except ValueError:  # 29 February of a common year, or year 0
            continue


def _relative_range(match: re.Match[str], said_on: date) -> DayRange | None:
    try:
        if match["day"]:
            return _days(said_on, DAY_PARTS[" ".join(match["day"].lower().split())])
        if match["count"]:
            count = match["count"].lower()
            back = int(count) if count.isdigit() else NUMBER_WORDS[count]
            return _shifted(said_on, match["unit"].lower(), -back)
        step = {"last": -1, "this": 0, "next": 1}[match["which"].lower()]
        return _span(said_on, match["span"].lower(), step)
    except (OverflowError, ValueError):  # before year 1 or after year 9999
        return None


def _days(start: date, offset: int, length: int = 1) -> DayRange:
    first = start + timedelta(days=offset)
    return DayRange(first=first, last=first + timedelta(days=length - 1))


def _shifted(said_on: date, unit: str, count: int) -> DayRange:
    """`count` units away: the day, the seven days around it, the month or the year."""
    if unit == "day":
        return _days(said_on, count)
    if unit == "week":
        return _days(said_on, 7 * count - 3, 7)
    if unit == "month":
        years, month = divmod(said_on.month - 1 + count, 12)
        return _month(said_on.year + years, month + 1)
    year = said_on.year + count
    return DayRange(first=date(year, 1, 1), last=date(year, 12, 31))


def _span(said_on: date, span: str, step: int) -> DayRange:
    """The last, this or next week (from Monday), weekend, month, year or weekday."""
    weekday = said_on.weekday()
    if span == "week":
        return _days(said_on, 7 * step - weekday, 7)
    if span == "weekend":
        return _days(said_on, 7 * step + 5 - weekday, 2)
    if span in {"month", "year"}:
        return _shifted(said_on, span, step)
    ahead = (WEEKDAYS.index(span) - weekday) % 7
    if step < 0:
        return _days(said_on, ahead - 7)
    return _days(said_on, ahead or 7 if step else ahead)
