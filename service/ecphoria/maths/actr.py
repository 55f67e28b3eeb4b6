"""ACT-R base-level activation and associative strength.

Source: ACT-R (Anderson), as NeuromemoryAI uses it: A = B + context + importance. B is a logarithm
of seconds, so beside relevance in [0, 1] it would drown everything; here it is squashed.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.maths.adjacency import Adjacency
from ecphoria.maths.arrays import FloatArray, floats, ints, tally

_MOST_STRENGTH: Final = 3.0
"""S_max: associative strength of a fact with a fan of 1."""


def base_level(
    ages_s: ArrayLike,
    owner: ArrayLike,
    *,
    size: int,
    decay: float = 0.5,
    beyond: ArrayLike | None = None,
) -> FloatArray:
    """Sum the traces of every use: `B = ln sum_k age_k^-d`; -inf if never used; O(q).

    Source: base-level learning equation of ACT-R.

    Args:
        ages_s: [q], seconds since each use; less than a second counts as one.
        owner: int [q], whose use it was.
        size: number of memories n.
        decay: d in (0, 1).
        beyond: [n] >= 0, what `older_uses` adds for uses whose instants were dropped.

    Returns:
        B [n].

    >>> base_level([1.0, 86400.0], [0, 1], size=3).round(5)
    array([ 0.     , -5.68337,     -inf])
    """
    presence = tally(ints(owner), np.maximum(1.0, floats(ages_s)) ** -decay, size=size)
    if beyond is not None:
        presence = presence + floats(beyond)
    with np.errstate(divide="ignore"):
        return np.log(presence)


def older_uses(
    count: ArrayLike, first_age_s: ArrayLike, kept_age_s: ArrayLike, *, decay: float = 0.5
) -> FloatArray:
    """Estimate the share of dropped uses, as if spread evenly from the first to the oldest kept.

    `count (t_n^(1-d) - t_k^(1-d)) / ((1-d) (t_n - t_k))`; O(n). Source: Petrov 2006.

    Args:
        count: [n] >= 0, uses whose instants were dropped.
        first_age_s: [n], t_n, seconds since the first use.
        kept_age_s: [n], t_k <= t_n, seconds since the oldest use that is kept.
        decay: d in (0, 1).

    >>> older_uses([12.0], [20 * 3600.0], [8 * 3600.0]).round(5)
    array([0.05479])
    """
    first = np.maximum(1.0, floats(first_age_s))
    kept = np.maximum(1.0, floats(kept_age_s))
    span = first - kept
    power = 1.0 - decay
    apart = span > 1e-6 * first
    mean = (first**power - kept**power) / (power * np.where(apart, span, 1.0))
    return floats(count) * np.where(apart, mean, kept**-decay)


def squash(level: ArrayLike, *, midpoint_s: float = 604_800.0, decay: float = 0.5) -> FloatArray:
    """Bring a base level to [0, 1): `1 / (1 + exp(B_mid - B))`, one half at the midpoint; O(n).

    Args:
        level: B [n], -inf for never used.
        midpoint_s: age in seconds at which a memory used once has 1/2; 7 days.
        decay: d, as in `base_level`.

    >>> squash([0.0, -np.inf]).round(6)
    array([0.998716, 0.      ])
    """
    raw = floats(level)
    middle = -decay * np.log(midpoint_s)
    used = np.isfinite(raw)
    odds = np.exp(np.minimum(middle - np.where(used, raw, 0.0), 700.0))
    return np.where(used, 1.0 / (1.0 + odds), 0.0)


def fan_share(fan: ArrayLike) -> FloatArray:
    """Weaken an association by its source's fan: `max(0, S_max - ln fan) / S_max`, in [0, 1].

    The fan [n] is the number of edges of the source; below 1 counts as 1.

    >>> fan_share([1, 5, 20, 57]).round(6)
    array([1.      , 0.463521, 0.001423, 0.      ])
    """
    edges = np.maximum(1.0, floats(fan))
    return np.maximum(0.0, _MOST_STRENGTH - np.log(edges)) / _MOST_STRENGTH


def prime(graph: Adjacency, attention: ArrayLike) -> FloatArray:
    """Let what is on one's mind prime its neighbours: `sum_j W_j S_ji`, W scaled to sum 1; O(m).

    Args:
        graph: S, one arc from each source to each associated memory.
        attention: [n] >= 0, how much each node is attended to; all 0 primes nothing.

    >>> prime(Adjacency.from_arcs([0, 1], [2, 2], [0.5, 1.0], size=3), [1.0, 3.0, 0.0])
    array([0.   , 0.   , 0.875])
    """
    held = floats(attention)
    total = float(held.sum())
    return graph.push(held / total) if total > 0.0 else np.zeros_like(held)


def probabilities(score: ArrayLike, *, temperature: float = 0.25) -> FloatArray:
    """Tell how likely each memory is the one retrieved: `exp(A / tau)`, scaled to sum 1; O(n).

    Source: ACT-R's retrieval equation without noise.

    >>> probabilities([0.9, 0.7, 0.2]).round(6)
    array([0.662191, 0.297541, 0.040268])
    """
    level = floats(score)
    if not level.size:
        return level
    odds = np.exp((level - level.max()) / temperature)
    likely: FloatArray = odds / odds.sum()
    return likely
