"""SYNAPSE: activation spreads from the seeds, fires, and competes.

Source: SYNAPSE, equations 2 to 4, with the firing curve rebased to 0 at rest and inhibition
applied once, to the pool, after the last step; the literal forms remain as options.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.adjacency import Adjacency
from ecphoria.kernels.arrays import BoolArray, FloatArray, bools, floats

__all__ = ["Spread", "SpreadOptions", "inhibit", "spread"]

REST = 1e-12  # below this a potential counts as 0, else rounding would wake every node


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadOptions:
    """Set how activation moves and fires.

    Attributes:
        spread: S, share of activation that leaves along arcs, in [0, 1].
        self_decay: delta, share of its own activation a node loses per step, in [0, 1].
        steps: T, a fixed horizon: the curve is bistable, so more steps forget the seeds.
        alpha: activation of the strongest seed at the start, > 0.
        steepness: gamma of the firing curve, > 0.
        threshold: theta, its midpoint.
        firing: `rebased` (0 at rest), `linear`, or `literal` (the printed sigmoid; it wakes
            every node and exists to show that).
        inhibition: beta, >= 0.
        inhibitors: M, how many of the strongest inhibit.
        inhibition_mode: `pool` after the last step, `step` inside the loop, or `off`.
        seed_floor: phi, share a seed keeps under inhibition, in [0, 1].
        tolerance: largest residual that counts as converged.
    """

    spread: float = 0.8
    self_decay: float = 0.5
    steps: int = 3
    alpha: float = 1.0
    steepness: float = 5.0
    threshold: float = 0.5
    firing: Literal["rebased", "linear", "literal"] = "rebased"
    inhibition: float = 0.15
    inhibitors: int = 7
    inhibition_mode: Literal["pool", "step", "off"] = "pool"
    seed_floor: float = 0.1
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        shares = (self.spread, self.self_decay, self.seed_floor)
        if not all(0.0 <= share <= 1.0 for share in shares):
            raise ValueError("spread, self_decay and seed_floor must lie in [0, 1]")
        if self.steps < 0 or self.inhibitors < 0:
            raise ValueError("steps and inhibitors must not be negative")
        if not (self.alpha > 0.0 and self.steepness > 0.0 and self.inhibition >= 0.0):
            raise ValueError("alpha and steepness must be above 0, inhibition at least 0")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spread:
    """What spreading left behind.

    Attributes:
        activation: [n] >= 0, after inhibition.
        waves: [steps + 1, n], activation at the start and after each step, before `pool`.
        steps: how many were run; 0 without seeds.
        residual: largest change in the last step.
        converged: whether the residual is within the tolerance. The caller must look.
    """

    activation: FloatArray
    waves: FloatArray
    steps: int
    residual: float
    converged: bool


def spread(
    graph: Adjacency,
    energy: ArrayLike,
    *,
    options: SpreadOptions,
    pool: BoolArray | None = None,
) -> Spread:
    """Spread the seeds' energy for a fixed number of steps; O(T arcs + n log M).

    ```
    a(0) = alpha * energy / max(energy)
    u    = (1 - delta) a + S P^T a;   a = g(u)
    rebased  g(u) = (s(u) - s(0)) / (1 - s(0)) for u > 0, else 0
             s(u) = 1 / (1 + exp(-gamma (u - theta)))
    linear   g(u) = u / max(1, kappa),  kappa = (1 - delta) + S * max row sum of P
    ```

    Args:
        graph: transition P with rows as sources, rows of at most 1 (`normalize.transition`).
        energy: [n] >= 0, the seeds' shares.
        options: how it moves and fires.
        pool: [n], the nodes that compete in `pool` inhibition; None for all. Others keep theirs.

    >>> chain = Adjacency.from_arcs([0], [1], [0.5], size=2)
    >>> simple = SpreadOptions(firing="linear", inhibition_mode="off", steps=1)
    >>> spread(chain, [1, 0], options=simple).activation
    array([0.5, 0.4])
    """
    seeds = floats("energy", energy, low=0.0)
    if seeds.size != graph.size:
        raise ValueError("energy must have one value for each node")
    inside = np.ones(seeds.size, dtype=np.bool_) if pool is None else bools("pool", pool)
    if inside.size != seeds.size:
        raise ValueError("pool must have one value for each node")
    if not seeds.any():
        nothing = np.zeros_like(seeds)
        waves = nothing[None, :].copy()
        return Spread(activation=nothing, waves=waves, steps=0, residual=0.0, converged=True)

    keep, is_seed = 1.0 - options.self_decay, seeds > 0.0
    kappa = keep + options.spread * float(graph.row_sums().max(initial=0.0))
    waves = np.empty((options.steps + 1, seeds.size))
    waves[0] = options.alpha * (seeds / seeds.max())
    for step in range(options.steps):
        potential = keep * waves[step] + options.spread * graph.push(waves[step])
        if options.inhibition_mode == "step":
            potential = _compete(potential, is_seed, options)
        waves[step + 1] = _fire(potential, kappa, options)
    activation = waves[-1].copy()
    if options.inhibition_mode == "pool":
        activation[inside] = _compete(activation[inside], is_seed[inside], options)
    residual = float(np.abs(waves[-1] - waves[-2]).max()) if options.steps else 0.0
    return Spread(
        activation=activation,
        waves=waves,
        steps=options.steps,
        residual=residual,
        converged=residual <= options.tolerance,
    )


def inhibit(
    potential: ArrayLike,
    *,
    beta: float = 0.15,
    inhibitors: int = 7,
    floor: ArrayLike | None = None,
) -> FloatArray:
    """Let the strongest push the weaker down; order is kept, gaps widen; O(n log n).

    `u_i' = max(0, u_i - beta * sum over the M largest k of max(0, u_k - u_i))`, at least floor_i.

    Args:
        potential: [n] >= 0.
        beta: strength, >= 0.
        inhibitors: M.
        floor: [n] >= 0, what each node keeps at least; None for 0.

    >>> inhibit([1.0, 0.9, 0.3], beta=0.15)
    array([1.   , 0.885, 0.105])
    """
    level = floats("potential", potential, low=0.0)
    least = np.zeros_like(level) if floor is None else floats("floor", floor, low=0.0)
    if least.size != level.size:
        raise ValueError("floor must have one value for each node")
    if beta < 0.0 or inhibitors < 0:
        raise ValueError("beta and inhibitors must not be negative")
    top = np.sort(level)[::-1][:inhibitors]
    # Sum over the top of max(0, top - u), one inhibitor at a time: n numbers, not n * M.
    pressure = np.zeros_like(level)
    for strong in top:
        pressure += np.maximum(0.0, strong - level)
    return np.maximum(np.maximum(0.0, level - beta * pressure), least)


def _compete(level: FloatArray, is_seed: BoolArray, options: SpreadOptions) -> FloatArray:
    """Inhibit, with the seeds' floor."""
    floor = np.where(is_seed, options.seed_floor * level, 0.0)
    return inhibit(level, beta=options.inhibition, inhibitors=options.inhibitors, floor=floor)


def _fire(potential: FloatArray, kappa: float, options: SpreadOptions) -> FloatArray:
    """Turn potentials into activation."""
    if options.firing == "linear":
        return potential / max(1.0, kappa)
    curve = 1.0 / (1.0 + np.exp(-options.steepness * (potential - options.threshold)))
    if options.firing == "literal":
        return curve
    rest = 1.0 / (1.0 + np.exp(options.steepness * options.threshold))
    return np.where(potential > REST, (curve - rest) / (1.0 - rest), 0.0)
