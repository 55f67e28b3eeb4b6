"""Find the dates that a cue states, and score days by their distance to them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecphoria.text.tokens import (
    MONTH_NAME,
    MONTHS,
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
