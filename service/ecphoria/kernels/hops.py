"""CLS-M: activation travels a few hops, is damped by degree, and dies below a threshold.

Source: CLS-M, demand-driven retrieval. The paper gives no formula for damping and decay; ours are
a power of the degree and of age. Its code takes the best path, its text the total: both are here.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.adjacency import Adjacency
from ecphoria.kernels.arrays import BoolArray, FloatArray, IntArray, floats, indices, one_size

__all__ = ["HopOptions", "Hops", "damped", "edge_decay", "reach", "spread_hops"]

ROUNDING = 1e-12  # a value this little below a threshold has reached it


@dataclass(frozen=True, slots=True, kw_only=True)
class HopOptions:
    """Set how far activation travels.

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

    def __post_init__(self) -> None:
        if self.hops < 0:
            raise ValueError("hops must not be negative")
        if not (0.0 < self.decay <= 1.0 and self.threshold >= 0.0):
            raise ValueError("decay must lie in (0, 1] and threshold must not be negative")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hops:
    """What hopping left behind; n nodes, m arcs, h hops run.

    Attributes:
        activation: [n] in [0, 1], 0 below the threshold.
        waves: [h + 1, n], the seeds and what each hop brought, after the cut.
        arrived: [h, n], what each hop brought before the cut.
        carried: [h, m], what went along each arc.
        depth: the last hop that brought anything.
    """

    activation: FloatArray
    waves: FloatArray
    arrived: FloatArray
    carried: FloatArray
    depth: int

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
    start = floats("seeds", seeds, low=0.0)
    if start.size != graph.size:
        raise ValueError("seeds must have one value for each node")
    tails, back = graph.tails(), _opposite(graph)
    least = options.threshold - ROUNDING
    waves, arrived, carried = [start], [], []
    sent = np.zeros(tails.size)
    total = start.copy()
    for _ in range(options.hops):
        held = waves[-1][tails]
        if options.aggregation == "sum":
            echo = np.where(back >= 0, sent[back], 0.0) if sent.size else sent
            sent = options.decay * graph.weights * np.where(held > 0.0, held - echo, 0.0)
            sent = np.where(sent > ROUNDING, sent, 0.0)
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
        depth=sum(bool(wave.any()) for wave in waves[1:]),
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
    shares = floats("gain", gain, ndim=2, low=0.0, high=1.0)
    degrees = floats("degree", degree, ndim=2, low=0.0)
    if shares.shape[1] != 2 or degrees.shape[1] != shares.shape[0]:
        raise ValueError("gain must have two columns, degree one column for each kind")
    if not 0.0 <= power <= 1.0:
        raise ValueError("power must lie in [0, 1]")
    size = degrees.shape[0]
    one, other = indices("tail", tail, size=size), indices("head", head, size=size)
    sort = indices("kind", kind, size=shares.shape[0])
    value = floats("weight", weight, low=0.0, high=1.0)
    one_size(tail=one, head=other, kind=sort, weight=value)
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

    Args:
        age_days: [m] in days; a future instant counts as now.
        exponent: d >= 0.

    >>> edge_decay([0, 1, 30]).round(6)
    array([1.      , 0.870551, 0.503185])
    """
    if exponent < 0.0:
        raise ValueError("exponent must not be negative")
    return (1.0 + np.maximum(0.0, floats("age_days", age_days))) ** -exponent


def reach(decay: float, threshold: float, hops: int) -> int:
    """Tell how many hops a full seed can make before a threshold stops it.

    >>> reach(0.5, 0.1, hops=3), reach(0.5, 0.15, hops=3)
    (3, 2)
    """
    HopOptions(hops=hops, decay=decay, threshold=threshold)
    made, level = 0, decay
    while made < hops and level >= threshold - ROUNDING:
        made, level = made + 1, level * decay
    return made


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
    if (np.diff(key) <= 0).any():
        raise ValueError("graph must have at most one arc from a node to another")
    if not key.size:
        return key
    place = np.minimum(np.searchsorted(key, mirror), key.size - 1)
    return np.where(key[place] == mirror, place, -1)
