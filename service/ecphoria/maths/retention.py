"""Strength of a memory over time, what to keep, what to replay, whom to trust.

Sources: NeuromemoryAI for the memory chain (Murre) and the forgetting curve (Ebbinghaus). The
chain is computed in closed form, so ten steps of a day equal one of ten days, unlike the paper's
Euler steps. `retention_score` joins them with SYNAPSE's prior. `quotas` and `priority` are the
interleaved replay of CLS-M, with the shares of NeuromemoryAI 3.4; CLS-M names the four terms of
the priority, their mean is ours. `reliability` and `salience` are NeuromemoryAI's two dimensions
of confidence, for which the paper gives no formulas.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.maths.arrays import FloatArray, floats

_LONGEST = 3650.0
"""Largest stability in days: after ten years a memory does not last longer by further uses."""
# The paper gives no unit; a day is ours. While alpha is below mu1, both traces together never grow
# between two uses.
_MU_WORKING, _MU_LASTING, _TRANSFER = 0.1, 0.01, 0.05
"""Decay of the working and of the lasting trace (mu1, mu2), and what goes from the former to the
latter (alpha), per day."""
# With a tenth for each use, ten times the stability needs 24 uses, however they are spaced.
_GROWTH, _EVEN_GROWTH = 1.5, 0.1
"""Growth of stability after a use of a memory that was nearly lost (beta_max), and of
`grow_evenly`, the paper's beta."""


def decay(
    working: ArrayLike, lasting: ArrayLike, days: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Let time pass over both traces; the working one feeds the lasting one; O(n).

    ```
    r1(t) = r1 e^(-mu1 t)
    r2(t) = r2 e^(-mu2 t) + alpha r1 (e^(-mu2 t) - e^(-mu1 t)) / (mu1 - mu2)
    ```

    Args:
        working: r1 [n] >= 0.
        lasting: r2 [n] >= 0.
        days: [n], time passed; below 0 counts as 0.

    >>> r1, r2 = decay([1.0], [0.0], [7.0])
    >>> r1.round(6), r2.round(6)
    (array([0.496585]), array([0.242116]))
    """
    first, time = floats(working), np.maximum(0.0, floats(days))
    gap = _MU_WORKING - _MU_LASTING
    kept = np.exp(-_MU_LASTING * time)
    moved = kept * (-np.expm1(-gap * time) / gap)
    return first * np.exp(-_MU_WORKING * time), floats(lasting) * kept + _TRANSFER * first * moved


def refresh(working: ArrayLike) -> FloatArray:
    """Bring the working trace half-way back to 1 on a use: `1 - (1 - r1) / 2`.

    >>> refresh([0.496585]).round(6)
    array([0.748292])
    """
    return 1.0 - 0.5 * (1.0 - floats(working))


def strength(working: ArrayLike, lasting: ArrayLike) -> FloatArray:
    """Add both traces: `min(1, r1 + r2)`.

    >>> strength([0.9, 0.1], [0.3, 0.2]).round(6)
    array([1. , 0.3])
    """
    return np.minimum(1.0, floats(working) + floats(lasting))


def retrievability(age_days: ArrayLike, stability: ArrayLike) -> FloatArray:
    """Tell how well a memory can be called back: `exp(-age / S)`, in [0, 1]; O(n).

    Args:
        age_days: [n] since the last use; a future instant counts as now.
        stability: S [n] > 0, in days.

    >>> retrievability([1.0, 30.0], [1.0, 10.0]).round(6)
    array([0.367879, 0.049787])
    """
    return np.exp(-np.maximum(0.0, floats(age_days)) / floats(stability))


def grow(stability: ArrayLike, recalled: ArrayLike) -> FloatArray:
    """Make a used memory last longer, the more the closer it was to being lost; O(n).

    `S <- min(3650, S (1 + 1.5 (1 - R)))`: spaced use beats massed use.

    Args:
        stability: S [n] > 0, in days.
        recalled: R [n] in [0, 1], retrievability just before the use.

    >>> grow([1.0], retrievability([1.0], [1.0])).round(5)
    array([1.94818])
    """
    factor = 1.0 + _GROWTH * (1.0 - floats(recalled))
    return np.minimum(_LONGEST, floats(stability) * factor)


def grow_evenly(first: ArrayLike, uses: ArrayLike) -> FloatArray:
    """Let stability grow by the same factor with each use: `1.1^uses S_0`; O(n).

    Source: NeuromemoryAI, Eq. 9.

    Args:
        first: S_0 [n] > 0, in days.
        uses: [n] >= 0, uses after the first.

    >>> grow_evenly([1.0, 30.0], [0, 2]).round(6)
    array([ 1. , 36.3])
    """
    # The factor is bounded, because a memory may have thousands of uses.
    factor = np.exp(np.minimum(50.0, floats(uses) * np.log1p(_EVEN_GROWTH)))
    return np.asarray(np.minimum(_LONGEST, floats(first) * factor), dtype=np.float64)


def retention_score(
    retrievability: ArrayLike, strength: ArrayLike, prior: ArrayLike, importance: ArrayLike
) -> FloatArray:
    """Score a memory for keeping: `.5 max(R, m) + .3 prior + .2 importance`; O(n).

    Args:
        retrievability: R [n] in [0, 1].
        strength: m [n] in [0, 1], both traces of the memory chain together.
        prior: [n] in [0, 1], rank by PageRank; 0 where there is none.
        importance: [n] in [0, 1], as the caller gave it.

    >>> retention_score([0.2], [0.5], [0.7], [0.4]).round(6)
    array([0.54])
    """
    held = np.maximum(floats(retrievability), floats(strength))
    return 0.5 * held + 0.3 * floats(prior) + 0.2 * floats(importance)


SHARES = (0.5, 0.3, 0.2)
"""Of the recent, of those of middle age, of the old."""


def quotas(count: int, available: Sequence[int]) -> tuple[int, ...]:
    """Divide a number by `SHARES`, the largest remainders rounded up.

    What a class cannot fill goes to the others in their order. So the sum is the smaller of
    `count` and all that is available. Ties between remainders go to the earlier class.

    Args:
        count: how many in all, at least 0.
        available: [3], how many each class has.

    >>> [quotas(count, (99, 99, 99)) for count in (64, 10, 7)]
    [(32, 19, 13), (5, 3, 2), (4, 2, 1)]
    >>> quotas(10, (1, 99, 1)), quotas(10, (2, 2, 99)), quotas(10, (1, 2, 3))
    ((1, 8, 1), (2, 2, 6), (1, 2, 3))
    """
    exact = np.round(np.array(SHARES) * count, 9)
    given = np.floor(exact).astype(np.int64)
    order = np.argsort(-(exact - given), kind="stable")
    given[order[: count - int(given.sum())]] += 1
    room = np.asarray(available, np.int64)
    taken = np.minimum(given, room)
    for place in range(len(taken)):
        taken[place] += min(count - int(taken.sum()), int(room[place] - taken[place]))
    return tuple(taken.tolist())


def priority(
    salience: ArrayLike, novelty: ArrayLike, own: ArrayLike, question: ArrayLike
) -> FloatArray:
    """Score a memory for replay: `(salience + novelty + own + question) / 4`; O(n).

    Args:
        salience: [n] in [0, 1].
        novelty: [n] in [0, 1], 1 - the largest cosine to an older memory.
        own: [n] in [0, 1], whether the speaker speaks of themselves.
        question: [n] in [0, 1], whether it asks something.

    >>> priority([0.5, 1.0], [0.3, 1.0], [1, 1], [0, 1])
    array([0.45, 1.  ])
    """
    terms = [floats(term) for term in (salience, novelty, own, question)]
    return np.asarray(np.mean(np.stack(terms), axis=0), dtype=np.float64)


PRIOR_WEIGHT = 4.0
"""Judgements that the first reliability is worth."""
STEP = 0.1
"""Share of the way to 1, or to 0, by which one judgement moves importance."""


def reliability(first: ArrayLike, useful: ArrayLike, useless: ArrayLike) -> FloatArray:
    """Weigh where a memory came from with how it proved: `(4 rel0 + pos) / (4 + pos + neg)`; O(n).

    Args:
        first: rel0 [n] in [0, 1], what its source is worth.
        useful: pos [n] >= 0, judgements that it was.
        useless: neg [n] >= 0, judgements that it was not.

    >>> reliability([0.7], [3], [1])
    array([0.725])
    """
    good, bad = floats(useful), floats(useless)
    return (PRIOR_WEIGHT * floats(first) + good) / (PRIOR_WEIGHT + good + bad)


def salience(level: ArrayLike, useful: ArrayLike) -> FloatArray:
    """Move importance by one judgement: `s + .1 (1 - s)` up, `.9 s` down; stays in [0, 1]; O(n).

    Args:
        level: s [n] in [0, 1].
        useful: [n], 1 for useful and 0 for not.

    >>> salience([0.5, 0.5], [1, 0])
    array([0.55, 0.45])
    """
    before = floats(level)
    return np.where(floats(useful) > 0.0, before + STEP * (1.0 - before), (1.0 - STEP) * before)
