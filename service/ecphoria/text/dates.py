"""Resolve phrases such as "last Friday" or "in May 2023" to days."""

import calendar
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from operator import itemgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecphoria.text.dating import (
    NUMBERS,
    SEASONS,
    STATED_DATE,
    PartialDate,
    PlacedDate,
    apart,
    read_date,
    stated_in,
    time_phrases,
)
from ecphoria.text.english import MONTHS, WEEKDAYS
from ecphoria.text.languages import languages_of
from ecphoria.text.tables import any_of

_NUMBERS: Final = {"a": 1, "an": 1, "a couple of": 2, "couple of": 2} | {
    word: number for number, word in enumerate(NUMBERS, start=1)
}
_DAYS: Final = {
    "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0, "this evening": 0,
    "yesterday": -1, "last night": -1, "the day before yesterday": -2,
    "tomorrow": 1, "the day after tomorrow": 2,
}  # fmt: skip
"""Phrases that name one day, as days from the one on which they are said."""
_RELATIVE: Final = re.compile(
    rf"\b(?:(?P<day>{any_of(_DAYS)})"
    rf"|(?P<count>\d{{1,3}}|{any_of(_NUMBERS)})\s+(?P<unit>day|week|month|year)s?\s+ago"
    rf"|(?:(?:last|past)\s+(?P<length>\d{{1,3}}|few|{any_of(_NUMBERS)})|the\s+past)"
    rf"\s+(?P<until_now>day|week|month|year)s?"
    rf"|(?P<which>last|this|next)\s+"
    rf"(?P<span>weekend|week|month|year|{any_of(WEEKDAYS)}|{any_of(MONTHS)}))\b",
    re.IGNORECASE,
)
_FALL: Final = {"fall": "autumn"}
_LONG_SPANS: Final = any_of(("quarter", *SEASONS, *_FALL))
_LONG: Final = re.compile(
    rf"\b(?:since\s+(?:the\s+)?(?P<since>(?:(?:last|this)\s+)?"
    rf"(?:{any_of((*MONTHS, *WEEKDAYS, *SEASONS, *_FALL))})"
    rf"|(?:last|this)\s+(?:week|month|year|{_LONG_SPANS})|yesterday)"
    rf"|(?:last|past)\s+(?P<quarters>\d{{1,2}}|few|{any_of(_NUMBERS)})\s+quarters?"
    rf"|(?P<which>last|this)\s+(?P<long>{_LONG_SPANS}))\b",
    re.IGNORECASE,
)
"""Times of more than a month, and those that begin at some time and last until now."""
_YEAR_ALONE: Final = re.compile(r"(?:in|since|from|until|till|by|before|after)?\s*((?:19|20)\d\d)")
_STEPS: Final = {"last": -1, "this": 0, "next": 1}
_COUNTS: Final = _NUMBERS | {"few": 3}
_UNIT_DAYS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}


@dataclass(frozen=True, slots=True, kw_only=True)
class DayRange:
    """Calendar days from `first` to `last`, both included."""

    first: date
    last: date


def resolve_dates(text: str, said_on: date) -> tuple[DayRange, ...]:
    """Resolve stated and relative dates to ranges of days, in order of appearance, once each.

    A date without a year is the one nearest to `said_on`. Impossible dates (31 June) and those
    outside the calendar are left out. A year alone counts only if it is the whole text.

    Example:
        >>> resolve_dates("last Friday", date(2024, 5, 15))
        (DayRange(first=datetime.date(2024, 5, 10), last=datetime.date(2024, 5, 10)),)
    """
    year = _YEAR_ALONE.fullmatch(text.strip().lower())
    if year:
        return (_year(int(year[1])),)
    relative = list(_RELATIVE.finditer(text))
    starts = [match.start() for match in relative]
    found = [(match.start(), _relative_range(match, said_on)) for match in relative]
    for match in STATED_DATE.finditer(text):
        before = bisect_right(starts, match.start()) - 1
        # "last May" names the month too; it is read once, as the relative date.
        if before < 0 or relative[before].end() <= match.start():
            found.append((match.start(), _stated_range(read_date(match), said_on)))
    found += _foreign(text, said_on)
    found.sort(key=itemgetter(0))
    return tuple(dict.fromkeys(days for _, days in found if days is not None))


def tells_day(text: str) -> bool:
    """Tell whether a text names a time by the day on which it is said: "today", "last week"."""
    # "This may" is seldom a month.
    spans = ((match["span"] or "").lower() for match in _RELATIVE.finditer(text))
    return any(span not in MONTHS for span in spans) or bool(time_phrases(text))


def told_times(text: str, said_on: date) -> tuple[PlacedDate, ...]:
    """Find the past times that a text tells from the day on which it is said.

    A week is dated by its middle, a month by itself. The last days up to the present one are dated
    by their weeks, the latest first, and by their months if they are more than a month, as is a
    season; a calendar year is too long to be a date.

    Example:
        >>> told_times("What did I do yesterday?", date(2024, 5, 15))[0].date
        PartialDate(year=2024, month=5, day=14, exact=True)
        >>> [one.date.month for one in told_times("What broke since March?", date(2024, 5, 15))]
        [5, 4, 3]
    """
    forms = (_LONG, _RELATIVE)
    phrases = [(match.span(), match) for form in forms for match in form.finditer(text)]
    phrases += [
        ((phrase.start, phrase.end), match)
        for phrase in time_phrases(text)
        for form in forms
        if (match := form.fullmatch(phrase.english))
    ]
    found = list[PlacedDate]()
    for (start, end), match in apart(phrases):
        days = _relative_range(match, said_on)
        if days is not None and days.first <= said_on:
            found += [PlacedDate(start=start, end=end, date=one) for one in _dated(match, days)]
    return tuple(found)


def _long_range(match: re.Match[str], said_on: date) -> DayRange | None:
    """Resolve a match of `_LONG`."""
    if match["since"]:
        first = _start(match["since"].lower(), said_on)
        return DayRange(first=first, last=said_on) if first else None
    if match["quarters"]:
        back = 3 * _UNIT_DAYS["month"] * _number(match["quarters"])
        return _days(said_on, -back, back + 1)
    return _long_span(said_on, match["long"].lower(), _STEPS[match["which"].lower()])


def _number(said: str) -> int:
    return int(said) if said.isdigit() else _COUNTS[said.lower()]


def _start(since: str, said_on: date) -> date | None:
    """Find the first day of what is said behind "since": the latest one that has begun."""
    if since in MONTHS:
        month = MONTHS.index(since) + 1
        return date(said_on.year - (month > said_on.month), month, 1)
    if _FALL.get(since, since) in SEASONS:
        this = _long_span(said_on, since, 0)
        return (this if this.first <= said_on else _long_span(said_on, since, -1)).first
    text = since if " " in since or since == "yesterday" else f"last {since}"
    match = _LONG.fullmatch(text) or _RELATIVE.fullmatch(text)
    days = match and _relative_range(match, said_on)
    return days.first if days else None


def _long_span(said_on: date, span: str, step: int) -> DayRange:
    """Resolve the last or this quarter, or a season, which begins in March, June and so on.

    The last one is the latest that has ended.
    """
    span = _FALL.get(span, span)
    if span == "quarter":
        months = 12 * said_on.year + (said_on.month - 1) // 3 * 3 + 3 * step
    else:
        months = 12 * said_on.year + 3 * SEASONS.index(span) + 2
        now = 12 * said_on.year + said_on.month - 1
        # In January, this winter began last year.
        months -= 12 * (now < months - _SEASON * 3)
        months -= 12 * (step < 0 and now < months + _SEASON)
    first, last = (divmod(one, 12) for one in (months, months + 2))
    return DayRange(first=date(first[0], first[1] + 1, 1), last=_month(last[0], last[1] + 1).last)


def days_near(stated: PartialDate, asked_on: date) -> DayRange | None:
    """Give the days of a memory that are as close as can be to a date of a cue.

    Their `date_affinities` are 1: the exact day, 3 days around a stated one, the month.
    Without a year it is the last such date up to `asked_on`, of that year or the one before. None
    if there is no such date.

    Example:
        >>> days_near(PartialDate(year=None, month=12, day=6), date(2024, 5, 15))
        DayRange(first=datetime.date(2023, 12, 3), last=datetime.date(2023, 12, 9))
    """
    years = (stated.year,) if stated.year else (asked_on.year, asked_on.year - 1)
    ranges = _candidate_ranges(stated, years)
    past = (days for days in ranges if stated.year or days.first <= asked_on)
    if (days := next(past, None)) is None or not stated.day or stated.exact:
        return days
    return _days(days.first, -_DAYS_BESIDE, 2 * _DAYS_BESIDE + 1)


def date_affinities(
    dates: Sequence[PartialDate],
    years: NDArray[np.int64],
    months: NDArray[np.int64],
    days: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Score many calendar days against the stated dates, 0 to 1; all 0 if none is stated.

    `exp(-max(0, |delta| - w) / s)`, delta in days with months of 30 and years of 365, w = 3 and
    s = 5 if a day is stated, w = 0 and s = 2 if it is exact, else w = 16 and s = 15 around the
    15th; the best date counts. Without a stated year, month and day alone are compared, not
    wrapped at New Year.
    Shapes: `years`, `months`, `days` and the result are alike.
    """
    best = np.zeros(np.shape(years), dtype=np.float64)
    for stated in dates:
        width, scale = (float(_DAYS_BESIDE), 5.0) if stated.day else (16.0, 15.0)
        width, scale = (0.0, 2.0) if stated.exact else (width, scale)
        delta = 30.0 * (months - stated.month) + (days - (stated.day or 15))
        if stated.year:
            delta = delta + 365.0 * (years - stated.year)
        np.maximum(best, np.exp(-np.maximum(0.0, np.abs(delta) - width) / scale), out=best)
    return best


_DAYS_BESIDE: Final = 3
"""Days before and after a stated day that are as close: people tell of it some days later."""


def _dated(match: re.Match[str], days: DayRange) -> Iterator[PartialDate]:
    """Date some days by themselves, their weeks or months; nothing if they are too many."""
    length = (days.last - days.first).days
    is_long = match.re is _LONG or match["until_now"] is not None
    if is_long and length > _LONGEST_MONTH:
        yield from _months(days) if length <= _LONGEST_SPAN else ()
    elif is_long:
        yield from _weeks(days)
    elif length <= _LONGEST_MONTH:
        middle = days.first + timedelta(days=length // 2)
        day = middle.day if length <= _LONGEST_WEEK else None
        yield PartialDate(year=middle.year, month=middle.month, day=day, exact=not length)


def _weeks(days: DayRange) -> Iterator[PartialDate]:
    """Date days by the middles of their weeks, from the latest."""
    for last in range(days.last.toordinal(), days.first.toordinal() - 1, -7):
        middle = date.fromordinal((max(last - 6, days.first.toordinal()) + last) // 2)
        yield PartialDate(year=middle.year, month=middle.month, day=middle.day)


def _months(days: DayRange) -> Iterator[PartialDate]:
    """Date days by their months, from the latest."""
    first, last = (12 * day.year + day.month - 1 for day in (days.first, days.last))
    for month in range(last, first - 1, -1):
        yield PartialDate(year=month // 12, month=month % 12 + 1, day=None)


_LONGEST_WEEK: Final = 7
_LONGEST_MONTH: Final = 31
_LONGEST_SPAN: Final = 366
_SEASON: Final = 3
"""Months."""


def _year(year: int) -> DayRange:
    return DayRange(first=date(year, 1, 1), last=date(year, 12, 31))


def _month(year: int, month: int) -> DayRange:
    last = calendar.monthrange(year, month)[1]
    return DayRange(first=date(year, month, 1), last=date(year, month, last))


def _foreign(text: str, said_on: date) -> Iterator[tuple[int, DayRange | None]]:
    """Resolve what a text says in another language than English, or in figures."""
    languages = languages_of(text)
    relative = [
        (phrase.start, _RELATIVE.fullmatch(phrase.english))
        for phrase in time_phrases(text, languages)
    ]
    for start, match in relative:
        if match:
            yield start, _relative_range(match, said_on)
    for one in stated_in(text, languages):
        yield one.start, _stated_range(one.date, said_on)


def _stated_range(stated: PartialDate | None, said_on: date) -> DayRange | None:
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
    """Resolve a match of `_RELATIVE` or `_LONG`."""
    try:
        if match.re is _LONG:
            return _long_range(match, said_on)
        if match["day"]:
            return _days(said_on, _DAYS[" ".join(match["day"].lower().split())])
        if match["count"]:
            return _shifted(said_on, match["unit"].lower(), -_number(match["count"]))
        if match["until_now"]:
            back = _number(match["length"] or "a") * _UNIT_DAYS[match["until_now"].lower()]
            return _days(said_on, -back, back + 1)
        return _span(said_on, match["span"].lower(), _STEPS[match["which"].lower()])
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
    return _year(said_on.year + count)


def _span(said_on: date, span: str, step: int) -> DayRange:
    """The last, this or next week (from Monday), weekend, month, year, weekday or named month."""
    weekday = said_on.weekday()
    if span == "week":
        return _days(said_on, 7 * step - weekday, 7)
    if span == "weekend":
        return _days(said_on, 7 * step + 5 - weekday, 2)
    if span in {"month", "year"}:
        return _shifted(said_on, span, step)
    if span in MONTHS:
        return _named_month(said_on, MONTHS.index(span) + 1, step)
    ahead = (WEEKDAYS.index(span) - weekday) % 7
    if step < 0:
        return _days(said_on, ahead - 7)
    return _days(said_on, ahead or 7 if step else ahead)


def _named_month(said_on: date, month: int, step: int) -> DayRange:
    """The last month of this name before the present one, this year's, or the next one."""
    if step < 0:
        return _month(said_on.year - (month >= said_on.month), month)
    return _month(said_on.year + (step > 0 and month <= said_on.month), month)
