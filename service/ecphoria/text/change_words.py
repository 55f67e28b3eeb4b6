"""The words by which English and German tell that something changed, ended or still holds.

`change_words.toml` has them, and tells what each list is for. Patterns match words in lower case
without accents, joined by one blank, as `tokens.words` gives them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from ecphoria.text import german
from ecphoria.text.english import CONTRACTED, MONTHS, STOP_WORDS, WEEKDAYS
from ecphoria.text.tables import read_table, split_phrases
from ecphoria.text.tokens import porter, porter_stems, word_set, words

_COMMON: Final = word_set(
    "a am an any and are as at be been by did do don from had has have i in is it m my not"
    " of on or re s t than that the to was were with won you auf das der die ein es ich im"
    " in ist nach nicht von wie wir zu"
)
_LITERAL: Final = re.compile(r"(?<![\\\w])(?P<word>[a-z]+)(?P<more>\\w)?")


class Phrases:
    """Phrases that a clause may have; patterns are tried only beside one of their words."""

    def __init__(self, listed: str) -> None:
        """Compile phrases, parted as in the table; each matches whole words only."""
        phrases = split_phrases(listed)
        self._pattern = re.compile(rf"\b(?:{'|'.join(phrases)})\b")
        found = [match for phrase in phrases for match in _rare(phrase)]
        self._words = frozenset(match["word"] for match in found if not match["more"])
        self._starts = tuple({match["word"] for match in found if match["more"]})

    def within(self, said: Sequence[str], spoken: str) -> bool:
        """Tell whether one of the phrases is in a clause, given as words and as one text."""
        if self._words.isdisjoint(said) and not any(start in spoken for start in self._starts):
            return False
        return self._pattern.search(spoken) is not None


def _rare(phrase: str) -> Sequence[re.Match[str]]:
    """List the words of a phrase by which it is found; common ones only if it has no other."""
    found = list(_LITERAL.finditer(phrase))
    return [match for match in found if match["word"] not in _COMMON] or found


_TABLE: Final = read_table("change_words")
_DAYS: Final = "|".join((*WEEKDAYS, *MONTHS))
_GERMAN_DAYS: Final = "|".join(words(" ".join((*german.WEEKDAYS, *german.MONTHS))))


def _phrases(name: str) -> Phrases:
    listed: str = _TABLE["phrases"][name]
    return Phrases(listed.replace("DAYS", _DAYS).replace("TAGE", _GERMAN_DAYS))


def _stems(name: str) -> frozenset[str]:
    return porter_stems(_TABLE["stems"][name])


def _words(name: str) -> frozenset[str]:
    return frozenset(words(_TABLE["words"][name]))


def _by_word(name: str) -> Mapping[str, str]:
    return {word: key for key, listed in _TABLE[name].items() for word in words(listed)}


NOW: Final = _phrases("now")
LASTS: Final = _phrases("lasts")
ADDS: Final = _phrases("adds")
DOUBTFUL: Final = _phrases("doubtful")
PLANS: Final = _phrases("plans")
CHANGED: Final = _phrases("changed")
ENDED: Final = _phrases("ended")
CANCELLED: Final = _phrases("cancelled")
PERSISTS: Final = _phrases("persists")
MOVED: Final = _phrases("moved")
HIRED: Final = _phrases("hired")
ASKS_FOR_NOW: Final = _phrases("asks_for_now")
ASKS_FOR_THE_FIRST: Final = _phrases("asks_for_the_first")
ASKS_FOR_THE_FORMER: Final = _phrases("asks_for_the_former")
ASKS_FOR_THE_PAST: Final = _phrases("asks_for_the_past")

PEOPLE: Final = _stems("people")
SINGLE: Final = _stems("single")
GENERIC: Final = _stems("generic")
UNIQUE: Final = _stems("unique")
OFTEN: Final = _stems("often")
TIMES: Final = _stems("times")
EXCLUSIVE: Final = _stems("exclusive")
WEAK: Final = _stems("weak")
CHANGING: Final = _stems("changing")
AMBIGUOUS: Final = _stems("ambiguous")
SINCE_NOW: Final = _stems("since_now")
DATED: Final = _stems("dated")

TELLING: Final = _words("telling")
SELF: Final = _words("self")
OWN: Final = _words("own")
ME: Final = _words("me")
OTHERS: Final = _words("others")
NEW: Final = _words("new")
PAST: Final = _words("past")
FILLERS: Final = (
    STOP_WORDS
    | frozenset(word for each in german.FUNCTION_WORDS for word in words(each))
    | CONTRACTED
    | _words("fillers")
    | SELF
)
VERBS: Final = _by_word("verbs")
STATES: Final = _by_word("states")
STEMS_OF_STATES: Final = frozenset(map(porter, STATES))
MASCULINE: Final[Mapping[str, str]] = {
    f"{word}in": word for word in words("chef vermieter lehrer arzt zahnarzt")
}
"""A new boss may be a man where the former one was a woman."""

INSTEAD: Final = re.compile(
    r"\b(?:instead of|rather than|replaced?|traded|swapped|decided against|statt|anstatt"
    r"|anstelle von|prefer (?:\w+ ){1,3}?to|lieber (?:\w+ ){1,3}?als) (?P<old>(?:\w+ ){0,3}?\w+)"
    r"(?=$| (?:to|with|for|by|and|in|on|at|into|durch|gegen|und|jetzt|nun|now)\b)"
)
"""Names a value in whose place another one is put: "instead of tea"."""

DROPPED: Final = re.compile(
    r"\b(?:from|dropped|left|quit|off|no longer|von|aus|nicht mehr|kein\w*|verlassen)"
    r" (?P<old>(?:\w+ ){0,3}?\w+)"
    r"(?=$| (?:to|with|for|by|and|in|on|at|into|auf|zu|durch|gegen|und|sondern|mehr|nach|bei"
    r"|weggezogen|ausgezogen)\b)"
)
"""Names a value that may be the former one: "from Jest to Mocha"."""

TO: Final = re.compile(r"\b(?:to|into|auf|zu|durch|gegen|nach|sondern) ")
"""A new value stands behind the first of these words, else behind the last of `AT`."""

AT: Final = re.compile(
    r"\b(?:with|for|by|onto|at|bei|is|are|ist|sind|prefer|now|jetzt|lieber|in) "
)
"""Words in front of a new value."""

_CALENDAR: Final = (*MONTHS, *WEEKDAYS, *german.WEEKDAYS, *german.MONTHS)
_NEAR_DAYS: Final = ("tomorrow", "today", "morgen", "heute")
CALENDAR: Final = porter_stems(" ".join((*_CALENDAR, *_NEAR_DAYS)))
"""Days: two of them tell two appointments, not a change."""

_DAY: Final = (
    r"(?:(?:start|beginning|end|anfang|mitte|ende) (?:of )?)?"
    r"(?:(?:this|last|next|the|dem|der|(?:dies|letzt|nächst|kommend)e\w?) )*(?:(?:\d{1,2}\.? )?"
    rf"(?:{'|'.join(_CALENDAR)})(?: \d+)?"
    r"|weeks?|months?|years?|semester|today|tomorrow|yesterday|now|woche|monat|jahr|heute|morgen"
    r"|gestern|sofort|jetzt|(?:19|20)\d\d)"
)
BEGINS: Final = re.compile(
    r"(?:(?:heads[ -]up|fyi|update|note|news|btw|by the way|übrigens|info|so|also)\W+)?"
    rf"(?:as of|since|starting|beginning|effective|from|(?P<german>seit|ab)) {_DAY}(?: on| an)?,? "
    r"(?=\w)",
    re.IGNORECASE,
)
"""The time in front of a sentence from which it holds."""
