"""SYNAPSE: energy enters at the seeds, spreads with the fan effect, and joins the text score."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from ecphoria.kernels.adjacency import Adjacency
from ecphoria.kernels.fusion import Scored, bounds_of, min_max, recipe_score
from ecphoria.kernels.rank import rank
from ecphoria.kernels.spread import Spread, SpreadOptions, spread
from ecphoria.model.ids import EpisodeId
from ecphoria.model.recall import PathStep, SeedRecord, Stream, Wave, WaveArc
from ecphoria.recall.candidates import Candidates, gather_more
from ecphoria.recall.options import parameter
from ecphoria.recall.strategies.evidence import found_directly
from ecphoria.recall.strategies.strategy import Ranked, Search
from ecphoria.recall.subgraph import GAINS, Limits, Subgraph, fetch

__all__ = ["Synapse", "SynapseOptions"]

FloatArray = NDArray[np.float64]
_WAVE_SHARE = 0.01
"""Arcs that carry less of a wave are summed up in the trace."""
_FURTHER = 200
"""Most active memories beyond the candidates that are ranked too (the paper's pool)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SynapseOptions:
    """How activation spreads and what it counts."""

    spread: float = parameter(
        0.8, "Share of activation that leaves.", unit="share a step", low=0, high=1, source="Eq. 2"
    )
    self_decay: float = parameter(
        0.5, "Share of its own a node loses.", unit="share a step", low=0, high=1, source="Eq. 2"
    )
    steps: int = parameter(3, "A horizon, not a limit.", unit="steps", low=1, high=6, source="T")
    firing: str = parameter(
        "linear", "How potential becomes activation.", choices=("linear", "rebased", "literal"),
        source="Eq. 4; linear as measured",
    )  # fmt: skip
    steepness: float = parameter(5.0, "gamma of the curve.", low=0.1, high=50, source="Eq. 4")
    threshold: float = parameter(0.5, "theta of the curve.", low=0, high=1, source="Eq. 4")
    inhibition: float = parameter(
        0.0, "beta: how hard the strongest push.", low=0, high=1, source="Eq. 3; 0 as measured"
    )
    inhibitors: int = parameter(7, "How many push.", unit="nodes", low=0, high=100, source="M")
    inhibition_mode: str = parameter(
        "pool", "Once at the end, or in every step.", choices=("pool", "step", "off")
    )
    fan_power: float = parameter(1.0, "1 is the full fan effect, 0 none.", low=0, high=1)
    seeds: int = parameter(10, "Anchors taken from each index.", unit="nodes", low=1, high=50)
    received_only: bool = parameter(
        default=True, doc="Count what a node received, not what it began with."
    )
    w_base: float = parameter(1.0, "Weight of the text score.", low=0, high=2, source="S11")
    w_activation: float = parameter(0.1, "Weight of activation.", low=0, high=2, source="S11")
    fan: int = parameter(32, "Edges fetched per node and type.", unit="edges", low=1, high=64)
    floor: float = parameter(0.05, "Lightest edge fetched.", unit="weight", low=0, high=1)
    max_nodes: int = parameter(2_000, "Nodes in all.", unit="nodes", low=10, high=10_000)


_PAPER = SynapseOptions(
    firing="literal",
    inhibition=0.15,
    inhibition_mode="step",
    received_only=False,
    w_base=0.5,
    w_activation=0.3,
)


class Synapse:
    """Spread activation from dual seeds over NEXT, MENTIONS and ABOUT (SYNAPSE, Eqs. 2-4)."""

    name: ClassVar[str] = "synapse"
    seeds: ClassVar[int] = 50
    options: ClassVar[type[Any]] = SynapseOptions
    presets: ClassVar[Mapping[str, Any]] = {"default": SynapseOptions(), "paper": _PAPER}

    async def rank(self, search: Search, options: SynapseOptions) -> Ranked:
        """Spread from the best seeds, then add activation to the text score."""
        candidates = search.candidates
        bounds = bounds_of(candidates.signals, candidates.inside)
        base = recipe_score(candidates.signals, bounds=bounds).score
        records = _seeds(search, base, options.seeds)
        energy = {one.node: (one.kind, one.label, one.energy) for one in records}
        limits = Limits(
            waves=options.steps, fan=options.fan, floor=options.floor, nodes=options.max_nodes
        )
        graph = await fetch(search.store, search.tenant, energy, limits)
        arcs = graph.adjacency(GAINS, options.fan_power, guard=options.fan_power == 1.0)
        start = np.zeros(len(graph.ids))
        start[: len(energy)] = [amount for _, _, amount in energy.values()]
        run = spread(arcs, start, options=_kernel_options(options))
        active = _received(arcs, run, options) if options.received_only else run.activation

        pools = [(candidates, base)]
        further = _further(graph, active, candidates)
        if further:
            more = await gather_more(
                search.store, search.tenant, search.seeding, search.filters, further
            )
            pools.append((more, recipe_score(more.signals, bounds=bounds).score))
        ids, turn, scored = _scores(pools, graph, active, options)
        order = rank(scored.parts, turn, len(ids)).index
        return Ranked(
            ids=tuple(ids[row] for row in order),
            score=scored.score[order],
            parts=scored.parts[order],
            part_names=("base", "activation"),
            seeds=records,
            waves=_waves(graph, arcs, run, options),
            path=_Path(graph=graph, arcs=arcs, run=run, pools=[pool for pool, _ in pools]),
            truncated=graph.truncated,
        )


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


def _kernel_options(options: SynapseOptions) -> SpreadOptions:
    return SpreadOptions(
        spread=options.spread,
        self_decay=options.self_decay,
        steps=options.steps,
        steepness=options.steepness,
        threshold=options.threshold,
        firing=cast("Literal['rebased', 'linear', 'literal']", options.firing),
        inhibition=options.inhibition,
        inhibitors=options.inhibitors,
        inhibition_mode=cast("Literal['pool', 'step', 'off']", options.inhibition_mode),
    )


def _received(arcs: Adjacency, run: Spread, options: SynapseOptions) -> FloatArray:
    """Add up what arrived in each step: seeds must not win by having begun."""
    total = np.zeros(arcs.size)
    for wave in run.waves[:-1]:
        total += options.spread * arcs.push(wave)
    return total


def _further(graph: Subgraph, active: FloatArray, candidates: Candidates) -> list[EpisodeId]:
    """Name the most active memories that no index found."""
    rows = [
        node
        for node in np.argsort(-active, kind="stable")
        if graph.kinds[node] == "episode" and active[node] > 0.0
        and graph.ids[node] not in candidates.row
    ]  # fmt: skip
    return sorted(EpisodeId(graph.ids[node]) for node in rows[:_FURTHER])


def _scores(
    pools: list[tuple[Candidates, FloatArray]],
    graph: Subgraph,
    active: FloatArray,
    options: SynapseOptions,
) -> tuple[list[EpisodeId], NDArray[np.int64], Scored]:
    ids: list[EpisodeId] = []
    turns: list[NDArray[np.int64]] = []
    bases: list[FloatArray] = []
    for pool, base in pools:
        rows = np.flatnonzero(pool.inside)
        ids += [pool.columns.id[row] for row in rows]
        turns.append(pool.columns.turn[rows])
        bases.append(base[rows])
    lit = np.array([active[graph.index[one]] if one in graph.index else 0.0 for one in ids])
    parts = np.column_stack(
        (options.w_base * np.concatenate(bases), options.w_activation * min_max(lit, 0.0))
    )
    return ids, np.concatenate(turns), Scored(score=parts.sum(axis=1), parts=parts)


def _waves(
    graph: Subgraph, arcs: Adjacency, run: Spread, options: SynapseOptions
) -> tuple[Wave, ...]:
    tails = arcs.tails()
    waves: list[Wave] = []
    for number, before in enumerate(run.waves[:-1], 1):
        carried = options.spread * arcs.weights * before[tails]
        total = float(carried.sum())
        told = np.flatnonzero(carried > _WAVE_SHARE * total) if total else np.array([], np.int64)
        told = told[np.argsort(-carried[told], kind="stable")]
        waves.append(
            Wave(
                number=number,
                active=int((run.waves[number] > 0.0).sum()),
                energy=total,
                arcs=tuple(_arc(graph, arcs, tails, carried, int(one)) for one in told),
                arcs_left_out=int((carried > 0.0).sum()) - told.size,
            )
        )
    return tuple(waves)


def _arc(
    graph: Subgraph, arcs: Adjacency, tails: NDArray[np.int64], carried: FloatArray, one: int
) -> WaveArc:
    tail, head = int(tails[one]), int(arcs.indices[one])
    return WaveArc(
        tail=graph.ids[tail],
        head=graph.ids[head],
        edge=graph.edge_name(tail, head),
        weight=float(arcs.weights[one]),
        energy=float(carried[one]),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Path:
    """Follow the strongest contribution of each wave back to a seed."""

    graph: Subgraph
    arcs: Adjacency
    run: Spread
    pools: list[Candidates]

    def __call__(self, episode: EpisodeId) -> tuple[PathStep, ...]:
        node = self.graph.index.get(episode)
        steps = self._back(node) if node is not None else []
        if len(steps) > 1:
            return tuple(steps)
        pool = next(pool for pool in self.pools if episode in pool.row)
        return found_directly(pool)(episode)

    def _back(self, node: int) -> list[PathStep]:
        tails = self.arcs.tails()
        steps: list[PathStep] = []
        seen = {node}
        for wave in reversed(self.run.waves[:-1]):
            into = np.flatnonzero(self.arcs.indices == node)
            carried = self.arcs.weights[into] * wave[tails[into]]
            fresh = np.array([int(tails[one]) not in seen for one in into], dtype=np.bool_)
            if not into.size or not (carried * fresh).any():
                break
            best = int(np.argmax(carried * fresh))
            source = int(tails[into[best]])
            steps.insert(0, self._step(node, self.graph.edge_name(source, node), carried[best]))
            seen.add(source)
            node = source
            if self.run.waves[0][node] > 0.0:
                break
        return [self._step(node, "SEED", self.run.waves[0][node]), *steps]

    def _step(self, node: int, edge: str, energy: float) -> PathStep:
        return PathStep(
            node=self.graph.ids[node],
            kind=self.graph.kinds[node],
            edge=edge,
            label=self.graph.labels[node],
            energy=float(energy),
        )
