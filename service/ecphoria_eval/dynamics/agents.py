"""Generated tasks: an agent over days.

The tasks of NeuromemoryAI (section 5.1) beside its Hebbian links, which `links` measures: what a
user said a week and nine sessions ago, an old memory to the point against a new one beside it,
and what finding gains when unused memories fall asleep.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import mean
from typing import ClassVar

from ecphoria.client import AsyncClient
from ecphoria.records.episode import NewEpisode
from ecphoria.records.recall import OptionValue
from ecphoria_eval.dynamics.ground import Floats, Ground, axis, drained, lean, remember

_PAPER: dict[str, OptionValue] = {"preset": "paper"}
_SAID = (
    ("My name is Alice Chen.", "What is my name?"),
    ("I only drink oolong, never black tea.", "Which tea do I drink?"),
    ("I am allergic to peanuts.", "What am I allergic to?"),
    ("Please answer me in Dutch whenever you can.", "In which language should you answer me?"),
    ("My daughter Noor plays the cello.", "Which instrument does my daughter play?"),
    ("I work as a surveyor for the harbour.", "What do I do for a living?"),
    ("I cannot stand early meetings; nothing before ten.", "When may my meetings start?"),
    ("My bicycle is a green Gazelle.", "What kind of bicycle do I have?"),
    ("For music I like Bach best.", "Which composer do I like best?"),
    ("I grew up in Tromsø.", "Where did I grow up?"),
)
"""Statements of the first session, and the questions about them after the last."""
_BESIDE = (
    "My name was spelt wrong on the parcel again.", "We drank tea on the pier and talked.",
    "The allergic reaction of the neighbour's dog looked awful.",
    "The manual has a page for every language.", "My daughter was late for school today.",
    "Work was long, the tide tables were wrong.", "The meeting about the budget was moved.",
    "A bicycle stood in front of the door.", "The music at the fair was too loud.",
    "Where the children grow up, parks matter.", "The printer is out of ink.",
    "It rained until noon.",
)  # fmt: skip
"""Statements of every later session: the same words about other things."""
_SESSIONS, _DAYS, _FIRST = 10, 7.0, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuity:
    """Shares of what the user said in the first session that is among the first three hits.

    Attributes:
        recall_at_3: Of the default strategy.
        words_at_3: By keywords alone, as the paper's 40 %.
        paper_at_3: By the printed activation, `actr` with the preset `paper`.
    """

    recall_at_3: float
    words_at_3: float
    paper_at_3: float

    bound: ClassVar[str] = "at least .8 by the default, as the paper with a language model"

    @property
    def holds(self) -> bool:
        """Tell whether what was said first is found after ten sessions."""
        return self.recall_at_3 >= 0.8


async def continuity(ground: Ground) -> Continuity:
    """Talk for a week in ten sessions, then ask for what was said in the first."""
    begun = datetime.now(UTC) - timedelta(days=_DAYS)
    turns = [_turn(text, 0, place, begun) for place, (text, _) in enumerate(_SAID)]
    turns += [
        _turn(text, session, place, begun)
        for session in range(1, _SESSIONS)
        for place, text in enumerate(_BESIDE)
    ]
    async with ground.tenant("continuity") as client:
        said = (await remember(client, turns))[: len(_SAID)]
        return Continuity(
            recall_at_3=await _remembered(client, said, None, {}),
            words_at_3=await _remembered(client, said, "lexical", {}),
            paper_at_3=await _remembered(client, said, "actr", _PAPER),
        )


def _turn(text: str, session: int, place: int, begun: datetime) -> NewEpisode:
    return NewEpisode(
        text=text,
        role="user",
        speaker="Alice",
        session=f"session {session}",
        occurred_at=begun + timedelta(days=session * _DAYS / _SESSIONS, minutes=place),
    )


async def _remembered(
    client: AsyncClient, said: Sequence[str], strategy: str | None, options: dict[str, OptionValue]
) -> float:
    found = 0
    for episode, (_, question) in zip(said, _SAID, strict=True):
        answer = await client.recall(
            question, strategy=strategy, options=options, k=_FIRST, record=False
        )
        found += episode in {hit.episode.id for hit in answer.hits}
    return found / len(said)


_PAIRS, _OLD_DAYS, _NEW_S, _TO_THE_POINT, _NEARBY = 20, 400.0, 60.0, 0.8, 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Relevance:
    """Shares of the cues at which the old memory to the point comes first.

    Attributes:
        old_first: By the default strategy.
        actr_first: By `actr`, where recency counts beside relevance.
        paper_first: By the printed activation, where nothing but use and age counts.
    """

    old_first: float
    actr_first: float
    paper_first: float

    bound: ClassVar[str] = "always the old one, by the default and by actr"

    @property
    def holds(self) -> bool:
        """Tell whether relevance beats recency."""
        return self.old_first == 1.0 and self.actr_first == 1.0


async def relevance(ground: Ground) -> Relevance:
    """Set an old memory to the point against a new one beside it, many times."""
    now, size = datetime.now(UTC), ground.dimension
    cues = [axis(place, size) for place in range(_PAIRS)]
    rows = []
    for place, cue in enumerate(cues):
        old = lean(cue, axis(_PAIRS + place, size), _TO_THE_POINT)
        new = lean(cue, axis(2 * _PAIRS + place, size), _NEARBY)
        rows += [
            NewEpisode(
                text=f"Tide {place} was measured at the old gauge.",
                vector=tuple(old),
                occurred_at=now - timedelta(days=_OLD_DAYS),
            ),
            NewEpisode(
                text=f"Tide {place} came up at lunch.",
                vector=tuple(new),
                occurred_at=now - timedelta(seconds=_NEW_S),
            ),
        ]
    shares = []
    async with ground.tenant("relevance") as client:
        ids = await remember(client, rows)
        for strategy, options in ((None, {}), ("actr", {}), ("actr", _PAPER)):
            first = []
            for place, cue in enumerate(cues):
                answer = await client.recall(
                    f"tide {place} gauge", vector=tuple(cue), strategy=strategy, options=options,
                    k=1, record=False, collapse=False,
                )  # fmt: skip
                first.append(answer.hits[0].episode.id == ids[2 * place])
            shares.append(mean(first))
    return Relevance(old_first=shares[0], actr_first=shares[1], paper_first=shares[2])


_TOPICS, _NOISE, _UNUSED_DAYS, _SIGNAL, _LOUDER, _HEARD = 12, 10, 200.0, 0.6, 0.65, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Benefit:
    """Signal against noise, with everything awake and after the unused fell asleep.

    Attributes:
        signal_before, signal_after: Share of the cues with the used memory among five hits.
        asleep: Share of the memories that fell asleep: storage that recalls no longer search.
        used_asleep: Used memories that did.
    """

    signal_before: float
    signal_after: float
    asleep: float
    used_asleep: int

    bound: ClassVar[str] = "found better after than before; nothing used asleep"

    @property
    def holds(self) -> bool:
        """Tell whether forgetting helps finding."""
        return self.signal_after > self.signal_before and self.used_asleep == 0


async def benefit(ground: Ground) -> Benefit:
    """Use one memory of each topic, and let the unused ones around it fall asleep."""
    size, then = ground.dimension, datetime.now(UTC) - timedelta(days=_UNUSED_DAYS)
    cues = [axis(place, size) for place in range(_TOPICS)]
    rows = []
    for topic, cue in enumerate(cues):
        for number in range(1 + _NOISE):
            aside = axis(_TOPICS + topic * (1 + _NOISE) + number, size)
            vector = lean(cue, aside, _LOUDER if number else _SIGNAL)
            text = f"Note {number} on subject {topic}."
            rows.append(NewEpisode(text=text, vector=tuple(vector), occurred_at=then))
    async with ground.tenant("benefit") as client:
        await client.settings.change(dormancy={"mode": "threshold", "quiet_days": 0.0})
        await client.settings.change(learning={"on": True})
        ids = await remember(client, rows)
        used = ids[:: 1 + _NOISE]
        before = await _heard(client, cues, used)
        for place in range(0, len(rows), 1 + _NOISE):
            answer = await client.recall(vector=rows[place].vector, strategy="dense", k=1)
            await client.feedback(answer.trace_id, useful=[answer.hits[0].episode.id])
        await drained(client)
        await client.consolidate(steps=["dormancy"])
        asleep = {sleeper.id async for sleeper in client.archive.dormant()}
        after = await _heard(client, cues, used)
    return Benefit(
        signal_before=before,
        signal_after=after,
        asleep=len(asleep) / len(ids),
        used_asleep=len(asleep & set(used)),
    )


async def _heard(client: AsyncClient, cues: Sequence[Floats], used: Sequence[str]) -> float:
    found = []
    for cue, episode in zip(cues, used, strict=True):
        answer = await client.recall(
            vector=tuple(cue), strategy="dense", k=_HEARD, record=False, collapse=False
        )
        found.append(episode in {hit.episode.id for hit in answer.hits})
    return mean(found)
