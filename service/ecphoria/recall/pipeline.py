"""The pipeline of every strategy: score candidates, walk, add reached memories, rank, explain.

A strategy has its options and the functions in which it differs: where its walk starts, how energy
moves, and which parts of the score the walk adds. Everything else is here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from datetime import datetime
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ecphoria.errors import InvalidInput
from ecphoria.maths.adjacency import Adjacency
from ecphoria.maths.concept_channel import about_gate, boost
from ecphoria.maths.fusion import Bounds, bounds_of, fusion, min_max, rank, recipe_score
from ecphoria.recall.candidates import Candidates, Echo, gather_more, holder
from ecphoria.recall.ports import FoundConcept, RecallStore
from ecphoria.recall.seeds import Seeding
from ecphoria.recall.subgraph import EDGES, SIMILAR, Subgraph, WalkLimits, fetch
from ecphoria.records.history import Stimulation
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Filters, OptionValue, PathStep, SeedRecord, Stream, Wave
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


FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
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
        self,
        parts: Mapping[str, FloatArray],
        *,
        seeds: tuple[SeedRecord, ...],
        waves: tuple[Wave, ...],
        path: Path,
        truncated: bool = False,
    ) -> Ranked:
        """Order by the sum of parts, [n] each; ties by turn."""
        columns = np.column_stack(tuple(parts.values()))
        order = rank(columns, self.turn, len(self.ids))
        return Ranked(
            ids=tuple(self.ids[row] for row in order.index),
            score=order.score[order.index],
            parts=columns[order.index],
            part_names=tuple(parts),
            seeds=seeds,
            waves=waves,
            path=path,
            truncated=truncated,
        )

    def explain(self, walked: Path, otherwise: Callable[[Candidates], Path]) -> Path:
        """Return the path of energy to a memory, or how its text was found."""

        def path(episode: EpisodeId) -> tuple[PathStep, ...]:
            steps = walked(episode)
            # One step is a seed: no edge was walked.
            return steps if len(steps) > 1 else otherwise(holder(self.sources, episode))(episode)

        return path


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseOptions:
    """The text score that a mechanism joins."""

    base: str = parameter(
        "recipe", "Score that activation joins.", choices=("recipe", "fusion"), source="measured"
    )
    w_base: float = parameter(
        1.0, "Weight of that score; 0 ranks by the mechanism alone.", low=0, high=2, source="3.3"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkOptions(BaseOptions):
    """Options of a mechanism that walks the graph: its weights and its reach."""

    # At the weight .3 of the design, activation costs several points in conversations and is too
    # weak among titled documents, so there are two parts (decision 0013).
    w_activation: float = parameter(
        0.05, "Weight of activation.", low=0, high=5, source="measured on conversations"
    )
    w_bridge: float = parameter(
        1.2, "Weight of activation among documents.", low=0, high=5,
        source="measured on titled passages",
    )  # fmt: skip
    # Two memories of each index, not ten, start the walk (decision 0013).
    seeds: int = parameter(
        2, "Memories taken from each index.", unit="memories", low=1, high=50, source="measured"
    )
    # Off by default, because it did not help (docs/explanation/consolidation.md).
    concept_seeds: int = parameter(
        0, "Concepts taken by meaning, beside those the cue names; they have vectors after a"
        " consolidation.", unit="concepts", low=0, high=50, source="SYNAPSE 3.2; off by default",
    )  # fmt: skip
    received_only: bool = parameter(
        default=True, doc="Count what a node received, not what it began with."
    )
    mention_back: float = parameter(
        0.1, "Gain from a concept to what mentions it, and from a document to its title.",
        low=0, high=1, source="as in the concept channel",
    )  # fmt: skip
    # A cycle changes R@10 by +.4 and +.1, within chance (docs/explanation/consolidation.md).
    similar: float = parameter(
        SIMILAR, "Gain of SIMILAR: what is near in meaning, or was recalled together.",
        low=0, high=1, source="2.0",
    )  # fmt: skip
    # Off by default: changes of R@10 were within chance (docs/explanation/consolidation.md).
    associated: float = parameter(
        0.0, "Gain of ASSOCIATED: concepts that are mentioned together.", low=0, high=1,
        source="off by default; the papers 1",
    )  # fmt: skip
    fan: int = parameter(32, "Edges fetched per node and type.", unit="edges", low=1, high=64)
    floor: float = parameter(0.05, "Lightest edge fetched.", unit="weight", low=0, high=1)
    max_nodes: int = parameter(2_000, "Nodes in all.", unit="nodes", low=10, high=10_000)

    def limits(self, waves: int) -> WalkLimits:
        """Return the bounds of a walk of so many hops."""
        return WalkLimits(
            waves=waves,
            fan=self.fan,
            floor=self.floor,
            nodes=self.max_nodes,
            associated=self.associated > 0.0,
        )

    def gains(self) -> FloatArray:
        """Build the array of gains, forward and backward by type of edge."""
        back, similar, associated = self.mention_back, self.similar, self.associated
        known = {
            "MENTIONS": (1.0, back),
            "ABOUT": (1.0, back),
            "SIMILAR": (similar, similar),
            "ASSOCIATED": (associated, associated),
        }
        return np.array([known.get(edge, (1.0, 1.0)) for edge in EDGES])


BASE_MECHANISM: Mechanisms = {"text score": {"w_base": 0.0}}
WALK_MECHANISMS: Mechanisms = {
    "activation": {"w_activation": 0.0, "w_bridge": 0.0},
    "bridge": {"w_bridge": 0.0},
    "concept seeds": {"concept_seeds": 0},
    "mentions back": {"mention_back": 0.0},
    "similar": {"similar": 0.0},
    "associated": {"associated": 0.0},
    **BASE_MECHANISM,
}
"""The mechanisms of `WalkOptions`."""


def text_pool(search: Search, base: str) -> Pool:
    """Score the candidates by the default's text score, by plain fusion, or by the cosine.

    Plain fusion finds only what the indexes list: it has no words that spread over NEXT.
    """
    candidates, seeding = search.candidates, search.seeding
    if base == "recipe":
        bounds = bounds_of(candidates.signals, candidates.inside)
        return Pool.of(
            candidates, lambda more: recipe_score(more.signals, bounds=bounds).score[:, None]
        )
    if base == "cosine":
        return Pool.of(candidates, lambda more: more.columns.cosine[:, None])
    indexed = {seed.id for seed in (*seeding.by_text, *seeding.by_vector)}
    listed = np.array([episode in indexed for episode in candidates.columns.id], dtype=np.bool_)
    found = candidates.inside & listed
    scale = Bounds.of(candidates.single[found]), Bounds.of(candidates.columns.cosine[found])
    return Pool.of(
        candidates,
        lambda more: fusion(more.single, more.columns.cosine, bounds=scale).score[:, None],
        found,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A node where the cue enters; the best memory and a lone named concept have level 1."""

    node: str
    kind: str
    stream: Stream
    label: str
    level: float


async def near_anchors(search: Search, count: int) -> tuple[Anchor, ...]:
    """Find the concepts nearest to the cue in meaning, without those that it names.

    The level of each is its cosine (SYNAPSE, Eq. 1).
    """
    vector = search.seeding.vector
    if not count or vector is None:
        return ()
    known = {concept.id for concept in search.seeding.concepts}
    found = await search.store.near_concepts(search.tenant, vector, count + len(known))
    near = [concept for concept in found if concept.id not in known and concept.cosine > 0.0]
    return tuple(
        Anchor(
            node=concept.id,
            kind="concept",
            stream=Stream.VECTOR,
            label=concept.name,
            level=concept.cosine,
        )
        for concept in near[:count]
    )


def cosine_anchors(search: Search, count: int) -> list[Anchor]:
    """Take the first memories of each index, in the order of the index, with their cosine.

    A negative cosine counts as 0, because activation is never negative.
    """
    streams = ((Stream.TEXT, search.seeding.by_text), (Stream.VECTOR, search.seeding.by_vector))
    first = {row.id: stream for stream, rows in reversed(streams) for row in rows[:count]}
    row, cosine = search.candidates.row, search.candidates.columns.cosine
    return [
        Anchor(node=one, kind="episode", stream=stream, label="", level=float(cosine[row[one]]))
        for one, stream in first.items()
        if one in row and cosine[row[one]] > 0.0
    ]


def anchors(
    search: Search, pool: Pool, count: int, level: Callable[[FoundConcept], float]
) -> tuple[Anchor, ...]:
    """Take the best of each index and the concepts the cue names.

    Args:
        search: The recall under way, with what the indexes found.
        pool: The text scores.
        count: Memories from each index.
        level: Of a named concept.
    """
    chosen: dict[str, tuple[Stream, float]] = {}
    streams = ((Stream.TEXT, search.seeding.by_text), (Stream.VECTOR, search.seeding.by_vector))
    for stream, rows in streams:
        for episode, score in pool.best((row.id for row in rows), count):
            chosen.setdefault(episode, (stream, score))
    top = max((score for _, score in chosen.values()), default=0.0) or 1.0
    episodes = (
        Anchor(node=one, kind="episode", stream=stream, label="", level=score / top)
        for one, (stream, score) in chosen.items()
    )
    named = (
        Anchor(
            node=concept.id,
            kind="concept",
            stream=Stream.NAME,
            label=concept.name,
            level=level(concept),
        )
        for concept in search.seeding.concepts
    )
    return (*episodes, *named)


def seed_shares(taken: Sequence[Anchor]) -> tuple[SeedRecord, ...]:
    """Record the anchors with their energies as shares that sum to 1."""
    total = sum(anchor.level for anchor in taken) or 1.0
    return tuple(
        SeedRecord(
            node=anchor.node,
            kind=anchor.kind,
            stream=anchor.stream,
            label=anchor.label,
            energy=anchor.level / total,
        )
        for anchor in taken
    )


async def enter(
    search: Search, taken: Sequence[Anchor], limits: WalkLimits
) -> tuple[Subgraph, FloatArray]:
    """Fetch the subgraph around the anchors; tell each node's level at the start, [n]."""
    entries = {anchor.node: (anchor.kind, anchor.label, anchor.level) for anchor in taken}
    graph = await fetch(search.store, search.tenant, entries, limits, search.now)
    start = np.zeros(len(graph.ids))
    start[: len(taken)] = [anchor.level for anchor in taken]
    return graph, start


def bridge_gate(graph: Subgraph, arcs: Adjacency, carried: FloatArray) -> float:
    """Measure how much of the energy that reached episodes came over ABOUT, as a gate.

    Args:
        graph: The subgraph.
        arcs: m arcs over it.
        carried: [m], the energy that went along each.
    """
    # In a chat no turn is about a concept, so there the bridge is off and only the small weight
    # counts (decision 0013).
    into = carried * graph.episodes()[arcs.indices]
    return about_gate(float(into[graph.over_about(arcs)].sum()), float(into.sum()))


def active_episodes(graph: Subgraph, values: FloatArray) -> dict[EpisodeId, float]:
    """Read a value per node for the episodes that have one above 0."""
    return {
        EpisodeId(graph.ids[node]): float(values[node])
        for node in np.flatnonzero(values > 0.0)
        if graph.kinds[node] == "episode"
    }


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
