"""Fetch the subgraph around the seeds, step by step, pruned by the server.

Each step asks Neo4j for the strongest edges of the nodes that the last step reached: at most
`fan` per node and type, none lighter than `floor`. The number of nodes is bounded; the nodes that
the least energy could reach are cut.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.adjacency import Adjacency, transition
from ecphoria.recall.ports import Arcs, FanLimits, RecallStore
from ecphoria.records.ids import TenantId

EDGES = ("NEXT", "MENTIONS", "ABOUT", "SIMILAR", "ASSOCIATED")
DECAY = 0.01
"""Per day; NEXT is stored with the weight `exp(-DECAY days)`."""
SIMILAR = 0.5
"""Gain of SIMILAR, either way."""


def gains(
    mention_back: float = 1.0,
    similar: float = SIMILAR,
    associated: float = 0.0,
    next_back: float = 1.0,
) -> NDArray[np.float64]:
    """Give the gain of each type of edge, forward and backward (SYNAPSE: 1 each)."""
    table = np.ones((len(EDGES), 2))
    table[EDGES.index("NEXT"), 1] = next_back
    table[EDGES.index("MENTIONS"), 1] = mention_back
    table[EDGES.index("SIMILAR")] = similar
    table[EDGES.index("ASSOCIATED")] = associated
    return table


GAINS = gains(associated=1.0)
"""The most that an edge can carry, for the choice of the next frontier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkLimits(FanLimits):
    """Caps of one fetch, and of each expansion in it.

    Attributes:
        waves: Hops from the seeds.
        frontier: Nodes expanded in one wave.
        nodes: Nodes in all.
    """

    waves: int = 3
    frontier: int = 64
    nodes: int = 2_000


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
    weight: NDArray[np.float64]
    degree: NDArray[np.float64]


@dataclass(slots=True, kw_only=True)
class Subgraph:
    """Nodes and edges met so far; indices are local to one recall.

    Attributes:
        index: Node by id.
        labels: Names to read.
        truncated: Whether a cap cut something.
    """

    ids: list[str] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    edges: dict[tuple[int, int, int], float] = field(default_factory=dict)
    degrees: dict[tuple[int, int], int] = field(default_factory=dict)
    expanded: set[int] = field(default_factory=set)
    truncated: bool = False

    def add(self, node: str, kind: str, label: str) -> int:
        """Number a node; a known one keeps its number."""
        if node not in self.index:
            self.index[node] = len(self.ids)
            self.ids.append(node)
            self.kinds.append(kind)
            self.labels.append(label)
        return self.index[node]

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
        gains: NDArray[np.float64],
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

    def edge_name(self, one: int, other: int) -> str:
        """Name the type of edge between two nodes, in either direction."""
        for sort, name in enumerate(EDGES):
            if (one, other, sort) in self.edges or (other, one, sort) in self.edges:
                return name
        return ""


async def fetch(
    store: RecallStore,
    tenant: TenantId,
    seeds: Mapping[str, tuple[str, str, float]],
    limits: WalkLimits,
    now: datetime,
) -> Subgraph:
    """Fetch the subgraph energy can reach in `waves` steps.

    Args:
        store: Expands a frontier, strongest edges first.
        tenant: Whose graph.
        seeds: Kind, label and energy by node.
        limits: Caps.
        now: What was learned of edges fades until then.
    """
    graph = Subgraph()
    energy: list[float] = []
    for node, (kind, label, amount) in seeds.items():
        graph.add(node, kind, label)
        energy.append(amount)
    reach = np.array(energy)
    for _ in range(limits.waves):
        frontier = _frontier(graph, reach, limits.frontier)
        if not frontier:
            break
        graph.expanded.update(frontier)
        graph.see(
            await store.expand(tenant, [graph.ids[node] for node in frontier], limits, now),
            limits.nodes,
        )
        reach = _reach(graph, reach)
    return graph


def _frontier(graph: Subgraph, reach: NDArray[np.float64], size: int) -> Sequence[int]:
    """Choose the nodes most energy can reach that were not expanded yet."""
    fresh = [node for node in range(reach.size) if node not in graph.expanded and reach[node] > 0]
    fresh.sort(key=lambda node: (-reach[node], node))
    if len(fresh) > size:
        graph.truncated = True
    return fresh[:size]


def _reach(graph: Subgraph, reach: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute an upper bound of the energy each node can have received by now."""
    known = np.zeros(len(graph.ids))
    known[: reach.size] = reach
    arcs = graph.adjacency(GAINS, 1.0, guard=True)
    return np.maximum(known, arcs.push(known))
