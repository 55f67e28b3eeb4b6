"""Tell whether a later statement replaces an earlier one of the same speaker.

A later statement replaces an earlier one about the same thing if it has words of change ("moved
to", "no longer", "now"), or if both have the same frame with one value at a time ("My rent is
800", "My rent is 950").
"""

import re
from enum import Enum, auto
from typing import Final

from ecphoria.text import german
from ecphoria.text.change_words import (
    AMBIGUOUS,
    ASKS_FOR_NOW,
    ASKS_FOR_THE_FIRST,
    ASKS_FOR_THE_FORMER,
    ASKS_FOR_THE_PAST,
    CALENDAR,
    CHANGING,
    EXCLUSIVE,
    GENERIC,
    OFTEN,
    OTHERS,
    PAST,
    PEOPLE,
    SINCE_NOW,
    SINGLE,
    STEMS_OF_STATES,
    TELLING,
    TIMES,
    UNIQUE,
    VERBS,
    WEAK,
)
from ecphoria.text.english import WEEKDAYS
from ecphoria.text.frames import DUTY, HOMES, named_stems
from ecphoria.text.kinds import differ_in_kind
from ecphoria.text.phrasebook import in_english
from ecphoria.text.statements import Statement
from ecphoria.text.tokens import porter, porter_stems, word_set, words

TELLS_CHANGE: Final = (CHANGING | STEMS_OF_STATES | SINCE_NOW) - AMBIGUOUS
"""Stems of which a later statement has one, unless only its value differs."""
_OF_VERBS: Final = frozenset(map(porter, VERBS))
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")


class Wanted(Enum):
    """The value that a cue asks for, of several in time.

    Attributes:
        NEWEST: The one that holds.
        FORMER: The one before it: "my old rent".
        FIRST: The first one of all.
        PAST: What was so at a time, or how it changed.
    """

    NEWEST = auto()
    FORMER = auto()
    FIRST = auto()
    PAST = auto()


def wanted(cue: str, year: int) -> Wanted:
    """Tell which value a cue asks for, by its words or a year before `year`."""
    if any(int(stated) < year for stated in _YEAR.findall(cue)):
        return Wanted.PAST
    said = words(in_english(cue))
    spoken = " ".join(said)
    if ASKS_FOR_NOW.within(said, spoken):
        return Wanted.NEWEST
    for phrases, value in _WANTED:
        if phrases.within(said, spoken):
            return value if TELLING.isdisjoint(said) else Wanted.PAST
    return Wanted.NEWEST


_WANTED: Final = (
    (ASKS_FOR_THE_PAST, Wanted.PAST),
    (ASKS_FOR_THE_FIRST, Wanted.FIRST),
    (ASKS_FOR_THE_FORMER, Wanted.FORMER),
)


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
    if _is_same_value(later, earlier) or not earlier.holds or _leaves_another(later, earlier):
        return False
    return (
        _is_other_habit(later, earlier)
        or _has_changed(later, earlier, likeness)
        or _has_other_value(later, earlier, likeness)
    )


def _leaves_another(later: Statement, earlier: Statement) -> bool:
    """Tell whether one tells of a move from what the other does not name, maybe another tool."""
    moves = ((later, earlier), (earlier, later))
    return later.verb == "home" == earlier.verb and any(
        one.dropped - HOMES and (one.says - CHANGING).isdisjoint(other.says)
        for one, other in moves
    )


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
    if not earlier.holds or _is_person(earlier):
        return False
    if not earlier.subject:
        return _does_no_more(later, earlier) or (enough and bool(shared & earlier.values))
    values = earlier.values - CALENDAR
    return enough and (earlier.subject <= over or (0 < len(values) <= _FEW and values <= over))


def _does_no_more(later: Statement, earlier: Statement) -> bool:
    """Tell whether the speaker no longer does what the earlier one tells without an object."""
    same = earlier.verb.startswith("do ") and later.verb == earlier.verb
    return same and later.of_self and not earlier.subject and _tells_how_often(earlier)


def _tells_how_often(one: Statement, also: frozenset[str] = frozenset()) -> bool:
    """Tell whether the values only say how often something is done, or are stems of `also`."""
    return all(
        stem in OFTEN or stem in CALENDAR or stem in also or stem.isdigit() for stem in one.values
    )


def _is_person(one: Statement) -> bool:
    """Tell whether the subject is a person, not a thing of one: "the dentist appointment"."""
    return bool(one.subject & PEOPLE) and not one.subject & (SINGLE | GENERIC)


def _is_timed(one: Statement) -> bool:
    """Tell whether a statement tells when a thing of a person is: "the cat's pill is at 9"."""
    said = one.words
    owned = all(
        said[at + 1 : at + 2] == ("s",) or not _OF.isdisjoint(said[max(1, at - 2) : at])
        for at, word in enumerate(said)
        if porter(word) in one.subject & PEOPLE
    )
    return owned and bool(one.values) and _tells_how_often(one, TIMES)


_OF: Final = word_set("of der des meiner meines unserer unseres")
_MOSTLY: Final = 0.5
_FEW: Final = 3


def _is_other_state(later: Statement, earlier: Statement) -> bool:
    """Tell whether the speaker and another person stand otherwise."""
    if _names_other_partner(later, earlier):
        return True
    if not (earlier.state and earlier.verb == "be" and earlier.of_self):
        return False
    if not (later.of_self and later.state and (later.holds or later.changes or later.ends)):
        return False
    told = later.verb == "be" or later.changes or later.ends
    return told and (later.ends or later.state != earlier.state)


def _names_other_partner(later: Statement, earlier: Statement) -> bool:
    """Tell whether the speaker no longer is together with the one named as a partner."""
    partner = not STEMS_OF_STATES.isdisjoint(earlier.subject)
    named = earlier.values & later.says
    return partner and earlier.of_self and bool(later.state) and later.ends and bool(named)


def _is_same_value(later: Statement, earlier: Statement) -> bool:
    days = later.says & CALENDAR
    if later.numbers and earlier.numbers and not later.numbers <= earlier.numbers:
        return False
    if later.numbers and earlier.numbers and not (days and earlier.says & CALENDAR):
        return True
    told = later.values if later.holds and later.verb == earlier.verb else later.new
    return (told or later.values or days) | days <= earlier.says


def _names_former(later: Statement, earlier: Statement) -> bool:
    """Tell whether the later one names the value of the earlier one as the former value."""
    old = later.dropped
    # "From" alone names no former value: "now a question from Ann".
    told = later.changes or later.ends or (later.now and later.instead)
    if not old or not told or not old <= earlier.says | CHANGING:
        return False
    if not old & (earlier.values or earlier.says):
        return False
    if later.now and not (later.changes or later.ends) and not PAST.isdisjoint(later.words):
        return False
    foreign = later.says - later.new - old - CHANGING - _OF_VERBS - earlier.says
    if later.of_self and later.new and foreign <= CALENDAR and _is_in_use(earlier, later):
        return True
    whole = later.instead and later.of_self and earlier.values - WEAK <= old
    same_act = later.instead and later.verb == earlier.verb and later.verb.startswith("do ")
    if earlier.topic:
        return bool(earlier.topic & later.says) or (
            len(foreign) <= 1 and (whole or (same_act and later.of_self and earlier.of_self))
        )
    return len(foreign) <= (_FEW if whole else 1)


def _is_in_use(earlier: Statement, later: Statement) -> bool:
    """Tell whether a tool of the speaker's is given up, and not for one thing only.

    "We moved from Jest to Mocha" need not name what Jest was used for.
    """
    own = not earlier.subject or (_OF_ANOTHER | OTHERS).isdisjoint(earlier.words)
    single = earlier.verb == "be" and bool(earlier.subject & SINGLE)
    used = (earlier.verb in {"use", "run"} or single) and _SCOPE.isdisjoint(later.words)
    return own and used and earlier.values - earlier.purpose - WEAK <= later.dropped


_SCOPE: Final = word_set("for fur")
"""Tells what a change is made for: "for the newsletter"."""


def _has_changed(later: Statement, earlier: Statement, likeness: float) -> bool:
    """Tell whether the later one has words of change and is about the same thing."""
    if not (later.changes or later.now) or not _agree(later, earlier):
        return False
    if not earlier.topic:
        return _does_otherwise(later, earlier, likeness)
    told = bool(later.new or later.numbers)
    if later.verb == DUTY:
        told = _is_one_task(later) or _is_one_task(earlier)
    if not told or not earlier.topic <= later.says:
        return False
    person = _is_person(earlier) and not (_is_timed(earlier) and _is_timed(later))
    if person and (later.verb != earlier.verb or earlier.verb == "be"):
        # "My boss is now in Rome" tells no other boss, and "my wife is now British" no other wife.
        other = later.named and earlier.named and STEMS_OF_STATES.isdisjoint(later.subject)
        return (later.changes or other) and later.holds and _is_unique(later, earlier)
    framed = later.holds and later.topic == earlier.topic
    if (later.subject and later.holds) or not later.changes:
        return framed and later.verb in {earlier.verb, "home", "be"}
    return _is_unqualified(later, earlier)


def _is_one_task(one: Statement) -> bool:
    """Tell whether a task is one that only one person has: "the auth reviews", but not "sport"."""
    return bool(one.subject & EXCLUSIVE) or not _DEFINITE.isdisjoint(one.words)


_DEFINITE: Final = word_set("the our all die der das den unsere unseren alle")


def _is_unique(later: Statement, earlier: Statement) -> bool:
    """Tell whether both name the one person of a kind: "my boss is Ann", "my new boss is Bo"."""
    return later.subject == earlier.subject and later.subject <= UNIQUE


def _does_otherwise(later: Statement, earlier: Statement, likeness: float) -> bool:
    """Tell whether the speaker lives, works or does the same thing otherwise than before."""
    if not later.holds or later.topic or later.verb != earlier.verb:
        return False
    if later.verb in _ALONE:
        return likeness >= _ALIKE
    together = later.values & (earlier.values - CALENDAR - OFTEN)
    counts = later.verb not in {"be", "have"} or not _PROMOTED.isdisjoint(later.words)
    return counts and bool(together) and likeness >= _MORE_ALIKE


def _is_other_habit(later: Statement, earlier: Statement) -> bool:
    """Tell whether the same thing is done more or less often than before, or on another day."""
    if not (later.changes or later.now):
        return False
    if _is_habit(earlier) and later.values & CALENDAR:
        act = _act(later)
        return bool(act) and act <= _act(earlier)
    same = later.verb.startswith("do ") and later.verb == earlier.verb
    if not same or later.topic or earlier.topic or not _is_habit(earlier):
        return False
    return bool(later.values) and _tells_how_often(later)


def _is_habit(one: Statement) -> bool:
    """Tell whether a statement says how often, or on which days, something is done."""
    return bool(one.values & OFTEN) or not _EVERY.isdisjoint(one.words)


def _act(one: Statement) -> frozenset[str]:
    """Name what is done: "we deploy on Fridays" and "deploys are on Fridays" have one name."""
    does = one.verb.removeprefix("do ")
    if does == one.verb and not (one.verb == "be" and one.subject):
        return frozenset()
    named = one.subject | one.values | (set() if does == one.verb else {does})
    return frozenset(stem for stem in named - CALENDAR - OFTEN - CHANGING if not stem.isdigit())


_EVERY: Final = frozenset(
    words("every each jede jeden jedes")
    + [f"{day}s" for day in words(" ".join((*WEEKDAYS, *german.WEEKDAYS)))]
)
"""Tells a habit: "on Fridays", "freitags"."""
_PROMOTED: Final = frozenset({"promoted", "befordert"})
_ALONE: Final = frozenset({"home", "work", "drive"})
"""Verbs of which the speaker does one thing at a time."""
_ALIKE: Final = 0.2
_MORE_ALIKE: Final = 0.45


def _agree(later: Statement, earlier: Statement) -> bool:
    """Tell whether both values are of one kind: numbers of one unit, times, or words."""
    if differ_in_kind(later, earlier):
        return False
    days = later.new - CHANGING
    if later.changes and days and days <= CALENDAR and earlier.values & CALENDAR:
        return True
    if not earlier.numbers or not later.numbers:
        measured = any(unit for _, unit in later.numbers)
        described = earlier.verb == "be" and len(earlier.values) > _FEW and not later.changes
        # "Deploys are on Fridays" tells when, "deploys are done by Omar now" tells who.
        if later.holds and not later.changes and later.values and _is_when(earlier):
            described = described or not any(map(_is_time, later.values))
        return not (earlier.numbers or measured or described) and bool(earlier.values)
    units, others = ({unit for _, unit in one.numbers} for one in (later, earlier))
    return bool(units & others) or "" in units | others


def _is_when(one: Statement) -> bool:
    """Tell whether a statement tells nothing of a thing but its days or times of day."""
    return one.verb == "be" and bool(one.subject) and all(map(_is_time, one.values))


def _is_time(stem: str) -> bool:
    return stem in _TIMES or stem.isdigit()


_TIMES: Final = CALENDAR | TIMES | OFTEN | porter_stems("end ende start anfang")


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


_JOINS: Final = word_set("of for at in von vom des der meines meiner meinem im fur")


def _has_other_value(later: Statement, earlier: Statement, likeness: float) -> bool:
    """Tell whether both have one frame that takes one value at a time, and the values differ."""
    if not (later.holds and earlier.holds) or later.adds or later.doubtful:
        return False
    same = _is_one_subject(later, earlier) and _is_one_verb(later, earlier)
    # "Moved to Linz in March" tells the day of the move; "I live in Bath in summer" tells when.
    dated = earlier.values if later.changes and later.verb == "home" else later.values
    once = not later.now and not _ONCE.isdisjoint(later.words)
    if not same or once or (dated | earlier.values) & CALENDAR:
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


_ONCE: Final = word_set("today tonight tomorrow heute morgen")
"""Tells of one day: "today our standup is at 11"."""


def _is_one_subject(later: Statement, earlier: Statement) -> bool:
    """Tell whether the subjects are the same, or one is a name and one also tells who that is.

    "My brother Leo" is Leo, but "Leo's brother" is not.
    """
    if later.subject == earlier.subject:
        return True
    more, fewer = sorted((later, earlier), key=lambda one: len(one.subject), reverse=True)
    named = bool(fewer.subject) and more.subject - PEOPLE == fewer.subject
    return named and more.of_self and _OF_ANOTHER.isdisjoint(more.words)


_OF_ANOTHER: Final = word_set("s of meiner meines unserer unseres")
"""Tells that a thing is of a person: "der Flug meiner Mutter"."""


def _is_one_verb(later: Statement, earlier: Statement) -> bool:
    """Tell whether the verbs are the same, or one is "be" and one tells a price or a start."""
    verbs = {later.verb, earlier.verb}
    return len(verbs) == 1 or (bool(later.subject) and verbs in ({"be", "cost"}, {"be", "start"}))


def _rest(one: Statement) -> frozenset[str]:
    return frozenset(stem for stem in one.values - WEAK if not any(map(str.isdigit, stem)))
