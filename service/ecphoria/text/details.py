"""Kinds of details that a cue may ask for.

"What is the name of my dentist?" is near to all that is known of the dentist.
"""

import re
from enum import StrEnum
from typing import Final

from ecphoria.text.tokens import APOSTROPHES


class Detail(StrEnum):
    """A kind of detail with a form that a text shows."""

    NAME = "name"
    AMOUNT = "amount"
    COLOUR = "colour"
    MAIL = "e-mail address"
    PHONE = "phone number"
    PASSWORD = "password"  # noqa: S105 (a kind)
    TIME = "time"
    DURATION = "duration"
    FREQUENCY = "frequency"
    PLACE = "place"
    PERSON = "person"


_BE_NOW: Final = rf"(?: is| are| am|[{APOSTROPHES}]s|[{APOSTROPHES}]re)"
_BE: Final = rf"(?:{_BE_NOW}| was| were)"
_AND: Final = "and |so |but "
_AND_GERMAN: Final = "und |aber "
_PAST_GERMAN: Final = r"(?:war|ha(?:t|b|st)|wurde|kam|ging|fuhr|zog|\w+ten?\b)"
ASKED: Final = {
    Detail.NAME: re.compile(
        rf"\bnames? of\b|[{APOSTROPHES}]s?(?: (?:first|last|full))? names?\b"
        r"|\bnamen? (?:d(?:es|er|en)|vo[nm]|(?:mein|unser)e[rs]) "
        rf"|\bwhat{_BE} .{{1,60}} (?:called|named)\W*$|\bhow{_BE} (?:called|named)\b",
        re.IGNORECASE,
    ),
    Detail.MAIL: re.compile(
        rf"\be-?mail[ -]?(?:address|of\b|adresse)|[{APOSTROPHES}]s? e-?mail\b", re.IGNORECASE
    ),
    Detail.PHONE: re.compile(
        r"\b(?:(?:tele|cell)?phone|mobile) number|(?:telefon|handy)nummer", re.IGNORECASE
    ),
    Detail.PASSWORD: re.compile(
        r"\b(?:what|which|wie|welches)\b.{1,60}(?:password|passcode|passwort)\b", re.IGNORECASE
    ),
    Detail.COLOUR: re.compile(
        r"\b(?:what|which) colou?rs?\b|\bcolou?r of\b|\bwelche farbe", re.IGNORECASE
    ),
    Detail.AMOUNT: re.compile(
        rf"\bhow (?:old|tall|heavy|expensive|large|big|high|deep|wide){_BE}\b"
        r"|\bhow much\b(?! (?:time|of)\b| d(?:o|oes|id) \w+ (?:care|enjoy|know|like|love|want)\b)"
        rf"|\bwhat{_BE} .{{1,60}}\b(?:price|cost|rent|salary|weight|age|height|budget)\b"
        r"|\bwie (?:alt|gro(?:ß|ss)|hoch|schwer|teuer) (?:ist|war|sind|waren)\b"
        r"|\bwie ?viel\b(?! (?:zeit|uhr)\b)",
        re.IGNORECASE,
    ),
    # The past is left out: a memory's date tells when something happened. "How long have I" and
    # "how often did I" may be counted over several memories.
    Detail.TIME: re.compile(
        rf"^\W*(?:{_AND})?when(?:{_BE_NOW}| will| shall| do| does| can| should)\b"
        r"|\b(?:what|which) time (?!of\b|did\b|was\b)|\b(?:what|which) day (?!did\b|was\b)"
        rf"|^\W*(?:{_AND_GERMAN})?wann (?!{_PAST_GERMAN})"
        r"(?!(?:ist|bin|bist|sind|seid)\b.*\b\w{0,9}ge\w{1,19}(?:t|en)\W*$)"
        rf"|\b(?:um wie ?viel uhr|an welchem tag) (?!{_PAST_GERMAN})",
        re.IGNORECASE,
    ),
    Detail.DURATION: re.compile(
        rf"\bhow long(?:{_BE_NOW}| was| were| will| shall| do| does| did| can)\b(?! ago\b)"
        r"|\bwie lange (?!her\b|schon\b|ha(?:t|b|st)|kenn|bin\b|wohn|leb)",
        re.IGNORECASE,
    ),
    Detail.FREQUENCY: re.compile(
        rf"\bhow (?:often|frequently)(?:{_BE_NOW}| will| shall| do| does| should| must)\b"
        rf"|\bwie oft (?!{_PAST_GERMAN})",
        re.IGNORECASE,
    ),
    Detail.PLACE: re.compile(
        rf"^\W*(?:{_AND}|{_AND_GERMAN})?(?:where|wo|wohin|woher)\b", re.IGNORECASE
    ),
    Detail.PERSON: re.compile(
        rf"^\W*(?:{_AND}|with |to |for |from |by )?whom?\b"
        rf"|^\W*(?:{_AND_GERMAN}|mit |bei |von |für |zu |an |auf )?(?:wer|wen|wem)\b",
        re.IGNORECASE,
    ),
}
OF_WORDS: Final = frozenset(Detail) - {Detail.NAME, Detail.MAIL, Detail.PHONE}
"""Kinds that words tell. The words are those of English and German."""
