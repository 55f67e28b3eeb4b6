"""SynapticRAG: pass a stimulus between memories; memories with enough charge fire.

It passes between memories that are near in meaning, and more of it if their spike trains align
better. No stored edge is walked: neighbours come from the vector index.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.actr import probabilities
from ecphoria.maths.arrays import FloatArray
from ecphoria.maths.fusion import share_of_largest
from ecphoria.maths.spiking import (
    MOST_ALIGNMENT,
    Firing,
    Rest,
    alignment,
    leak,
    relay,
    stimulate,
    transmission,
)
from ecphoria.mechanisms.base import BASE_MECHANISM, BaseOptions, text_pool
from ecphoria.mechanisms.history import SpikeTrains
from ecphoria.recall.pipeline import Ranked, Search, parameter
from ecphoria.recall.walk import Flow, Walk, episode_seed, marks, shares
from ecphoria.records.history import Charge, Stimulation, TauRule
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import Filters
from ecphoria.records.strategy import Mechanisms
from ecphoria.records.traced import Mark, Stream

_CUE = 0
"""The cue is the first node of a walk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SynapticOptions(BaseOptions):
    """Options of stimuli and of firing."""

    w_activation: float = parameter(
        0.02, "Weight of the projected peak.", low=0, high=5, source="measured on conversations"
    )
    cos_th: float = parameter(
        0.262, "Least cosine between a memory and what stimulates it.", low=0, high=1,
        source="SynapticRAG, table of parameters",
    )  # fmt: skip
    stim_th: float = parameter(
        0.037, "Stimulus above which a memory passes it on.", low=0, high=1,
        source="SynapticRAG, table of parameters",
    )  # fmt: skip
    v_th: float = parameter(
        0.099, "Potential at which a memory fires.", low=1e-6, high=10, source="SynapticRAG, text"
    )
    tau_init: float = parameter(
        43.07, "Time constant of a memory never stimulated.", unit="turns", low=0.1, high=10_000,
        source="SynapticRAG, text",
    )  # fmt: skip
    # The printed rest lies above the threshold: age alone would make a memory fire
    # (docs/explanation/mechanisms/synaptic.md).
    v_rest: float = parameter(
        0.0, "Potential of a memory that just fired.", low=-1, high=10, source="Y2; printed 2.903"
    )
    i_rest: float = parameter(
        0.0, "Current of a memory that just fired.", low=-10, high=1, source="Y2; printed -7.128"
    )
    tau_scale: float = parameter(1.0, "Factor on tau.", low=0.01, high=100, source="Y3")
    t_scale: float = parameter(1.0, "Factor on turns.", low=0.01, high=100, source="Y3")
    p_scale: float = parameter(1.0, "Factor on what passes.", low=0.01, high=1, source="Y3")
    # In the paper T is never below one half, and only this floor lets an old memory fire at all
    # (docs/explanation/mechanisms/synaptic.md).
    temporal_floor: float = parameter(
        0.5, "omega: what passes between memories far apart in time.", low=0, high=1,
        source="Y4; 0 is Eq. 6",
    )  # fmt: skip
    # The paper's text takes the maximum, its code the minimum, and more spikes score more; here
    # identical trains score the same at any length (docs/explanation/mechanisms/synaptic.md).
    alignment: str = parameter(
        "symmetric", "How two trains are compared; `printed` is Eqs. 2 to 5.",
        choices=("symmetric", "printed"), source="Y4",
    )  # fmt: skip
    # The printed step of nearly 1 at every event saturates
    # (docs/explanation/mechanisms/synaptic.md).
    tau_rule: str = parameter(
        TauRule.SPACED.value, "How a spike changes tau; `printed` is Eq. 18, `frozen` leaves it.",
        choices=tuple(rule.value for rule in TauRule), source="Y3",
    )  # fmt: skip
    # Divided by tau, as printed, no single stimulus makes a memory fire
    # (docs/explanation/mechanisms/synaptic.md).
    over_tau: bool = parameter(
        default=False, doc="Let a stimulus raise the current by itself / tau.", source="Eq. 16"
    )
    # With the printed rest, age alone makes a memory fire
    # (docs/explanation/mechanisms/synaptic.md).
    rest_drives: bool = parameter(
        default=False,
        doc="Let `v_rest` and `i_rest` drive a memory left alone, so that age alone fires.",
        source="Y2: the published code, not the paper",
    )
    # In the paper a memory that fires passes nothing on (docs/explanation/mechanisms/synaptic.md).
    refractory: bool = parameter(
        default=False, doc="Let a memory that fires pass nothing on.", source="Eq. 9"
    )
    # The paper's appendix D, which its main results do not use
    # (docs/explanation/mechanisms/synaptic.md).
    scan: str = parameter(
        "each", "Search around `each` parent, or once around their centre: `centroid` is the"
        " mean, `softmax` weighs the parents by the softmax of their stimuli.",
        choices=("each", "centroid", "softmax"), source="SynapticRAG, appendix D",
    )  # fmt: skip
    hops: int = parameter(2, "Layers of memories.", unit="hops", low=1, high=32, source="Y5")
    children: int = parameter(
        20, "Neighbours looked at around each memory.", unit="memories", low=1, high=100,
        source="Y5",
    )  # fmt: skip
    # The paper compares every memory with every other; this bounds the cost
    # (docs/explanation/mechanisms/synaptic.md).
    parents: int = parameter(
        20, "Strongest memories of a layer that pass a stimulus on.", unit="memories",
        low=1, high=100, source="one query a layer stays small",
    )  # fmt: skip
    fired_only: bool = parameter(
        default=False, doc="Rank what fired before all else, as the paper returns it."
    )


_PAPER = SynapticOptions(
    w_base=0.0,
    w_activation=1.0,
    v_rest=2.903,
    i_rest=-7.128,
    tau_scale=2.704,
    t_scale=7.93,
    p_scale=0.46,
    temporal_floor=0.0,
    alignment="printed",
    tau_rule=TauRule.PRINTED.value,
    over_tau=True,
    refractory=True,
    hops=32,
    children=100,
    parents=100,
    fired_only=True,
)
"""The printed equations with the printed constants; where text and table differ, the text's."""
_CODE = replace(_PAPER, v_th=0.0997, rest_drives=True, refractory=False)
"""The same with the membrane of the code that the authors published."""


class Synaptic:
    """Pass a stimulus on where meaning and time agree; charged memories fire (SynapticRAG)."""

    name: ClassVar[str] = "synaptic"
    seeds: ClassVar[int] = 50
    options: ClassVar[type[Any]] = SynapticOptions
    presets: ClassVar[Mapping[str, Any]] = {
        "default": SynapticOptions(),
        "paper": _PAPER,
        "synapticrag": _CODE,
    }
    mechanisms: ClassVar[Mechanisms] = {
        "activation": {"w_activation": 0.0},
        "time": {"temporal_floor": 1.0},
        "similarity threshold": {"cos_th": 0.0},
        "stimulus threshold": {"stim_th": 0.0},
        "dynamic tau": {"tau_rule": TauRule.FROZEN.value},
        "refractory": {"refractory": False},
        "firing first": {"fired_only": False},
        **BASE_MECHANISM,
    }

    async def rank(self, search: Search, options: SynapticOptions) -> Ranked:
        """Stimulate layer by layer, then add the projected peaks to the base."""
        base = text_pool(search, options.base)
        walk = _Walk(search, options)
        await walk.cue()
        for _ in range(options.hops - 1):
            parents = walk.parents()
            if not parents:
                break
            await walk.onward(parents)
        firing = walk.fire()
        peaks = walk.peaks(firing)
        pool = await base.reached(search, peaks, weight=options.w_activation)
        lit = options.w_activation * share_of_largest(pool.read(peaks))
        fired = pool.read(dict.fromkeys(walk.fired(firing), 1.0))
        parts = {"base": options.w_base * pool.score, "activation": lit}
        if options.fired_only:
            parts["fired"] = fired * (options.w_base + options.w_activation)
        ranked = pool.ranked(parts, walk.describe(firing))
        return replace(ranked, stimulation=walk.stimulation())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """The memories that one step met.

    Attributes:
        nodes: By number.
        passed: Arcs along which a stimulus passed.
        far: Cosine of the neighbours that are too far from the memory that stimulates them.
    """

    nodes: range
    passed: int
    far: Mapping[str, float]


class _Walk:
    """A stimulus on its way; each memory belongs to the layer that first reached it."""

    def __init__(self, search: Search, options: SynapticOptions) -> None:
        self._search, self._options = search, options
        self._walk = Walk()
        self._walk.add("", "cue")
        self._turns = [search.seeding.profile.turn + 1]
        self._charges: dict[int, Charge] = {}
        self._stimulus = np.ones(1)
        self._parent = np.full(1, -1, dtype=np.int64)
        self._layers: list[_Layer] = []
        self._rest = Rest(
            potential=options.v_rest, current=options.i_rest, drives=options.rest_drives
        )

    async def cue(self) -> None:
        """Stimulate the memories nearest to the cue."""
        seeding, count = self._search.seeding, self._options.children
        if count > Synaptic.seeds and seeding.vector is not None:
            near = await self._around(np.asarray(seeding.vector), count, self._search.filters)
        else:
            frame = self._search.frame
            near = [
                (row.id, int(frame.turn[frame.row[row.id]]), row.score)
                for row in seeding.by_vector[:count]
                if row.id in frame.row
            ]
        await self._stimulate([(_CUE, *found) for found in near])

    def parents(self) -> list[int]:
        """Choose the memories of the last layer that pass the stimulus on."""
        strong = [
            node for node in self._layers[-1].nodes if self._stimulus[node] > self._options.stim_th
        ]
        if self._options.refractory and strong:
            fired = self.fire().fired
            strong = [node for node in strong if not fired[node - 1]]
        strong.sort(key=lambda node: (-self._stimulus[node], self._walk.ids[node]))
        return strong[: self._options.parents]

    async def onward(self, parents: Sequence[int]) -> None:
        """Stimulate the nearest neighbours of all parents, by one query."""
        ids = [EpisodeId(self._walk.ids[node]) for node in parents]
        if self._options.scan == "each":
            store, tenant = self._search.store, self._search.tenant
            rows = await store.nearest(tenant, ids, self._options.children)
            found = [(self._walk.index[row.of], row.id, row.turn, row.cosine) for row in rows]
        else:
            near = await self._around_centre(ids, self._stimulus[list(parents)])
            found = [(parent, *one) for one in near for parent in parents]
        await self._stimulate([one for one in found if one[1] not in self._walk.index])

    def fire(self) -> Firing:
        """Charge all reached memories, and find those that fire."""
        options = self._options
        charges = {node - 1: charge for node, charge in self._charges.items()}
        trains = SpikeTrains.of(self._turns[1:], options.tau_init, charges)
        waited = options.t_scale * np.maximum(0, self._turns[_CUE] - trains.charged_at)
        span = options.tau_scale * trains.tau
        level, drive = leak(trains.potential, trains.current, waited, span, rest=self._rest)
        push = self._stimulus[1:] / span if options.over_tau else self._stimulus[1:]
        return stimulate(level, drive, push, threshold=options.v_th, rest=self._rest)

    def stimulation(self) -> Stimulation:
        """Record the stimuli given to memories, for learning."""
        options = self._options
        return Stimulation(
            turn=self._turns[_CUE],
            stimuli={
                EpisodeId(self._walk.ids[node]): float(self._stimulus[node])
                for node in np.flatnonzero(self._stimulus)
                if node != _CUE
            },
            threshold=options.v_th,
            tau=options.tau_init,
            tau_scale=options.tau_scale,
            turn_scale=options.t_scale,
            potential=self._rest.potential,
            current=self._rest.current,
            rest_drives=self._rest.drives,
            over_tau=options.over_tau,
            tau_rule=options.tau_rule,
        )

    def peaks(self, firing: Firing) -> dict[EpisodeId, float]:
        """Read the projected peak of each memory that was stimulated."""
        reached = self._stimulus[1:] > 0.0
        top = np.maximum(0.0, firing.peak)
        return {
            EpisodeId(self._walk.ids[row + 1]): float(top[row]) for row in np.flatnonzero(reached)
        }

    def fired(self, firing: Firing) -> list[EpisodeId]:
        """Name the memories that fired."""
        return [EpisodeId(self._walk.ids[row + 1]) for row in np.flatnonzero(firing.fired)]

    def describe(self, firing: Firing) -> Walk:
        """Describe each layer: passed arcs, stopped stimuli, fired memories."""
        walk, level = self._walk, self._stimulus.tolist()
        walk.seeds = shares(
            episode_seed(walk.ids[node], Stream.VECTOR, level[node])
            for node in (self._layers[0].nodes if self._layers else ())
        )
        walk.entries = {
            node: (Stream.VECTOR, level[node])
            for node in np.flatnonzero(self._parent == _CUE).tolist()
        }
        for layer in self._layers:
            flow = self._flow(layer.nodes)
            fired = [node for node in layer.nodes if firing.fired[node - 1]]
            peaks = ((walk.ids[node], float(firing.peak[node - 1])) for node in fired)
            walk.flows.append(flow)
            walk.wave(
                flow,
                active=len(layer.nodes),
                energy=float(self._stimulus[layer.nodes.start : layer.nodes.stop].sum()),
                total=layer.passed,
                marks=(*marks(peaks, "fired"), *self._cut(layer)),
            )
        return walk

    async def _stimulate(self, found: Sequence[tuple[int, str, int, float]]) -> None:
        """Pass the parents' stimulus on to a new layer; the better parent of two counts."""
        before = len(self._walk.ids)
        near = [row for row in found if row[3] > self._options.cos_th]
        far = {child: cosine for _, child, _, cosine in found if cosine <= self._options.cos_th}
        tail = np.array([parent for parent, _, _, _ in near], dtype=np.int64)
        head = np.array([self._meet(child, turn) for _, child, turn, _ in near], np.int64)
        size = len(self._walk.ids)
        await self._recharge(range(before, size))
        passed = self._passed(tail, head, np.array([cosine for *_, cosine in near]))
        held = np.zeros(size)
        held[:before] = self._stimulus
        layer = relay(tail, head, passed, stimulus=held, size=size)
        self._stimulus = np.concatenate((self._stimulus, layer.stimulus[before:]))
        self._parent = np.concatenate((self._parent, layer.parent[before:]))
        self._layers.append(_Layer(nodes=range(before, size), passed=tail.size, far=far))

    def _meet(self, memory: str, turn: int) -> int:
        if memory not in self._walk.index:
            self._turns.append(turn)
        return self._walk.add(memory, "episode")

    async def _around(
        self, vector: NDArray[Any], count: int, filters: Filters
    ) -> list[tuple[EpisodeId, int, float]]:
        """Search around a vector: id, turn and cosine of each memory, nearest first."""
        store, tenant = self._search.store, self._search.tenant
        rows = await store.seeds_by_vector(tenant, vector.astype(np.float32), count, filters)
        columns = await store.columns(tenant, [row.id for row in rows], (), None)
        turn = dict(zip(columns.id, columns.turn.tolist(), strict=True))
        return [(row.id, turn[row.id], row.score) for row in rows if row.id in turn]

    async def _around_centre(
        self, parents: Sequence[EpisodeId], stimulus: FloatArray
    ) -> list[tuple[EpisodeId, int, float]]:
        """Search once around the centre of the parents, which are themselves the nearest to it."""
        vectors = await self._search.store.vectors(self._search.tenant, parents)
        there = [row for row, parent in enumerate(parents) if parent in vectors]
        if not there:
            return []
        rows = np.stack([vectors[parents[row]] for row in there]).astype(np.float64)
        weights = np.full(len(there), 1.0 / len(there))
        if self._options.scan == "softmax":
            weights = probabilities(stimulus[there], temperature=1.0)
        centre = weights @ rows
        length = float(np.linalg.norm(centre))
        if not length > 0.0:
            return []
        count = self._options.children + len(there)
        return await self._around(centre / length, count, Filters())

    async def _recharge(self, nodes: Sequence[int]) -> None:
        """Read the charges that earlier recalls left on new memories."""
        if not (nodes and self._search.seeding.profile.learned):
            return
        by_id = {EpisodeId(self._walk.ids[node]): node for node in nodes}
        known = await self._search.store.figures.charges(self._search.tenant, list(by_id))
        frozen = self._options.tau_rule == TauRule.FROZEN
        self._charges |= {
            by_id[episode]: replace(charge, tau=self._options.tau_init) if frozen else charge
            for episode, charge in known.items()
        }

    def _passed(
        self, tail: NDArray[np.int64], head: NDArray[np.int64], cosine: FloatArray
    ) -> FloatArray:
        options = self._options
        trains = SpikeTrains.of(self._turns, options.tau_init, self._charges)
        tau = 0.5 * (trains.tau[tail] + trains.tau[head]) * options.tau_scale / options.t_scale
        printed = options.alignment == "printed"
        aligned = alignment(trains.turns[tail], trains.turns[head], tau, printed=printed)
        most = 1.0 if printed else MOST_ALIGNMENT
        share = transmission(cosine, aligned, floor=options.temporal_floor, most=most)
        return options.p_scale * share

    def _flow(self, nodes: range) -> Flow:
        """List the arcs from best parents; the cue is no memory, its arcs are the seeds."""
        walked = [node for node in nodes if self._parent[node] > _CUE]
        walked.sort(key=lambda node: (-self._stimulus[node], self._walk.ids[node]))
        head = np.array(walked, dtype=np.int64)
        tail, energy = self._parent[head], self._stimulus[head]
        self._walk.joins |= dict.fromkeys(zip(tail.tolist(), walked, strict=True), "NEAR")
        return Flow(tail=tail, head=head, weight=energy / self._stimulus[tail], energy=energy)

    def _cut(self, layer: _Layer) -> tuple[Mark, ...]:
        ids, stimulus = self._walk.ids, self._stimulus
        met = {ids[node] for node in layer.nodes}
        far = ((one, cosine) for one, cosine in layer.far.items() if one not in met)
        weak = (
            (ids[node], float(stimulus[node]))
            for node in layer.nodes
            if stimulus[node] <= self._options.stim_th
        )
        return (
            *marks(far, "cut: cosine below cos_th"),
            *marks(weak, "passes nothing on: stimulus below stim_th"),
        )
