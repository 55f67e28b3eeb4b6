"""Find sentences in which people tell about themselves: name, home, work, people, preferences.

Rules of English and German, made of phrases: the text index finds the messages that have a phrase,
and the rules choose the sentences in them. Questions and code state nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ecphoria.text.code_blocks import code_blocks, outside_of
from ecphoria.text.cue import introduction
from ecphoria.text.german import DATED
from ecphoria.text.names import normalised_words
from ecphoria.text.tables import read_table, split_phrases
from ecphoria.text.tokens import APOSTROPHES, UNSPACED_ENDS, stems


class Topic(StrEnum):
    """The topic of a statement about oneself, in the order in which a reader wants them."""

    NAME = "name"
    HOME = "home"
    WORK = "work"
    PEOPLE = "people"
    PROJECT = "project"
    PREFERENCE = "preference"
    DECISION = "decision"


MOST: Final[Mapping[Topic, int]] = {
    Topic.NAME: 1,
    Topic.HOME: 1,
    Topic.WORK: 2,
    Topic.PEOPLE: 8,
    Topic.PROJECT: 4,
    Topic.PREFERENCE: 8,
    Topic.DECISION: 5,
}
"""Largest number of statements of a topic in a start context."""

_SINGLE: Final = {Topic.NAME, Topic.HOME}
"""A person has one of these at a time, so a later statement replaces an earlier one."""

_TABLE: Final = read_table("self_statements")
_NO_WORK: Final = frozenset(_TABLE["no_work"].split())
_NO_TRADE: Final = frozenset(_TABLE["no_trade"].split())
_TRADE_WORDS: Final = 3
"""Words behind "I am a" that are looked through for them."""

_GREETINGS: Final = _TABLE["greetings"].split()
_GREETED: Final = ("there", "everyone")
_ME: Final = ("i'm", "i am", "ich bin")
_INTRODUCTIONS: Final = tuple(
    " ".join(normalised_words(f"{greeting}{further} {me}"))
    for greeting in _GREETINGS
    for further in ("", *(f" {whom}" for whom in _GREETED))
    for me in _ME
)
_GREETS: Final = re.compile(
    rf"\b(?:{'|'.join(_GREETINGS)})(?:,? (?:{'|'.join(_GREETED)}))?\W+"
    rf"(?P<me>{'|'.join(_ME)})\b".replace("'", f"[{APOSTROPHES}]"),
    re.IGNORECASE,
)
"""A name without *my name is* counts behind a greeting only: "I'm German" names nobody."""
_GREETING: Final = 40
"""Characters in which a greeting is looked for, before a sentence and in it."""

_LEAST_WORDS: Final = 3
_MOST_CHARACTERS: Final = 240
"""Longest sentence in characters; a longer one is cut, because a line is only a reminder."""

_SAME: Final = 0.5
"""Common share of the shorter one's content words from which two are about the same thing."""

_SENTENCE_END: Final = re.compile(
    rf"(?<=[.!?{UNSPACED_ENDS}])(?!(?<=\d\.){DATED})[\"'”)]*\s+|\n+|(?<=[{UNSPACED_ENDS}])"
)
_QUESTION: Final = re.compile(r"[?？؟]\W*$")  # noqa: RUF001 (the marks of other scripts)
_IF: Final = re.compile(r"\W*(?:if|when|whenever|should|wenn|falls|ob|whether)\b", re.IGNORECASE)
_DEFINES: Final = re.compile(r"\W*(?:s |is |are |was |hei(?:ß|ss)t |ist |sind |[A-ZÄÖÜ])")


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseRule:
    """A phrase by which people tell about a topic; normalised words."""

    topic: Topic
    words: tuple[str, ...]


RULES: Final = tuple(
    dict.fromkeys(
        PhraseRule(topic=topic, words=tuple(normalised_words(phrase)))
        for topic in Topic
        for phrase in split_phrases(_TABLE[topic])
    )
)
_NAMED: Final = next(rule for rule in RULES if rule.topic is Topic.NAME)
_BY_FIRST: Final[Mapping[str, Sequence[PhraseRule]]] = {
    # "My team lead" before "my team".
    first: sorted((r for r in RULES if r.words[0] == first), key=lambda r: -len(r.words))
    for first in {rule.words[0] for rule in RULES}
}


def phrases_of(topic: Topic) -> tuple[str, ...]:
    """List the phrases of a topic, as the text index has the words of a message."""
    told = tuple(" ".join(rule.words) for rule in RULES if rule.topic is topic)
    return (*told, *_INTRODUCTIONS) if topic is Topic.NAME else told


PHRASES_OF_CHANGE: Final = tuple(split_phrases(_TABLE["change"]))
"""Phrases of messages that may make a statement outdated, as the text index has their words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfStatement:
    """A sentence about its speaker: `text[start:end]`.

    Attributes:
        key: The topic's part that is stated, such as "my wife"; a later statement with the same
            key replaces an earlier one.
        defines: Whether it tells who or what that part is, and not just a thing about it.
    """

    topic: Topic
    key: str
    sentence: str
    start: int
    end: int
    defines: bool


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """List where the sentences of a message outside of its code start and end, in order; O(n)."""
    for start, end in outside_of(code_blocks(text), text):
        place = start
        for cut in (*_SENTENCE_END.finditer(text, start, end), None):
            yield place, cut.start() if cut else end
            place = cut.end() if cut else end


def self_statements(text: str) -> Iterator[SelfStatement]:
    """List the sentences of a message that state something about its speaker."""
    found = (_statement(text, start, end) for start, end in sentences(text))
    return (one for one in found if one is not None)


def _statement(text: str, start: int, end: int) -> SelfStatement | None:
    sentence = " ".join(text[start:end].split())
    if _QUESTION.search(sentence) or _IF.match(sentence):
        return None
    # In a long sentence only the start is read for statements about the speaker.
    said = normalised_words(sentence[: 2 * _MOST_CHARACTERS])
    if _introduces(text, start, end):
        rule: PhraseRule | None = _NAMED
    else:
        rule = _first_rule(said) if len(said) >= _LEAST_WORDS else None
    if rule is None:
        return None
    phrase = " ".join(rule.words)
    rest = sentence[sentence.lower().find(rule.words[-1]) + len(rule.words[-1]) :]
    return SelfStatement(
        topic=rule.topic,
        key=rule.topic if rule.topic in _SINGLE else phrase,
        sentence=shortened(sentence),
        start=start,
        end=end,
        defines=_DEFINES.match(rest) is not None,
    )


def _introduces(text: str, start: int, end: int) -> bool:
    """Tell whether a sentence begins with its speaker's name, behind a greeting."""
    begin = text[start : min(end, start + _MOST_CHARACTERS)]
    before = text[max(0, start - _GREETING) : start]
    found = _GREETS.search(before + begin[:_GREETING])
    return (
        found is not None
        and found.start("me") >= len(before)
        and introduction((before + begin)[found.start("me") :]) != ""
    )


def _first_rule(said: Sequence[str]) -> PhraseRule | None:
    for at, word in enumerate(said):
        for rule in _BY_FIRST.get(word, ()):
            after = at + len(rule.words)
            if tuple(said[at:after]) != rule.words:
                continue
            if rule.topic is Topic.WORK and _tells_no_work(said[after:]):
                continue
            return rule
    return None


def _tells_no_work(rest: Sequence[str]) -> bool:
    return not _NO_WORK.isdisjoint(rest[:1]) or not _NO_TRADE.isdisjoint(rest[:_TRADE_WORDS])


def shortened(sentence: str) -> str:
    """Cut a sentence that is too long for a line at a blank."""
    if len(sentence) <= _MOST_CHARACTERS:
        return sentence
    return sentence[:_MOST_CHARACTERS].rsplit(" ", 1)[0] + " …"


def say_the_same(one: SelfStatement, other: SelfStatement) -> bool:
    """Tell whether two statements are about the same thing; then only the later is shown."""
    if one.topic is not other.topic:
        return False
    if one.topic in _SINGLE or one.topic is Topic.PEOPLE:
        return one.key == other.key
    left, right = (set(stems(s.sentence)) - set(stems(s.key)) for s in (one, other))
    least = min(len(left), len(right))
    return len(left & right) >= max(1.0, _SAME * least) if least else left == right
