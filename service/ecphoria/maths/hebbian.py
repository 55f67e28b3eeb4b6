"""Weights of associations: recalled together, mentioned together, and near in meaning.

Sources: NeuromemoryAI for links by joint recalls and for homeostasis, CLS-M for co-occurrence by
PMI, SYNAPSE for nearness. NeuromemoryAI only counts joint recalls, so it links whatever a hub
touches; lift asks for more than chance. CLS-M gives no formula of PMI; ours is normalised, and
lower for small counts.
"""

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.maths.arrays import FloatArray, floats, ints, tally

_RATE = 0.1
"""Learning rate eta (NeuromemoryAI)."""


def increment(one: ArrayLike, other: ArrayLike, weight: ArrayLike) -> FloatArray:
    """Strengthen links of memories recalled together: `w + .1 x_i x_j (1 - w)`; O(q).

    Args:
        one: x_i [q] in [0, 1], relative score times retrievability before this recall.
        other: x_j [q] in [0, 1].
        weight: w [q] in [0, 1], decayed to now.

    Returns:
        [q] in [weight, 1].

    >>> increment([0.9], [0.64], [0.2]).round(5)
    array([0.24608])
    """
    now = floats(weight)
    return now + _RATE * floats(one) * floats(other) * (1.0 - now)


def lift(joint: ArrayLike, one: ArrayLike, other: ArrayLike, *, total: float) -> FloatArray:
    """Compare joint events with chance: `n_ij N / (n_i n_j)`; 0 where a count is 0; O(q).

    Args:
        joint: n_ij [q], events with both.
        one: n_i [q].
        other: n_j [q].
        total: N, all events.

    >>> lift([4, 8], [10, 50], [8, 8], total=50)
    array([2.5, 1. ])
    """
    both, first, second = floats(joint), floats(one), floats(other)
    chance = first * second
    return np.where(chance > 0.0, both * total / np.where(chance > 0.0, chance, 1.0), 0.0)


def linked(
    joint: ArrayLike,
    one: ArrayLike,
    other: ArrayLike,
    *,
    total: float,
    least: int = 3,
    above: float = 2.0,
) -> FloatArray:
    """Say with 1 which pairs are recalled together often enough, and above chance; O(q).

    >>> linked([4, 8, 2], [10, 50, 2], [8, 8, 2], total=50)
    array([1., 0., 0.])
    """
    enough = (floats(joint) >= least) & (lift(joint, one, other, total=total) >= above - 1e-12)
    return enough.astype(np.float64)


def npmi(joint: ArrayLike, one: ArrayLike, other: ArrayLike, *, total: float) -> FloatArray:
    """Normalise pointwise mutual information to [-1, 1]: `ln(p_xy / (p_x p_y)) / -ln p_xy`; O(q).

    Never together gives -1; together everywhere gives 0, for it tells nothing. Source: Bouma 2009.

    >>> npmi([4, 8], [10, 100], [8, 8], total=100).round(6)
    array([0.5, 0. ])
    """
    both, first, second = floats(joint), floats(one), floats(other)
    if total <= 0.0:
        return np.zeros_like(both)
    known = both > 0.0
    share = np.where(known, both, 1.0) / total
    chance = np.where(known, first * second, 1.0) / total**2
    surprise = -np.log(share)
    always = surprise <= 1e-15
    value = np.log(share / chance) / np.where(always, 1.0, surprise)
    return np.where(known, np.where(always, 0.0, value), -1.0) * ((first > 0) & (second > 0))


def association(joint: ArrayLike, one: ArrayLike, other: ArrayLike, *, total: float) -> FloatArray:
    """Weigh a co-occurrence: `max(0, npmi) n_xy/(n_xy + 1) m/(m + 1)`, m = min(n_x, n_y); O(q).

    The two fractions keep rare pairs from looking certain. In [0, 1).

    >>> association([4, 8, 1], [10, 100, 1], [8, 8, 1], total=100).round(6)
    array([0.355556, 0.      , 0.25    ])
    """
    both, first, second = floats(joint), floats(one), floats(other)
    rare = np.minimum(first, second)
    sure = both / (both + 1.0) * rare / (rare + 1.0)
    return np.maximum(0.0, npmi(joint, one, other, total=total)) * sure


def homeostasis(
    one: ArrayLike, other: ArrayLike, weight: ArrayLike, *, size: int, budget: float = 5.0
) -> FloatArray:
    """Scale links so that no memory has more than its budget; one pass is enough; O(m).

    `w_ij <- w_ij min(1, B / s_i, B / s_j)`, s the sums before. On edges, not on activations:
    scaling logarithms, as the paper does, flips signs.

    Args:
        one: int [m].
        other: int [m], not equal to `one`.
        weight: [m] >= 0.
        size: number of memories n.
        budget: B > 0.

    >>> homeostasis([0, 0, 0, 1], [1, 2, 3, 2], [0.9, 0.8, 0.7, 0.6], size=4, budget=2).round(6)
    array([0.75    , 0.666667, 0.583333, 0.6     ])
    """
    first, second, value = ints(one), ints(other), floats(weight)
    held = tally(first, value, size=size) + tally(second, value, size=size)
    share = budget / np.maximum(budget, held)
    return value * np.minimum(share[first], share[second])


# NPMI depends on the number of episodes, so one more would change every pair; with steps a quarter
# apart the cost of each append stays constant (docs/explanation/consolidation.md).
_STEP = 1.25


def similarity(cosine: ArrayLike) -> FloatArray:
    """Weigh nearness: `w_sim = 0.8 max(0, cos)`, in [0, 0.8].

    >>> similarity([0.9, -0.2]).round(2)
    array([0.72, 0.  ])
    """
    return 0.8 * np.maximum(0.0, floats(cosine))


def combined(similar: ArrayLike, lift: ArrayLike, learned: ArrayLike) -> FloatArray:
    """Join the parts of an association: `1 - (1 - w_sim)(1 - w_lift)(1 - w_learned)`.

    All [m] in [0, 1], and so is the result; a part of 0 changes nothing.

    >>> combined([0.576], [0.355556], [0.2]).round(6)
    array([0.781405])
    """
    return 1.0 - (1.0 - floats(similar)) * (1.0 - floats(lift)) * (1.0 - floats(learned))


def round_down_to_step(total: int) -> int:
    """Round a count down to a ladder with steps a quarter apart: 1, 2, ..., 8, 10, 12, 15, ...

    What depends on a growing total changes only when it reaches the next step, so renewing all
    of it then costs a constant for each item that was added.

    >>> [round_down_to_step(total) for total in (0, 1, 9, 10, 100, 1000)]
    [0, 1, 8, 10, 97, 891]
    """
    if total < 1:
        return 0
    step = 1
    while (higher := max(step + 1, int(step * _STEP))) <= total:
        step = higher
    return step
