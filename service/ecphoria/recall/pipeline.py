"""The pipeline of every strategy: score the frame, walk, add reached memories, rank, explain.

A strategy has its options and a function that ranks: it fills a `Walk` and adds parts to the score
of the text. Everything else is here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from datetime import datetime
from itertools import accumulate
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from ecphoria.errors import InvalidInput
from ecphoria.maths.arrays import BoolArray, FloatArray, IntArray
from ecphoria.maths.fusion import rank
from ecphoria.recall.frame import Frame, gather_more, holder
from ecphoria.recall.ports import Echo, Superseded
from ecphoria.recall.scope import RecallStore
from ecphoria.recall.seeds import Seeding
from ecphoria.recall.walk import Walk, found_directly
from ecphoria.records.episode import Episode
from ecphoria.records.history import Stimulation
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Filters, OptionValue, PathStep, RecallOptions
from ecphoria.records.strategy import Mechanisms, Parameter

Options = TypeVar("Options")


def parameter(
    default: OptionValue,
    doc: str,
    *,
    unit: str = "",
    source: str = "",
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """Declare an option as a dataclass field."""
    return field(
        default=default,
        metadata={
            "doc": doc,
            "unit": unit,
            "source": source,
            "low": low,
            "high": high,
            "choices": choices,
        },
    )


def parameters(options: type[Any]) -> tuple[Parameter, ...]:
    """List the options a strategy takes."""
    return tuple(_described(declared) for declared in fields(options))


def resolve(
    options: type[Options], presets: Mapping[str, Options], given: Mapping[str, OptionValue]
) -> Options:
    """Start from a preset, apply the given values, check all of them.

    Raises:
        InvalidInput: An unknown preset or option, a wrong type, or a value out of bounds.
    """
    given = dict(given)
    preset = given.pop("preset", "default")
    if preset not in presets:
        known = ", ".join(sorted(presets))
        raise InvalidInput(f"there is no preset `{preset}`; choose from: {known}", field="options")
    declared = {one.name: one for one in parameters(options)}
    for name, value in given.items():
        if name not in declared:
            known = ", ".join(["preset", *declared])
            raise InvalidInput(
                f"this strategy has no option `{name}`; it takes: {known}", field="options"
            )
        _check(declared[name], value)
    base = presets[str(preset)]
    values = {name: given.get(name, getattr(base, name)) for name in declared}
    return options(**values)


def _described(declared: Field[Any]) -> Parameter:
    assert declared.default is not MISSING, "every option has a default"
    return Parameter(name=declared.name, default=declared.default, **declared.metadata)


def _check(option: Parameter, value: OptionValue) -> None:
    expected = type(option.default)
    fits = type(value) is expected or (expected is float and type(value) is int)
    if not fits:
        raise InvalidInput(f"`options.{option.name}` must be {expected.__name__}", field="options")
    if option.choices and value not in option.choices:
        raise InvalidInput(
            f"`options.{option.name}` must be one of: {', '.join(option.choices)}", field="options"
        )
    if isinstance(value, str | bool):
        return
    low, high = option.low, option.high
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        raise InvalidInput(
            f"`options.{option.name}` must lie between {low} and {high}", field="options"
        )


Path = Callable[[EpisodeId], tuple[PathStep, ...]]
TextScore = Callable[[Frame], FloatArray]
"""Scores the text of a frame: [m, p], p parts of the score."""

# SYNAPSE's paper ranks this number; each memory costs a read.
_MOST_REACHED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One running recall; `now` is its instant.

    Attributes:
        echoes: Turns that only ask what the cue asks; `store` does not have them.
        unanswered: Other questions of a user to which the assistant replied that it does not know.
    """

    store: RecallStore
    tenant: TenantId
    seeding: Seeding
    frame: Frame
    filters: Filters
    now: datetime
    echoes: tuple[Echo, ...] = ()
    unanswered: frozenset[EpisodeId] = frozenset()

    @property
    def echo_ids(self) -> frozenset[EpisodeId]:
        """Ids of the echoes."""
        return frozenset(echo.id for echo in self.echoes)

    async def more(self, episodes: Iterable[EpisodeId]) -> Frame:
        """Weigh further episodes that spreading reached, each with the turns around it."""
        return await gather_more(
            self.store, self.tenant, self.seeding, self.filters, sorted(episodes),
            subject=self.frame.subject,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivationGate:
    """A verdict by the activation of the first memory alone, in place of the calibrated gate."""

    activation: float
    threshold: float
    verify_below: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranked:
    """The ranking, best first: r memories. A strategy makes it, and each later stage fills it.

    Attributes:
        parts: [r, p]; rows add up to the score.
        part_names: p names.
        walk: The strategy's record, for the trace.
        path: The way energy took to a ranked memory, by its id.
        stimulation: What the strategy did to memories, if it stimulates them.
        gate: The strategy's own gate, if it has one.
        reader_gap: Gap between the first two scores, as a share of the first, below which the
            reader decides.
        characters: Most characters of all hits' texts; 0 for any number.
        superseded: The memories whose facts have all ended.
        outdated: For an outdated memory the one that makes it so.
        copies: Other memories that say the same as a ranked one, newest last.
        episodes: The memories with their texts, as far as the answer shows them.
    """

    ids: tuple[EpisodeId, ...]
    parts: FloatArray
    part_names: tuple[str, ...]
    walk: Walk
    path: Path
    stimulation: Stimulation | None = None
    gate: ActivationGate | None = None
    reader_gap: float = 0.0
    characters: int = 0
    superseded: Mapping[EpisodeId, Superseded] = field(default_factory=dict)
    outdated: Mapping[EpisodeId, EpisodeId] = field(default_factory=dict)
    copies: Mapping[EpisodeId, tuple[EpisodeId, ...]] = field(default_factory=dict)
    episodes: Mapping[EpisodeId, Episode] = field(default_factory=dict)

    @property
    def score(self) -> FloatArray:
        """The score: [r]."""
        score: FloatArray = self.parts.sum(axis=1)
        return score

    @property
    def undecided(self) -> bool:
        """Whether the first two scores are so close that the reader should decide."""
        first = self.score[:2]
        return first.size == 2 and float(first[0] - first[1]) < self.reader_gap * float(first[0])

    def count_above(self, options: RecallOptions) -> int:
        """Count the first hits, k at most, that reach the least score."""
        scores = self.score[: options.k]
        if options.min_score is None:
            return len(scores)
        return int((scores >= options.min_score).sum())

    def count_within(self, k: int) -> int:
        """Count the first of `k` hits whose texts fit into the `characters`; at least one."""
        if not self.characters:
            return k
        there = self.episodes
        sizes = (len(there[one].text) if one in there else 0 for one in self.ids[:k])
        return max(min(1, k), sum(total <= self.characters for total in accumulate(sizes)))

    def kept(self, rows: Sequence[int]) -> "Ranked":
        """Keep some rows, in this order."""
        return replace(self, ids=tuple(self.ids[row] for row in rows), parts=self.parts[rows])

    def with_part(self, name: str, values: FloatArray) -> "Ranked":
        """Add a part to the score, [r]; the order stays."""
        return replace(
            self, parts=np.column_stack((self.parts, values)), part_names=(*self.part_names, name)
        )


class Strategy(Protocol):
    """A mechanism, chosen by name."""

    name: ClassVar[str]
    seeds: ClassVar[int]
    options: ClassVar[type[Any]]
    presets: ClassVar[Mapping[str, Any]]
    mechanisms: ClassVar[Mechanisms]

    async def rank(self, search: Search, options: Any) -> Ranked:
        """Rank the memories of the frame and those that they activate."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """The n memories that may be hits, with their text score before the walk.

    Attributes:
        parts: [n, p], parts of the text score.
        found: [n], the memories that the text score alone would return.
        turn: [n], for ties.
        frames: The frames of the memories; that of the indexes comes first.
        text: Scores further frames on the same scale.
    """

    ids: tuple[EpisodeId, ...]
    parts: FloatArray
    found: BoolArray
    turn: IntArray
    frames: tuple[Frame, ...]
    text: TextScore

    @classmethod
    def of(cls, frame: Frame, text: TextScore, found: BoolArray | None = None) -> "Pool":
        """Score a frame; without `found` all memories that may be hits are found by their text."""
        rows = np.flatnonzero(frame.inside)
        return cls(
            ids=tuple(frame.id[row] for row in rows),
            parts=text(frame)[rows],
            found=(frame.inside if found is None else found)[rows],
            turn=frame.turn[rows],
            frames=(frame,),
            text=text,
        )

    @property
    def score(self) -> FloatArray:
        """The text score: [n]."""
        score: FloatArray = self.parts.sum(axis=1)
        return score

    @property
    def occurred_ms(self) -> IntArray:
        """Epoch milliseconds of the memories: [n]."""
        return np.array([frame.occurred_ms[row] for frame, row in self._rows()], np.int64)

    @property
    def importance(self) -> FloatArray:
        """The importance that the author of each memory gave it: [n]."""
        return np.array([frame.importance[row] for frame, row in self._rows()], np.float64)

    def _rows(self) -> Iterator[tuple[Frame, int]]:
        for episode in self.ids:
            frame = holder(self.frames, episode)
            yield frame, frame.row[episode]

    def best(self, among: Iterable[EpisodeId], count: int) -> list[tuple[EpisodeId, float]]:
        """List the best of some memories with their scores, at least 0."""
        place = {episode: row for row, episode in enumerate(self.ids)}
        score = self.score
        rows = [
            place[episode] for episode in among if episode in place and self.found[place[episode]]
        ]
        # Scores that differ by rounding are ties, so that the earlier memory comes first.
        rows.sort(key=lambda row: (-round(float(score[row]), 12), self.turn[row]))
        return [(self.ids[row], max(0.0, float(score[row]))) for row in rows[:count]]

    async def reached(
        self, search: Search, active: Mapping[EpisodeId, float], *, weight: float = 1.0
    ) -> "Pool":
        """Keep the memories that text or activation found, and add further ones it reached.

        With a `weight` of 0 of activation in the score, nothing is added.
        """
        if weight == 0.0:
            return self.kept(np.flatnonzero(self.found))
        known = search.frame.holds
        ordered = sorted(active, key=lambda one: (-active[one], one))
        missing = [episode for episode in ordered if active[episode] > 0.0 and not known(episode)]
        pool = await self.extended(search, missing[:_MOST_REACHED])
        lit = pool.found | (pool.read(active) > 0.0)
        return pool.kept(np.flatnonzero(lit))

    async def extended(self, search: Search, missing: Sequence[EpisodeId]) -> "Pool":
        """Add memories that are not in the frame, on its scale."""
        if not missing:
            return self
        more = Pool.of(await search.more(missing), self.text)
        return replace(
            self,
            ids=self.ids + more.ids,
            parts=np.vstack((self.parts, more.parts)),
            found=np.concatenate((self.found, np.zeros_like(more.found))),
            turn=np.concatenate((self.turn, more.turn)),
            frames=self.frames + more.frames,
        )

    def kept(self, rows: IntArray) -> "Pool":
        """Keep some rows."""
        return replace(
            self,
            ids=tuple(self.ids[row] for row in rows),
            parts=self.parts[rows],
            found=self.found[rows],
            turn=self.turn[rows],
        )

    def read(self, values: Mapping[EpisodeId, float]) -> FloatArray:
        """Look up a value for every memory; 0 if there is none."""
        return np.array([values.get(episode, 0.0) for episode in self.ids], dtype=np.float64)

    def ranked(
        self, parts: Mapping[str, FloatArray], walk: Walk, path: Path | None = None
    ) -> Ranked:
        """Order by the sum of parts, [n] each; ties by turn.

        Without a `path`, the walk tells the way of energy to a memory.
        """
        columns = np.column_stack(tuple(parts.values()))
        order = rank(columns, self.turn, len(self.ids))
        return Ranked(
            ids=tuple(self.ids[row] for row in order),
            parts=columns[order],
            part_names=tuple(parts),
            walk=walk,
            path=path or self.explain(walk.path),
        )

    def explain(
        self,
        walked: Path,
        otherwise: Callable[[Frame, EpisodeId], tuple[PathStep, ...]] = found_directly,
    ) -> Path:
        """Return the path of energy to a memory, or how its text was found."""

        def path(episode: EpisodeId) -> tuple[PathStep, ...]:
            steps = walked(episode)
            # One step is a seed: no edge was walked.
            return steps if len(steps) > 1 else otherwise(holder(self.frames, episode), episode)

        return path
