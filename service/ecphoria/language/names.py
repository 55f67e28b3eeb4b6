"""Find names in text by their capitals, and give each one spelling to be known by."""

import re
from collections.abc import Iterator
from enum import StrEnum

from ecphoria.language.characters import APOSTROPHES, MARKS, UPPER
from ecphoria.language.english import (
    CONNECTORS,
    FUNCTION_WORDS,
    HONORIFICS,
    MONTHS,
    ORGANISATION_WORDS,
    PLACE_WORDS,
    WEEKDAYS,
)

__all__ = [
    "NameKind",
    "candidate_spans",
    "capitalised_words",
    "is_indexable",
    "is_name",
    "lower_words",
    "name_kind",
    "normalise",
    "normalised_words",
]

_LONGEST_NAME = 1_500
"""Characters; a text in capitals throughout is no name, and an index key has its bounds."""

_CUT = re.compile(r"(?<=[.!?])\s+|[\r\n]+")
_CAPITALISED = rf"[{UPPER}\d][\w{APOSTROPHES}.&{MARKS}-]*"
_CAPITAL_WORD = re.compile(rf"(?<!\w){_CAPITALISED}")
_CONNECTOR = "|".join(map(re.escape, sorted(CONNECTORS, key=len, reverse=True)))
_SPAN = re.compile(rf"{_CAPITALISED}(?:\s+(?:(?:{_CONNECTOR})\s+){{0,2}}{_CAPITALISED})*")
_EDGE = f" .{APOSTROPHES}-"
_POSSESSIVE = re.compile(rf"[{APOSTROPHES}]s\b")
_WORD = re.compile(rf"[\w{MARKS}]+")
_LOWER = re.compile(r"[^\W\d_]+")
_INITIAL = re.compile(rf"[{UPPER}]\.")
_CALENDAR = frozenset(MONTHS) | frozenset(WEEKDAYS)


class NameKind(StrEnum):
    """What a name most likely names; TOPIC when the text does not tell."""

    PERSON = "person"
    PLACE = "place"
    ORGANISATION = "organisation"
    TIME = "time"
    TITLE = "title"
    TOPIC = "topic"


def normalise(name: str) -> str:
    """Write a name the one way all its spellings share.

    A closing bracket and `'s` go, case goes, all but letters and digits of any script becomes
    one space; accents stay. The result may be empty.
    """
    name = name.strip()
    bracket = name.rfind("(") if name.endswith(")") else -1
    return " ".join(normalised_words(name[:bracket] if bracket > 0 else name))


def normalised_words(text: str) -> list[str]:
    """Split running text as `normalise` does, so that names can be looked up in it."""
    return _WORD.findall(_POSSESSIVE.sub("", text).lower().replace("_", " "))


def capitalised_words(text: str) -> frozenset[str]:
    """Collect, normalised, the words written with a capital."""
    return frozenset(
        word for match in _CAPITAL_WORD.findall(text) for word in normalised_words(match)
    )


def candidate_spans(body: str) -> Iterator[str]:
    r"""Yield, as written and in order, runs of capitalised words that may be names.

    The text is cut after `. ! ?` and at line breaks. A run is `T(\s+(C\s+){0,2}T)*` with T a
    word that starts with a capital or a digit and C a connector; function words at its ends go.
    """
    for sentence in _CUT.split(body):
        for match in _SPAN.finditer(sentence):
            span = _trim(match[0])
            if span:
                yield span


def _trim(span: str) -> str:
    """Strip marks and function words from both ends."""
    parts = span.strip(_EDGE).split()
    start, stop = 0, len(parts)
    while start < stop and parts[start].strip(_EDGE).lower() in FUNCTION_WORDS:
        start += 1
    while stop > start and parts[stop - 1].strip(_EDGE).lower() in FUNCTION_WORDS:
        stop -= 1
    return " ".join(parts[start:stop]).strip(_EDGE)


def is_indexable(name: str) -> bool:
    """Tell whether a normalised name is neither empty nor longer than a name can be."""
    return 0 < len(name) <= _LONGEST_NAME


def is_name(name: str) -> bool:
    """Tell whether a normalised candidate can name a concept: no date, bare number or stub."""
    if len(name) < 3 or not is_indexable(name) or name in FUNCTION_WORDS:
        return False
    first, *rest = name.split()
    if first in _CALENDAR:
        return not all(word in _CALENDAR or word.isdigit() for word in rest)
    return bool(rest) or not first.isdigit() or len(first) == 4


def lower_words(body: str) -> frozenset[str]:
    """Collect the whole words of letters that occur in lower case, if a name can be as long."""
    return frozenset(
        word for word in _LOWER.findall(body) if word.islower() and len(word) <= _LONGEST_NAME
    )


def name_kind(surface: str) -> NameKind:
    """Guess the kind from the words of a name alone, by few rules that are rarely wrong."""
    parts = [part.strip(_EDGE).lower() for part in surface.split()]
    if not parts:
        return NameKind.TOPIC
    if any(part in _CALENDAR for part in parts) or (len(parts) == 1 and _is_year(parts[0])):
        return NameKind.TIME
    if not ORGANISATION_WORDS.isdisjoint((parts[0], parts[-1])):
        return NameKind.ORGANISATION
    if not PLACE_WORDS.isdisjoint((parts[0], parts[-1])):
        return NameKind.PLACE
    if parts[0] in HONORIFICS or (len(parts) == 3 and _INITIAL.fullmatch(surface.split()[1])):
        return NameKind.PERSON
    return NameKind.TOPIC


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdigit()
