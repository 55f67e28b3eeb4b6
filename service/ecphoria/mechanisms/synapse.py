"""SYNAPSE: spread energy from the seeds with the fan effect, and add it to the text score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Literal, cast

import numpy as np

from ecphoria.maths.adjacency import Adjacency, pad
from ecphoria.maths.arrays import FloatArray
from ecphoria.maths.concept_channel import boost
from ecphoria.maths.fusion import share_of_largest
from ecphoria.maths.spreading import Spread, SpreadOptions, inhibit, spread
from ecphoria.mechanisms.base import (
    BASE_MECHANISM,
    EDGE_MECHANISMS,
    WalkOptions,
    anchors,
    cosine_anchors,
    gains_of,
    near_anchors,
    part_of,
    same_as,
    text_pool,
    walk_limits,
)
from ecphoria.mechanisms.subgraph import DECAY, Subgraph, enter
from ecphoria.recall.pipeline import ActivationGate, Path, Pool, Ranked, Search, parameter
from ecphoria.recall.walk import concept_seed
from ecphoria.records.ids import EpisodeId
from ecphoria.records.strategy import Mechanisms
from ecphoria.records.traced import Mark, SeedRecord, Stream


@dataclass(frozen=True, slots=True, kw_only=True)
class SynapseOptions:
    """Options of spreading and of its weights."""

    seeds: int = parameter(
        1, "Anchors taken from each index.", unit="memories", low=1, high=50, source="as measured"
    )  # fmt: skip
    concept_seeds: int = same_as(WalkOptions, "concept_seeds")
    # The paper starts each seed with its cosine; here energies are in proportion to the text
    # scores (docs/explanation/mechanisms/synapse.md).
    injection: str = parameter(
        "shares", "What a seed starts with: `shares` of its text score, the strongest at alpha, or"
        " alpha times its `cosine`.", choices=("shares", "cosine"), source="cosine is Eq. 1",
    )  # fmt: skip
    # The paper gives no value of alpha and no number of seeds
    # (docs/explanation/mechanisms/synapse.md).
    alpha: float = parameter(
        1.0, "Activation of the strongest seed at the start, or factor on the cosine.",
        low=0.01, high=10, source="Eq. 1",
    )  # fmt: skip
    spread: float = parameter(
        0.8, "Share of activation that leaves.", unit="share a step", low=0, high=1, source="Eq. 2"
    )
    # The paper's name *retention* and its formula disagree; here half stays in each step
    # (docs/explanation/mechanisms/synapse.md).
    self_decay: float = parameter(
        0.5, "Share of its own a node loses.", unit="share a step", low=0, high=1, source="Eq. 2"
    )
    # The paper gives .01 without a unit; here it is per day between two turns
    # (docs/explanation/mechanisms/synapse.md).
    decay: float = parameter(
        DECAY, "How fast NEXT weakens with the days between two turns.", unit="1/day", low=0,
        high=10, source="rho of Eq. 2; exp(-decay days)",
    )  # fmt: skip
    fan_power: float = parameter(
        1.0, "1 is the full fan effect, 0 none.", low=0, high=1, source="Eq. 2, by type of edge"
    )
    # The paper divides an edge by all edges of its node, here by those of its type
    # (docs/explanation/mechanisms/synapse.md).
    fan_rule: str = parameter(
        "weight", "What divides an edge: the `weight` of the node's edges of its type, or its"
        " `degree`, all edges that leave the node.", choices=("weight", "degree"),
        source="degree is Eq. 2",
    )  # fmt: skip
    row_guard: bool = parameter(
        default=True, doc="Let no node send more than it holds; not with a fan power below 1."
    )
    # In the paper NEXT leads forward only (docs/explanation/mechanisms/synapse.md).
    next_back: float = parameter(
        1.0, "Gain of NEXT from a turn to the one before.", low=0, high=1, source="0 in 3.1"
    )
    mention_back: float = parameter(
        0.1, "Gain of MENTIONS from a concept to memories.", low=0, high=1, source="as measured"
    )
    # The paper joins pairs over .92 although it has just merged them; here merging and joining
    # have two thresholds (docs/explanation/mechanisms/synapse.md).
    similar: float = same_as(WalkOptions, "similar")
    # Off by default: with `SIMILAR` and `ASSOCIATED` R@10 changes within chance
    # (docs/evaluation/consolidation.md).
    associated: float = same_as(WalkOptions, "associated")
    related: float = same_as(WalkOptions, "related")
    kinds: float = same_as(WalkOptions, "kinds")
    merged: float = same_as(WalkOptions, "merged")
    # Edges of a window are not stored: each wave reads them along the session
    # (docs/explanation/mechanisms/synapse.md).
    window: int = parameter(
        0, "Consecutive turns of a session that share the concepts of each; 0 keeps to its own.",
        unit="turns", low=0, high=50, source="SYNAPSE 3.1; off by default, the paper 5",
    )  # fmt: skip
    # A fixed horizon: after more steps the paper's curve loses the origin of the energy
    # (docs/explanation/mechanisms/synapse.md).
    steps: int = parameter(
        3, "How often it spreads: a horizon, not a limit.", unit="steps", low=1, high=6, source="T"
    )
    # The paper's sigmoid fires at .076 without energy, which lies above the limit for a dormant
    # node (docs/explanation/mechanisms/synapse.md).
    firing: str = parameter(
        "linear", "How potential becomes activation.", choices=("linear", "rebased", "literal"),
        source="Eq. 4; linear as measured",
    )  # fmt: skip
    steepness: float = parameter(
        5.0, "gamma of the curve; not linear.", low=0.1, high=50, source="Eq. 4"
    )
    threshold: float = parameter(
        0.5, "theta of the curve; not linear.", unit="activation", low=0, high=1, source="Eq. 4"
    )
    inhibition: float = parameter(
        0.0, "beta: how hard the strongest push.", low=0, high=1, source="Eq. 3; 0 as measured"
    )
    inhibitors: int = parameter(
        7, "M: how many push.", unit="nodes", low=0, high=100, source="Eq. 3"
    )
    # Inside each step, inhibition removes the weak bridges that a recall wants to find
    # (docs/explanation/mechanisms/synapse.md).
    inhibition_mode: str = parameter(
        "pool", "Once at the end, in every step, or never.", choices=("pool", "step", "off"),
        source="step is Eq. 3; it starves bridges",
    )  # fmt: skip
    seed_floor: float = parameter(
        0.1, "Share a seed keeps when pushed.", unit="share", low=0, high=1, source="ours"
    )
    # Otherwise the seeds would win by the energy they began with
    # (docs/explanation/mechanisms/synapse.md).
    received_only: bool = same_as(WalkOptions, "received_only")
    # The paper's first term is the cosine; the others measure what spreading adds to them
    # (docs/explanation/mechanisms/synapse.md).
    base: str = parameter(
        "recipe", "The text score that activation joins.", choices=("recipe", "fusion", "cosine"),
        source="cosine is Eq. 5",
    )  # fmt: skip
    w_base: float = parameter(1.0, "Weight of the text score.", low=0, high=2, source="Eq. 5")
    w_activation: float = parameter(
        0.05, "Weight of activation.", low=0, high=2, source="Eq. 5; as measured"
    )
    raw_activation: bool = parameter(
        default=False, doc="Add the activation itself, not as a share of the highest.",
        source="Eq. 5",
    )  # fmt: skip
    w_about: float = parameter(
        1.2, "Weight of activation that came over ABOUT.", low=0, high=5, source="as measured"
    )
    # The raw PageRank adds 2e-5 in a store of 10,000; its rank costs .7 points of R@10, so the
    # default is 0 (docs/explanation/mechanisms/synapse.md).
    w_prior: float = parameter(
        0.0, "Weight of the PageRank prior, a rank in 0 to 1.", low=0, high=2,
        source="Eq. 5; 0 as measured",
    )  # fmt: skip
    # The strongest activation does not know who said it, so the calibrated gate judges by default
    # (docs/explanation/mechanisms/synapse.md).
    gate: float = parameter(
        0.0, "Least activation of the first hit; below it the verdict is `refuse`. 0 leaves the"
        " verdict to the calibrated gate.", unit="activation", low=0, high=1,
        source=".12 in 3.4; off by default",
    )  # fmt: skip
    # Hubs of many mentions are the top node of almost every question
    # (docs/explanation/mechanisms/synapse.md).
    gate_node: str = parameter(
        "memory", "Node whose activation the gate reads: the first memory, or the best of all.",
        choices=("memory", "any"), source="SYNAPSE 3.4: the top-ranked node",
    )  # fmt: skip
    # The paper ranks memories and concepts together; a concept has no text to return
    # (docs/explanation/mechanisms/synapse.md).
    top_concepts: int = parameter(
        0, "Best concepts that the trace marks with their place among memories and concepts.",
        unit="concepts", low=0, high=30, source="Eq. 5, the paper's 30 of both; off by default",
    )  # fmt: skip
    verify_below: float = parameter(
        0.2, "Activation of the first hit below which the verdict is `verify`; with a gate.",
        unit="activation", low=0, high=1, source="ours; the highest gate of table 7",
    )  # fmt: skip
    fan: int = parameter(
        32, "Edges fetched of each node and type.", unit="edges", low=1, high=64, source="ours"
    )
    floor: float = parameter(
        0.05, "Lightest edge fetched.", unit="weight", low=0, high=1, source="ours"
    )
    frontier: int = parameter(
        64, "Nodes expanded in a step.", unit="nodes", low=1, high=500, source="ours"
    )
    # The paper lets every node of the store fire; a bound makes the cost depend on the cue, not on
    # the store (docs/explanation/mechanisms/synapse.md).
    max_nodes: int = parameter(
        2_000, "Nodes fetched in all.", unit="nodes", low=10, high=10_000, source="ours"
    )


_PAPER = SynapseOptions(
    seeds=10,
    concept_seeds=10,
    injection="cosine",
    fan_rule="degree",
    next_back=0.0,
    mention_back=1.0,
    similar=0.0,
    associated=1.0,
    related=1.0,
    merged=1.0,
    window=5,
    raw_activation=True,
    w_about=0.0,
    firing="literal",
    inhibition=0.15,
    inhibition_mode="step",
    seed_floor=0.0,
    row_guard=False,
    received_only=False,
    base="cosine",
    w_base=0.5,
    w_activation=0.3,
    w_prior=0.2,
    gate=0.12,
    gate_node="any",
    top_concepts=30,
    floor=0.0,
    fan=64,
    frontier=500,
)


class Synapse:
    """Spread activation from dual seeds over the edges of memories (SYNAPSE, Eqs. 1-5)."""

    name: ClassVar[str] = "synapse"
    seeds: ClassVar[int] = 50
    options: ClassVar[type[Any]] = SynapseOptions
    presets: ClassVar[Mapping[str, Any]] = {"default": SynapseOptions(), "paper": _PAPER}
    mechanisms: ClassVar[Mechanisms] = {
        "activation": {"w_activation": 0.0, "w_about": 0.0},
        "about": {"w_about": 0.0},
        "fan effect": {"fan_power": 0.0},
        "inhibition": {"inhibition": 0.0},
        "firing": {"firing": "linear"},
        "node decay": {"self_decay": 0.0},
        "time decay": {"decay": 0.0},
        **EDGE_MECHANISMS,
        "window": {"window": 0},
        "prior": {"w_prior": 0.0},
        **BASE_MECHANISM,
    }

    async def rank(self, search: Search, options: SynapseOptions) -> Ranked:
        """Spread from the best seeds, then add activation and prior to the text score."""
        base = text_pool(search, options.base)
        graph, start = await _enter(search, base, options)
        arcs = graph.adjacency(
            gains_of(options, next_back=options.next_back),
            options.fan_power,
            guard=options.row_guard and options.fan_power == 1.0,
            decay=options.decay,
            fan=cast("Literal['weight', 'degree']", options.fan_rule),
        )
        scaled = options.injection == "shares"
        run = spread(arcs, start, options=part_of(SpreadOptions, options, scaled=scaled))
        _describe(graph, arcs, run, options.spread)
        active, gate = _read(graph, arcs, run, options)
        lit_by_id = graph.active(active)
        pool = await base.reached(search, lit_by_id)
        lit = pool.read(lit_by_id)
        activation = options.w_activation * (
            lit if options.raw_activation else share_of_largest(lit)
        )
        activation += boost(lit, gate, weight=options.w_about)
        parts = {
            "base": options.w_base * pool.score,
            "activation": activation,
            "prior": await _prior(search, pool, options),
        }
        ranked = pool.ranked(parts, graph, _path(pool, activation, graph.path, options))
        concepts = await _concepts(search, graph, active, options)
        _mark(graph, concepts[: options.top_concepts], ranked.score)
        top = _top_activation(ranked, lit_by_id, concepts, options.gate_node)
        return replace(ranked, gate=_gate(top, options))


async def _entries(search: Search, base: Pool, options: SynapseOptions) -> Sequence[SeedRecord]:
    """Choose the seeds and their energies."""
    near = await near_anchors(search, options.concept_seeds)
    if options.injection == "shares":
        named = max(1, len(search.seeding.concepts))
        return (*anchors(search, base, options.seeds, lambda _: 1.0 / named), *near)
    return (*cosine_anchors(search, options.seeds), *await _named(search), *near)


async def _named(search: Search) -> list[SeedRecord]:
    """Take the concepts that the cue names, with their cosine, or 1 while they have no vector."""
    named, vector = search.seeding.concepts, search.seeding.vector
    level: dict[str, float] = {}
    if named and vector is not None:
        known = await search.store.figures.concept_vectors(
            search.tenant, [concept.id for concept in named]
        )
        level = {concept: float(np.dot(vector, found)) for concept, found in known.items()}
    return [
        concept_seed(concept.id, concept.name, Stream.NAME, level.get(concept.id, 1.0))
        for concept in named
        if level.get(concept.id, 1.0) > 0.0
    ]


async def _enter(
    search: Search, base: Pool, options: SynapseOptions
) -> tuple[Subgraph, FloatArray]:
    """Fetch the subgraph; return the starting energy of each node.

    The printed curve makes every memory fire, so each candidate is then a node.
    """
    limits = walk_limits(options, options.steps)
    graph, level = await enter(search, await _entries(search, base, options), limits)
    graph.whole = False
    if options.firing == "literal":
        for episode in base.ids:
            graph.add(episode, "episode")
    if options.injection == "shares":
        level = np.array([seed.energy for seed in graph.seeds], dtype=np.float64)
    start = pad(level, len(graph.ids))
    graph.begin(start)
    return graph, start


@dataclass(frozen=True, slots=True, kw_only=True)
class _Concept:
    """A concept of the walk, with its score by Eq. 5."""

    id: str
    score: float
    activation: float


async def _concepts(
    search: Search, graph: Subgraph, active: FloatArray, options: SynapseOptions
) -> list[_Concept]:
    """Rank the concepts by Eq. 5, if the gate or the trace asks for them.

    A concept has no prior. It has a cosine once it is embedded.
    """
    if not options.top_concepts and (options.gate == 0.0 or options.gate_node == "memory"):
        return []
    level = {
        node: value
        for node, kind, value in zip(graph.ids, graph.kinds, active.tolist(), strict=True)
        if kind == "concept"
    }
    own = await search.store.figures.concept_vectors(search.tenant, list(level))
    cue = search.seeding.vector
    found = []
    for concept, value in level.items():
        near = float(np.dot(cue, own[concept])) if cue is not None and concept in own else 0.0
        score = options.w_base * near + options.w_activation * value
        found.append(_Concept(id=concept, score=score, activation=value))
    return sorted(found, key=lambda one: (-one.score, one.id))


def _mark(graph: Subgraph, concepts: Sequence[_Concept], memories: FloatArray) -> None:
    """Mark the best concepts in the last wave with their place in both layers."""
    if not graph.waves:
        return
    marks = tuple(
        Mark(
            node=one.id,
            says=f"place {row + int((memories >= one.score).sum())} of memories and concepts",
            value=one.activation,
        )
        for row, one in enumerate(concepts, start=1)
    )
    graph.waves[-1] = replace(graph.waves[-1], marks=(*graph.waves[-1].marks, *marks))


def _top_activation(
    ranked: Ranked, lit: Mapping[EpisodeId, float], concepts: Sequence[_Concept], wanted: str
) -> float | None:
    """Read the activation of the top node by Eq. 5; None without a memory."""
    if not ranked.ids:
        return None
    if wanted == "any" and concepts and concepts[0].score > float(ranked.score[0]):
        return concepts[0].activation
    return lit.get(ranked.ids[0], 0.0)


def _gate(top: float | None, options: SynapseOptions) -> ActivationGate | None:
    """Let the activation of the top node decide (3.4), if that is wanted."""
    if top is None or options.gate == 0.0:
        return None
    return ActivationGate(
        activation=top, threshold=options.gate, verify_below=options.verify_below
    )


def _read(
    graph: Subgraph, arcs: Adjacency, run: Spread, options: SynapseOptions
) -> tuple[FloatArray, float]:
    """Read the activation, and the gate by the share that came over ABOUT.

    With `received_only`, the energy that arrived in each step is added up, so that seeds do not
    win by their starting energy.
    """
    received, carried = np.zeros(arcs.size), np.zeros(arcs.indices.size)
    for wave in run.waves[:-1]:
        received += options.spread * arcs.push(wave)
        carried += arcs.weights * wave[arcs.tails()]
    gate = graph.bridge_gate(arcs, carried)
    if not options.received_only:
        return run.activation, gate
    if options.inhibition_mode == "pool":
        seeds = run.waves[0] > 0.0
        received = inhibit(
            received,
            beta=options.inhibition,
            inhibitors=options.inhibitors,
            floor=np.where(seeds, options.seed_floor * received, 0.0),
        )
    return received, gate


async def _prior(search: Search, pool: Pool, options: SynapseOptions) -> FloatArray:
    if options.w_prior == 0.0:
        return np.zeros(len(pool.ids))
    known = await search.store.figures.priors(search.tenant, pool.ids)
    return options.w_prior * np.array([known.get(episode, 0.0) for episode in pool.ids])


def _describe(graph: Subgraph, arcs: Adjacency, run: Spread, share: float) -> None:
    """Record each step."""
    for before, after in pairwise(run.waves):
        graph.send(arcs, before)
        carried = share * arcs.weights * before[arcs.tails()]
        graph.describe(arcs, carried, active=int((after > 0.0).sum()))


def _path(pool: Pool, activation: FloatArray, walked: Path, options: SynapseOptions) -> Path:
    """Give the paths of energy to memories that owe more to activation than to their text."""
    by_energy = activation > np.maximum(0.0, options.w_base * pool.score)
    woken = frozenset(pool.ids[row] for row in np.flatnonzero(by_energy))
    return pool.explain(lambda episode: walked(episode) if episode in woken else ())
