"""EcphoryRAG in plain loops: algorithm 1, and the softmax centroid of equation 2.

Where the paper leaves something open: a vector has length 1, a negative similarity weighs nothing
in a linear centre, and the set of line 17 has an order: its direct hits by similarity, then the
other sources. A trace gives each of its s sources 1/s of its score; a source adds up.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Vector = Sequence[float]


@dataclass(slots=True, frozen=True, kw_only=True)
class Constants:
    """The printed parameters."""

    k_init: int = 10
    depth: int = 2
    seeds: int = 10
    factor: int = 3
    k_final: int = 20
    direct: int = 5


def dot(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def unit(a: Vector) -> list[float]:
    length = math.sqrt(dot(a, a))
    return [x / length for x in a]


def mean(vectors: Sequence[Vector]) -> list[float]:
    return unit([sum(column) for column in zip(*vectors, strict=True)])


def search(index: Mapping[str, Vector], query: Vector, k: int) -> list[str]:
    return sorted(index, key=lambda one: -dot(index[one], query))[:k]


def centre(vectors: Sequence[Vector], cue: Vector, *, softmax: bool) -> list[float]:
    """Line 7, or equation 2."""
    near = [max(0.0, dot(vector, cue)) for vector in vectors]
    weights = [math.exp(one) for one in near] if softmax else near
    total = sum(weights)
    return unit(
        [
            sum(
                weight / total * vector[axis]
                for weight, vector in zip(weights, vectors, strict=True)
            )
            for axis in range(len(cue))
        ]
    )


def traces(
    entities: Mapping[str, Vector], cue: Vector, c: Constants, *, softmax: bool = False
) -> dict[str, float]:
    """Lines 3 to 16: the last traces with their scores, best first."""
    every = search(entities, cue, c.k_init)
    for _ in range(c.depth):
        seeds = sorted(every, key=lambda one: -dot(entities[one], cue))[: c.seeds]
        focus = centre([entities[one] for one in seeds], cue, softmax=softmax)
        new = search(entities, focus, c.factor * c.k_init)
        every += [one for one in new if one not in every]
    score = {one: dot(entities[one], cue) for one in every}
    best = sorted(score, key=lambda one: -score[one])[: c.k_final]
    return {one: score[one] for one in best}


def grounded(
    best: Mapping[str, float],
    sources: Mapping[str, Sequence[str]],
    chunks: Mapping[str, Vector],
    cue: Vector,
    c: Constants,
) -> tuple[dict[str, float], dict[str, float]]:
    """Line 17: what the traces give to their sources, and the direct hits with their cosine."""
    given: dict[str, float] = {}
    for trace, score in best.items():
        for source in sources[trace]:
            given[source] = given.get(source, 0.0) + max(0.0, score) / len(sources[trace])
    return given, {one: dot(chunks[one], cue) for one in search(chunks, cue, c.direct)}
