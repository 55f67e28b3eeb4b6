"""Generate a stream of facts that change, with distractors; a seed makes it repeatable."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from ecphoria.records.asked import read_as
from ecphoria.records.episode import NewEpisode
from ecphoria.text.names import normalise


def _listed(text: str) -> tuple[str, ...]:
    return tuple(" ".join(name.split()) for name in text.split(","))


_FIRST = _listed(
    """
    Alva, Bram, Cato, Dunja, Eskil, Frida, Gil, Hedda, Ivo, Jana, Kaspar, Livia, Milo,
    Nelly, Otis, Petra, Quim, Rosa, Silas, Thea, Ugo, Vera, Wim, Xenia, Yara
    """
)
_LAST = _listed(
    """
    Halden, Marrow, Tessler, Brink, Okada, Vance, Lindqvist, Prado, Serrano, Whitlock
    """
)
_CITIES = _listed(
    """
    Arlo, Benby, Corvin, Dellmar, Estwick, Farrow, Glenholt, Harrowby, Irmont, Jessup
    """
)
_FIRMS = _listed(
    """
    Alder Works, Brightwater, Copperline, Dovetail Press, Emberfield, Foxglove Labs
    """
)
_JOBS = _listed(
    """
    a baker, a surveyor, a night nurse, a piano tuner, a beekeeper, a glazier
    """
)
_THINGS = _listed(
    """
    chess, kayaks, old maps, rye bread, brass bands, tall ships, moss gardens
    """
)

_START = datetime(2021, 1, 4, 9, tzinfo=UTC)
_RUMOUR = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    predicate: str
    values: tuple[str, ...]
    told: tuple[str, ...]
    asked: str


def _numbers() -> tuple[str, ...]:
    return tuple(f"555 {100 + 7 * one} {one % 10}{3 * one % 10}" for one in range(40))


_KINDS = (
    _Kind(
        predicate="lives in",
        values=_CITIES,
        told=("{who} has moved to {what} and lives there now.", "The new home of {who}: {what}."),
        asked="Where does {who} live now?",
    ),
    _Kind(
        predicate="works at",
        values=_FIRMS,
        told=("{who} has signed with {what}.", "Since today {who} works at {what}."),
        asked="At which firm does {who} work now?",
    ),
    _Kind(
        predicate="works as",
        values=_JOBS,
        told=("{who} is {what} these days.", "{who} has started as {what}."),
        asked="What does {who} do for a living now?",
    ),
    _Kind(
        predicate="phone number is",
        values=_numbers(),
        told=("{who} can be reached at {what}.", "The phone of {who} rings at {what}."),
        asked="What is the phone number of {who} now?",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """From when on a value holds."""

    at: datetime
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question about one key, and which episodes claim which of its values.

    Attributes:
        changes: In time; the last one holds.
        claims: Episodes by the value they claim; rumours are left out.
        then: An instant at which another value held, and had been told; None if it was told late.
    """

    cue: str
    changes: tuple[Change, ...]
    claims: dict[str, frozenset[str]]
    then: datetime | None

    def held(self, at: datetime | None) -> str:
        """Name the value that held at an instant, now by default."""
        known = [change for change in self.changes if at is None or change.at <= at]
        return known[-1].value


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Episodes in the order of sending, with the expected facts.

    Attributes:
        ended: What every fact is that is over, as subject, predicate and object.
        standing: The same of those that hold, side by side or not.
    """

    episodes: dict[str, NewEpisode] = field(default_factory=dict)
    questions: list[Asked] = field(default_factory=list)
    ended: set[tuple[str, str, str]] = field(default_factory=set)
    standing: set[tuple[str, str, str]] = field(default_factory=set)


def make_stream(keys: int = 200, seed: int = 1) -> Stream:
    """Make `keys` changing facts, each with two to four values, and distractors around them."""
    random = Random(seed)  # noqa: S311 - a repeatable stream, no secret
    stream = Stream()
    for number in range(keys):
        maker = _Maker(random, stream, number)
        maker.changing()
        maker.distracting()
    sent = list(stream.episodes.items())
    random.shuffle(sent)
    stream.episodes.clear()
    stream.episodes.update(sent)
    return stream


class _Maker:
    """Generates the statements about one key."""

    def __init__(self, random: Random, stream: Stream, number: int) -> None:
        person, kind = divmod(number, len(_KINDS))
        self._who = f"{_FIRST[person % len(_FIRST)]} {_LAST[person // len(_FIRST) % len(_LAST)]}"
        self._kind = _KINDS[kind]
        self._random = random
        self._stream = stream
        self._number = number
        self._said = 0

    def changing(self) -> None:
        """Generate changes of the value, some late, some repeated, and the questions."""
        values = self._random.sample(self._kind.values, self._random.randint(2, 4))
        days = sorted(self._random.sample(range(1_400), len(values)))
        changes = [
            Change(at=_START + timedelta(days=day), value=value)
            for day, value in zip(days, values, strict=True)
        ]
        claims: dict[str, set[str]] = {value: set() for value in values}
        late = self._number % 5 == 0
        for place, (change, after) in enumerate(zip(changes, [*changes[1:], None], strict=True)):
            told_late = late and place == 0 and after is not None
            times: dict[str, Any] = {}
            if told_late and after is not None:
                times = {"valid_from": change.at, "valid_to": after.at}
            at = _START + timedelta(days=1_500) if told_late else change.at
            claims[change.value].add(self._tell(change.value, at, **times))
            if self._number % 3 == 0 and after is None:
                claims[change.value].add(self._tell(change.value, at + timedelta(days=30)))
            over = self._stream.ended if after else self._stream.standing
            over.add(self._fact(self._kind.predicate, change.value))
        self._stream.questions.append(
            Asked(
                cue=self._kind.asked.format(who=self._who),
                changes=tuple(changes),
                claims={value: frozenset(told) for value, told in claims.items()},
                then=None if late and len(changes) == 2 else changes[-1].at - timedelta(hours=1),
            )
        )

    def distracting(self) -> None:
        """Write a similar statement that does not change the fact."""
        for predicate, what in (
            ("likes", self._random.choice(_THINGS)),
            ("visited", self._random.choice(_CITIES)),
        ):
            fact = {"subject": self._who, "predicate": predicate, "object": what}
            self._say(f"{self._who} {predicate} {what}, as ever.", self._any_day(), fact)
            self._stream.standing.add(self._fact(predicate, what))
        value = self._random.choice(self._kind.values)
        self._say(f"Somebody asked {self._who} about {value} and got no answer.", self._any_day())
        if self._number % 4 == 0:
            self._tell(value, self._any_day(), reliability=_RUMOUR)

    def _tell(self, value: str, at: datetime, **more: Any) -> str:
        fact = {"subject": self._who, "predicate": self._kind.predicate, "object": value, **more}
        template = self._random.choice(self._kind.told)
        text = template.format(who=self._who, what=value)
        return self._say(f"It is said: {text}" if "reliability" in more else text, at, fact)

    def _say(self, text: str, at: datetime, *facts: dict[str, Any]) -> str:
        ident = f"{self._number}-{self._said}"
        self._said += 1
        self._stream.episodes[ident] = read_as(
            NewEpisode,
            {
                "text": text,
                "speaker": "Diary",
                "role": "user",
                "session": f"{at:%Y-%m}",
                "occurred_at": at,
                "idempotency_key": ident,
                **({"extraction": {"facts": facts}} if facts else {}),
            },
        )
        return ident

    def _any_day(self) -> datetime:
        return _START + timedelta(days=self._random.randrange(1_500), minutes=self._number)

    def _fact(self, predicate: str, what: str) -> tuple[str, str, str]:
        return normalise(self._who), predicate, normalise(what)


def plain(stream: Stream) -> Iterator[tuple[str, NewEpisode]]:
    """Give the same texts without their facts."""
    for ident, episode in stream.episodes.items():
        yield ident, replace(episode, extraction=None)
