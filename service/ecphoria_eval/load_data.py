"""Generated turns and vectors for speed measurements.

Nothing here comes from a data set. Words and names are built from syllables; what real chats
gave is only shape: 25 words a turn, sessions of some 25 turns between two speakers, cosines of
about 0.26 between any two turns, 0.30 within a session and 0.45 between neighbours, half of the
vectors' variance in their first fifteen directions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

import numpy as np
from numpy.typing import NDArray

DIMENSION = 384

Floats = NDArray[np.float32]

_COMMON_WORDS = (
    "the I to a and it you that of in was is for my we have with so but me on be at this just "
    "what about had really they do are like not when know all out up get if too there can as"
)
_FUNCTION_WORDS = tuple(_COMMON_WORDS.split())
_SOUNDS = "b d f g k l m n p r s t v z br dr kl tr pl st"
_ONSETS, _VOWELS = tuple(_SOUNDS.split()), "aeiou"
_CODAS = ("n", "r", "l", "sh", "m", "nd", "x")
_CONTENT_WORDS, _SPEAKERS = 12_000, 24
_NEW_NAME = 0.05
"""Share of mentions that bring a name not heard before; the others repeat an earlier mention,
so that names attach preferentially and their degrees follow a power law."""
_IN_SESSION = 0.5
"""Share of the repeats that stay with what the session has named already."""
_TURN_WORDS, _TURN_SPREAD = 3.0, 0.6  # of the log-normal length
_SESSION_TURNS = 25
_START = datetime(2015, 1, 1, 9, tzinfo=UTC)
_PAUSE = timedelta(hours=2)  # so that a million turns are of the past
# Shares of variance: what all turns have in common, the session, the thread, the turn itself.
_COMMON, _SESSION, _THREAD = 0.26, 0.03, 0.19
_THREAD_TURNS = 6
_SPECTRUM_OFFSET, _SPECTRUM_POWER = 6.0, 1.2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Turn:
    """One turn, with a vector as an encoder would make it."""

    text: str
    speaker: str
    session: str
    occurred_at: datetime
    vector: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Probe:
    """A question about a turn, in words and as a vector of cosine about 0.6 to the turn's."""

    text: str
    vector: Floats


class Talk:
    """An endless conversation of one tenant, the same for the same seed."""

    def __init__(
        self, seed: int, *, names_per_turn: float = 1.4, dimension: int = DIMENSION
    ) -> None:
        self._random = np.random.default_rng(seed)
        self._names_per_turn = names_per_turn
        self._scale = _spectrum(dimension)
        self._words = _vocabulary(self._random, _CONTENT_WORDS)
        self._word_odds = _zipf_cdf(len(self._words))
        self._function_odds = _zipf_cdf(len(_FUNCTION_WORDS))
        self._speakers = [self._name() for _ in range(_SPEAKERS)]
        self._mentioned: list[str] = list(self._speakers)
        self._common = self._direction() * np.float32(np.sqrt(_COMMON))
        self._seen: list[Turn] = []
        self._sessions = 0
        self._turns = self._endless()

    def batches(self, count: int, size: int) -> Iterator[list[Turn]]:
        """Say the next `count` turns, `size` at a time."""
        for start in range(0, count, size):
            yield list(islice(self._turns, min(size, count - start)))

    def probes(self, count: int) -> list[Probe]:
        """Make questions about the turns so far."""
        return [
            self._probe(self._seen[int(place)])
            for place in self._random.integers(0, len(self._seen), count)
        ]

    def _endless(self) -> Iterator[Turn]:
        while True:
            for turn in self._session():
                self._seen.append(turn)
                yield turn

    def _session(self) -> list[Turn]:
        self._sessions += 1
        length = max(4, int(self._random.normal(_SESSION_TURNS, 6)))
        pair = self._random.choice(len(self._speakers), size=2, replace=False)
        moment = _START + self._sessions * _PAUSE
        topic = self._direction() * np.float32(np.sqrt(_SESSION))
        own = self._random.integers(0, len(self._words), 40)
        threads = [self._direction() for _ in range(1 + length // _THREAD_TURNS)]
        named: list[str] = []
        return [
            Turn(
                text=self._text(own, named),
                speaker=self._speakers[pair[place % 2]],
                session=f"session-{self._sessions}",
                occurred_at=moment + timedelta(seconds=40 * place),
                vector=self._vector(topic, threads[place // _THREAD_TURNS]),
            )
            for place in range(length)
        ]

    def _text(self, own: NDArray[np.int64], named: list[str]) -> str:
        size = int(np.clip(self._random.lognormal(_TURN_WORDS, _TURN_SPREAD), 3, 150))
        words = [self._function(), *(self._word(own) for _ in range(size - 1))]
        for _ in range(self._random.poisson(self._names_per_turn)):
            words.insert(int(self._random.integers(1, len(words) + 1)), self._mention(named))
        starts = [0, *range(12, len(words) - 3, 12)]
        for start in starts:
            words[start] = words[start][0].upper() + words[start][1:]
        for start in starts[1:]:
            words[start - 1] += "."
        return " ".join(words) + "."

    def _word(self, own: NDArray[np.int64]) -> str:
        lot = self._random.random()
        if lot < 0.5:
            return self._function()
        if lot < 0.7:
            return self._words[int(own[int(self._random.integers(own.size))])]
        return self._words[_pick(self._random, self._word_odds)]

    def _function(self) -> str:
        return _FUNCTION_WORDS[_pick(self._random, self._function_odds)]

    def _mention(self, named: list[str]) -> str:
        lot = self._random.random()
        if lot < _NEW_NAME:
            name = self._name()
        elif named and lot < _NEW_NAME + (1 - _NEW_NAME) * _IN_SESSION:
            name = named[int(self._random.integers(len(named)))]
        else:
            name = self._mentioned[int(self._random.integers(len(self._mentioned)))]
        named.append(name)
        self._mentioned.append(name)
        return name

    def _name(self) -> str:
        """Build a name; `q` keeps it apart from the vocabulary."""
        return "Q" + _syllables(self._random, 2) + "q" + _syllables(self._random, 1)

    def _probe(self, turn: Turn) -> Probe:
        said = [word.strip(".") for word in turn.text.split()]
        telling = [word for word in said if word.lower() not in _KNOWN_FUNCTION][:4]
        return Probe(
            text=f"What did {turn.speaker} say about {' '.join(telling)}?",
            vector=_unit(np.float32(0.6) * turn.vector + np.float32(0.8) * self._direction()),
        )

    def _vector(self, topic: Floats, thread: Floats) -> Floats:
        rest = 1.0 - _COMMON - _SESSION - _THREAD
        return _unit(
            self._common
            + topic
            + thread * np.float32(np.sqrt(_THREAD))
            + self._direction() * np.float32(np.sqrt(rest))
        )

    def _direction(self) -> Floats:
        return _unit(
            self._random.standard_normal(self._scale.size, dtype=np.float32) * self._scale
        )


_KNOWN_FUNCTION = frozenset(word.lower() for word in _FUNCTION_WORDS)


def _spectrum(dimension: int) -> Floats:
    """Scale directions so that variances fall like a power of their rank."""
    ranks = np.arange(dimension) + _SPECTRUM_OFFSET
    scale: Floats = np.sqrt(ranks**-_SPECTRUM_POWER).astype(np.float32)
    return scale


def _unit(vector: Floats) -> Floats:
    unit: Floats = vector / np.linalg.norm(vector)
    return unit


def _zipf_cdf(size: int) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = np.cumsum(1.0 / np.arange(1, size + 1))
    weights /= weights[-1]
    return weights


def _pick(random: np.random.Generator, odds: NDArray[np.float64]) -> int:
    return int(np.searchsorted(odds, random.random()))


def _vocabulary(random: np.random.Generator, size: int) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < size:
        words[_syllables(random, 1 + int(random.integers(1, 4)))] = None
    return list(words)


def _syllables(random: np.random.Generator, count: int) -> str:
    parts = [
        _ONSETS[int(random.integers(len(_ONSETS)))] + _VOWELS[int(random.integers(5))]
        for _ in range(count)
    ]
    return "".join(parts) + (_CODAS[int(random.integers(len(_CODAS)))] if count > 1 else "")
