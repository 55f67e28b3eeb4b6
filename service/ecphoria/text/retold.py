"""Read everyday sentences of a change whose thing or value is not in the usual frame.

Rules of English and German for "staging moved! new ip is 10.0.0.9" and "Priya reviews the auth
changes now". They rewrite a sentence, or name its parts; what it states is read by `statements`.
"""

import re
from dataclasses import dataclass
from typing import Final

from ecphoria.text import german
from ecphoria.text.change_words import CHANGING, FILLERS, SELF
from ecphoria.text.english import MONTHS, WEEKDAYS
from ecphoria.text.tokens import porter, porter_stems, words

_WORD: Final = r"[^\W_][\w'\u2019-]*"
_NEW_THING: Final = (
    rf"new (?P<thing>(?:{_WORD} )?{_WORD})(?:\s?:| is| are| ist| lautet) (?P<value>\S.*)"
)
_GERMAN_NEW_THING: Final = _NEW_THING.replace("new ", "neue[nrs]? ", 1)
_AFTER_A_CHANGE: Final = re.compile(
    rf"(?P<before>(?:{_WORD} ){{0,6}}{_WORD})\s?[.!,;:\u2013\u2014-]+ "
    rf"(?:(?:and )?(?:the |our |its |it has a )?{_NEW_THING}"
    rf"|(?:und )?(?:die |der |das )?{_GERMAN_NEW_THING.replace('P<', 'P<de_')})",
    re.IGNORECASE,
)
"""A change that names the thing, and its new value: "staging moved! new ip is 10.0.0.9"."""
_HAS_NEW: Final = re.compile(
    rf"(?P<before>(?:{_WORD} ){{0,3}}{_WORD}) (?:now )?(?:has|got|gets|hat|bekommt) "
    rf"(?:(?:now |jetzt )?(?:an? |eine?n? )?{_NEW_THING}"
    rf"|(?:jetzt )?(?:eine?n? )?{_GERMAN_NEW_THING.replace('P<', 'P<de_')})",
    re.IGNORECASE,
)
_RENEWED: Final = CHANGING | porter_stems("reset rotated renewed redone new neu")
_MOST_NAMES: Final = 3


def with_its_thing(text: str) -> str | None:
    """Write a new value with the thing that the words in front of it name; None if none do.

    >>> with_its_thing("staging moved! new ip is 10.0.0.9")
    'staging ip is 10.0.0.9 now'
    """
    match, tells = _HAS_NEW.fullmatch(text), True
    if match is None:
        match, tells = _AFTER_A_CHANGE.fullmatch(text), False
    if match is None:
        return None
    before = words(match["before"])
    names = [word for word in before if word not in FILLERS and porter(word) not in _RENEWED]
    tells = tells or any(porter(word) in _RENEWED for word in before)
    if not tells or not 0 < len(names) <= _MOST_NAMES:
        return None
    thing, value = match["thing"] or match["de_thing"], match["value"] or match["de_value"]
    return f"{' '.join(names)} {thing} is {value.rstrip('.! ')} now"


_REASON: Final = re.compile(
    r"\s+(?i:because of|due to|owing to)\s[^,;]*"
    r"|(?:^|\s+)(?i:wegen|aufgrund)\s(?:[^\W\dA-ZÄÖÜ]+ ){0,2}[A-ZÄÖÜ]\w*"
)


def _without_reason(sentence: str) -> str:
    """Leave out the reason of a change, which is not what changed.

    >>> _without_reason("I moved the swimming to Thursday because of the release day.")
    'I moved the swimming to Thursday'
    """
    return _REASON.sub("", sentence)


_NOON: Final = re.compile(
    r"\b(?P<verb>(?:is|are|starts?|begins?|ist|sind|beginnt|beginnen)(?: now| jetzt)?) "
    r"(?:at (?P<noon>noon|midday)\b|at midnight\b|(?P<mittags>mittags)(?=\W*$))",
    re.IGNORECASE,
)
_DAYS: Final = "|".join((*WEEKDAYS, *german.WEEKDAYS, *MONTHS))
_HEADED: Final = re.compile(
    r"(?P<verb>moved|rescheduled|postponed|shifted|verschoben|verlegt)\s?[:\u2013\u2014-]\s?"
    rf"(?:(?:the|our|my|die|der|das|unser\w*|mein\w*) )?(?P<thing>(?:{_WORD} ){{0,2}}{_WORD}) "
    rf"(?:(?:is|are|ist|now|jetzt) ){{0,2}}(?:on|to|at|am|auf|um) (?P<when>(?:{_WORD} ){{0,3}}?"
    rf"(?:\d|{_DAYS}).*?)[.!]*",
    re.IGNORECASE,
)
_RUN_ON: Final = re.compile(
    rf"(?P<things>(?:(?:the|our|my) )?(?:{_WORD} ){{0,2}}{_WORD}s)(?P<now> now)? "
    rf"(?:run|go out|happen|take place) (?P<on>(?:now )?on (?:{_DAYS})s?\b.*)",
    re.IGNORECASE,
)
_RUNS_ON: Final = re.compile(
    rf"(?P<things>(?:(?:the|our|my|all) )?(?:{_WORD} )?{_WORD}s)(?P<now> now)? run "
    r"(?P<on>(?:now )?(?:on|in|under|at) .+)",
    re.IGNORECASE,
)
_WIRD: Final = re.compile(
    rf"(?P<thing>(?:(?:der|die|das|unser\w*|mein\w*) )?{_WORD}) (?:wird|werden) "
    rf"(?P<rest>(?:{_WORD} ){{0,3}}(?:(?:{'|'.join(german.WEEKDAYS)})s|jede[ns]? {_WORD}) .*"
    r"(?:\w*ge\w+(?:t|en)|\w+iert|(?:be|ver|ent|er|zer)\w+(?:t|en)))\W*",
    re.IGNORECASE,
)
"""A habit of which nobody is told who does it: "Der Müll wird donnerstags abgeholt"."""


def plainly(sentence: str) -> str:
    """Write a sentence without the reason of a change, and with a plain verb and clock time.

    >>> plainly("Backups run on Sundays now."), plainly("Moved: migration on Tuesday.")
    ('Backups are on Sundays now.', 'migration moved to Tuesday')
    >>> plainly("Standup is at noon.")
    'Standup is at 12 pm.'
    >>> plainly("Der Müll wird jetzt donnerstags abgeholt.")
    'Der Müll ist jetzt donnerstags abgeholt'
    """
    told = _NOON.sub(_as_clock, _without_reason(sentence))
    if headed := _HEADED.fullmatch(told):
        german = headed["verb"].lower().startswith("ver")
        new = f"auf {headed['when']} verschoben" if german else f"moved to {headed['when']}"
        return f"{headed['thing']} {'wurde ' if german else ''}{new}"
    if habit := _RUN_ON.fullmatch(told):
        return f"{habit['things']} are{habit['now'] or ''} {habit['on']}"
    if runs := _RUNS_ON.fullmatch(told):
        return f"{runs['things']} runs{runs['now'] or ''} {runs['on']}"
    if habit := _WIRD.fullmatch(told):
        return f"{habit['thing']} ist {habit['rest']}"
    return told


def _as_clock(match: re.Match[str]) -> str:
    noon = match["noon"] or match["mittags"]
    return f"{match['verb']} at 12 {'pm' if noon else 'am'}"


_GETS: Final = re.compile(
    rf"(?P<who>(?:(?:the|my|our) )?{_WORD}) (?:now )?(?:gets|takes) (?:now )?"
    rf"(?:her|his|its|their|the) (?P<thing>{_WORD}) "
    r"(?P<when>(?:in the (?:morning|afternoon|evening)|at (?:\d|noon|night|breakfast|lunch|dinner)"
    r"|before|after|every|once|twice|daily)\b.*)",
    re.IGNORECASE,
)


def as_thing_of(sentence: str) -> str | None:
    """Write when somebody gets a thing with the thing as the subject; None if it is not told.

    >>> as_thing_of("The cat gets her pill in the evening now.")
    "The cat's pill is in the evening now."
    """
    match = _GETS.match(sentence)
    return match and f"{match['who']}'s {match['thing']} is {match['when']}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Duty:
    """Somebody who does a task: "Tom reviews the auth changes"."""

    who: str
    task: str


_NOW: Final = r"(?:now |jetzt |nun )?"
_WHO: Final = rf"(?P<who>{_WORD}(?: [^\W\d_a-zß-ÿ][\w'\u2019-]*)?)"
_DOES: Final = (
    "reviews? handles? owns? maintains? leads? manages? covers? approves? coordinates? moderates?"
    " organi[sz]es? hosts? triages? supervises? administers?"
).replace(" ", "|")
_TUT: Final = "betreut leitet prüft verwaltet macht übernimmt organisiert moderiert".replace(
    " ", "|"
)
_WHAT: Final = r"(?P<what>(?!(?:an?|ein\w*|that|dass|well|gut|how|it|to|me|us|him|her)\b)\S.*)"
_DUTY: Final = re.compile(
    rf"{_WHO} {_NOW}"
    rf"(?:(?P<does>{_DOES}|{_TUT})|(?:is|am|ist) {_NOW}"
    r"(?P<is>on call|responsible|in charge|zuständig|verantwortlich) (?:for|of|für))"
    rf" {_WHAT}",
    re.IGNORECASE,
)
_TUT_ZUERST: Final = re.compile(rf"(?P<does>{_TUT}) {_WHO} {_NOW}{_WHAT}")
"""German puts the verb in front of the subject behind a time."""


def read_duty(sentence: str) -> Duty | None:
    """Read who does a task; None if the sentence does not tell it.

    >>> read_duty("Priya reviews the auth changes now.")
    Duty(who='Priya', task='reviews the auth changes now.')
    """
    match = _DUTY.match(sentence)
    verb = match and (match["does"] or match["is"])
    if match is None and (match := _TUT_ZUERST.match(sentence)):
        verb = match["does"]
    if match is None or match["who"].lower() in FILLERS - SELF:
        return None
    return Duty(who=match["who"], task=f"{verb} {match['what']}")
