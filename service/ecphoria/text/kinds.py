"""Tell of which kind the value of a statement is: a day, a time of day, an amount, or words.

Values of different kinds do not replace each other: "The meeting is on Monday" still holds when
"The meeting is in room 5 now".
"""

from typing import Final

from ecphoria.text.change_words import (
    CALENDAR,
    CHANGING,
    DATED,
    FILLERS,
    NEW,
    OFTEN,
    PEOPLE,
    TIMES,
    VERBS,
    WEAK,
)
from ecphoria.text.frames import DUTY
from ecphoria.text.statements import Statement
from ecphoria.text.tokens import porter, porter_stems, words

_DAY: Final = frozenset({"day"})
_CLOCK: Final = frozenset({"clock"})
_AMOUNT: Final = frozenset({"amount"})
_WORDS: Final = frozenset({"words"})

_SOME_TIME: Final = OFTEN | DATED
_BEFORE_TIME: Final = porter_stems("due scheduled planned fällig geplant")
_NO_NOUN: Final = FILLERS | NEW | VERBS.keys()


def differ_in_kind(later: Statement, earlier: Statement) -> bool:
    """Tell whether two statements have values of which none is of the same kind.

    People are left out: whatever is told of one is told by a frame of its own.
    """
    if DUTY in {later.verb, earlier.verb} or not earlier.subject or earlier.subject & PEOPLE:
        return False
    told, known = _kinds(later), _kinds(earlier)
    return bool(told and known) and told.isdisjoint(known)


def _kinds(one: Statement) -> frozenset[str]:
    """List the kinds of the value that a statement tells; empty if they are not known."""
    stems = one.new if one.changes else one.values
    found = frozenset[str]()
    for stem in stems - WEAK - CHANGING - _BEFORE_TIME - one.subject:
        if stem in CALENDAR:
            found |= _DAY
        elif stem in TIMES:
            found |= _CLOCK
        elif stem in _SOME_TIME:
            found |= _DAY | _CLOCK
        elif not any(map(str.isdigit, stem)):
            found |= _WORDS
    for number, unit in one.numbers:
        found |= _CLOCK if unit == "clock" else _AMOUNT if unit else _of_bare(number, one.words)
    return found


def _of_bare(number: str, said: tuple[str, ...]) -> frozenset[str]:
    """Tell the kinds of a number without a unit; none behind a noun, as in "room 5"."""
    first = words(number)[0]
    before = said[: said.index(first)][-1:] if first in said else ()
    is_label = any(word not in _NO_NOUN and porter(word) not in WEAK for word in before)
    return frozenset() if is_label else _CLOCK | _AMOUNT
