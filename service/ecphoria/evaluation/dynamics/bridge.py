"""EcphoryRAG's bridge: what is far from the cue but near to what the cue wakes.

The directions are those of the worked example in `kernels.centroid`: documents A, B and X near
the cue, G far from it and near to the centre of these, and beside them decoys nearer to the cue
than G that lead nowhere.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ecphoria.client import AsyncClient
from ecphoria.evaluation.dynamics.ground import Floats, Ground, axis, lean, remember
from ecphoria.wire.episodes import AppendRequest

__all__ = ["Bridge", "bridge"]

_DECOYS, _DECOY_COSINE, _LISTED = 12, 0.4, 10
_PLACES = {
    "Amber Quay": (0.8, 0.6, 0.0),
    "Birch Quay": (0.6, 0.8, 0.0),
    "Xylem Quay": (0.5, 0.0, 0.75**0.5),
    "Glass Quay": (0.2, 0.96**0.5, 0.0),
}
_GOLD = "Glass Quay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    """Whether the far document is among the first ten.

    Attributes:
        nearest_hit: By cosine.
        depth0_hit: By the traces that the cue wakes itself.
        depth1_hit: By one hop from the centre of these.
    """

    nearest_hit: bool
    depth0_hit: bool
    depth1_hit: bool

    bound: ClassVar[str] = "found with a hop, not without"

    @property
    def holds(self) -> bool:
        """Whether the hop, and only it, finds the document."""
        return self.depth1_hit and not (self.depth0_hit or self.nearest_hit)


async def bridge(ground: Ground) -> Bridge:
    """Ask for the far document without a hop, and with one."""
    size = ground.dimension
    cue = axis(0, size)
    async with ground.tenant("bridge") as client:
        documents = [_document(name, _spread(place, size)) for name, place in _PLACES.items()]
        documents += [
            _document(f"Decoy {place}", lean(cue, axis(10 + place, size), _DECOY_COSINE))
            for place in range(_DECOYS)
        ]
        ids = await remember(client, documents)
        gold = ids[list(_PLACES).index(_GOLD)]
        return Bridge(
            nearest_hit=gold in await _found(client, cue, "dense"),
            depth0_hit=gold in await _found(client, cue, "ecphory", 0),
            depth1_hit=gold in await _found(client, cue, "ecphory", 1),
        )


def _document(title: str, vector: Floats) -> AppendRequest:
    return AppendRequest(text=f"A quay called {title}.", title=title, vector=tuple(vector))


def _spread(place: tuple[float, ...], dimension: int) -> Floats:
    vector = np.zeros(dimension)
    vector[: len(place)] = place
    return vector


async def _found(
    client: AsyncClient, cue: Floats, strategy: str, depth: int | None = None
) -> list[str]:
    options = {} if depth is None else {"w_base": 0.0, "k_init": 3, "depth": depth}
    answer = await client.recall(
        vector=tuple(cue),
        strategy=strategy,
        options=options,
        k=_LISTED,
        record=False,
        collapse=False,
    )
    return [hit.episode.id for hit in answer.hits if hit.score > 0.0]
