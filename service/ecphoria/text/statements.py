"""Read sentences of English and German as statements: a subject, a verb of state, and a value.

Some languages are read in the English of `phrasebook`. A sentence that no rule reads says nothing,
such as lists and events: "I bought a lamp" and "I bought a chair" are both true.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ecphoria.text.asking import DOT_WITHIN
from ecphoria.text.change_words import (
    ADDS,
    AT,
    BEGINS,
    CANCELLED,
    CHANGED,
    DOUBTFUL,
    DROPPED,
    ENDED,
    FILLERS,
    HIRED,
    INSTEAD,
    LASTS,
    ME,
    MOVED,
    NEW,
    NOW,
    OWN,
    PERSISTS,
    PLANS,
    SELF,
    SINGLE,
    STATES,
    STEMS_OF_STATES,
    TO,
    UNIQUE,
    VERBS,
    WEAK,
)
from ecphoria.text.code_blocks import code_blocks, outside_of
from ecphoria.text.cue import without_caption
from ecphoria.text.frames import NO_FRAME, Frame, frame_of, frame_of_duty, named_stems
from ecphoria.text.phrasebook import in_english
from ecphoria.text.retold import as_thing_of, plainly, read_duty, with_its_thing
from ecphoria.text.tokens import word_set, words

LONGEST: Final = 2_000
"""Characters; a longer text is an article or a log, and is not read."""
_LONGEST_SENTENCE: Final = 240
_MOST: Final = 12
"""Sentences of a text that are read."""

_SENTENCE: Final = re.compile(rf"(?:[^.!?\n]|{DOT_WITHIN})+[.!?]*")
_CLAUSE: Final = re.compile(
    r"\s*[,;:\u2014\u2013](?!\d)\s*|\s+(?:but|and|und|aber)\s+(?=(?:i|we|my|our|the|ich|wir|der|die|das)\b)",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(
    r"(?P<sign>[$\u20ac\u00a3])?\s?(?<![\w.,:])(?P<number>\d+(?:[.,:]\d+)*)(?:\s?(?P<unit>%|[^\W\d_]+))?"
)
_UNITS: Final = {
    word: unit
    for unit, listed in {
        "clock": "uhr am pm oclock",
        "euro": "euro euros eur",
        "dollar": "dollar dollars usd bucks",
        "pound": "pound pounds pfund gbp quid",
        "franc": "franc francs franken chf",
        "mg": "mg milligram milligramm",
        "km": "km kilometres kilometers kilometer",
        "kg": "kg kilo kilos",
        "cm": "cm centimetres zentimeter",
        "minute": "min minute minutes minuten",
        "hour": "hour hours stunde stunden h",
        "unit": "unit units einheiten",
        "percent": "percent prozent",
        "person": "people persons personen",
    }.items()
    for word in listed.split()
} | {"%": "percent"}
_SIGNS: Final = {"$": "dollar", "\u20ac": "euro", "\u00a3": "pound"}

Number = tuple[str, str]
"""A number as written, and its unit; empty if it has none that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A clause that tells how something is, or that it changed.

    Attributes:
        subject: Stems of the thing; empty if it is the speaker.
        verb: Family of the verb of state; empty if the clause has none.
        values: Stems behind the verb.
        purpose: Stems of what a value is for: "for the tests".
        numbers: The numbers of the clause with their units.
        state: How the speaker and another person stand; empty if the clause does not tell.
        says: All stems, without fillers.
        new: Stems and numbers behind "to", "now" and the like.
        dropped: Stems of a value that the clause calls former.
        instead: Whether the clause puts another value in the place of the former one.
        named: Whether the value is a person's name.
        words: Its words, for phrases.
        holds: Whether it has a frame and is not doubtful: something is so.
        of_self: Whether it has a pronoun of the speaker.
        plans, changes, now, ends, cancels, lasts, adds, doubtful: Whether it has such phrases
            (`change_words.toml`); of a statement that lasts, adds or is doubtful no change counts.
    """

    subject: frozenset[str]
    verb: str
    values: frozenset[str]
    purpose: frozenset[str]
    numbers: frozenset[Number]
    state: str
    says: frozenset[str]
    new: frozenset[str]
    dropped: frozenset[str]
    instead: bool
    named: bool
    words: tuple[str, ...]
    holds: bool
    plans: bool
    changes: bool
    now: bool
    ends: bool
    cancels: bool
    lasts: bool
    adds: bool
    doubtful: bool
    of_self: bool

    @property
    def topic(self) -> frozenset[str]:
        """The stems that tell what the clause is about, besides the speaker."""
        return self.subject or self.purpose

    @property
    def tells_change(self) -> bool:
        """Whether something is no longer as it was: it became, is so now, or ended."""
        return self.changes or self.now or self.ends


def read_statements(text: str) -> tuple[Statement, ...]:
    """Read the statements of a memory's text, in order; none of a text over `LONGEST`."""
    if len(text) > LONGEST:
        return ()
    sentences = list(_sentences(in_english(text)))
    found = [one for sentence in sentences for one in _read_sentence(sentence)]
    # "Staging moved! New ip is 10.0.0.9": the sentence in front names the thing.
    together = (*sentences, *(f"{before} {behind}" for before, behind in pairwise(sentences)))
    found += [_read(whole) for one in together if (whole := with_its_thing(one)) is not None]
    return tuple(one for one in found if one is not None)


def _sentences(text: str) -> Iterator[str]:
    """List the sentences outside of code that do not ask."""
    text = without_caption(text)
    spans = [text[start:end] for start, end in outside_of(code_blocks(text), text)]
    sentences = [match[0].strip() for span in spans for match in _SENTENCE.finditer(span)]
    for sentence in sentences[:_MOST]:
        if not sentence.endswith("?") and len(sentence) <= _LONGEST_SENTENCE:
            yield sentence


def _read_sentence(sentence: str) -> Iterator[Statement | None]:
    """Read a sentence and its clauses; of several clauses only one of its own has a frame."""
    sentence = _from_now(plainly(sentence))
    if (new := _GOT_NEW.match(sentence)) and _is_single(new["thing"]):
        yield _read(f"my new {new['thing']} is {new['value']}")
        return
    if (who := _IS_MINE.match(sentence)) and named_stems(
        words(who["thing"])
    ) <= UNIQUE - STEMS_OF_STATES:
        now = "" if {"now", "jetzt"}.isdisjoint(words(sentence)) else "now"
        yield _read(f"my {who['new'] or ''} {who['thing']} is {who['name']} {now}")
    if (thing := as_thing_of(sentence)) is not None:
        yield _read(thing)
    if (duty := read_duty(sentence)) is not None:
        yield _read(sentence, frame_of_duty(duty))
    clauses = [clause for clause in _CLAUSE.split(sentence) if clause.strip()]
    if len(clauses) < 2 or len(clauses[0].split()) <= _NO_CLAUSE:
        yield _read(sentence)
        if joined := _JOINED.match(sentence):
            yield _read(f"{joined['who']} {joined['rest']}")
        if ended := _AND_ANOTHER.match(sentence):
            yield _read(ended["ended"])
        return
    yield _read(sentence, NO_FRAME)
    yield from map(_read, clauses)


def _from_now(sentence: str) -> str:
    """Write the time from which a sentence holds as "now" behind its first clause.

    >>> _from_now("As of this week, my boss is Ann Lee, and I like her.")
    'my boss is Ann Lee now, and I like her.'
    >>> _from_now("Seit Mai ist Frau Wolf meine Chefin.")
    'Frau Wolf ist meine Chefin jetzt.'
    """
    begins = BEGINS.match(sentence)
    if begins is None:
        return sentence
    rest = _VERB_FIRST.sub(r"\g<subject> \g<verb>", sentence[begins.end() :])
    end = _CLAUSE.search(rest) or _END.search(rest)
    now = "jetzt" if begins["german"] else "now"
    return rest if end is None else f"{rest[: end.start()]} {now}{rest[end.start() :]}"


_END: Final = re.compile(r"\W*$")


def _is_single(thing: str) -> bool:
    """Tell whether people have one such thing at a time: "work number", but not "book"."""
    last = words(thing)[-1:]
    stems = named_stems(last)
    return bool(stems & (SINGLE | UNIQUE)) or any(one.endswith(_ENDS_SINGLE) for one in last)


_ENDS_SINGLE: Final = ("nummer", "adresse", "anschrift", "passwort", "code")
_GOT_NEW: Final = re.compile(
    r"(?:(?:(?:this|last|(?:dies|letzt)e\w?) \w+|today|yesterday|heute|gestern),? )?"
    r"(?:(?:(?:i|we)(?:['\u2019]ve)?|ich|wir) (?:(?:now|just|finally|already) )?"
    r"(?:got|have|received|changed|habe?|haben|bekomme\w*) (?:(?:now|got|jetzt|endlich) )?"
    r"|(?:\w+ ){1,3}?(?:gave|sent|gab|gaben) (?:me|us|mir|uns) )?"
    r"(?:(?:an? |my |our |the |(?:m?ein|unser)\w* )?(?:new|neue[nrs]?)"
    r"|(?<=changed )(?:my|our)) "
    r"(?P<thing>(?:[\w-]+ ){0,2}?[\w-]+)(?: now| jetzt)?\s?[:,\u2013\u2014-]\s?"
    r"(?:(?:it|which|s?he|es|sie|er)(?: is|['\u2019]s| ist| lautet| hei(?:ß|ss)t) )?"
    r"(?P<value>\S.*)",
    re.IGNORECASE,
)
"""A new thing with its value: "I got a new phone number: 555-0199"."""
_WORD_OF_NAME: Final = r"[^\W\d_a-zß-ÿ][^\W\d_A-Z][\w'\u2019-]*"
_TITLED: Final = rf"(?:Mr|Mrs|Ms|Dr|Prof|Herr|Frau|Hr|Fr)\.? {_WORD_OF_NAME}"
_NAME: Final = rf"(?:{_TITLED}|{_WORD_OF_NAME})(?: {_WORD_OF_NAME})*"
_VERB_FIRST: Final = re.compile(
    r"^(?P<verb>ist|sind|heißt|lautet|kostet|beträgt|läuft|liegt|beginnt) "
    rf"(?P<subject>(?:(?:mein|unser|der|die|das)\w* [\w-]+|{_NAME}))(?= )"
)
"""German puts the verb in front of the subject behind a time."""
_NAMED: Final = re.compile(
    rf"\b(?:(?:is|['\u2019]s|called|hei(?:ß|ss)t)(?: now| jetzt)? {_NAME}"
    rf"|ist(?: jetzt| nun)? (?:{_TITLED}|{_WORD_OF_NAME} {_WORD_OF_NAME}))(?: now| jetzt)?\W*$"
)
"""German writes all nouns like names, so there only a title or a second name tells one."""
_IS_MINE: Final = re.compile(
    rf"(?P<name>{_NAME}) (?:is|ist) (?:now |jetzt )?(?:my|our|meine?|unsere?) "
    r"(?:(?P<new>new|neue[nr]?) )?(?P<thing>\w+)(?: now| jetzt)?\W*$"
)

_JOINED: Final = re.compile(
    rf"(?P<who>(?:{'|'.join(sorted(SELF))})|(?:{'|'.join(sorted(OWN))}) \w+) .* (?:and|und) "
    rf"(?P<rest>(?:{'|'.join(sorted(VERBS))}) .*)",
    re.IGNORECASE,
)
"""One subject of two verbs: "My parents sold the house and live in Hove"."""
_AND_ANOTHER: Final = re.compile(
    r"(?P<ended>.+?),? (?:and|und) (?:then |now |dann |jetzt )?"
    r"(?:bought|got|ordered|leased|rented|hired|adopted|joined|started|kaufte|holte|bestellte) ",
    re.IGNORECASE,
)
"""A clause that ends something, and its replacement: "I sold the Golf and bought a Polo"."""
_NO_CLAUSE: Final = 2
"""Words in front of a comma or "and" that are no clause: "Ana and I are engaged"."""


def _read(clause: str, frame: Frame | None = None) -> Statement | None:
    """Read a clause; None if it neither tells how something is nor that it changed.

    Its frame is read from its words, unless `frame` is given.
    """
    said = words(clause.replace("\u2019", "'"))
    spoken = " ".join(said)
    doubtful, lasts = DOUBTFUL.within(said, spoken), LASTS.within(said, spoken)
    adds = ADDS.within(said, spoken)
    reports = not (doubtful or lasts or adds)
    subject, verb, rest = frame or frame_of(said, spoken)
    holds = subject is not None and bool(verb) and not doubtful
    plans = PLANS.within(said, spoken)
    changes = reports and (
        _is_new(said) or any(one.within(said, spoken) for one in (CHANGED, MOVED, HIRED))
    )
    now = reports and NOW.within(said, spoken)
    ends = reports and not PERSISTS.within(said, spoken) and ENDED.within(said, spoken)
    if not (holds or plans or changes or now or ends):
        return None
    dropped = _dropped(spoken) if changes or now or ends else frozenset()
    return Statement(
        subject=subject or frozenset(),
        verb=verb,
        values=named_stems(rest),
        purpose=_purpose(verb, rest),
        numbers=_numbers(clause),
        state=_state([word for word in rest if word not in FILLERS][:_NEAR] if holds else said),
        says=named_stems(said),
        new=_new(spoken) - dropped,
        dropped=dropped,
        instead=bool(dropped) and INSTEAD.search(spoken) is not None,
        named=holds and _NAMED.search(clause) is not None,
        words=tuple(said),
        holds=holds,
        plans=plans,
        changes=changes,
        now=now,
        ends=ends,
        cancels=ends and CANCELLED.within(said, spoken),
        lasts=lasts,
        adds=adds,
        doubtful=doubtful,
        of_self=not (SELF | OWN | ME).isdisjoint(said),
    )


def _dropped(spoken: str) -> frozenset[str]:
    found = [match["old"] for one in (INSTEAD, DROPPED) for match in one.finditer(spoken)]
    return named_stems(" ".join(found).split())


def _new(spoken: str) -> frozenset[str]:
    """Read the new value of a clause."""
    return named_stems(spoken[_start_of_new(spoken) :].split())


def _start_of_new(spoken: str) -> int:
    """Find where the new value of a clause begins; its end if it has none."""
    strong = TO.search(spoken)
    found = [strong] if strong else list(AT.finditer(spoken))
    return found[-1].end() if found else len(spoken)


def _purpose(verb: str, rest: Sequence[str]) -> frozenset[str]:
    """Read what a used or paid thing is for."""
    if verb.startswith("do ") and any(word.isdigit() for word in rest):
        # "I take 20 mg of magnesium" is about the magnesium.
        return frozenset(
            stem
            for stem in named_stems(_without_time(rest)) - WEAK
            if not stem.isdigit() and stem not in _UNITS
        )
    if verb not in {"use", "do pai", "do zahl"}:
        return frozenset()
    at = next(
        (place for place, word in enumerate(rest) if word in {"for", "fur", "as", "als"}), None
    )
    return frozenset() if at is None else named_stems(rest[at + 1 :])


def _without_time(rest: Sequence[str]) -> Sequence[str]:
    """Leave out when something is done: "zinc in the morning"."""
    ends = (at for at, word in enumerate(rest) if word in _WHEN and named_stems(rest[:at]) - WEAK)
    return rest[: next(ends, len(rest))]


_WHEN: Final = word_set("in at before after every am vor nach zum jeden morgens abends")
_NEAR: Final = 2


def _state(said: Sequence[str]) -> str:
    # A cup breaks, too.
    said = said if "up" in said else [word for word in said if word not in {"broke", "broken"}]
    found = next((STATES[word] for word in reversed(said) if word in STATES), "")
    return found or ("together" if _ARE_TOGETHER.search(" ".join(said)) else "")


_ARE_TOGETHER: Final = re.compile(
    r"\b(?:(?:are|aren t|not|no longer|back) together|(?:m|am|not|been) seeing)\b"
)


def _is_new(said: Sequence[str]) -> bool:
    """Tell whether the subject is called new: "my new address is"."""
    return any(one in OWN | _ARTICLES and other in NEW for one, other in pairwise(said))


_ARTICLES: Final = word_set("the der die das")


def _numbers(clause: str) -> frozenset[Number]:
    return frozenset(_number(match) for match in _NUMBER.finditer(clause.lower()))


def _number(match: re.Match[str]) -> Number:
    number = match["number"]
    unit = _SIGNS.get(match["sign"] or "") or _UNITS.get(match["unit"] or "", "")
    return number, "clock" if ":" in number else unit
