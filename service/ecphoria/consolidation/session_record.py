"""The record of a session beside its summary: topic, decisions, open questions, valence, novelty.

Source: CLS-M 4.2. A model gives them. Decisions and open questions are kept only if they quote a
turn that the model read. Without a model, a rule finds one open question: the question of a person
at the end of a session. Valence, novelty and topic are then unknown.
"""

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Final

from pydantic import Field

from ecphoria.consolidation.engram_store import Member, SessionRecord
from ecphoria.models.structure import Items, Number, Perhaps, Structure
from ecphoria.records.episode import SessionPoint
from ecphoria.records.ids import EpisodeId
from ecphoria.text.quotes import find_quote

ASKED_FOR: Final = """
Also give the topic in a few words of the turns; the decisions that were made and the questions \
that stayed open, at most five each, each as the number of its turn and a quote from it; the \
valence of the talk, from -1 (unpleasant) to 1 (pleasant); and its novelty, from 0 (small talk) \
to 1 (all of it new). Leave the topic and the lists empty if there is nothing to say."""
_MOST: Final = 5
_TOPIC, _QUOTE = 100, 240


class Quoted(Structure):
    """A decision or a question: the number of its turn, and words from it."""

    turn: Number
    quote: str


class RecordParts(Structure):
    """The parts of a model's answer that follow the sentences of a summary."""

    topic: Perhaps[str] = None
    decisions: Items[Quoted] = Field(default_factory=list)
    open_questions: Items[Quoted] = Field(default_factory=list)
    valence: Perhaps[float] = None
    novelty: Perhaps[float] = None


def told_by_rules(members: Sequence[Member]) -> SessionRecord:
    """Tell the question with which a person ended the session, if they did."""
    last = members[-1]
    if not last.question or last.role == "assistant":
        return SessionRecord()
    text = " ".join(last.text.split())
    point = SessionPoint(text=text[-_QUOTE:], episode=EpisodeId(last.id))
    return SessionRecord(open_questions=(point,))


def told_by_model(
    said: RecordParts, shown: Sequence[Member], is_of: Callable[[str, str], bool]
) -> tuple[SessionRecord, int]:
    """Keep the parts of an answer that the turns support; clip numbers out of range.

    The first of the turns has the number 1. `is_of` tells whether a line has no name and no number
    that a text lacks. Return the number of quotes and topics that were left out, too.
    """
    topic = " ".join((said.topic or "").split())
    is_right = len(topic) <= _TOPIC and is_of(topic, " ".join(one.text for one in shown))
    decisions = _points(said.decisions, shown)
    questions = _points(said.open_questions, shown)
    given = len(said.decisions) + len(said.open_questions)
    record = SessionRecord(
        topic=topic if topic and is_right else None,
        decisions=decisions,
        open_questions=questions,
        valence=_clipped(said.valence, -1.0),
        novelty=_clipped(said.novelty, 0.0),
    )
    kept = len(decisions) + len(questions)
    return record, given - kept + bool(topic and not is_right)


def _points(said: Sequence[Quoted | None], shown: Sequence[Member]) -> tuple[SessionPoint, ...]:
    """Keep the first five quotes that stand in their turns, in the words of the turn."""
    found = [_point(one, shown) for one in said if one is not None]
    return tuple(dict.fromkeys(one for one in found if one is not None))[:_MOST]


def _point(said: Quoted, shown: Sequence[Member]) -> SessionPoint | None:
    if not 1 <= said.turn <= len(shown) or len(said.quote) > _QUOTE:
        return None
    turn = shown[said.turn - 1]
    place = find_quote(said.quote, turn.text)
    if place is None:
        return None
    return SessionPoint(
        text=" ".join(turn.text[slice(*place)].split()), episode=EpisodeId(turn.id)
    )


def _clipped(value: float | None, low: float) -> float | None:
    return min(1.0, max(low, value)) if value is not None and isfinite(value) else None
