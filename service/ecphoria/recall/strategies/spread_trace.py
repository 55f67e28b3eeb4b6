"""What spreading says about itself: its waves arc by arc, and the way energy took to a hit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.adjacency import Adjacency
from ecphoria.maths.spreading import Spread
from ecphoria.recall.candidates import Candidates, holder
from ecphoria.recall.strategies.evidence import found_directly
from ecphoria.recall.subgraph import Subgraph
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import PathStep, Stream, Wave, WaveArc

FloatArray = NDArray[np.float64]
_WAVE_SHARE = 0.01
"""Arcs that carry less of a wave are summed up."""


def waves_of(graph: Subgraph, arcs: Adjacency, run: Spread, share: float) -> tuple[Wave, ...]:
    """Describe each step, its arcs strongest first.

    Args:
        graph: Names the nodes.
        arcs: What energy followed.
        run: What happened.
        share: Share of activation that left in a step.
    """
    tails = arcs.tails()
    waves: list[Wave] = []
    for number, before in enumerate(run.waves[:-1], 1):
        carried = share * arcs.weights * before[tails]
        total = float(carried.sum())
        strong = np.flatnonzero(carried > _WAVE_SHARE * total)
        listed = strong[np.argsort(-carried[strong], kind="stable")].tolist()
        waves.append(
            Wave(
                number=number,
                active=int((run.waves[number] > 0.0).sum()),
                energy=total,
                arcs=tuple(_arc(graph, arcs, int(tails[one]), carried, one) for one in listed),
                arcs_left_out=int((carried > 0.0).sum()) - len(listed),
            )
        )
    return tuple(waves)


def _arc(graph: Subgraph, arcs: Adjacency, tail: int, carried: FloatArray, one: int) -> WaveArc:
    head = int(arcs.indices[one])
    return WaveArc(
        tail=graph.ids[tail],
        head=graph.ids[head],
        edge=graph.edge_name(tail, head),
        weight=float(arcs.weights[one]),
        energy=float(carried[one]),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Path:
    """Follow the strongest contribution of each wave back to a seed.

    Attributes:
        streams: What found each seed.
        woken: Memories that owe more to activation than to their text.
    """

    graph: Subgraph
    arcs: Adjacency
    run: Spread
    pools: Sequence[Candidates]
    streams: Mapping[str, Stream]
    woken: frozenset[EpisodeId]

    def __call__(self, episode: EpisodeId) -> tuple[PathStep, ...]:
        """Tell the way to a memory; one that owes more to its text was found by an index."""
        steps = self._back(self.graph.index[episode]) if episode in self.woken else []
        if len(steps) > 1:
            return tuple(steps)
        return found_directly(holder(self.pools, episode))(episode)

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
        stream = self.streams.get(self.graph.ids[node], Stream.RANK)
        return [self._step(node, stream, self.run.waves[0][node]), *steps]

    def _step(self, node: int, edge: str, energy: float) -> PathStep:
        return PathStep(
            node=self.graph.ids[node],
            kind=self.graph.kinds[node],
            edge=edge,
            label=self.graph.labels[node],
            energy=float(energy),
        )
