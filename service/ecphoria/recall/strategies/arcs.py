"""What went along which arc of a subgraph: waves for the trace, paths to hits, and the gate."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.adjacency import Adjacency
from ecphoria.recall.subgraph import EDGES, Subgraph
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import Mark, PathStep, Wave, WaveArc

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
_WAVE_SHARE = 0.01
"""Arcs that carry less of a wave are summed up in the trace."""
_MARKED = 30
_ABOUT = EDGES.index("ABOUT")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Relations:
    """A subgraph as columns: m relationships between n nodes.

    Attributes:
        kind: Place in `EDGES`.
        degree: [n, kinds], relationships in the store, fetched or not.
    """

    tail: IntArray
    head: IntArray
    kind: IntArray
    weight: FloatArray
    degree: FloatArray

    @classmethod
    def of(cls, graph: Subgraph) -> "Relations":
        """Lay out what was fetched."""
        ends = np.array(list(graph.edges), dtype=np.int64).reshape(-1, 3)
        degree = np.zeros((len(graph.ids), len(EDGES)))
        for (node, sort), count in graph.degrees.items():
            degree[node, sort] = count
        return cls(
            tail=ends[:, 0],
            head=ends[:, 1],
            kind=ends[:, 2],
            weight=np.array(list(graph.edges.values()), dtype=np.float64),
            degree=degree,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WalkedPath:
    """Follow the strongest contribution of each wave back to a seed.

    Attributes:
        sent: What each node sent in each wave, the seeds' first.
        start: What each seed began with.
    """

    graph: Subgraph
    arcs: Adjacency
    sent: Sequence[FloatArray]
    start: FloatArray

    def __call__(self, episode: EpisodeId) -> tuple[PathStep, ...]:
        """Tell the way to an episode; empty if energy did not come over an edge."""
        node = self.graph.index.get(episode)
        return () if node is None else tuple(self._back(node))

    def _back(self, node: int) -> list[PathStep]:
        tails = self.arcs.tails()
        steps: list[PathStep] = []
        seen = {node}
        for wave in reversed(self.sent):
            into = np.flatnonzero(self.arcs.indices == node)
            fresh = np.array([int(tails[one]) not in seen for one in into], dtype=np.bool_)
            carried = self.arcs.weights[into] * wave[tails[into]] * fresh
            if not carried.any():
                continue
            best = int(np.argmax(carried))
            source = int(tails[into[best]])
            steps.insert(0, self._step(node, self.graph.edge_name(source, node), carried[best]))
            seen.add(source)
            node = source
            if self.start[node] > 0.0:
                return [self._step(node, "SEED", self.start[node]), *steps]
        return []

    def _step(self, node: int, edge: str, energy: float) -> PathStep:
        return PathStep(
            node=self.graph.ids[node],
            kind=self.graph.kinds[node],
            edge=edge,
            label=self.graph.labels[node],
            energy=float(energy),
        )


def episodes_of(graph: Subgraph, values: FloatArray) -> dict[str, float]:
    """Read a value per node for the episodes that have one above 0."""
    return {
        graph.ids[node]: float(values[node])
        for node in np.flatnonzero(values > 0.0)
        if graph.kinds[node] == "episode"
    }


def about_share(graph: Subgraph, arcs: Adjacency, carried: FloatArray) -> float:
    """Measure the gate: `min(1, 2 r)`, r = share of what reached episodes that came over ABOUT.

    Args:
        graph: The subgraph.
        arcs: m arcs over it.
        carried: [m], what went along each in all.
    """
    to_episode = np.array([kind == "episode" for kind in graph.kinds], dtype=np.bool_)
    into = np.flatnonzero((carried > 0.0) & to_episode[arcs.indices])
    total = float(carried[into].sum())
    if total <= 0.0:
        return 0.0
    tails = arcs.tails()
    over = sum(
        float(carried[one])
        for one in into
        if (int(tails[one]), int(arcs.indices[one]), _ABOUT) in graph.edges
    )
    return min(1.0, 2.0 * over / total)


def told(
    graph: Subgraph,
    arcs: Adjacency,
    carried: FloatArray,
    *,
    number: int,
    active: int,
    marked: tuple[Mark, ...] = (),
) -> Wave:
    """Describe one step: the arcs that carried most, the rest counted."""
    tails = arcs.tails()
    total = float(carried.sum())
    listed = np.flatnonzero(carried > _WAVE_SHARE * total) if total else np.array([], np.int64)
    listed = listed[np.argsort(-carried[listed], kind="stable")]
    return Wave(
        number=number,
        active=active,
        energy=total,
        arcs=tuple(
            WaveArc(
                tail=graph.ids[int(tails[one])],
                head=graph.ids[int(arcs.indices[one])],
                edge=graph.edge_name(int(tails[one]), int(arcs.indices[one])),
                weight=float(arcs.weights[one]),
                energy=float(carried[one]),
            )
            for one in listed
        ),
        arcs_left_out=int((carried > 0.0).sum()) - listed.size,
        marks=marked,
    )


def marks(nodes: Iterable[tuple[str, float]], says: str) -> tuple[Mark, ...]:
    """Say the same of some nodes, the strongest first, a bounded number."""
    ordered = sorted(nodes, key=lambda one: (-one[1], one[0]))[:_MARKED]
    return tuple(Mark(node=node, says=says, value=value) for node, value in ordered)
