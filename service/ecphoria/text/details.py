"""Kinds of details that a cue may ask for, and texts that may tell one.

"What is the name of my dentist?" is near to all that is known of the dentist.
"""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import chain
from typing import Final

from ecphoria.text import german
from ecphoria.text.english import CONTRACTED, FUNCTION_WORDS
from ecphoria.text.languages import LANGUAGES, languages_of
from ecphoria.text.names import (
    NameKind,
    candidate_spans,
    is_name,
    name_kind,
    names_of_cue,
    normalise,
)
from ecphoria.text.tokens import APOSTROPHES, SENTENCE_ENDS, UPPER, stems_of, words


class Detail(StrEnum):
    """A kind of detail with a form that a text shows."""

    NAME = "name"
    AMOUNT = "amount"
    COLOUR = "colour"
    MAIL = "e-mail address"
    PHONE = "phone number"
    PASSWORD = "password"  # noqa: S105 (a kind)


_BE: Final = rf"(?: is| was| are| were| am|[{APOSTROPHES}]s|[{APOSTROPHES}]re)"
# `ecphoria.text.cue` reads these, so a recall for no detail does not enter this module.
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
        r"|\bwie ?viel\b(?! zeit\b)",
        re.IGNORECASE,
    ),
}
IN_ENGLISH_AND_GERMAN: Final = {Detail.AMOUNT, Detail.COLOUR, Detail.PASSWORD}
"""Kinds that are told by words; the others have a form in all languages with capitals."""
_SHOWN: Final = {
    Detail.MAIL: re.compile(r"@|\be-?mail", re.IGNORECASE),
    Detail.PHONE: re.compile(r"\d{3}"),
    Detail.PASSWORD: re.compile(
        r"\bpass(?:word|code|phrase)|passwort|\bpw\b|\bPIN\b", re.IGNORECASE
    ),
    Detail.COLOUR: re.compile(
        r"colou?r|farbe|(?:red|blue|green|yellow|white|black|gr[ae]y|brown|orange|pink|purple|violet"
        r"|beige|turquoise|teal|silver|gold|cream|ivory|maroon|navy|crimson|lilac|magenta|cyan|copper"
        r"|bronze|blond|dark|light|pale|bright|rot|blau|grün|gelb|wei(?:ß|ss)|schwarz|grau|braun|rosa"
        r"|lila|violett|türkis|silber|hell|dunkel|bunt)\w{0,3}\b",
        re.IGNORECASE,
    ),
    Detail.AMOUNT: re.compile(
        r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen"
        r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundreds?|thousands?|millions?|dozens?|half"
        r"|quarter|third|couple|twice|double|free|nothing|year|small|medium|large"
        r"|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\w+(?:zehn|zig|ßig)"
        r"|\w*hundert|\w*tausend|halb\w*|viertel|dutzend|doppelt|nichts|umsonst|jahr\w*)\b",
        re.IGNORECASE,
    ),
}

_GERMAN: Final = LANGUAGES["de"]
_REFERS_BACK: Final = re.compile(
    r"\b(?:he|she|it|they|his|her|its|their|him|them|er|sie|es|sein\w*|ihr\w*|ihn|ihm)\b",
    re.IGNORECASE,
)
_CAPITAL: Final = re.compile(rf"(?<!\w)[{UPPER}]")
_TITLE: Final = re.compile(rf"\b(Dr|Mr|Mrs|Ms|Prof|[{UPPER}])\.")
_SAYS_NAME: Final = re.compile(
    r"\b(?:names?|named|nam(?:e|en)|hei(?:ß|ss)\w*)\b"
    r"|\bcall(?:s|ed)? (?!(?:the|an?|my|our|his|her|their|him|them|us|me|you|it|for|up|back)\b)",
    re.IGNORECASE,
)
_NOUN: Final = rf"[{UPPER}][^\W\d_]+"
_OPENS: Final = re.compile(
    rf"(?:^|[{SENTENCE_ENDS}]\s+)({_NOUN})\s+"
    r"(?:[^\W\d_]+(?:ed|[^\W\d_s]s)|ate|bit|broke|fell|found|hid|lost|ran|sat|slept|stole)\b"
)
"""A first word with a verb behind it: `Rex ate my shoe`."""
_OPENS_GERMAN: Final = re.compile(
    rf"(?:^|[{SENTENCE_ENDS}]\s+)({_NOUN})\s+(?:ist|war|[^\W\d_]{{2,}}t)\b"
)
_BEHIND_NOUN: Final = re.compile(
    rf"(?:(?<=[^\W\d_]\s){_NOUN} |[:(\"\u201e\u201c] ?)(?=({_NOUN})\b)"
)
"""Also behind a colon, a bracket or a quotation mark."""
_NAMELESS: Final = frozenset(
    stems_of(
        (*FUNCTION_WORDS, *CONTRACTED, *german.FUNCTION_WORDS, *german.WEEKDAYS, *german.MONTHS)
    )
)


def any_tells(detail: Detail, cue: str, *, about: Iterable[str], behind: Iterable[str]) -> bool:
    """Tell whether a text may tell a detail; a name must be none of the words of the cue.

    An empty text stands for one that was not read, and may. So may one without any capital tell a
    name: its author writes none.

    Args:
        detail: The kind.
        cue: What asks for it.
        about: Texts of the topic.
        behind: Texts that follow these; one counts if it refers back: "she", "its".

    >>> any_tells(Detail.NAME, "my vet's name?", about=["The vet is open in May."], behind=())
    False
    >>> any_tells(Detail.NAME, "my vet's name?", about=["Our vet is Dr. Lee."], behind=())
    True
    """
    texts = chain(about, filter(_REFERS_BACK.search, behind))
    if detail is not Detail.NAME:
        return any(not text or _SHOWN[detail].search(text) for text in texts)
    known = {*stems_of(words(cue))} | _NAMELESS
    names_in = _german_names if _GERMAN in languages_of(cue) else _names
    return any(
        not text
        or not _CAPITAL.search(text)
        or _SAYS_NAME.search(text)
        or not known.issuperset(names_in(_TITLE.sub(r"\1", text)))
        for text in texts
    )


def _names(text: str) -> Sequence[str]:
    """List the stems of what may be a name."""
    spans = (one for one in candidate_spans(text) if name_kind(one) is not NameKind.TIME)
    names = [name for name in map(normalise, spans) if is_name(name)]
    return stems_of(words(" ".join([*names, *_OPENS.findall(text)])))


def _german_names(text: str) -> Sequence[str]:
    """List the same in German, which writes all nouns with a capital."""
    found = " ".join([*_BEHIND_NOUN.findall(text), *_OPENS_GERMAN.findall(text)])
    return [*chain(*names_of_cue(text, (_GERMAN,))), *stems_of(words(found))]
