"""Generate talk in which values change, among lists, events and small talk that change nothing.

The sentences are our own, in English and German. Those to tune on and those to judge on share no
sentence and no value. A seed makes the talk repeatable.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, Final

import yaml

from ecphoria.errors import InvalidInput

LANGUAGES: Final = ("en", "de")
_SPEAKERS: Final = ("Mara", "Anton", "Birgit")
_START: Final = datetime(2024, 2, 5, 8, tzinfo=UTC)
_DAYS: Final = 700
_TURNS_A_SESSION: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedTurn:
    """One turn of the talk."""

    name: str
    text: str
    speaker: str
    session: str
    occurred_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedQuestion:
    """A cue of a speaker about one group of sentences.

    Attributes:
        kind: Kind of change, or of no change.
        older: The turns that a later one outdates; empty where nothing changed.
        newer: The turn that holds now.
        past: The same question about the past; None where nothing changed.
    """

    kind: str
    asker: str
    cue: str
    older: frozenset[str]
    newer: str
    past: str | None = None

    @property
    def changed(self) -> bool:
        """Whether a later turn outdates an earlier one."""
        return bool(self.older)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedTalk:
    """The turns of one store, in the order of time, and the questions about them."""

    language: str
    turns: tuple[ScriptedTurn, ...]
    questions: tuple[ScriptedQuestion, ...]

    @property
    def outdated(self) -> frozenset[str]:
        """Names of all turns that a later one outdates."""
        return frozenset(name for one in self.questions for name in one.older)


def make_talks(split: str, stores: int = 20, seed: int = 1) -> tuple[ScriptedTalk, ...]:
    """Make stores of 60 to 300 turns, in English and German by turns.

    Raises:
        InvalidInput: There is no such split.
    """
    if split not in sentences():
        raise InvalidInput(f"give one of: {', '.join(sentences())}", field="split")
    random = Random(f"{split} {seed}")  # noqa: S311 (repeatable data, no secret)
    return tuple(
        _Maker(random, split, LANGUAGES[number % len(LANGUAGES)]).talk()
        for number in range(stores)
    )


@cache
def sentences() -> Mapping[str, Any]:
    """Read the sentences by split and language."""
    text = (files("ecphoria_eval.datasets") / "changes.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Any] = yaml.safe_load(text)
    return found


@dataclass(slots=True, kw_only=True)
class _Said:
    text: str
    speaker: str
    day: float
    name: str


@dataclass(slots=True)
class _Maker:
    """Writes the talk of one store."""

    random: Random
    split: str
    language: str
    said: list[_Said] = field(default_factory=list)
    questions: list[ScriptedQuestion] = field(default_factory=list)

    def talk(self) -> ScriptedTalk:
        """Write a change of each kind, what changes nothing, and small talk around them."""
        found = sentences()[self.split][self.language]
        speakers = _SPEAKERS[: self.random.randint(2, 3)]
        for kind, group in found["changes"].items():
            self._change(kind, group["values"], self.random.choice(group["rows"]), speakers)
        for kind, rows in found["same"].items():
            self._same(kind, self.random.choice(rows), speakers[-1])
        # What the last speaker has of lists and events is no part of the others' changes.
        for _ in range(self.random.randint(60, 300) - len(self.said)):
            self._say(self.random.choice(found["talk"]), self.random.choice(speakers))
        return ScriptedTalk(
            language=self.language, turns=tuple(_turns(self.said)), questions=tuple(self.questions)
        )

    def _change(
        self, kind: str, values: Sequence[str], row: Mapping[str, str], speakers: Sequence[str]
    ) -> None:
        first, second, other = self.random.sample(list(values), 3)
        given = {"a": first, "b": second}
        asker = self.random.choice(speakers[:-1])
        days = sorted(self.random.sample(range(_DAYS), 3))
        older = self._say(row["before"].format(**given), asker, days[0])
        newer = self._say(row["after"].format(**given), asker, days[1])
        # Another speaker says the same of another value, later.
        rival = self.random.choice([one for one in speakers if one != asker])
        if self.random.random() < 0.5 and not self._has(rival, kind):
            self._say(row["before"].format(a=other, b=other), rival, days[2])
        self.questions.append(
            ScriptedQuestion(
                kind=kind,
                asker=asker,
                cue=row["now"].format(**given),
                past=row["past"].format(**given),
                older=frozenset({older}),
                newer=newer,
            )
        )

    def _has(self, speaker: str, kind: str) -> bool:
        return any(one.asker == speaker and one.kind == kind for one in self.questions)

    def _same(self, kind: str, row: Mapping[str, Any], speaker: str) -> None:
        values = self.random.sample(row["values"], min(3, len(row["values"])))
        given = dict(zip("abc", values, strict=False))
        days = sorted(self.random.sample(range(_DAYS), len(row["said"])))
        names = [
            self._say(text.format(**given), speaker, day)
            for text, day in zip(row["said"], days, strict=True)
        ]
        self.questions.append(
            ScriptedQuestion(
                kind=kind, asker=speaker, cue=row["now"].format(**given), older=frozenset(),
                newer=names[-1],
            )
        )  # fmt: skip

    def _say(self, text: str, speaker: str, day: float | None = None) -> str:
        name = f"t{len(self.said)}"
        at = self.random.random() + (self.random.randrange(_DAYS) if day is None else day)
        self.said.append(_Said(text=text, speaker=speaker, day=at, name=name))
        return name


def _turns(said: Sequence[_Said]) -> list[ScriptedTurn]:
    ordered = sorted(said, key=lambda one: one.day)
    return [
        ScriptedTurn(
            name=one.name,
            text=one.text,
            speaker=one.speaker,
            session=f"s{place // _TURNS_A_SESSION}",
            occurred_at=_START + timedelta(days=one.day),
        )
        for place, one in enumerate(ordered)
    ]
