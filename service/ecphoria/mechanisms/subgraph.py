"""A walk over the subgraph around the seeds, fetched step by step, pruned by the server.

Each step asks Neo4j for the strongest edges of the nodes that the last step reached: at most
`fan` per node and type, none lighter than `floor`. The number of nodes is bounded: nodes that the
least energy could reach are cut.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.adjacency import Adjacency, transition
from ecphoria.maths.arrays import FloatArray
from ecphoria.maths.concept_channel import about_gate
from ecphoria.recall.pipeline import Search
from ecphoria.recall.ports import Arcs, FanLimits
from ecphoria.recall.scope import RecallStore
from ecphoria.recall.walk import Flow, Walk, shares
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.traced import Mark, SeedRecord

EDGES = ("NEXT", "MENTIONS", "ABOUT", "SIMILAR", "ASSOCIATED", "RELATED", "KIND_OF", "SAME_AS")
DECAY = 0.01
"""Per day; NEXT is stored with the weight `exp(-DECAY days)`."""
SIMILAR = 0.5
"""Gain of SIMILAR, either way."""


def gains(
    *,
    mention_back: float = 1.0,
    similar: float = SIMILAR,
    associated: float = 0.0,
    next_back: float = 1.0,
    about_back: float = 1.0,
    related: float = 0.0,
    kinds: float = 0.0,
    merged: float = 0.0,
) -> FloatArray:
    """Give the gain of each type of edge, forward and backward (SYNAPSE: 1 each)."""
    table = np.ones((len(EDGES), 2))
    table[EDGES.index("NEXT"), 1] = next_back
    table[EDGES.index("MENTIONS"), 1] = mention_back
    table[EDGES.index("ABOUT"), 1] = about_back
    table[EDGES.index("SIMILAR")] = similar
    table[EDGES.index("ASSOCIATED")] = associated
    table[EDGES.index("RELATED")] = related
    table[EDGES.index("KIND_OF")] = kinds
    table[EDGES.index("SAME_AS")] = merged
    return table


GAINS = gains(associated=1.0, related=1.0, kinds=1.0, merged=1.0)
"""The most that an edge can carry, for the choice of the next frontier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkLimits(FanLimits):
    """Caps of one fetch, and of each expansion in it.

    Attributes:
        waves: Hops from the seeds.
        frontier: Nodes expanded in one wave.
        max_nodes: Nodes in all.
    """

    waves: int = 3
    frontier: int = 64
    max_nodes: int = 2_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Relations:
    """A subgraph as columns: m relationships between n nodes.

    Attributes:
        kind: Place in `EDGES`.
        degree: [n, kinds], relationships in the store, fetched or not.
    """

    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    kind: NDArray[np.int64]
    weight: FloatArray
    degree: FloatArray


@dataclass(slots=True, kw_only=True)
class Subgraph(Walk):
    """A walk over stored relationships; a label is the node's name to read.

    Attributes:
        edges: Weight by tail, head and place in `EDGES`.
        degrees: Relationships in the store by node and place in `EDGES`.
        expanded: Nodes whose edges were fetched.
    """

    edges: dict[tuple[int, int, int], float] = field(default_factory=dict)
    degrees: dict[tuple[int, int], int] = field(default_factory=dict)
    expanded: set[int] = field(default_factory=set)

    def see(self, arcs: Arcs, room: int) -> None:
        """Take in edges; once `room` nodes are known, edges to further nodes are cut."""
        rows = zip(
            arcs.tail, arcs.head, arcs.edge, arcs.forward.tolist(), arcs.weight.tolist(),
            arcs.degree.tolist(), arcs.head_kind, arcs.head_label, strict=True,
        )  # fmt: skip
        for tail, head, edge, forward, weight, degree, kind, label in rows:
            if head not in self.index and len(self.ids) >= room:
                self.truncated = True
                continue
            at, to, sort = self.index[tail], self.add(head, kind, label), EDGES.index(edge)
            self.degrees[at, sort] = degree
            self.edges[(at, to, sort) if forward else (to, at, sort)] = min(1.0, weight)

    def adjacency(
        self,
        gains: FloatArray,
        fan_power: float,
        *,
        guard: bool,
        decay: float = DECAY,
        fan: Literal["weight", "degree"] = "weight",
    ) -> Adjacency:
        """Build arcs with the fan effect; NEXT fades by `decay` per day."""
        met = self.relations()
        weight = met.weight
        weight[met.kind == EDGES.index("NEXT")] **= decay / DECAY
        return transition(
            met.tail,
            met.head,
            met.kind,
            weight,
            degree=met.degree,
            gain=gains,
            fan_power=fan_power,
            row_guard=guard,
            fan=fan,
        )

    def relations(self) -> Relations:
        """Lay out the fetched relationships as columns."""
        ends = np.array(list(self.edges), dtype=np.int64).reshape(-1, 3)
        degree = np.zeros((len(self.ids), len(EDGES)))
        for (node, sort), count in self.degrees.items():
            degree[node, sort] = count
        return Relations(
            tail=ends[:, 0],
            head=ends[:, 1],
            kind=ends[:, 2],
            weight=np.array(list(self.edges.values()), dtype=np.float64),
            degree=degree,
        )

    def episodes(self) -> NDArray[np.bool_]:
        """Tell which nodes are episodes."""
        return np.array([kind == "episode" for kind in self.kinds], dtype=np.bool_)

    def over_about(self, arcs: Adjacency) -> NDArray[np.bool_]:
        """Tell which arcs lead from a concept to a memory that is about it."""
        about, size = EDGES.index("ABOUT"), len(self.ids)
        wanted = [tail * size + head for tail, head, sort in self.edges if sort == about]
        return np.isin(arcs.tails() * size + arcs.indices, np.array(wanted, dtype=np.int64))

    def edge(self, tail: int, head: int) -> str:
        """Name the type of edge between two nodes, in either direction."""
        for sort, name in enumerate(EDGES):
            if (tail, head, sort) in self.edges or (head, tail, sort) in self.edges:
                return name
        return ""

    def begin(self, start: FloatArray) -> None:
        """Let the seeds begin with an energy, by node."""
        for seed in self.seeds:
            node = self.index[seed.node]
            self.entries[node] = (seed.stream, float(start[node]))

    def send(self, arcs: Adjacency, sent: FloatArray) -> None:
        """Add a step that a path may take: each node sends its energy along its arcs."""
        self.flows.append(_flow(arcs, arcs.weights * sent[arcs.tails()]))

    def describe(
        self, arcs: Adjacency, carried: FloatArray, *, active: int, marked: tuple[Mark, ...] = ()
    ) -> None:
        """Describe one step by what each arc carried."""
        self.wave(_flow(arcs, carried), active=active, marks=marked)

    def active(self, values: FloatArray) -> dict[EpisodeId, float]:
        """Read a value per node for the episodes that have one above 0."""
        return {
            EpisodeId(self.ids[node]): float(values[node])
            for node in np.flatnonzero(values > 0.0)
            if self.kinds[node] == "episode"
        }

    def bridge_gate(self, arcs: Adjacency, carried: FloatArray) -> float:
        """Measure how much of the energy that reached episodes came over ABOUT, as a gate.

        `carried` [m] is the energy that went along each of the m arcs.
        """
        # In a chat no turn is about a concept, so there the bridge is off and only the small
        # weight counts (decision 0013).
        into = carried * self.episodes()[arcs.indices]
        return about_gate(float(into[self.over_about(arcs)].sum()), float(into.sum()))


async def enter(
    search: Search, taken: Sequence[SeedRecord], limits: WalkLimits
) -> tuple[Subgraph, FloatArray]:
    """Fetch the subgraph around the seeds; tell each node's level at the start, [n]."""
    graph = await fetch(search.store, search.tenant, taken, limits, search.now)
    graph.seeds = shares(taken)
    start = np.zeros(len(graph.ids))
    start[: len(taken)] = [seed.energy for seed in taken]
    return graph, start


async def fetch(
    store: RecallStore,
    tenant: TenantId,
    seeds: Sequence[SeedRecord],
    limits: WalkLimits,
    now: datetime,
) -> Subgraph:
    """Fetch the subgraph that energy from the seeds can reach, strongest edges first.

    The learned part of an edge fades until `now`.
    """
    graph = Subgraph()
    for seed in seeds:
        graph.add(seed.node, seed.kind, seed.label)
    reach = np.array([seed.energy for seed in seeds])
    for _ in range(limits.waves):
        frontier = _frontier(graph, reach, limits.frontier)
        if not frontier:
            break
        graph.expanded.update(frontier)
        graph.see(
            await store.expand(tenant, [graph.ids[node] for node in frontier], limits, now),
            limits.max_nodes,
        )
        reach = _reach(graph, reach)
    return graph


def _flow(arcs: Adjacency, carried: FloatArray) -> Flow:
    return Flow(tail=arcs.tails(), head=arcs.indices, weight=arcs.weights, energy=carried)


def _frontier(graph: Subgraph, reach: FloatArray, size: int) -> Sequence[int]:
    """Choose the nodes that most energy can reach, without those expanded before."""
    fresh = [node for node in range(reach.size) if node not in graph.expanded and reach[node] > 0]
    fresh.sort(key=lambda node: (-reach[node], node))
    if len(fresh) > size:
        graph.truncated = True
    return fresh[:size]


def _reach(graph: Subgraph, reach: FloatArray) -> FloatArray:
    """Compute an upper bound of the energy each node can have received by now."""
    known = np.zeros(len(graph.ids))
    known[: reach.size] = reach
    arcs = graph.adjacency(GAINS, 1.0, guard=True)
    return np.maximum(known, arcs.push(known))
