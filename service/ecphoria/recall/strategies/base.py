"""The score a mechanism stands on, and how its activation joins it.

The base is the default's text score or plain fusion. Activation enters as parts of its own, so a
mechanism that wakes nothing gives exactly the list of its base.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.concept_channel import boost
from ecphoria.maths.fusion import Bounds, bounds_of, fusion, min_max, rank, recipe_score
from ecphoria.recall.candidates import Candidates, gather_more, holder
from ecphoria.recall.options import parameter
from ecphoria.recall.ports import FoundConcept
from ecphoria.recall.strategies.evidence import found_directly
from ecphoria.recall.strategies.strategy import Ranked, Search
from ecphoria.recall.subgraph import EDGES, SIMILAR
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import PathStep, SeedRecord, Stream, Wave

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Path = Callable[[EpisodeId], tuple[PathStep, ...]]
_FURTHER = 200
"""Most active memories beyond the candidates that are ranked too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseOptions:
    """What a mechanism stands on."""

    base: str = parameter(
        "recipe", "Score that activation joins.", choices=("recipe", "fusion"), source="measured"
    )
    w_base: float = parameter(
        1.0, "Weight of that score; 0 ranks by the mechanism alone.", low=0, high=2, source="3.3"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkOptions(BaseOptions):
    """How a mechanism that walks the graph joins its base, and how far it looks."""

    w_activation: float = parameter(
        0.05, "Weight of activation.", low=0, high=5, source="measured on conversations"
    )
    w_bridge: float = parameter(
        1.2, "Weight of activation among documents.", low=0, high=5,
        source="measured on titled passages",
    )  # fmt: skip
    seeds: int = parameter(
        2, "Memories taken from each index.", unit="memories", low=1, high=50, source="measured"
    )
    received_only: bool = parameter(
        default=True, doc="Count what a node received, not what it began with."
    )
    mention_back: float = parameter(
        0.1, "Gain from a concept to what mentions it, and from a document to its title.",
        low=0, high=1, source="as in the concept channel",
    )  # fmt: skip
    similar: float = parameter(
        SIMILAR, "Gain of SIMILAR: what is near in meaning, or was recalled together.",
        low=0, high=1, source="2.0",
    )  # fmt: skip
    fan: int = parameter(32, "Edges fetched per node and type.", unit="edges", low=1, high=64)
    floor: float = parameter(0.05, "Lightest edge fetched.", unit="weight", low=0, high=1)
    max_nodes: int = parameter(2_000, "Nodes in all.", unit="nodes", low=10, high=10_000)

    def gains(self) -> FloatArray:
        """Lay out the gains, forward and backward by type of edge."""
        back, similar = self.mention_back, self.similar
        known = {"MENTIONS": (1.0, back), "ABOUT": (1.0, back), "SIMILAR": (similar, similar)}
        return np.array([known.get(edge, (1.0, 1.0)) for edge in EDGES])


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A node where the cue enters; the best memory and a lone named concept have level 1."""

    node: str
    kind: str
    stream: Stream
    label: str
    level: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Base:
    """Memories that may be hits with the score they have before anything spreads; n each.

    Attributes:
        found: The ones the base itself would return.
        sources: Candidates the rows come from, those of the indexes first.
    """

    ids: tuple[EpisodeId, ...]
    score: FloatArray
    found: NDArray[np.bool_]
    turn: IntArray
    occurred_ms: IntArray
    importance: FloatArray
    sources: tuple[Candidates, ...]
    rescore: Callable[[Candidates], FloatArray]

    @classmethod
    def of(cls, search: Search, options: BaseOptions) -> "Base":
        """Score the candidates."""
        candidates = search.candidates
        indexed = {seed.id for seed in (*search.seeding.by_text, *search.seeding.by_vector)}
        if options.base == "recipe":
            found, rescore = candidates.inside, _recipe(candidates)
        else:
            listed = np.array([one in indexed for one in candidates.columns.id], dtype=np.bool_)
            found = candidates.inside & listed
            rescore = _fusion(candidates, found)
        nothing = np.empty(0, dtype=np.int64)
        empty = cls(
            ids=(),
            score=nothing.astype(np.float64),
            found=nothing.astype(np.bool_),
            turn=nothing,
            occurred_ms=nothing,
            importance=nothing.astype(np.float64),
            sources=(),
            rescore=rescore,
        )
        return empty._with(candidates, found)

    def best(self, among: Iterable[EpisodeId], count: int) -> list[tuple[EpisodeId, float]]:
        """Name the best of some memories with their scores, floored at 0."""
        place = {one: row for row, one in enumerate(self.ids)}
        rows = [place[one] for one in among if one in place and self.found[place[one]]]
        rows.sort(key=lambda row: (-round(float(self.score[row]), 12), self.turn[row]))
        return [(self.ids[row], max(0.0, float(self.score[row]))) for row in rows[:count]]

    async def reached(
        self, search: Search, active: Mapping[str, float], *, weight: float
    ) -> "Base":
        """Let in what activation reached: further memories, on the scale of those before.

        Args:
            search: Whose memories.
            active: Activation by episode.
            weight: Of activation in all; at 0 it lets nobody in.
        """
        if weight == 0.0:
            return self.kept(np.flatnonzero(self.found))
        known = search.candidates.holds
        woken = sorted(active, key=lambda one: (-active[one], one))
        missing = [EpisodeId(one) for one in woken if active[one] > 0.0 and not known(one)]
        base = self
        if missing:
            more = await gather_more(
                search.store, search.tenant, search.seeding, search.filters,
                sorted(missing[:_FURTHER]), subject=search.candidates.subject,
            )  # fmt: skip
            base = self._with(more, np.zeros(len(more.columns.id), dtype=np.bool_))
        lit = base.found | (base.read(active) > 0.0)
        return base.kept(np.flatnonzero(lit))

    def read(self, values: Mapping[str, float]) -> FloatArray:
        """Look a value up for every memory, 0 for none."""
        return np.array([values.get(one, 0.0) for one in self.ids], dtype=np.float64)

    def ranked(
        self,
        parts: Mapping[str, FloatArray],
        *,
        weight: float,
        seeds: tuple[SeedRecord, ...],
        waves: tuple[Wave, ...],
        path: Path,
        truncated: bool,
    ) -> Ranked:
        """Order by the sum of the weighted base and the mechanism's parts."""
        columns = np.column_stack((weight * self.score, *parts.values()))
        order = rank(columns, self.turn, len(self.ids))
        return Ranked(
            ids=tuple(self.ids[row] for row in order.index),
            score=order.score[order.index],
            parts=columns[order.index],
            part_names=("base", *parts),
            seeds=seeds,
            waves=waves,
            path=_Told(by_walk=path, sources=self.sources),
            truncated=truncated,
        )

    def _with(self, more: Candidates, found: NDArray[np.bool_]) -> "Base":
        rows = np.flatnonzero(more.inside)
        columns = more.columns
        return replace(
            self,
            ids=(*self.ids, *(columns.id[row] for row in rows)),
            score=np.concatenate((self.score, self.rescore(more)[rows])),
            found=np.concatenate((self.found, found[rows])),
            turn=np.concatenate((self.turn, columns.turn[rows])),
            occurred_ms=np.concatenate((self.occurred_ms, columns.occurred_ms[rows])),
            importance=np.concatenate((self.importance, columns.importance[rows])),
            sources=(*self.sources, more),
        )

    def kept(self, rows: IntArray) -> "Base":
        """Keep some rows."""
        return replace(
            self,
            ids=tuple(self.ids[row] for row in rows),
            score=self.score[rows],
            found=self.found[rows],
            turn=self.turn[rows],
            occurred_ms=self.occurred_ms[rows],
            importance=self.importance[rows],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """Tell the way energy came, else the look-up that found a memory."""

    by_walk: Path
    sources: Sequence[Candidates]

    def __call__(self, episode: EpisodeId) -> tuple[PathStep, ...]:
        steps = self.by_walk(episode)
        if len(steps) > 1:
            return steps
        return found_directly(holder(self.sources, episode))(episode)


def anchors(
    search: Search, base: Base, count: int, level: Callable[[FoundConcept], float]
) -> tuple[Anchor, ...]:
    """Take the best of each index and the concepts the cue names.

    Args:
        search: What the indexes found.
        base: Says which are best.
        count: Memories from each index.
        level: Of a named concept.
    """
    chosen: dict[str, tuple[Stream, float]] = {}
    streams = ((Stream.TEXT, search.seeding.by_text), (Stream.VECTOR, search.seeding.by_vector))
    for stream, rows in streams:
        for one, score in base.best((row.id for row in rows), count):
            chosen.setdefault(one, (stream, score))
    top = max((score for _, score in chosen.values()), default=0.0) or 1.0
    episodes = (
        Anchor(node=one, kind="episode", stream=stream, label="", level=score / top)
        for one, (stream, score) in chosen.items()
    )
    named = (
        Anchor(node=one.id, kind="concept", stream=Stream.NAME, label=one.name, level=level(one))
        for one in search.seeding.concepts
    )
    return (*episodes, *named)


def records(taken: Sequence[Anchor]) -> tuple[SeedRecord, ...]:
    """Tell the anchors' energies as shares that sum to 1."""
    total = sum(one.level for one in taken) or 1.0
    return tuple(
        SeedRecord(
            node=one.node,
            kind=one.kind,
            stream=one.stream,
            label=one.label,
            energy=one.level / total,
        )
        for one in taken
    )


def activation_parts(
    lit: FloatArray, *, weight: float, bridge: float, gate: float, power: float = 1.0 / 3.0
) -> dict[str, FloatArray]:
    """Turn activation into two parts: one that always counts, one that counts over ABOUT.

    `activation = weight n(a)` and `bridge = w g n(a)^power`, n = a / max a, g the gate: about 1
    among titled documents and 0 in a chat, where no turn is about anything.

    Args:
        lit: a [n] >= 0.
        weight: of activation.
        bridge: w, of activation among documents.
        gate: g in [0, 1].
        power: flattens, so that distant memories count.
    """
    return {
        "activation": weight * min_max(lit, 0.0),
        "bridge": boost(lit, gate, weight=bridge, power=power),
    }


def _recipe(candidates: Candidates) -> Callable[[Candidates], FloatArray]:
    bounds = bounds_of(candidates.signals, candidates.inside)
    return lambda pool: recipe_score(pool.signals, bounds=bounds).score


def _fusion(
    candidates: Candidates, found: NDArray[np.bool_]
) -> Callable[[Candidates], FloatArray]:
    words = Bounds.of(candidates.single[found])
    meaning = Bounds.of(candidates.columns.cosine[found])
    return lambda pool: fusion(pool.single, pool.columns.cosine, bounds=(words, meaning)).score
