"""Find the dates and times that a text states: in words of all languages, and in figures.

A phrase such as "letzte Woche" is translated into "last week", so that one set of rules, in
`ecphoria.text.dates`, resolves all languages. The words of each stand in `languages.toml`; those
of English dates stand here.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter, itemgetter
from typing import Any, Final, TypeVar

from ecphoria.text import german
from ecphoria.text.english import MONTHS, STOP_WORDS, WEEKDAYS
from ecphoria.text.languages import LANGUAGES, Language, languages_of
from ecphoria.text.tokens import APOSTROPHES, stems_of, unaccented, words

T = TypeVar("T")

_UNITS: Final = ("day", "week", "month", "year", "quarter")
SEASONS: Final = ("spring", "summer", "autumn", "winter")
NUMBERS: Final = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
)  # fmt: skip
_STEPS: Final = ("last", "this", "next")
_DAY: Final = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH: Final = r"(?:0?[1-9]|1[0-2])"
_YEAR: Final = r"(?:1\d|20)\d\d"
_IN_FIGURES: Final = (
    re.compile(
        rf"(?<![\d.])(?P<day>{_DAY})\.\s?(?P<month>{_MONTH})\.\s?(?P<year>{_YEAR})(?!\.?\d)"
    ),
    re.compile(
        rf"(?<!\d)(?:(?P<year>{_YEAR})\s?[年년]\s?)?(?P<month>{_MONTH})\s?[月월]"
        rf"\s?(?:(?P<day>{_DAY})\s?[日号號일])"
    ),
    re.compile(rf"(?<!\d)(?P<year>{_YEAR})\s?[年년]\s?(?P<month>{_MONTH})\s?[月월](?P<day>)"),
)
"""`24.01.2024`, and the order of Chinese, Japanese and Korean."""

_TH: Final = "(?:st|nd|rd|th)?"
_ALIKE: Final = "|".join(month.capitalize() for month in MONTHS if month in german.MONTHS)
"""Months with the same name in English and German. "Was war am 3. August los?" has no other word
that tells its language."""
STATED_DATE: Final = re.compile(
    rf"\b(?:(?P<before>{_DAY}(?:\.(?=\s+(?:{_ALIKE})\b)|{_TH}))\s+(?:of\s+)?)?"
    rf"(?P<month>{'|'.join(map(str.capitalize, MONTHS))})\b"
    rf"(?:\s+(?P<after>{_DAY}{_TH})\b(?!\d))?(?:,?\s+(?P<year>{_YEAR})\b)?"
    rf"|\b(?P<iso_year>{_YEAR})-(?P<iso_month>0[1-9]|1[0-2])-(?P<iso_day>0[1-9]|[12]\d|3[01])\b"
)
"""An English date: `3 July`, `July 3rd, 2023`, `2023-07-03`."""
_HOLIDAY: Final = re.compile(
    rf"\b(?:(?:at|on|over|during|around|since|last) (?:the )?(?:(?P<christmas>Christmas|Xmas)"
    rf"|New Year(?:[{APOSTROPHES}]s)?(?P<eve> Eve)?)(?: (?:Day|Eve|holidays?|break))?"
    r"(?! (?!(?:in|at|with|and|or|this|last|on|of|by|to|from|\d+)\b)\w)"
    r"|(?:über|an|am|um|seit|letzte[ns]?|vorige[ns]?) (?:(?P<weihnachten>Weihnachten|Heiligabend)"
    rf"|Neujahr|(?P<silvester>Silvester)))\b(?:,? (?:in )?(?P<year>{_YEAR})\b)?"
)
"""An English or German holiday by which a question names a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialDate:
    """A date as far as it was stated; None for missing parts.

    An `exact` one is the day of a memory itself; other days are mentioned some days later too.
    """

    year: int | None
    month: int
    day: int | None
    exact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedDate:
    """A date at its place in a text, from `start` to `end`: as stated, or told from a day."""

    start: int
    end: int
    date: PartialDate


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePhrase:
    """A time told from the day on which it is said, from `start` to `end`, in English."""

    start: int
    end: int
    english: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
    stated: re.Pattern[str]
    phrases: tuple[tuple[re.Pattern[str], str], ...]
    holidays: tuple[tuple[re.Pattern[str], PartialDate], ...]


def stated_dates(text: str, languages: Sequence[Language] | None = None) -> tuple[PlacedDate, ...]:
    """Find `3 July`, `July 3rd, 2023`, `June 2023`, `March`, `2023-07-03`, `3. Juli`, in order.

    Also `at Christmas`, `über Weihnachten` and `à Noël`. English month names count capitalised and
    in full; `May` alone is no date.
    """
    languages = languages_of(text) if languages is None else languages
    read = [(match, read_date(match)) for match in STATED_DATE.finditer(text)]
    read += [(match, _holiday(match)) for match in _HOLIDAY.finditer(text)]
    found = [
        *stated_in(text, languages),
        *_holidays_in(text, languages),
        *(PlacedDate(start=one.start(), end=one.end(), date=day) for one, day in read if day),
    ]
    return tuple(sorted(found, key=attrgetter("start")))


def read_date(match: re.Match[str]) -> PartialDate | None:
    """Read a match of `STATED_DATE`; None for the word May alone."""
    if match["iso_year"]:
        return _date(match["iso_year"], match["iso_month"], match["iso_day"])
    day, year = match["before"] or match["after"], match["year"]
    if match["month"] == "May" and not (day or year):
        return None
    return _date(year, 1 + MONTHS.index(match["month"].lower()), day and day.rstrip("sthndr."))


def _date(year: str | None, month: int | str, day: str | None) -> PartialDate:
    return PartialDate(
        year=int(year) if year else None, month=int(month), day=int(day) if day else None
    )


def _holiday(match: re.Match[str]) -> PartialDate:
    """Date a holiday; its words stay terms, because people tell of it on other days too."""
    if match["christmas"] or match["weihnachten"]:
        return _date(match["year"], 12, "25")
    is_eve = match["eve"] or match["silvester"]
    return _date(match["year"], *((12, "31") if is_eve else (1, "1")))


def stated_in(text: str, languages: Sequence[Language] | None = None) -> tuple[PlacedDate, ...]:
    """Find stated dates, in order: `3. März 2024`, `en agosto`, `24.01.2024`, `4月1日`."""
    lower = unaccented(text)
    found = [
        (match.span(), _date(match["year"], match["month"], match["day"]))
        for form in _IN_FIGURES
        for match in form.finditer(lower)
    ]
    for language in languages_of(text) if languages is None else languages:
        matches = _rules(language.code).stated.finditer(lower)
        found += [
            (match.span(), _date(match["year"], 1 + _place(match, "m", len(MONTHS)), match["day"]))
            for match in matches
        ]
    return tuple(PlacedDate(start=span[0], end=span[1], date=date) for span, date in apart(found))


def stems_of_days(text: str, dates: Sequence[PlacedDate]) -> tuple[frozenset[str], ...]:
    """Read the stems of each stated day, of its number and its month, in order.

    A year is left out, because the texts of a talk seldom say it. So are days whose words are not
    apart: `4月1日`.

    >>> text = "on 4 August 2026"
    >>> [sorted(day) for day in stems_of_days(text, stated_dates(text))]
    [['4', 'august']]
    """
    said = (words(text[one.start : one.end]) for one in dates if one.date.day)
    days = (
        [word for word in day if word not in STOP_WORDS and not re.fullmatch(_YEAR, word)]
        for day in said
    )
    return tuple(
        frozenset(stems_of(day))
        for day in days
        if any(word[0].isdigit() for word in day)
        and all(word[0].isdigit() or word.upper() != word for word in day)
    )


_ORDINALS: Final = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
    "eighteenth", "nineteenth", "twentieth",
)  # fmt: skip
"""The English ones of one word."""
_NUMBER_OF_DAY: Final = re.compile(rf"({_DAY}){_TH}")


def forms_of_days(days: Iterable[frozenset[str]]) -> dict[str, tuple[str, ...]]:
    """Give for the number of each day with a month the other stems that English writes for it.

    >>> forms_of_days([frozenset({"3", "april"})])
    {'3': ('3rd', 'third')}
    """
    numbers = {
        stem: int(found[1])
        for day in days
        if any(map(str.isalpha, day))
        for stem in sorted(day)
        if (found := _NUMBER_OF_DAY.fullmatch(stem))
    }
    return {
        stem: tuple(form for form in _forms_of(number) if form != stem)
        for stem, number in numbers.items()
    }


def _forms_of(number: int) -> tuple[str, ...]:
    end = "th" if number in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return (str(number), f"{number}{end}", *stems_of(_ORDINALS[number - 1 : number]))


def _holidays_in(text: str, languages: Sequence[Language]) -> tuple[PlacedDate, ...]:
    """Find holidays of a text's languages by which a question names a time: "à Noël"."""
    lower = unaccented(text)
    return tuple(
        PlacedDate(start=match.start(), end=match.end(), date=day)
        for language in languages
        for pattern, day in _rules(language.code).holidays
        for match in pattern.finditer(lower)
    )


def time_phrases(text: str, languages: Sequence[Language] | None = None) -> tuple[TimePhrase, ...]:
    """Find relative times, in order.

    >>> [phrase.english for phrase in time_phrases("Gestern war ich da, und vor zwei Wochen.")]
    ['yesterday', 'two week ago']
    """
    lower = unaccented(text)
    found = [
        (match.span(), _translated(match, english))
        for language in (languages_of(text) if languages is None else languages)
        for pattern, english in _rules(language.code).phrases
        for match in pattern.finditer(lower)
    ]
    return tuple(
        TimePhrase(start=span[0], end=span[1], english=said) for span, said in apart(found)
    )


def names_time(text: str, languages: Sequence[Language]) -> bool:
    """Tell whether a text places something in time, in one of its languages besides English."""
    return bool(languages) and bool(time_phrases(text, languages) or stated_in(text, languages))


def apart(found: Iterable[tuple[tuple[int, int], T]]) -> Iterator[tuple[tuple[int, int], T]]:
    """Keep places of a text that do not overlap: of two the earlier, then the longer."""
    end = -1
    for span, one in sorted(found, key=lambda item: (item[0][0], -item[0][1])):
        if span[0] >= end:
            end = span[1]
            yield span, one


def _place(match: re.Match[str], prefix: str, count: int) -> int:
    """Find the group that matched among `prefix0`, `prefix1` and so on."""
    return next(place for place in range(count) if match[f"{prefix}{place}"] is not None)


def _translated(match: re.Match[str], english: str) -> str:
    """Fill the number, the unit, and the word that is counted into an English phrase."""
    groups = match.groupdict()
    if "{n}" in english:
        digits = groups["digits"]
        number = digits or NUMBERS[_place(match, "n", len(NUMBERS))]
        return english.format(n=number, unit=_UNITS[_place(match, "u", len(_UNITS))])
    if "{span}" in english:
        said = next(name for name, value in groups.items() if value is not None)
        return english.format(span=_SPANS[said])
    return english


_SPANS: Final[Mapping[str, str]] = {
    f"{prefix}{place}": name
    for prefix, names in (("u", _UNITS), ("w", WEEKDAYS), ("m", MONTHS), ("s", SEASONS))
    for place, name in enumerate(names)
}


@lru_cache
def _rules(code: str) -> _Rules:
    language = LANGUAGES[code]
    table = _unaccented(language.calendar)
    month = _named("m", table["months"])
    phrases: list[tuple[str, str]] = [
        (said, english) for said, english in table["phrases"].items()
    ]
    number = rf"(?:(?P<digits>\d{{1,3}})|{_named('n', table['numbers'])})"
    unit = _named("u", table["units"])
    phrases += [
        (
            form.replace(" ?", r"\s*").replace(" ", r"\s+").format(n=number, unit=unit),
            "{n} {unit} ago",
        )
        for form in table["ago"]
    ]
    if language.spaced:
        counted = (rf"(?:{table['last']})\s+{number}", rf"{number}\s+(?:{table['last']})")
        phrases += [(rf"{one}\s+{unit}", "last {n} {unit}") for one in counted]
    gap = r"\s+" if language.spaced else r"\s*"
    # A Chinese weekday begins with the word for a week.
    seasons = f"|{_named('s', table['seasons'])}" if "seasons" in table else ""
    named = f"{_named('w', table['weekdays'])}|{month}{seasons}"
    spans = f"(?:{named}|{unit})"
    for since in _since(table, gap):
        phrases.append((since.format(f"(?:{named})"), "since {span}"))
        phrases.append((since.format(rf"(?:{table['last']}){gap}{spans}"), "since last {span}"))
        if language.spaced:
            phrases.append((since.format(rf"{spans}\s+(?:{table['last']})"), "since last {span}"))
    for step in _STEPS:
        phrases.append((f"(?:{table[step]}){gap}{spans}", f"{step} {{span}}"))
        if language.spaced:
            phrases.append((f"{spans}{gap}(?:{table[step]})", f"{step} {{span}}"))
    before = rf"(?:(?P<day>{_DAY})(?:\.|\u00ba|er|e)?\s*(?:de\s+|d['\u2019])?)?"
    if not language.spaced:  # its days stand behind the month (`_IN_FIGURES`)
        before = "(?P<day>(?!))?"
    dated = rf"(?<!\d){before}{month}(?:,?\s*(?:de\s+|del\s+|do\s+)?(?P<year>{_YEAR})(?!\d))?"
    return _Rules(
        stated=_compiled(dated, language),
        phrases=tuple((_compiled(said, language), english) for said, english in phrases),
        holidays=tuple(
            (_compiled(said, language), _day_of(day))
            for day, said in table.get("holidays", {}).items()
        ),
    )


def _since(table: Mapping[str, Any], gap: str) -> Iterator[str]:
    """Write the forms of "since", with a place for the time."""
    if "until_now" in table:
        before = f"(?:{table['since']})?" if "since" in table else r"(?<!\d)"
        yield f"{before}{{}}(?:{table['until_now']})"
    elif "since" in table:
        yield f"(?:{table['since']}){gap}{{}}"


def _day_of(holiday: str) -> PartialDate:
    month, day = map(int, holiday.split("-"))
    return PartialDate(year=None, month=month, day=day)


def _unaccented(value: Any) -> Any:
    """Write the spellings of a table as they are searched in a text."""
    if isinstance(value, Mapping):
        return {unaccented(key): _unaccented(one) for key, one in value.items()}
    if isinstance(value, list):
        return [unaccented(one) for one in value]
    return unaccented(value)


def _named(prefix: str, spellings: Sequence[str]) -> str:
    """Write an alternation with one group each; the longest spelling is tried first."""
    groups = [(f"(?P<{prefix}{place}>{one})", one) for place, one in enumerate(spellings)]
    groups.sort(key=lambda group: -max(map(len, group[1].split("|"))))
    return f"(?:{'|'.join(map(itemgetter(0), groups))})"


def _compiled(pattern: str, language: Language) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)" if language.spaced else f"(?:{pattern})")
