"""Analyse a cue and a turn: words, names, dates, questions."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecphoria.records.forms import composed, lowered
from ecphoria.text import german
from ecphoria.text.change_words import PEOPLE
from ecphoria.text.cue_words import (
    FIRST_PERSON,
    IS_WHEN,
    NO_KNOWLEDGE,
    POLITE_REQUEST,
    REMINDER,
    REQUEST,
    ROLE_WORDS,
    SECOND_PERSON,
    SECOND_PERSON_ACTS,
    SECOND_PERSON_SAID,
    SUMMARY_REQUEST,
    TIME_EXPRESSION,
)
from ecphoria.text.dating import (
    PartialDate,
    PlacedDate,
    forms_of_days,
    names_time,
    stated_dates,
    stems_of_days,
)
from ecphoria.text.details import ASKED, OF_WORDS, Detail
from ecphoria.text.english import (
    CONTRACTED,
    FUNCTION_WORDS,
    LIGHT_WORDS,
    NAMELESS_WORDS,
    STOP_WORDS,
)
from ecphoria.text.languages import LANGUAGES, QUESTION_MARKS, Language, languages_of
from ecphoria.text.names import find_names
from ecphoria.text.phrasebook import in_english, originals
from ecphoria.text.terms import CueTerms, Related, cue_terms, joined_names, merged
from ecphoria.text.tokens import APOSTROPHES, porter, stems, stems_of, word_set, words

_MOST_DATES = 32
"""The first dates of a cue count: every memory is compared with each."""

LIGHT_STEMS = frozenset(
    stems_of((*LIGHT_WORDS, *german.FUNCTION_WORDS, *german.ASKING_WORDS))
).union(stems("passiert passierte geschehen geschah gemacht getan"))
"""Stems of a cue that say nothing about its topic: "now", "happened", function words."""
_OF_ANY_TIME = LIGHT_STEMS.union(
    stems("talk speak spoke discuss chat mention geredet gesprochen besprochen")
)
"""Stems of a cue with a time that say nothing about its topic: also "talk" and "discuss"."""
_ASKER_ACTS = re.compile(r"\b(?:I|[Ww]e)\b")
_ASKS_WHAT = re.compile(
    r"\b(?:what|which|who|anything|something|was|wer|wen|welche\w?)\b|^\W*$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CueAnalysis:
    """The analysis of a cue's text for recall.

    Attributes:
        names: Participants named in the cue, in order of first appearance, as the store writes
            them.
        subject: The one participant named; None if none or several are.
        stems: Terms in order with repeats, without any participant's name.
        stripped: The text to encode: without participants' names, so that vectors of what was
            said, which hold no speaker either, are compared with a like text.
        is_when: The cue asks for a time.
        dates: Calendar dates stated in the cue, and those of `told`.
        told: The cue tells a past time from the day it is asked on: "yesterday", "last week".
        asks_of_time: It asks only what happened at its dates or what was talked about then; "How
            are you today?" does not.
        first_person: The cue speaks of the one who asks: "I", "my", "we".
        means_asker: It does so with another word than "we" or "our", which mean all who speak.
        asks_listener: The cue asks what the listener said or did: "did you", "your advice".
        only_listener: It asks what the listener said, and nothing of the asker: no "I" stands
            in front of it.
        asks_summary: The cue asks for a summary: "summarize", "give me an overview".
        asks_name: The cue asks for the asker's name, and nothing else.
        own: Stems of what it calls the asker's: "my birthday"; each with the stem of the English
            word, as `in_english` writes it.
        also: Further terms that stand for a stem: the stem of its word in the cue's language,
            those of words with the same meaning, and "3rd" and "third" for a stated "3 April".
        written_names: Stems of names that are no speakers, by their capital or the signs inside:
            "Leo", "db-stage-01".
        likely_names: Stems of what may be a name, in other languages than English: a German noun
            without an article.
        roles: Stem of the role of the person for whom the cue asks: "who is the CEO of".
        detail: The kind of detail for which it asks: "the name of the dentist".
        silent: Stems that say nothing about the topic: of cues in other languages than English,
            and what the listener did, if the cue asks for it.
        days: Stems of each stated day, of its number and its month. Only together they name it.
    """

    names: tuple[str, ...]
    subject: str | None
    stems: tuple[str, ...]
    stripped: str
    is_when: bool
    dates: tuple[PartialDate, ...]
    first_person: bool = False
    means_asker: bool = False
    asks_listener: bool = False
    only_listener: bool = False
    asks_summary: bool = False
    asks_name: bool = False
    own: Mapping[str, str] = field(default_factory=dict)
    told: bool = False
    asks_of_time: bool = False
    also: Related = field(default_factory=dict)
    written_names: frozenset[str] = frozenset()
    likely_names: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    detail: Detail | None = None
    silent: frozenset[str] = frozenset()
    days: tuple[frozenset[str], ...] = ()

    @property
    def further(self) -> frozenset[str]:
        """All terms that stand for a stem."""
        return frozenset(chain.from_iterable(self.also.values()))

    @property
    def sought(self) -> tuple[str, ...]:
        """The terms that the text index is searched for, sorted: the stems, and `further`."""
        return tuple(sorted({*self.stems, *self.further}))


def analyse(
    text: str, participants: Sequence[str], told: Sequence[PlacedDate] = ()
) -> CueAnalysis:
    """Analyse a cue, with the names of the speakers in the store and the times that it tells.

    Names count as whole words in any case, the longest first; a name that is also an everyday
    word (`Will`, `May`) only as written. A cue that is nothing but names is encoded as it is.
    Speakers called `user` or `assistant` are roles: in a cue they are ordinary words. The words
    of a told time are no terms: another day's "yesterday" is another day.
    """
    untimed = composed(_blanked(text, told))
    text = composed(text)
    participants = [name for name in participants if name.lower() not in ROLE_WORDS]
    pattern = _names_in(text, participants)
    names: tuple[str, ...] = ()
    asked = _without_request(text)
    stripped = " ".join(asked.split())
    if pattern:
        names = _as_written(pattern.findall(text), participants)
        without = " ".join(pattern.sub("", asked).split())
        stripped = without if words(without) else stripped
    languages = languages_of(text)
    stated = stated_dates(untimed, languages)
    times = (*stated, *told)
    of_names = frozenset(words("\n".join(participants)))
    found = cue_terms(_without_request(untimed), of_names, languages)
    bare = _blanked(untimed, stated)
    timeless = cue_terms(_without_request(bare), of_names, languages) if stated else found
    impolite = POLITE_REQUEST.sub(" ", text)
    said = SECOND_PERSON_SAID.search(impolite)
    days = tuple(day for day in stems_of_days(untimed, stated) if day.isdisjoint(timeless.stems))
    named, likely = find_names(asked, languages)
    english = in_english(asked, languages)
    unreminded, mine = REMINDER.sub(" ", text), [one.me for one in languages]
    return CueAnalysis(
        names=names,
        subject=names[0] if len(names) == 1 else None,
        stems=found.stems,
        also=merged(found.also, forms_of_days(days)),
        # "Recommend" is what the listener did; the reply need not have the word.
        silent=found.silent | {*stems_of(words(said[0])[-1:] if said else ())},
        written_names=(named | {*joined_names(asked)}) & {*found.stems},
        likely_names=likely & {*found.stems},
        roles=frozenset(_stems_of_each(_roles(english), asked, languages)) & {*found.stems},
        detail=asked_detail(english, languages),
        stripped=stripped,
        is_when=IS_WHEN.match(text.lstrip()) is not None
        or any(language.when.match(text) for language in languages),
        dates=tuple(dict.fromkeys(one.date for one in times))[:_MOST_DATES],
        told=bool(told),
        asks_of_time=bool(times) and _asks_only_what(bare, timeless),
        first_person=_speaks_of(FIRST_PERSON, unreminded, mine),
        means_asker=_speaks_of(FIRST_PERSON, _TOGETHER.sub(" ", unreminded), mine),
        asks_listener=SECOND_PERSON_ACTS.search(impolite) is not None,
        only_listener=said is not None and _ASKER_ACTS.search(impolite[: said.start()]) is None,
        asks_summary=SUMMARY_REQUEST.match(text) is not None,
        asks_name=_ASKS_NAME.search(in_english(text, languages)) is not None,
        own=_stems_of_each(_MINE.findall(english), asked, languages),
        days=days,
    )


_TOGETHER: Final = re.compile(r"\b(?:(?i:we|ours?|ourselves|wir|uns|unser\w*)|[Uu]s)\b")
"""English and German pronouns of all who speak, so of no one alone."""


def _asks_only_what(bare: str, found: CueTerms) -> bool:
    """Tell whether a cue without its times asks only what happened or what was talked about."""
    content = set(found.stems) - found.silent
    return _ASKS_WHAT.search(bare) is not None and _OF_ANY_TIME.issuperset(content)


def _blanked(text: str, times: Sequence[PlacedDate]) -> str:
    for one in reversed(times):
        text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
    return text


def _without_request(text: str) -> str:
    """Cut "List all" or "Do you remember" in front of what is asked for."""
    request = REQUEST.match(text)
    rest = text[request.end() :] if request else text
    return rest if words(rest) else text


_ASKS_WHO: Final = re.compile(
    rf"\bwho(?:\s+(?:is|was|are|were)|[{APOSTROPHES}]s)\s+(?:the|my|our|[\w{APOSTROPHES}]+"
    rf"[{APOSTROPHES}]s?)\s+(?P<role>(?:[\w-]+\s+){{0,3}}?[\w-]+)"
    r"(?=\s+(?:of|at|for|in|on|to|from|behind|with|who|that|now|today|again|currently)\b|\W*$)"
    r"|\b(?:wer|wie\s+heißt)(?:\s+(?:ist|war|sind|waren))?\s+(?:d(?:er|ie|as)|(?:mein|unser)\w*"
    r"|(?-i:[A-ZÄÖÜ])\w+s)\s+(?:(?-i:[a-zäöüß])\w+\s+)?(?P<rolle>(?-i:[A-ZÄÖÜ])[\w-]+)",
    re.IGNORECASE,
)
_ANYONE: Final = word_set("person people one man woman guy girl boy person leute mensch")


def _roles(asked: str) -> list[str]:
    """Name the role of the person whom a cue asks for; empty if it asks for nobody by a role."""
    found = _ASKS_WHO.search(asked)
    role = found and (found["role"] or found["rolle"]).split()[-1]
    return [role] if role and role.lower() not in _ANYONE else []


def asked_detail(asked: str, languages: Sequence[Language]) -> Detail | None:
    """Give the kind of detail for which a cue asks; it may be `in_english`.

    >>> asked_detail("What is the vet's name?", ())
    <Detail.NAME: 'name'>
    """
    if _roles(asked):
        return Detail.NAME
    found = next((kind for kind, pattern in ASKED.items() if pattern.search(asked)), None)
    is_read = {LANGUAGES["de"]}.issuperset(languages) or found not in OF_WORDS
    return found if is_read else None


def _stems_of_each(
    english: Iterable[str], text: str, languages: Sequence[Language]
) -> dict[str, str]:
    """Give the stems of a text for which English words stand, each with that word's stem."""
    return {
        stem: meant
        for word in english
        for meant in stems_of(words(word))
        for stem in originals(text, word.lower(), languages)
    }


def _speaks_of(english: re.Pattern[str], text: str, others: Iterable[re.Pattern[str]]) -> bool:
    """Tell whether a text has a pronoun, in English or in its own languages."""
    return any(pattern.search(text) for pattern in (english, *others))


def _names_in(text: str, participants: Sequence[str]) -> re.Pattern[str] | None:
    """Compile the names that may occur; the plain substring test keeps a thousand names cheap."""
    said = _caseless(text)
    present = sorted(
        (name for name in participants if name.strip() and _caseless(name) in said),
        key=len,
        reverse=True,
    )
    if not present:
        return None
    choices = "|".join(
        re.escape(name) if name.lower() in STOP_WORDS else f"(?i:{re.escape(name)})"
        for name in present
    )
    return re.compile(rf"(?<!\w)({choices})(?!\w)(?:[{APOSTROPHES}]s\b)?")


def _as_written(found: Sequence[str], participants: Sequence[str]) -> tuple[str, ...]:
    """Return names in the store's spelling, each once; of two equal names the first."""
    spelling = {_caseless(name): name for name in reversed(participants)}
    return tuple(dict.fromkeys(spelling[_caseless(name)] for name in found))


def _caseless(text: str) -> str:
    """Write letters for a comparison without case; the Turkish ones become an I."""
    return lowered(text).casefold().replace("\u0131", "i")


_NAMING = word_set(
    " ".join((*FUNCTION_WORDS, *NAMELESS_WORDS, *CONTRACTED, *german.FUNCTION_WORDS))
    + " name called heiße heißt"
)


def only_names(spoken: str, cue: str) -> bool:
    """Tell whether a turn has no word of its own: it names what the cue names, and tells no more.

    >>> only_names("Hi, I'm Ana.", "where does ana live"), only_names("Ana left.", "Where is Ana?")
    (True, False)
    """
    said = {*words(spoken)} - _NAMING
    return bool(said) and said.issubset(words(cue))


_MINE = re.compile(
    r"\b(?:my|mein\w{0,2})\s+(?:(?:old|new|former|previous|current|favou?rite|(?:alt|neu)e\w?)\s+)?"
    r"(\w+)",
    re.IGNORECASE,
)
_ASKS_NAME = re.compile(
    rf"\b(?:what(?: is|[{APOSTROPHES}]s| was) my (?:full |first |last )?name|who am i|know my name"
    r"|(?:was|wie) (?:ist|lautet|war) mein name|wie (?:hei(?:ß|ss)e ich|ich hei(?:ß|ss)e)"
    r"|wer bin ich)(?: again| noch(?: ?mal)?)?\W*$",
    re.IGNORECASE,
)
_INTRODUCES = re.compile(
    rf"(?:^|[.!?,;]\s|\b(?i:hi|hello|hey|and|hallo|und)\s)\W{{0,3}}"
    rf"(?:(?i:i(?:[{APOSTROPHES}]m| am)(?: called)?|my name(?:[{APOSTROPHES}]s| is)|call me"
    r"|i go by|ich hei(?:ß|ss)e|mein name ist|nenn mich)|(?P<maybe>(?i:ich bin)))"
    r" [^\W\d_a-zß-ÿ][\w-]+(?: [^\W\d_a-zß-ÿ][\w-]+)?(?= *(?:$|[.,;!?]| (?:and|und|from|aus) ))"
)


_MY_NAME = re.compile(r"\b(?:my|mein\w?) name\b", re.IGNORECASE)


def introduction(spoken: str) -> str:
    """Tell whether the speaker of a turn tells a name; "Ich bin Lehrer." only may do so.

    >>> introduction("Hi, I'm Ana and I bake."), introduction("I'm a baker.")
    ('name', '')
    """
    found = _INTRODUCES.search(spoken)
    return "" if found is None else "maybe" if found["maybe"] else "name"


_POSSESSIVE = re.compile(rf"(?P<who>\w+)(?:[{APOSTROPHES}]s|(?<=s)[{APOSTROPHES}])")
_NO_OWNERS = word_set("it that there here what who he she let tomorrow today yesterday")
_OTHERS = word_set(
    "his her their sein seine seiner seinem seinen seines ihr ihre ihrer ihrem ihren ihres"
)
_OWNED = re.compile(
    r"(?:of|von) (?:(?:my|our|the|mein\w*|unser\w*) )?(?P<who>\w+)"
    r"|(?:mein|unser)e[rs] (?P<whom>\w+)|(?P<others>(?:sein|ihr)e[rs]) ",
    re.IGNORECASE,
)
_TOKEN = re.compile(rf"[\w{APOSTROPHES}]+")


def _is_owner(word: str) -> bool:
    """Tell whether a word in front of a thing names another owner: "Ben's", "sister's", "his"."""
    found = _POSSESSIVE.fullmatch(word)
    if found is None:
        return word.lower() in _OTHERS
    who = found["who"]
    named = who[0].isupper() and who.lower() not in _NO_OWNERS and not who.endswith("day")
    return named or porter(who.lower()) in PEOPLE


def _is_owned(found: re.Match[str]) -> bool:
    """Tell whether the words behind a thing name another owner: "of my sister"."""
    who = (found["who"] or found["whom"] or found["others"]).lower()
    return bool(found["others"]) or who in _OTHERS or porter(who) in PEOPLE


def is_of_another(spoken: str, stem: str, asker: str) -> bool:
    """Tell whether a turn names a thing only as somebody else's than the asker's.

    >>> is_of_another("My sister's birthday is in May.", "birthdai", "")
    True
    >>> is_of_another("It's my birthday, and Ben's birthday.", "birthdai", "")
    False
    """
    said = list(_TOKEN.finditer(spoken))
    lower = [one[0].lower() for one in said]
    if {"user", "user's", asker.lower(), f"{asker.lower()}'s"}.intersection(lower):
        return False
    there = [at for at, word in enumerate(lower) if stem in stems_of(words(word))]
    for at in there:
        before = [one[0] for one in said[max(0, at - 2) : at]]
        behind = _OWNED.match(spoken, said[at].end() + 1)
        named = any(map(_is_owner, before)) and lower[at - 1] not in {"my", "our"}
        if not named and not (behind and _is_owned(behind)):
            return False
    return bool(there)


def as_meant(
    counts: NDArray[np.float64],
    stems: Sequence[str],
    spoken: Sequence[str],
    analysis: CueAnalysis,
    asker: str,
) -> NDArray[np.float64]:
    """Correct how often turns have the words of a cue about the asker, [n, q].

    "I'm Ana." has no word of "What is my name?", but all of its meaning. "My sister's birthday"
    has a word of "When is my birthday?", but not its meaning.

    Args:
        counts: [n, q] by their words.
        stems: Of the cue, q.
        spoken: The texts of short turns, n; empty for others.
        analysis: Of the cue.
        asker: The asker's name, if it is known.
    """
    counts = counts.copy()
    if analysis.asks_name:
        told = [introduction(in_english(text)) for text in spoken]
        counts[[one != "" for one in told]] = 1.0
        if "name" in told:
            # The word is then another's: "What was the name of that place?"
            own = [_MY_NAME.search(text) is not None for text in spoken]
            counts[[not (one or mine) for one, mine in zip(told, own, strict=True)]] = 0.0
        return counts
    for column in (column for column, stem in enumerate(stems) if stem in analysis.own):
        for row in np.flatnonzero(counts[:, column]).tolist():
            if is_of_another(in_english(spoken[row]), analysis.own[stems[column]], asker):
                counts[row, column] = 0.0
    return counts


_CAPTION = "[shares "

LONGEST_EXCUSE = 120
"""Longest turn with "I don't know" that says nothing else, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFeatures:
    """The priors that a turn's text gives; a document has none."""

    is_question: bool
    has_time_expression: bool
    first_person: bool
    second_person: bool


def without_caption(text: str) -> str:
    """Cut a trailing ` [shares CAPTION]`, which describes an image and was not said."""
    trimmed = text.rstrip()
    if not trimmed.endswith("]"):
        return text
    start = trimmed.rfind(_CAPTION)
    return trimmed[:start].rstrip() if start >= 0 else text


def _is_question(spoken: str, languages: Iterable[Language]) -> bool:
    """Tell whether a text answers nothing: it ends with a question, or only says "I don't know".

    It has no caption; `languages` are those of the text besides English.
    """
    trimmed = spoken.rstrip()
    if trimmed.endswith(QUESTION_MARKS):
        return True
    if any(one.ends and one.ends.search(trimmed) for one in languages):
        return True
    # A long text may say this about one topic and state something about another.
    return len(trimmed) <= LONGEST_EXCUSE and NO_KNOWLEDGE.search(trimmed) is not None


def turn_features(text: str) -> TurnFeatures:
    """Read all features of a turn's text, without its caption."""
    spoken = without_caption(text)
    languages = languages_of(spoken)
    return TurnFeatures(
        is_question=_is_question(spoken, languages),
        has_time_expression=TIME_EXPRESSION.search(spoken.lower()) is not None
        or names_time(spoken, languages),
        first_person=_speaks_of(FIRST_PERSON, spoken, [one.me for one in languages]),
        second_person=_speaks_of(SECOND_PERSON, spoken, [one.you for one in languages]),
    )
