"""SYNAPSE: energy enters at the seeds, spreads with the fan effect, and joins the text score."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.adjacency import Adjacency
from ecphoria.maths.concept_channel import boost
from ecphoria.maths.fusion import Bounds, Scored, bounds_of, fusion, min_max, rank, recipe_score
from ecphoria.maths.spreading import Spread, SpreadOptions, inhibit, spread
from ecphoria.recall.candidates import Candidates, gather_more
from ecphoria.recall.options import parameter
from ecphoria.recall.strategies.spread_trace import Path, waves_of
from ecphoria.recall.strategies.strategy import Ranked, Search
from ecphoria.recall.subgraph import DECAY, SIMILAR, Limits, Subgraph, fetch, gains
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import SeedRecord, Stream

FloatArray = NDArray[np.float64]
_FURTHER = 200
"""Most active memories beyond the candidates that are ranked too (the paper's pool)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SynapseOptions:
    """How activation spreads and what it counts."""

    seeds: int = parameter(
        1, "Anchors taken from each index.", unit="memories", low=1, high=50, source="as measured"
    )  # fmt: skip
    alpha: float = parameter(
        1.0, "Activation of the strongest seed at the start.", low=0.01, high=10, source="Eq. 1"
    )
    spread: float = parameter(
        0.8, "Share of activation that leaves.", unit="share a step", low=0, high=1, source="Eq. 2"
    )
    self_decay: float = parameter(
        0.5, "Share of its own a node loses.", unit="share a step", low=0, high=1, source="Eq. 2"
    )
    decay: float = parameter(
        DECAY, "How fast NEXT weakens with the days between two turns.", unit="1/day", low=0,
        high=10, source="rho of Eq. 2; exp(-decay days)",
    )  # fmt: skip
    fan_power: float = parameter(
        1.0, "1 is the full fan effect, 0 none.", low=0, high=1, source="Eq. 2, by type of edge"
    )
    row_guard: bool = parameter(
        default=True, doc="Let no node send more than it holds; not with a fan power below 1."
    )
    mention_back: float = parameter(
        0.1, "Gain of MENTIONS from a concept to memories.", low=0, high=1, source="as measured"
    )
    similar: float = parameter(
        SIMILAR, "Gain of SIMILAR: what is near in meaning, or was recalled together.",
        low=0, high=1, source="2.0",
    )  # fmt: skip
    steps: int = parameter(
        3, "How often it spreads: a horizon, not a limit.", unit="steps", low=1, high=6, source="T"
    )
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
    inhibition_mode: str = parameter(
        "pool", "Once at the end, in every step, or never.", choices=("pool", "step", "off"),
        source="step is Eq. 3; it starves bridges",
    )  # fmt: skip
    seed_floor: float = parameter(
        0.1, "Share a seed keeps when pushed.", unit="share", low=0, high=1, source="ours"
    )
    received_only: bool = parameter(
        default=True, doc="Count what a node received, not what it began with."
    )
    base: str = parameter(
        "recipe", "The text score that activation joins.", choices=("recipe", "fusion", "cosine"),
        source="cosine is Eq. 5",
    )  # fmt: skip
    w_base: float = parameter(1.0, "Weight of the text score.", low=0, high=2, source="Eq. 5")
    w_activation: float = parameter(
        0.05, "Weight of activation.", low=0, high=2, source="Eq. 5; as measured"
    )
    w_about: float = parameter(
        1.2, "Weight of activation that came over ABOUT.", low=0, high=5, source="as measured"
    )
    w_prior: float = parameter(
        0.0, "Weight of the PageRank prior, a rank in 0 to 1.", low=0, high=2,
        source="Eq. 5; 0 as measured",
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
    max_nodes: int = parameter(
        2_000, "Nodes fetched in all.", unit="nodes", low=10, high=10_000, source="ours"
    )


_PAPER = SynapseOptions(
    seeds=10,
    mention_back=1.0,
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
    floor=0.0,
    fan=64,
)


class Synapse:
    """Spread activation from dual seeds over the edges of memories (SYNAPSE, Eqs. 1-5)."""

    name: ClassVar[str] = "synapse"
    seeds: ClassVar[int] = 50
    options: ClassVar[type[Any]] = SynapseOptions
    presets: ClassVar[Mapping[str, Any]] = {"default": SynapseOptions(), "paper": _PAPER}

    async def rank(self, search: Search, options: SynapseOptions) -> Ranked:
        """Spread from the best seeds, then add activation and prior to the text score."""
        candidates = search.candidates
        base = _base(candidates, candidates, options.base)
        records = _seeds(search, base, options.seeds)
        graph = await _fetched(search, records, options)
        guard = options.row_guard and options.fan_power == 1.0
        arcs = graph.adjacency(
            gains(options.mention_back, options.similar),
            options.fan_power,
            guard=guard,
            decay=options.decay,
        )
        start = np.zeros(len(graph.ids))
        start[: len(records)] = [one.energy for one in records]
        run = spread(arcs, start, options=_kernel_options(options))
        active, gate = _read(graph, arcs, run, options)

        pools = [candidates]
        further = _further(graph, active, candidates)
        if further:
            more = await gather_more(
                search.store, search.tenant, search.seeding, search.filters,
                further, subject=candidates.subject,
            )  # fmt: skip
            pools.append(more)
        rows = [(pool, row) for pool in pools for row in np.flatnonzero(pool.inside)]
        ids = [pool.columns.id[row] for pool, row in rows]
        text = np.concatenate(
            [_base(pool, candidates, options.base)[pool.inside] for pool in pools]
        )
        scored = await _scored(
            search, ids, text, _activation(graph, ids, active, gate, options), options
        )
        order = rank(scored.parts, [pool.columns.turn[row] for pool, row in rows], len(ids)).index
        return Ranked(
            ids=tuple(ids[row] for row in order),
            score=scored.score[order],
            parts=scored.parts[order],
            part_names=("base", "activation", "prior"),
            seeds=records,
            waves=waves_of(graph, arcs, run, options.spread),
            path=Path(
                graph=graph,
                arcs=arcs,
                run=run,
                pools=pools,
                streams={one.node: one.stream for one in records},
                woken=_woken(ids, scored),
            ),
            truncated=graph.truncated,
        )


def _base(pool: Candidates, first: Candidates, kind: str) -> FloatArray:
    """Score the text of a pool on the scale of the first candidates."""
    among = first.inside
    if kind == "recipe":
        return recipe_score(pool.signals, bounds=bounds_of(first.signals, among)).score
    if kind == "cosine":
        return pool.columns.cosine
    bounds = (Bounds.of(first.single[among]), Bounds.of(first.columns.cosine[among]))
    return fusion(pool.single, pool.columns.cosine, bounds=bounds).score


def _seeds(search: Search, base: FloatArray, count: int) -> tuple[SeedRecord, ...]:
    """Take the anchors of both indexes and the named concepts; energies sum to 1."""
    row = search.candidates.row
    streams = ((Stream.TEXT, search.seeding.by_text), (Stream.VECTOR, search.seeding.by_vector))
    chosen: dict[str, tuple[Stream, float]] = {}
    for stream, found in streams:
        known = [seed for seed in found if seed.id in row]
        best = sorted(known, key=lambda seed: -base[row[seed.id]])[:count]
        for seed in best:
            chosen.setdefault(seed.id, (stream, max(0.0, float(base[row[seed.id]]))))
    top = max((amount for _, amount in chosen.values()), default=1.0) or 1.0
    concepts = search.seeding.concepts
    total = sum(amount for _, amount in chosen.values()) + (top if concepts else 0.0)
    scale = total or 1.0
    episodes = (
        SeedRecord(node=node, kind="episode", stream=stream, label="", energy=amount / scale)
        for node, (stream, amount) in chosen.items()
    )
    named = (
        SeedRecord(
            node=one.id,
            kind="concept",
            stream=Stream.NAME,
            label=one.name,
            energy=top / len(concepts) / scale,
        )
        for one in concepts
    )
    return (*episodes, *named)


async def _fetched(
    search: Search, records: tuple[SeedRecord, ...], options: SynapseOptions
) -> Subgraph:
    limits = Limits(
        waves=options.steps,
        frontier=options.frontier,
        fan=options.fan,
        floor=options.floor,
        nodes=options.max_nodes,
    )
    energy = {one.node: (one.kind, one.label, one.energy) for one in records}
    return await fetch(search.store, search.tenant, energy, limits, search.now)


def _kernel_options(options: SynapseOptions) -> SpreadOptions:
    return SpreadOptions(
        spread=options.spread,
        self_decay=options.self_decay,
        steps=options.steps,
        alpha=options.alpha,
        steepness=options.steepness,
        threshold=options.threshold,
        firing=cast("Literal['rebased', 'linear', 'literal']", options.firing),
        inhibition=options.inhibition,
        inhibitors=options.inhibitors,
        inhibition_mode=cast("Literal['pool', 'step', 'off']", options.inhibition_mode),
        seed_floor=options.seed_floor,
    )


def _read(
    graph: Subgraph, arcs: Adjacency, run: Spread, options: SynapseOptions
) -> tuple[FloatArray, float]:
    """Read activation, and how much of what memories received came over ABOUT.

    With `received_only`, what arrived in each step is added up: seeds must not win by having
    begun. The gate is `min(1, 2 r)`, r the share over ABOUT, as in the concept channel.
    """
    about, remembered = graph.over_about(arcs), graph.episodes()[arcs.indices]
    received, over, whole = np.zeros(arcs.size), 0.0, 0.0
    for wave in run.waves[:-1]:
        received += options.spread * arcs.push(wave)
        carried = arcs.weights * wave[arcs.tails()]
        over += float(carried[about].sum())
        whole += float(carried[remembered].sum())
    gate = min(1.0, 2.0 * over / whole) if whole > 0.0 else 0.0
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


def _further(graph: Subgraph, active: FloatArray, candidates: Candidates) -> list[EpisodeId]:
    """Name the most active memories that are not ranked yet."""
    rows = [
        node
        for node in np.argsort(-active, kind="stable")
        if graph.kinds[node] == "episode" and active[node] > 0.0
        and not candidates.holds(graph.ids[node])
    ]  # fmt: skip
    return sorted(EpisodeId(graph.ids[node]) for node in rows[:_FURTHER])


def _activation(
    graph: Subgraph, ids: list[EpisodeId], active: FloatArray, gate: float, options: SynapseOptions
) -> FloatArray:
    lit = np.array([active[graph.index[one]] if one in graph.index else 0.0 for one in ids])
    return options.w_activation * min_max(lit, 0.0) + boost(lit, gate, weight=options.w_about)


async def _scored(
    search: Search,
    ids: list[EpisodeId],
    text: FloatArray,
    activation: FloatArray,
    options: SynapseOptions,
) -> Scored:
    """Add up the triple score: text, activation, prior."""
    prior = np.zeros(len(ids))
    if options.w_prior > 0.0:
        known = await search.store.priors(search.tenant, ids)
        prior = np.array([options.w_prior * known.get(one, 0.0) for one in ids])
    parts = np.column_stack((options.w_base * text, activation, prior))
    return Scored(score=parts.sum(axis=1), parts=parts)


def _woken(ids: list[EpisodeId], scored: Scored) -> frozenset[EpisodeId]:
    """Name the memories that owe more to activation than to their text."""
    text, activation, _ = scored.parts.T
    return frozenset(ids[row] for row in np.flatnonzero(activation > np.maximum(0.0, text)))
