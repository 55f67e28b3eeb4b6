"""Spread activation over a sparse graph.

Source: SYNAPSE, equations 2 to 4. The defaults are those of the strategy `synapse`, as measured:
linear firing and no inhibition. The printed forms remain as options.

Source: CLS-M, demand-driven retrieval. The paper gives no formula for damping and decay; ours are
a power of the degree and of age. Its code takes the best path, its text the total: both are here.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.maths.adjacency import Adjacency
from ecphoria.maths.arrays import BoolArray, FloatArray, IntArray, floats, ints

_SILENT = 1e-12
"""Potential up to which a node counts as silent; else rounding would wake every node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadOptions:
    """Set how activation moves and fires.

    Attributes:
        spread: S, share of activation that leaves along arcs, in [0, 1].
        self_decay: delta, share of its own activation a node loses per step, in [0, 1].
        steps: T, a fixed horizon: the curve is bistable, so more steps forget the seeds.
        alpha: activation of the strongest seed at the start, > 0.
        scaled: scale the seeds so that the strongest has alpha; if not, each starts with alpha
            times its own energy, as Eq. 1 prints it.
        steepness: gamma of the firing curve, > 0.
        threshold: theta, its midpoint.
        firing: `rebased` (0 at rest), `linear`, or `literal` (the printed sigmoid; it wakes
            every node and exists to show that).
        inhibition: beta, >= 0.
        inhibitors: M, how many of the strongest inhibit.
        inhibition_mode: `pool` after the last step, `step` inside the loop, or `off`.
        seed_floor: phi, share a seed keeps under inhibition, in [0, 1].
    """

    spread: float = 0.8
    self_decay: float = 0.5
    steps: int = 3
    alpha: float = 1.0
    scaled: bool = True
    steepness: float = 5.0
    threshold: float = 0.5
    firing: Literal["rebased", "linear", "literal"] = "linear"
    inhibition: float = 0.0
    inhibitors: int = 7
    inhibition_mode: Literal["pool", "step", "off"] = "pool"
    seed_floor: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spread:
    """The result of spreading.

    Attributes:
        activation: [n] >= 0, after inhibition.
        waves: [steps + 1, n], activation at the start and after each step, before `pool`; without
            seeds only the start.
    """

    activation: FloatArray
    waves: FloatArray


def spread(graph: Adjacency, energy: ArrayLike, *, options: SpreadOptions) -> Spread:
    """Spread the seeds' energy for a fixed number of steps; O(T arcs + n log M).

    ```
    a(0) = alpha * energy / max(energy), or alpha * energy if not scaled
    u    = (1 - delta) a + S P^T a;   a = g(u)
    rebased  g(u) = (s(u) - s(0)) / (1 - s(0)) for u > 0, else 0
             s(u) = 1 / (1 + exp(-gamma (u - theta)))
    linear   g(u) = u / max(1, kappa),  kappa = (1 - delta) + S * max row sum of P
    ```

    Args:
        graph: transition P with rows as sources, rows of at most 1 (`adjacency.transition`).
        energy: [n] >= 0, the seeds' shares.
        options: how it moves and fires.

    >>> chain = Adjacency.from_arcs([0], [1], [0.5], size=2)
    >>> simple = SpreadOptions(firing="linear", inhibition_mode="off", steps=1)
    >>> spread(chain, [1, 0], options=simple).activation
    array([0.5, 0.4])
    """
    seeds = floats(energy)
    if not seeds.any():
        nothing = np.zeros_like(seeds)
        return Spread(activation=nothing, waves=nothing[None, :].copy())

    keep, is_seed = 1.0 - options.self_decay, seeds > 0.0
    kappa = keep + options.spread * float(graph.row_sums().max(initial=0.0))
    waves = np.empty((options.steps + 1, seeds.size))
    waves[0] = options.alpha * (seeds / seeds.max() if options.scaled else seeds)
    for step in range(options.steps):
        potential = keep * waves[step] + options.spread * graph.push(waves[step])
        if options.inhibition_mode == "step":
            potential = _compete(potential, is_seed, options)
        waves[step + 1] = _fire(potential, kappa, options)
    activation = waves[-1].copy()
    if options.inhibition_mode == "pool":
        activation = _compete(activation, is_seed, options)
    return Spread(activation=activation, waves=waves)


def inhibit(
    potential: ArrayLike, *, beta: float, inhibitors: int, floor: ArrayLike | None = None
) -> FloatArray:
    """Let the strongest push the weaker down; order is kept, gaps widen; O(n log n).

    `u_i' = max(0, u_i - beta * sum over the M largest k of max(0, u_k - u_i))`, at least floor_i.

    Args:
        potential: [n] >= 0.
        beta: strength, >= 0.
        inhibitors: M.
        floor: [n] >= 0, what each node keeps at least; None for 0.

    >>> inhibit([1.0, 0.9, 0.3], beta=0.15, inhibitors=7)
    array([1.   , 0.885, 0.105])
    """
    level = floats(potential)
    least = np.zeros_like(level) if floor is None else floats(floor)
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
    return np.where(potential > _SILENT, (curve - rest) / (1.0 - rest), 0.0)


_ROUNDING = 1e-12
"""A value that is this little below a threshold has reached it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HopOptions:
    """Options of the reach of activation.

    Attributes:
        hops: H, >= 0.
        decay: share that survives a hop, in (0, 1].
        threshold: least activation that travels on and counts, >= 0; 0 cuts nothing.
        aggregation: `sum` of all that arrives, capped at 1, or `max` over the ways to a node.
    """

    hops: int = 3
    decay: float = 0.5
    threshold: float = 0.1
    aggregation: Literal["sum", "max"] = "sum"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hops:
    """The result of hopping; n nodes, m arcs, h hops run.

    Attributes:
        activation: [n] in [0, 1], 0 below the threshold.
        waves: [h + 1, n], the seeds and what each hop brought, after the cut.
        arrived: [h, n], what each hop brought before the cut.
        carried: [h, m], what went along each arc.
    """

    activation: FloatArray
    waves: FloatArray
    arrived: FloatArray
    carried: FloatArray

    def cut(self) -> BoolArray:
        """Tell which arrivals were stopped by the threshold, [h, n]."""
        stopped: BoolArray = (self.arrived > 0.0) & (self.waves[1:] == 0.0)
        return stopped


def spread_hops(graph: Adjacency, seeds: ArrayLike, *, options: HopOptions) -> Hops:
    """Spread the seeds hop by hop; O(H m log m).

    ```
    f(0) = seeds,  A = f(0)
    sum:  m(j->i) = decay w_ji (f(h-1)_j - m(i->j) of the hop before),  f(h)_i = sum_j m(j->i)
    max:  m(j->i) = decay w_ji f(h-1)_j,                                f(h)_i = max_j m(j->i)
    f(h) below the threshold becomes 0;   A = A + f(h), or the larger of both
    activation = min(1, A) where A >= threshold, else 0
    ```

    Taking back what just came along the same arc keeps `sum` free of echoes. The threshold is for
    the whole arrival: three arrivals of .04 pass a threshold of .1 together.

    Args:
        graph: w, damping and gains included (`damped`); at most one arc from a node to another.
        seeds: [n] >= 0.
        options: how far and how.

    >>> chain = Adjacency.from_arcs([0, 1, 2], [1, 2, 3], [1, 1, 1], size=4)
    >>> spread_hops(chain, [1, 0, 0, 0], options=HopOptions(threshold=0.15)).activation
    array([1.  , 0.5 , 0.25, 0.  ])
    """
    start = floats(seeds)
    tails, back = graph.tails(), _opposite(graph)
    least = options.threshold - _ROUNDING
    waves, arrived, carried = [start], [], []
    sent = np.zeros(tails.size)
    total = start.copy()
    for _ in range(options.hops):
        held = waves[-1][tails]
        if options.aggregation == "sum":
            echo = np.where(back >= 0, sent[back], 0.0) if sent.size else sent
            sent = options.decay * graph.weights * np.where(held > 0.0, held - echo, 0.0)
            sent = np.where(sent > _ROUNDING, sent, 0.0)
        else:
            sent = options.decay * graph.weights * held
        came = _gather(graph, sent, options)
        wave = np.where(came >= least, came, 0.0)
        if not came.any():
            break
        arrived.append(came)
        carried.append(sent)
        waves.append(wave)
        total = total + wave if options.aggregation == "sum" else np.maximum(total, wave)
        if not wave.any():
            break
    shape = (len(arrived), -1)
    return Hops(
        activation=np.where(total >= least, np.minimum(1.0, total), 0.0),
        waves=np.array(waves),
        arrived=np.array(arrived).reshape(shape if arrived else (0, start.size)),
        carried=np.array(carried).reshape(shape if carried else (0, tails.size)),
    )


def damped(
    tail: ArrayLike,
    head: ArrayLike,
    kind: ArrayLike,
    weight: ArrayLike,
    *,
    degree: ArrayLike,
    gain: ArrayLike,
    power: float = 0.2,
) -> Adjacency:
    """Turn weighted relationships into arcs both ways, busy nodes sending less; O(m log m).

    `w(j->i) = sum over kinds t of gain_t * weight / max(1, degree_t(j))^power`, capped at 1, so
    relationships of several kinds between two nodes are one arc. A zero gain makes no arc.

    Args:
        tail: int [m].
        head: int [m].
        kind: int [m], row of `gain`.
        weight: [m] in [0, 1].
        degree: [n, kinds], how many relationships of each kind the node has in the store.
        gain: [kinds, 2] in [0, 1], forward and backward.
        power: p in [0, 1]; 1 is the fan of ACT-R, 0 switches damping off.

    >>> hub = damped([0], [1], [0], [1.0], degree=[[57], [1]], gain=[[1, 1]])
    >>> hub.weights.round(6)
    array([0.445477, 1.      ])
    """
    shares, degrees = floats(gain), floats(degree)
    one, other, sort, value = ints(tail), ints(head), ints(kind), floats(weight)
    size = degrees.shape[0]
    start, end = np.concatenate((one, other)), np.concatenate((other, one))
    both = np.concatenate((sort, sort))
    carry = np.concatenate((shares[sort, 0] * value, shares[sort, 1] * value))
    carry = carry / np.maximum(1.0, degrees[start, both]) ** power
    live = (carry > 0.0) & (start != end)
    key, place = np.unique(start[live] * size + end[live], return_inverse=True)
    weights = np.minimum(1.0, np.bincount(place, weights=carry[live], minlength=key.size))
    return Adjacency.from_arcs(key // max(1, size), key % max(1, size), weights, size=size)


def edge_decay(age_days: ArrayLike, exponent: float = 0.2) -> FloatArray:
    """Weaken learned weights by the time since they were last used: `(1 + age)^-exponent`.

    The age [m] is in days; a future instant counts as now.

    >>> edge_decay([0, 1, 30]).round(6)
    array([1.      , 0.870551, 0.503185])
    """
    return (1.0 + np.maximum(0.0, floats(age_days))) ** -exponent


def _gather(graph: Adjacency, sent: FloatArray, options: HopOptions) -> FloatArray:
    if options.aggregation == "sum":
        return np.bincount(graph.indices, weights=sent, minlength=graph.size).astype(np.float64)
    best = np.zeros(graph.size)
    np.maximum.at(best, graph.indices, sent)
    return best


def _opposite(graph: Adjacency) -> IntArray:
    """Find for each arc the one that leads back, int [m], -1 for none."""
    tails = graph.tails()
    size = max(1, graph.size)
    key, mirror = tails * size + graph.indices, graph.indices * size + tails
    if not key.size:
        return key
    place = np.minimum(np.searchsorted(key, mirror), key.size - 1)
    return np.where(key[place] == mirror, place, -1)


def push(
    graph: Adjacency, seeds: ArrayLike, *, damping: float = 0.5, epsilon: float = 1e-6
) -> FloatArray:
    """Approximate `x = (1 - d) s + d W^T x` from below, W = the rows of `graph` scaled to sum 1.

    All nodes with a residual of at least epsilon * max(1, out-degree) push at once, in rounds, so
    the result does not depend on the order of nodes. A node without arcs sends to the seeds.
    Source: Andersen, Chung, Lang 2006. At most 1 / ((1 - d) epsilon) arcs are followed.

    Args:
        graph: weights >= 0; rows need not be normalised.
        seeds: [n] >= 0; scaled to sum 1.
        damping: d in [0, 1), the chance to walk on.
        epsilon: > 0, residual per arc left behind.

    Returns:
        x [n] >= 0; what it lacks of the sum 1 was left behind. All 0 without seeds.

    >>> pair = Adjacency.from_arcs([0, 1], [1, 0], [1, 1], size=2)
    >>> push(pair, [1, 0], epsilon=1e-12).round(6)
    array([0.666667, 0.333333])
    """
    start = floats(seeds)
    value = np.zeros_like(start)
    if not start.any():
        return value

    start = start / start.sum()
    leaving = graph.row_sums()
    fan = np.where(leaving > 0.0, np.diff(graph.indptr), 0)
    walk = Adjacency(
        indptr=graph.indptr,
        indices=graph.indices,
        weights=graph.weights / np.where(leaving > 0.0, leaving, 1.0)[graph.tails()],
    )
    limit = epsilon * np.maximum(1, fan)
    residual = start.copy()
    active = residual >= limit
    while active.any():
        sent = np.where(active, residual, 0.0)
        residual = residual - sent
        value += (1.0 - damping) * sent
        stranded = float(sent[fan == 0].sum())
        residual += damping * (walk.push(sent) + stranded * start)
        active = residual >= limit
    return value
