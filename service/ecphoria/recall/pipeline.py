"""The pipeline of every strategy: score candidates, walk, add reached memories, rank, explain.

A strategy has its options and a function that ranks: it fills a `Walk` and adds parts to the score
of the text. Everything else is here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from datetime import datetime
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from ecphoria.errors import InvalidInput
from ecphoria.maths.checks import BoolArray, FloatArray, IntArray
from ecphoria.maths.fusion import rank
from ecphoria.recall.candidates import Candidates, Echo, gather_more, holder
from ecphoria.recall.ports import RecallStore
from ecphoria.recall.seeds import Seeding
from ecphoria.recall.walk import Walk, found_directly
from ecphoria.records.history import Stimulation
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Filters, OptionValue, PathStep, SeedRecord, Wave
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
TextScore = Callable[[Candidates], FloatArray]
"""Scores the text of candidates: [m, p], p parts of the score."""

# SYNAPSE's paper ranks this number; each memory costs a read.
_MOST_REACHED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One running recall; `now` is its instant.

    Attributes:
        echoes: Turns that only ask what the cue asks; `store` does not have them.
    """

    store: RecallStore
    tenant: TenantId
    seeding: Seeding
    candidates: Candidates
    filters: Filters
    now: datetime
    echoes: tuple[Echo, ...] = ()

    @property
    def echo_ids(self) -> frozenset[EpisodeId]:
        """Ids of the echoes."""
        return frozenset(echo.id for echo in self.echoes)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivationGate:
    """A verdict by the activation of the first memory alone, in place of the calibrated gate."""

    activation: float
    threshold: float
    verify_below: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranked:
    """A strategy's answer: r ranked memories, best first.

    Attributes:
        parts: [r, p]; rows add up to the score.
        part_names: p names.
        path: The way energy took to a ranked memory, by its id.
        truncated: Whether a cap of the subgraph was reached.
        stimulation: What the strategy did to memories, if it stimulates them.
        gate: The strategy's own gate, if it has one.
        characters: Most characters of all hits' texts; 0 for any number.
    """

    ids: tuple[EpisodeId, ...]
    score: FloatArray
    parts: FloatArray
    part_names: tuple[str, ...]
    seeds: tuple[SeedRecord, ...]
    waves: tuple[Wave, ...]
    path: Path
    truncated: bool = False
    stimulation: Stimulation | None = None
    gate: ActivationGate | None = None
    characters: int = 0


class Strategy(Protocol):
    """A mechanism, chosen by name."""

    name: ClassVar[str]
    seeds: ClassVar[int]
    options: ClassVar[type[Any]]
    presets: ClassVar[Mapping[str, Any]]
    mechanisms: ClassVar[Mechanisms]

    async def rank(self, search: Search, options: Any) -> Ranked:
        """Rank the candidates and the memories that they activate."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """The n memories that may be hits, with their text score before the walk.

    Attributes:
        parts: [n, p], parts of the text score.
        found: [n], the memories that the text score alone would return.
        sources: The candidates that the rows come from; those of the indexes come first.
        text: Scores further candidates on the same scale.
    """

    ids: tuple[EpisodeId, ...]
    parts: FloatArray
    found: BoolArray
    turn: IntArray
    occurred_ms: IntArray
    importance: FloatArray
    sources: tuple[Candidates, ...]
    text: TextScore

    @classmethod
    def of(cls, candidates: Candidates, text: TextScore, found: BoolArray | None = None) -> "Pool":
        """Score the candidates; without `found` all of them are found by their text."""
        rows = np.flatnonzero(candidates.inside)
        columns = candidates.columns
        return cls(
            ids=tuple(columns.id[row] for row in rows),
            parts=text(candidates)[rows],
            found=(candidates.inside if found is None else found)[rows],
            turn=columns.turn[rows],
            occurred_ms=columns.occurred_ms[rows],
            importance=columns.importance[rows],
            sources=(candidates,),
            text=text,
        )

    @property
    def score(self) -> FloatArray:
        """The text score: [n]."""
        score: FloatArray = self.parts.sum(axis=1)
        return score

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

        Args:
            search: The recall under way.
            active: Activation by episode.
            weight: Weight of activation in the score; with 0 nothing is added.
        """
        if weight == 0.0:
            return self.kept(np.flatnonzero(self.found))
        known = search.candidates.holds
        ordered = sorted(active, key=lambda one: (-active[one], one))
        missing = [episode for episode in ordered if active[episode] > 0.0 and not known(episode)]
        pool = await self.extended(search, missing[:_MOST_REACHED])
        lit = pool.found | (pool.read(active) > 0.0)
        return pool.kept(np.flatnonzero(lit))

    async def extended(self, search: Search, missing: Sequence[EpisodeId]) -> "Pool":
        """Add memories that are no candidates, on the candidates' scale."""
        if not missing:
            return self
        more = Pool.of(
            await gather_more(
                search.store, search.tenant, search.seeding, search.filters, sorted(missing),
                subject=search.candidates.subject,
            ),
            self.text,
        )  # fmt: skip
        return replace(
            self,
            ids=self.ids + more.ids,
            parts=np.vstack((self.parts, more.parts)),
            found=np.concatenate((self.found, np.zeros_like(more.found))),
            turn=np.concatenate((self.turn, more.turn)),
            occurred_ms=np.concatenate((self.occurred_ms, more.occurred_ms)),
            importance=np.concatenate((self.importance, more.importance)),
            sources=self.sources + more.sources,
        )

    def kept(self, rows: IntArray) -> "Pool":
        """Keep some rows."""
        return replace(
            self,
            ids=tuple(self.ids[row] for row in rows),
            parts=self.parts[rows],
            found=self.found[rows],
            turn=self.turn[rows],
            occurred_ms=self.occurred_ms[rows],
            importance=self.importance[rows],
        )

    def read(self, values: Mapping[EpisodeId, float]) -> FloatArray:
        """Look up a value for every memory; 0 if there is none."""
        return np.array([values.get(episode, 0.0) for episode in self.ids], dtype=np.float64)

    def ranked(
        self, parts: Mapping[str, FloatArray], walk: Walk, path: Path | None = None
    ) -> Ranked:
        """Order by the sum of parts, [n] each; ties by turn.

        Args:
            parts: By name.
            walk: The walk that added them.
            path: The way of energy to a memory; that of the walk if None.
        """
        columns = np.column_stack(tuple(parts.values()))
        order = rank(columns, self.turn, len(self.ids))
        return Ranked(
            ids=tuple(self.ids[row] for row in order.index),
            score=order.score[order.index],
            parts=columns[order.index],
            part_names=tuple(parts),
            seeds=walk.seeds,
            waves=tuple(walk.waves),
            path=path or self.explain(walk.path),
            truncated=walk.truncated,
        )

    def explain(
        self, walked: Path, otherwise: Callable[[Candidates], Path] = found_directly
    ) -> Path:
        """Return the path of energy to a memory, or how its text was found."""

        def path(episode: EpisodeId) -> tuple[PathStep, ...]:
            steps = walked(episode)
            # One step is a seed: no edge was walked.
            return steps if len(steps) > 1 else otherwise(holder(self.sources, episode))(episode)

        return path
