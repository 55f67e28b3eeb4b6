"""CLS-M in plain loops: seeding of 5.3, spreading of 4.2, decay of 3.2, budget of 5.3.

Where the paper leaves something open: "degree dampening, factor 0.2" is the degree to the power
-.2, and the power law is (1 + age in days)^-.2.
"""

from collections.abc import Iterable, Mapping, Sequence

Graph = Mapping[str, Mapping[str, float]]
"""The weight of the edge to each neighbour."""


def seed_level(cosine: float, *, is_substring: bool, is_exact: bool) -> float:
    """Hybrid seeding: a match counts 1, an exact one a fifth more, else the cosine counts."""
    if is_exact:
        return 1.2
    return 1.0 if is_substring else max(0.0, cosine)


def faded(weight: float, age_days: float, d: float = 0.2) -> float:
    """Power-law decay of an edge; co-activation resets its age."""
    return float(weight * (1.0 + age_days) ** -d)


def damped(weight: float, degree: int, p: float = 0.2) -> float:
    """Damping of a busy node."""
    return float(weight / degree**p)


def spread_activation(
    graph: Graph,
    seeds: Mapping[str, float],
    max_hops: int = 3,
    decay: float = 0.5,
    threshold: float = 0.1,
    *,
    in_place: bool = False,
) -> dict[str, float]:
    """The printed code with seeds of any level.

    The printed loop reads activation while it changes it (`in_place`): a node may then send on in
    the same hop, and the result depends on the order of nodes. Without, a node sends what it had
    when the hop began.
    """
    activation = dict(seeds)
    frontier = list(seeds)
    for _ in range(max_hops):
        held = activation if in_place else dict(activation)
        next_frontier = []
        for node in frontier:
            for neighbor, weight in graph.get(node, {}).items():
                spread = held[node] * weight * decay
                if spread >= threshold:
                    activation[neighbor] = max(activation.get(neighbor, 0.0), spread)
                    next_frontier.append(neighbor)
        frontier = next_frontier
    return activation


def budgeted(ranked: Sequence[str], texts: Mapping[str, str], characters: int) -> Iterable[str]:
    """The best results that fill the budget."""
    used = 0
    for name in ranked:
        used += len(texts[name])
        if used > characters:
            return
        yield name
