"""SYNAPSE in plain loops: equations 1 to 5 and the gate of section 3.4.

Where the paper leaves something open: a negative cosine injects nothing, alpha is 1, and PageRank
is given as a rank from 0 to 1.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Constants:
    """The printed parameters."""

    spread: float = 0.8
    delta: float = 0.5
    steps: int = 3
    beta: float = 0.15
    inhibitors: int = 7
    gamma: float = 5.0
    theta: float = 0.5
    lambdas: tuple[float, float, float] = (0.5, 0.3, 0.2)
    gate: float = 0.12


PRINTED = Constants()


@dataclass(slots=True, frozen=True, kw_only=True)
class Edge:
    """A directed edge. Temporal ones lead forward only, abstraction edges are stored twice."""

    tail: str
    head: str
    weight: float


def temporal(days: float, rho: float = 0.01) -> float:
    """The weight of a temporal edge."""
    return math.exp(-rho * abs(days))


def injected(anchors: Mapping[str, float], alpha: float = 1.0) -> dict[str, float]:
    """Equation 1: the energy of the anchors, from their cosine to the query."""
    return {node: alpha * max(0.0, cosine) for node, cosine in anchors.items()}


def potentials(
    nodes: Sequence[str], edges: Sequence[Edge], a: Mapping[str, float], c: Constants
) -> dict[str, float]:
    """Equation 2."""
    fan = dict.fromkeys(nodes, 0)
    for edge in edges:
        fan[edge.tail] += 1
    u = {i: (1.0 - c.delta) * a[i] for i in nodes}
    for edge in edges:
        u[edge.head] += c.spread * edge.weight * a[edge.tail] / fan[edge.tail]
    return u


def inhibited(u: Mapping[str, float], c: Constants) -> dict[str, float]:
    """Equation 3."""
    top = sorted(u.values(), reverse=True)[: c.inhibitors]
    left = {}
    for i, own in u.items():
        pressure = 0.0
        for strong in top:
            if strong > own:
                pressure += strong - own
        left[i] = max(0.0, own - c.beta * pressure)
    return left


def fired(u: Mapping[str, float], c: Constants) -> dict[str, float]:
    """Equation 4."""
    return {i: 1.0 / (1.0 + math.exp(-c.gamma * (own - c.theta))) for i, own in u.items()}


def activations(
    nodes: Sequence[str],
    edges: Sequence[Edge],
    energy: Mapping[str, float],
    c: Constants = PRINTED,
) -> dict[str, float]:
    """Propagation, inhibition, activation, T times."""
    a = {i: energy.get(i, 0.0) for i in nodes}
    for _ in range(c.steps):
        a = fired(inhibited(potentials(nodes, edges, a, c), c), c)
    return a


def parts(
    cosine: float, activation: float, pagerank: float, c: Constants = PRINTED
) -> tuple[float, float, float]:
    """Equation 5, term by term."""
    return c.lambdas[0] * cosine, c.lambdas[1] * activation, c.lambdas[2] * pagerank


def rejected(activation: float, c: Constants = PRINTED) -> bool:
    """Section 3.4: whether the first node's activation rejects the query."""
    return activation < c.gate
