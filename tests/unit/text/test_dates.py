import math
from collections.abc import Sequence
from datetime import date

import numpy as np
import pytest

from ecphoria.text.dates import date_affinities
from ecphoria.text.dating import PartialDate, stated_dates


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
        ("What did we do at Christmas?", [(None, 12, 25)]),
        ("last Christmas, over Xmas 2023", [(None, 12, 25), (2023, 12, 25)]),
        ("on New Year's Eve, around New Year", [(None, 12, 31), (None, 1, 1)]),
        ("at the Christmas party", []),
        ("Wo waren wir über Weihnachten 2023?", [(2023, 12, 25)]),
        ("Wer war an Silvester da?", [(None, 12, 31)]),
        ("Was war am 3. August los?", [(None, 8, 3)]),
        ("We won 4. May I come?", []),
    ],
)
def test_stated_dates(text: str, expected: list[tuple[int | None, int, int | None]]) -> None:
    assert [(d.date.year, d.date.month, d.date.day) for d in stated_dates(text)] == expected


def date_affinity(stated: Sequence[PartialDate], day: date) -> float:
    """Score one day."""
    parts = (np.array(value) for value in (day.year, day.month, day.day))
    return float(date_affinities(stated, *parts))


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
    stated = [one.date for one in stated_dates("1 March 2020 or 1 June 2020")]
    days = [date(2020, 3, 1), date(2020, 6, 4), date(2020, 4, 20)]
    years, months, in_month = (
        np.array([getattr(day, part) for day in days]) for part in ("year", "month", "day")
    )
    found = date_affinities(stated, years, months, in_month)
    assert found.tolist() == pytest.approx([date_affinity(stated, day) for day in days])
    assert found[:2].tolist() == [1.0, 1.0]


def test_no_stated_date_scores_nothing() -> None:
    assert date_affinity((), date(2020, 1, 1)) == 0.0
