"""Whether memories fire as SynapticRAG's neurons must: never unstimulated, ever sooner when more.

One memory lies alone; cues stimulate it with growing strength, since the stimulus of a memory is
its cosine to the cue where both are of the same time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ecphoria.client import AsyncClient
from ecphoria.evaluation.dynamics.ground import Floats, Ground, axis, lean, remember
from ecphoria.wire.episodes import AppendRequest

__all__ = ["Firing", "fired_by", "firing"]

_OTHERS, _SILENT_CUES = 20, 20
_COSINES = tuple(np.linspace(0.0, 1.0, 41).tolist())


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """What was seen.

    Attributes:
        silent_fires: Memories that fired at cues to which they are orthogonal.
        monotone: Whether a stronger stimulus never gave a lower peak, and it fired in the end.
        fires_at: Least cosine at which it fired.
    """

    silent_fires: int
    monotone: bool
    fires_at: float

    bound: ClassVar[str] = "no memory fires unstimulated; more stimulus never a lower peak"

    @property
    def holds(self) -> bool:
        """Whether memories fire as they must."""
        return self.silent_fires == 0 and self.monotone


async def firing(ground: Ground) -> Firing:
    """Stimulate memories from not at all to fully."""
    size = ground.dimension
    async with ground.tenant("lif") as client:
        memories = [
            AppendRequest(text=f"trace {place}", vector=tuple(axis(place, size)))
            for place in range(_OTHERS + 1)
        ]
        alone, *_ = await remember(client, memories)
        silent = 0
        for place in range(_SILENT_CUES):
            silent += len(await fired_by(client, axis(size - 1 - place, size)))
        aside = axis(size - 1, size)
        peaks = []
        for cosine in _COSINES:
            found = await fired_by(client, lean(axis(0, size), aside, cosine))
            peaks.append(found.get(alone, 0.0))
    fires = [cosine for cosine, peak in zip(_COSINES, peaks, strict=True) if peak > 0.0]
    return Firing(
        silent_fires=silent,
        monotone=bool(fires) and _never_falls(peaks),
        fires_at=min(fires, default=float("nan")),
    )


async def fired_by(
    client: AsyncClient, vector: Floats | None = None, cue: str | None = None
) -> dict[str, float]:
    """Ask by `synaptic` alone; give the projected peak of each memory that fired."""
    answer = await client.recall(
        cue,
        vector=None if vector is None else tuple(vector),
        strategy="synaptic",
        options={"w_base": 0.0},
        explain=True,
        collapse=False,
    )
    trace = await client.trace(answer.trace_id)
    return {
        mark.node: mark.value
        for wave in trace.waves
        for mark in wave.marks
        if mark.says == "fired"
    }


def _never_falls(values: Sequence[float]) -> bool:
    return bool(np.all(np.diff(values) >= 0.0))
