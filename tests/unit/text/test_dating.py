# ruff: noqa: RUF001 (scripts of many languages)
"""Dates and times in languages other than English, on Wednesday 15 May 2024."""

from datetime import date

import pytest

from ecphoria.text.cue import turn_features
from ecphoria.text.dates import resolve_dates, tells_day
from ecphoria.text.dating import PartialDate, stated_dates, time_phrases

SAID_ON = date(2024, 5, 15)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Gestern war ich am Hafen.", "05-14", "05-14"),
        ("Letzte Woche haben wir das Boot gestrichen.", "05-06", "05-12"),
        ("Im August fahren wir nach Rom.", "08-01", "08-31"),
        ("Vor drei Tagen kam er an.", "05-12", "05-12"),
        ("Am letzten Freitag war ich dort.", "05-10", "05-10"),
        ("Ayer fui al puerto.", "05-14", "05-14"),
        ("La semana pasada pintamos el barco.", "05-06", "05-12"),
        ("Lo vi hace dos meses.", "03-01", "03-31"),
        ("In den letzten drei Tagen war ich am Hafen.", "05-12", "05-15"),
        ("En los últimos 3 días estuve en el puerto.", "05-12", "05-15"),
        ("Ces trois derniers jours, nous étions au port.", "05-12", "05-15"),
        ("Negli ultimi tre giorni sono andato al porto.", "05-12", "05-15"),
        ("De afgelopen drie dagen was ik in de haven.", "05-12", "05-15"),
        ("Hier, je suis allé au port.", "05-14", "05-14"),
        ("La semaine derniere, nous étions au port.", "05-06", "05-12"),
        ("Je l'ai vu il y a trois jours.", "05-12", "05-12"),
        ("Ieri sono andato al porto.", "05-14", "05-14"),
        ("L'ho visto due giorni fa.", "05-13", "05-13"),
        ("Ontem fui ao porto.", "05-14", "05-14"),
        ("Gisteren was ik in de haven.", "05-14", "05-14"),
        ("Igår var jag i hamnen.", "05-14", "05-14"),
        ("I går var jeg ved havnen og spiste.", "05-14", "05-14"),
        ("Wczoraj byłem w porcie.", "05-14", "05-14"),
        ("Geçen hafta tekneyi boyadık.", "05-06", "05-12"),
        ("Вчера я был в порту.", "05-14", "05-14"),
        ("На прошлой неделе мы красили лодку.", "05-06", "05-12"),
        ("أمس ذهبت إلى الميناء", "05-14", "05-14"),
        ("पिछले सप्ताह हम बंदरगाह गए", "05-06", "05-12"),
        ("昨天我去了港口", "05-14", "05-14"),
        ("上周我们给船刷了漆", "05-06", "05-12"),
        ("上周五我去了港口", "05-10", "05-10"),
        ("三天前他到了", "05-12", "05-12"),
        ("先週、船を塗りました", "05-06", "05-12"),
        ("어제 항구에 갔다", "05-14", "05-14"),
    ],
)
def test_relative_times_are_resolved(text: str, first: str, last: str) -> None:
    (found,) = resolve_dates(text, SAID_ON)
    assert (f"{found.first:%m-%d}", f"{found.last:%m-%d}") == (first, last)
    assert turn_features(text).has_time_expression


@pytest.mark.parametrize(
    ("text", "year", "month", "day"),
    [
        ("Am 3. März 2024 kam er.", 2024, 3, 3),
        ("El 3 de marzo de 2024 llegó.", 2024, 3, 3),
        ("Le 24 août, nous étions là.", None, 8, 24),
        ("Это было 9 мая 2023 года.", 2023, 5, 9),
        ("وصل في 5 مارس 2024", 2024, 3, 5),
        ("2024年4月1日に着いた", 2024, 4, 1),
        ("2024年4月", 2024, 4, None),
        ("4月1日到了", None, 4, 1),
        ("2024년 4월 1일에 도착했다", 2024, 4, 1),
        ("It was on 24.01.2024.", 2024, 1, 24),
    ],
)
def test_stated_dates_are_read(text: str, year: int | None, month: int, day: int | None) -> None:
    assert [one.date for one in stated_dates(text)] == [
        PartialDate(year=year, month=month, day=day)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Version 1.2.2024.3",
        "The mai tai on Mars was nice, they said.",
        "10.11.12",
        "月日",
        "99月99日",
    ],
)
def test_what_looks_like_a_date_is_none(text: str) -> None:
    assert stated_dates(text) == ()


def test_dates_of_two_languages_are_in_order() -> None:
    found = resolve_dates("Am 3. März 2024, dann May 4, 2024 und gestern.", SAID_ON)
    assert [f"{one.first:%m-%d}" for one in found] == ["03-03", "05-04", "05-14"]


def test_a_text_tells_its_day_in_any_language() -> None:
    assert tells_day("I saw her yesterday")
    assert tells_day("Ich habe sie gestern gesehen")
    assert not tells_day("Ich habe sie am Hafen gesehen")


def test_english_has_no_foreign_phrases() -> None:
    assert time_phrases("We met last week, and the day before yesterday, and in August.") == ()
