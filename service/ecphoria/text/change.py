"""Tell whether a later statement replaces an earlier one of the same speaker.

A later statement replaces an earlier one about the same thing if it has words of change ("moved
to", "no longer", "now"), or if both have the same frame with one value at a time ("My rent is
800", "My rent is 950").
"""

import re
from typing import Final

from ecphoria.text.change_words import (
    ASKS_FOR_NOW,
    ASKS_FOR_THE_PAST,
    CALENDAR,
    CHANGING,
    GENERIC,
    OTHERS,
    PEOPLE,
    SINGLE,
    STATES,
    WEAK,
)
from ecphoria.text.statements import Statement, named_stems
from ecphoria.text.tokens import porter, words

TELLS_CHANGE: Final = (
    CHANGING
    | frozenset(map(porter, STATES))
    | frozenset(
        map(
            porter,
            words(
                "now anymore longer instead nowadays jetzt nun inzwischen mittlerweile neuerdings"
                " mehr stattdessen statt sondern sofort new neu neue neuer neues"
            ),
        )
    )
) - frozenset(map(porter, words("away found after set called")))
"""Stems of which a later statement has one, unless only its value differs."""
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")


def asks_for_the_past(cue: str, year: int) -> bool:
    """Tell whether a cue asks for what was so, by its words or a year before `year`."""
    if any(int(stated) < year for stated in _YEAR.findall(cue)):
        return True
    said = words(cue)
    spoken = " ".join(said)
    return ASKS_FOR_THE_PAST.within(said, spoken) and not ASKS_FOR_NOW.within(said, spoken)


def replaces(later: Statement, earlier: Statement, likeness: float = 1.0) -> bool:
    """Tell whether a later statement of the same speaker makes an earlier one outdated.

    Args:
        later: Said after `earlier`.
        earlier: A statement of how something was then.
        likeness: Cosine of the two memories; read where no word tells that both mean one thing.
    """
    if earlier.ends or later.lasts or not (earlier.holds or earlier.plans):
        return False
    if (
        _is_over(later, earlier)
        or _names_former(later, earlier)
        or _is_other_state(later, earlier)
    ):
        return True
    if _is_same_value(later, earlier) or not earlier.holds:
        return False
    return _has_changed(later, earlier, likeness) or _has_other_value(later, earlier, likeness)


def restates(later: Statement, earlier: Statement) -> bool:
    """Tell whether a later statement has the subject, frame and value of an earlier one."""
    if not (later.holds and earlier.holds) or later.ends:
        return False
    same = later.subject == earlier.subject and later.verb == earlier.verb
    return same and later.numbers == earlier.numbers and _rest(later) == _rest(earlier)


def _is_over(later: Statement, earlier: Statement) -> bool:
    """Tell whether the later one says that something is over which the earlier one states."""
    over = later.says - CHANGING - CALENDAR
    if not later.ends or not over:
        return False
    own = over - GENERIC
    shared = own & earlier.says
    enough = bool(shared) and len(shared) >= _MOSTLY * len(own)
    if earlier.plans and later.cancels and enough:
        return True
    if not earlier.holds:
        return False
    if earlier.subject & PEOPLE:
        return False
    if earlier.subject:
        values = earlier.values - CALENDAR
        return enough and (earlier.subject <= over or (0 < len(values) <= _FEW and values <= over))
    return enough and bool(shared & earlier.values)


_MOSTLY: Final = 0.5
_FEW: Final = 3


def _is_other_state(later: Statement, earlier: Statement) -> bool:
    """Tell whether the speaker and another person stand otherwise."""
    if not (earlier.state and earlier.verb == "be" and earlier.of_self):
        return False
    if not (later.of_self and later.state and (later.holds or later.changes or later.ends)):
        return False
    told = later.verb == "be" or later.changes or later.ends
    return told and (later.ends or later.state != earlier.state)


def _is_same_value(later: Statement, earlier: Statement) -> bool:
    if later.numbers and earlier.numbers:
        return later.numbers <= earlier.numbers
    return (later.new or later.values) <= earlier.says


def _names_former(later: Statement, earlier: Statement) -> bool:
    """Tell whether the later one names the value of the earlier one as the former value."""
    old = later.dropped
    if (
        not old
        or not (later.changes or later.now or later.ends)
        or not old <= earlier.says | CHANGING
    ):
        return False
    if not old & (earlier.values or earlier.says):
        return False
    foreign = later.says - later.new - old - CHANGING - earlier.says
    return bool(earlier.topic & later.says) if earlier.topic else len(foreign) <= 1


def _has_changed(later: Statement, earlier: Statement, likeness: float) -> bool:
    """Tell whether the later one has words of change and is about the same thing."""
    if not (later.changes or later.now) or not _agree(later, earlier):
        return False
    if not earlier.topic:
        return _does_otherwise(later, earlier, likeness)
    if (not later.new and not later.numbers) or not earlier.topic <= later.says:
        return False
    if earlier.subject & PEOPLE and (later.verb != earlier.verb or earlier.verb == "be"):
        return False
    framed = later.holds and later.topic == earlier.topic
    if (later.subject and later.holds) or not later.changes:
        return framed and later.verb in {earlier.verb, "home", "be"}
    return _is_unqualified(later, earlier)


def _does_otherwise(later: Statement, earlier: Statement, likeness: float) -> bool:
    """Tell whether the speaker lives, works or does the same thing otherwise than before."""
    if not later.holds or later.topic or later.verb != earlier.verb:
        return False
    if later.verb in _ALONE:
        return likeness >= _ALIKE
    together = later.values & earlier.values - CALENDAR
    return later.verb not in {"be", "have"} and bool(together) and likeness >= _MORE_ALIKE


_ALONE: Final = frozenset({"home", "work", "drive"})
"""Verbs of which the speaker does one thing at a time."""
_ALIKE: Final = 0.2
_MORE_ALIKE: Final = 0.45


def _agree(later: Statement, earlier: Statement) -> bool:
    """Tell whether both values are numbers of one unit, or both are words."""
    if not earlier.numbers or not later.numbers:
        measured = any(unit for _, unit in later.numbers)
        described = earlier.verb == "be" and len(earlier.values) > _FEW
        return not (earlier.numbers or measured or described) and bool(earlier.values)
    units, others = ({unit for _, unit in one.numbers} for one in (later, earlier))
    return bool(units & others) or "" in units | others


def _is_unqualified(later: Statement, earlier: Statement) -> bool:
    """Tell whether the later one names the thing without a word that makes it another one."""
    said, known = later.words, earlier.says | WEAK | CHANGING | later.new
    for at, word in enumerate(said):
        if porter(word) not in earlier.topic:
            continue
        left = [one for one in said[:at] if one != "s"][-1:]
        behind = said[at + 1 : at + 4]
        right = behind[1:] if behind and behind[0] in _JOINS else ()
        if any(stem not in known for stem in named_stems([*left, *right], keep=OTHERS)):
            return False
    return True


_JOINS: Final = frozenset(words("of for at in von vom des der meines meiner meinem im fur"))


def _has_other_value(later: Statement, earlier: Statement, likeness: float) -> bool:
    """Tell whether both have one frame that takes one value at a time, and the values differ."""
    if not (later.holds and earlier.holds) or later.adds or later.doubtful:
        return False
    same = later.subject == earlier.subject and later.verb == earlier.verb
    if not same or (later.values | earlier.values) & CALENDAR:
        return False
    if later.numbers and earlier.numbers:
        return _agree(later, earlier) and _rest(later) == _rest(earlier) and later.verb != "have"
    lives = later.verb == "home" and (bool(later.subject) or likeness >= _ALIKE)
    single = (
        lives
        or later.verb == "run"
        or (later.verb == "be" and bool(later.subject & SINGLE) and not later.subject & PEOPLE)
    )
    return single and not (later.numbers or earlier.numbers)


def _rest(one: Statement) -> frozenset[str]:
    return frozenset(stem for stem in one.values - WEAK if not any(map(str.isdigit, stem)))
