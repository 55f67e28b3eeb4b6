"""Separate turns that only ask, or only say "I don't know", from turns that state something.

The rules know English and German; some other languages are read in the English of
`ecphoria.text.phrasebook`. In all, a sentence is a question if it ends as one and states nothing
beside it. A sentence without a matching rule states something, so a missing rule hides no memory.

Every rule looks at one sentence of at most `LONGEST_ASKING` characters, and no pattern has nested
repetition, so the time is linear in the text.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from ecphoria.text.asking_words import (
    AGREEING,
    AND,
    ASKED_LAST,
    ASKING_STEMS,
    ASKS,
    BUT,
    CHOICE_OR_WHO,
    CONDITION,
    EXCUSES,
    EXCUSES_WITHIN,
    FILLER,
    FILLER_PHRASES,
    LABEL,
    LOST,
    OF_ANY_ACT,
    OFFERS,
    OPEN_CUE,
    OPENS,
    PERSON,
    REASON,
    REPORTING_STEMS,
    REPORTS,
    REQUESTS,
    STATED,
    UNDECIDED,
    VERB,
)
from ecphoria.text.german import DATED, is_german
from ecphoria.text.languages import (
    LANGUAGES,
    QUESTION_MARKS,
    Language,
    content_words,
    languages_of,
)
from ecphoria.text.names import normalised_words
from ecphoria.text.phrasebook import in_english
from ecphoria.text.tables import any_of
from ecphoria.text.tokens import (
    APOSTROPHES,
    SENTENCE_ENDS,
    UNSPACED,
    UNSPACED_ENDS,
    UPPER,
    stems,
    stems_of,
)

# A sentence that no rule recognises states something; a long request to an assistant is evidence
# (decision 0044).
LONGEST_ASKING: Final = 600
"""Longest turn that may only ask, in characters; a longer one describes its case."""

_SHORT_PHRASE = 4
"""Words of a phrase in front of a question that states nothing: `By the way`, `My wife's name`."""


class Saying(IntEnum):
    """The act of a turn."""

    STATES = 0
    ASKS = 1
    DOES_NOT_KNOW = 2


@dataclass(frozen=True, slots=True)
class Asking:
    """The act of a turn, and the details of its question.

    Attributes:
        saying: What it does.
        told: Stems of names and numbers in a turn that asks: `Pixel` in "What may Pixel eat?".
        content: Stems of its content words, if it does not state, or if it states and speaks of
            asking or knowing: "The user asked about the wedding."
    """

    saying: Saying
    told: frozenset[str] = frozenset()
    content: frozenset[str] = frozenset()


STATES: Final = Asking(Saying.STATES)


_ENDS = f"{SENTENCE_ENDS}{UNSPACED_ENDS}\u2026\n"
# "Next.js", "asyncio.run", "4.5", "Dr. Seuss", "the U.S. team" and "am 12. Mai" do not end at
# their dots.
DOT_WITHIN: Final = (
    r"(?:\.(?=\w)|(?<=\b[A-Z])\.|(?<=\b(?:Dr|Mr|Ms|St|vs))\.|(?<=\b(?:Hon|Mrs))\."
    rf"|(?<=\d)\.(?={DATED}))"
)
_SENTENCE = re.compile(rf"(?:[^{_ENDS}]|{DOT_WITHIN})+(?:[{_ENDS}]+|$)")
# "4:51" is one number.
_CLAUSE = re.compile(r"[,;()\uff0c\uff1b\u060c\u061b\u3001\u2014\u2013]|:(?!\d)|\s-\s")
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+")
_NAME = re.compile(
    rf"(?<=[^\W\d_])(?:[{APOSTROPHES}]s)?[ ,]+"
    rf"(?P<name>(?!(?:I|AI|LLM|KI)\b)[{UPPER}{UNSPACED}]\w+)"
)


def content_stems(found: frozenset[str]) -> frozenset[str]:
    """Remove the stems of words that belong to questions and say nothing about the topic."""
    return found - ASKING_STEMS


def own_stems(found: Iterable[str]) -> int:
    """Count the different stems of a turn that tell something, whatever its act and language.

    Pairs of characters do not count: function words may be inside.
    """
    told = frozenset(found) - OF_ANY_ACT
    return sum(not _UNSPACED.match(stem) for stem in told)


_UNSPACED: Final = re.compile(f"[{UNSPACED}]")


_ENDS_ASKING = re.compile(r"[?\uff1f\u061f][^\w.!?\uff1f\u061f]*$")


def leaves_open(spoken: str) -> bool:
    """Tell whether a turn leaves a question open: it asks at its end, or is undecided.

    `spoken` is its text without the caption; of a long one the end is read.
    """
    end = spoken[-LONGEST_ASKING:]
    if _ENDS_ASKING.search(end) or UNDECIDED.search(end):
        return True
    return read_asking(spoken).saying is not Saying.STATES


def asks_openly(cue: str) -> bool:
    """Tell whether a cue asks for a value, so that a turn with the same words is no answer.

    `Who drives the car?` is answered by `I drive the car`, and `Tea or coffee?` by `Tea`; a cue
    that begins with a verb is answered by its own words.
    """
    body = _behind(FILLER, cue)
    return OPEN_CUE.match(body) is not None and CHOICE_OR_WHO.search(body) is None


def read_asking(spoken: str) -> Asking:
    """Tell what a turn does, by its text without the caption.

    A turn of more than `LONGEST_ASKING` characters states.
    """
    if len(spoken) > LONGEST_ASKING:
        return STATES
    kinds = _kinds(spoken)
    if "excuse" in kinds and kinds <= {"excuse", "question", "offer"}:
        saying = Saying.DOES_NOT_KNOW
    elif kinds == {"question"}:
        saying = Saying.ASKS
    elif REPORTS.search(spoken):
        content = frozenset(stems(spoken)) - REPORTING_STEMS
        # Words with a capital inside a sentence, also `May` and `Will`.
        capitals = frozenset(map(str.lower, _numbers_and_names(spoken)))
        return Asking(Saying.STATES, capitals, content)
    else:
        return STATES
    said = stems_of(content_words(spoken, languages_of(spoken)))
    return Asking(saying, names_and_numbers(spoken), content_stems(frozenset(said)))


def _kinds(spoken: str) -> set[str]:
    """Name what the sentences of a turn do, up to the first that states something."""
    # A first recall reads hundreds of turns, and one statement settles what a turn does.
    kinds = set()
    for sentence in _SENTENCE.finditer(spoken):
        if kind := _read(sentence[0]):
            kinds.add(kind)
        if kind == "states":
            break
    return kinds


def _read(sentence: str) -> str:
    """Name what a sentence does: question, excuse, offer, states, or nothing (empty)."""
    labelled = _behind(LABEL, sentence)
    body = _without_marks(_behind(FILLER, labelled))
    ends = sentence.rstrip()
    languages = languages_of(labelled)
    marked = ends.endswith(QUESTION_MARKS) or any(
        language.ends and language.ends.search(ends) for language in languages
    )
    if not _WORD.search(body):
        return "question" if marked and _WORD.search(sentence) else ""
    translated = in_english(labelled, languages)
    # "No" in front is a filler of English only: "No me has dicho nada".
    english = body if translated is labelled else _without_marks(_behind(FILLER, translated))
    excused = EXCUSES.match(english) or EXCUSES_WITHIN.search(english)
    if excused and not BUT.search(english) and not marked:
        return "excuse"
    if _asks(body, marked=marked, languages=languages) or (
        english is not body and REQUESTS.match(english)
    ):
        return "question"
    return "offer" if OFFERS.match(body) else "states"


def _without_marks(sentence: str) -> str:
    return sentence.rstrip().rstrip(f"{_ENDS} ")


def _behind(opening: re.Pattern[str], text: str) -> str:
    """Remove a match at the start of a text."""
    found = opening.match(text)
    return text[found.end() :] if found else text


def _asks(body: str, *, marked: bool, languages: Sequence[Language]) -> bool:
    """Tell whether a sentence asks, and no clause of it states something."""
    if REASON.search(body):
        return False
    opens = OPENS if marked else ASKS
    asked = marked
    for place, clause in enumerate(filter(None, map(str.strip, _CLAUSE.split(body)))):
        if marked and LOST.match(clause):
            continue
        if opens.match(clause) or (place and OPENS.match(AND.sub("", clause))):
            asked = True
        elif marked and (
            ASKED_LAST.search(clause) or any(one.question.match(clause) for one in languages)
        ):
            continue
        elif not _is_phrase(clause) and not (marked and CONDITION.match(clause)):
            return False
    return asked


def _is_phrase(clause: str) -> bool:
    """Tell whether a clause beside a question has no statement of its own."""
    if not clause.isascii() and not is_german(clause) and STATED.match(f"{clause} ") is None:
        return True
    short = len(clause.split()) <= _SHORT_PHRASE
    return short and VERB.search(clause) is None and PERSON.match(clause) is None


def names_and_numbers(spoken: str) -> frozenset[str]:
    """Collect the stems of numbers, and of names where a capital tells one."""
    return frozenset(stems(" ".join(_numbers_and_names(spoken))))


def _numbers_and_names(spoken: str) -> list[str]:
    found = _NUMBER.findall(spoken)
    if not is_german(spoken):
        found += [match["name"] for match in _NAME.finditer(spoken)]
    return found


def _agreeing(*, spaced: bool) -> list[str]:
    return [
        one.calendar["agrees"]
        for one in LANGUAGES.values()
        if "agrees" in one.calendar and one.spaced is spaced
    ]


_SPACED: Final = "|".join((any_of((*FILLER_PHRASES, *AGREEING)), *_agreeing(spaced=True)))
_ACKNOWLEDGES: Final = re.compile(
    rf"(?:[^\w]|\b(?:{_SPACED})\b|{'|'.join(_agreeing(spaced=False))})*+", re.IGNORECASE
)


def only_acknowledges(spoken: str) -> bool:
    """Tell whether a turn has no other words than "ok", "thanks", "sounds good" and the like.

    >>> only_acknowledges("Ok, thanks a lot!"), only_acknowledges("Ok, Friday.")
    (True, False)
    """
    return _ACKNOWLEDGES.fullmatch(spoken) is not None


def asks_nothing(cue: str) -> bool:
    """Tell whether a cue only acknowledges, or has no word of more than one letter or digit.

    >>> asks_nothing("hm"), asks_nothing("x?"), asks_nothing("C++?")
    (True, True, False)
    """
    spoken = normalised_words(cue)
    return only_acknowledges(cue) or all(len(one) == 1 and one.isascii() for one in spoken)
