"""What the concept channel adds to a score, and the path it came by."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import FloatArray, floats
from ecphoria.kernels.channel import Wave
from ecphoria.kernels.fusion import min_max

__all__ = ["Hop", "boost", "path"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One stretch of a path: a concept woke an item.

    Attributes:
        item: index of the item woken.
        concept: index of the concept that sent it most.
        through: index of the concept that woke that one, -1 if an item or the cue did.
        source: index of the item that woke the first of the two, -1 if the cue named it.
        amount: energy the concept sent to the item.
        step: in which step, from 0.
    """

    item: int
    concept: int
    through: int
    source: int
    amount: float
    step: int


def boost(
    act: ArrayLike,
    gate: float,
    *,
    weight: float = 1.2,
    power: float = 1.0 / 3.0,
    low: float = 0.0,
) -> FloatArray:
    """Turn received energy into a term of the score: `1.2 g n(act)^(1/3)`, [n]; O(n).

    Args:
        act: [n] >= 0, received energy.
        gate: g in [0, 1]; at 0 the channel changes nothing.
        weight: of the term.
        power: flattens, so that distant items count.
        low: least act over all items of the store; 0 as soon as one was not reached.

    >>> boost([0.0, 1.0, 8.0], 1.0)
    array([0. , 0.6, 1.2])
    """
    received = floats("act", act, low=0.0)
    if not (0.0 <= gate <= 1.0 and power > 0.0):
        raise ValueError("gate must lie in [0, 1] and power be above 0")
    return np.asarray(weight * gate * min_max(received, low) ** power)


def path(waves: Sequence[Wave], item: int) -> tuple[Hop, ...]:
    """Follow the strongest sender of each stretch back from an item; O(T^2).

    Args:
        waves: of a walk, in order.
        item: index of the item to explain.

    Returns:
        Hops in the order energy went; empty if nothing reached the item. The first hop starts
        at the cue (source -1) or at an item that nothing woke before: a seed.
    """
    hops: list[Hop] = []
    at, before = item, len(waves)
    while at >= 0:
        step = _strongest_step(waves[:before], at)
        if step < 0:
            break
        wave = waves[step]
        concept = int(wave.by_concept[at])
        through = int(wave.by_related[concept])
        source = int(wave.by_item[concept if through < 0 else through])
        hops.append(
            Hop(
                item=at,
                concept=concept,
                through=through,
                source=source,
                amount=float(wave.share[at]),
                step=step,
            )
        )
        at, before = source, step
    return tuple(reversed(hops))


def _strongest_step(waves: Sequence[Wave], item: int) -> int:
    """Find the step with the largest single share for the item; the first of equals; -1."""
    best, amount = -1, 0.0
    for step, wave in enumerate(waves):
        if item < wave.share.size and wave.share[item] > amount:
            best, amount = step, float(wave.share[item])
    return best
