"""How feedback moves two numbers of a memory: whether to believe it, and whether it matters.

Source: NeuromemoryAI, two-dimensional confidence; the paper gives no formulas.
"""

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import FloatArray, floats, one_size

__all__ = ["PRIOR_WEIGHT", "reliability", "salience"]

PRIOR_WEIGHT = 4.0
"""Judgements that the first reliability is worth."""
STEP = 0.1


def reliability(first: ArrayLike, useful: ArrayLike, useless: ArrayLike) -> FloatArray:
    """Weigh where a memory came from with how it proved: `(4 rel0 + pos) / (4 + pos + neg)`; O(n).

    Args:
        first: rel0 [n] in [0, 1], what its source is worth.
        useful: pos [n] >= 0, judgements that it was.
        useless: neg [n] >= 0, judgements that it was not.

    >>> reliability([0.7], [3], [1])
    array([0.725])
    """
    start = floats("first", first, low=0.0, high=1.0)
    good, bad = floats("useful", useful, low=0.0), floats("useless", useless, low=0.0)
    one_size(first=start, useful=good, useless=bad)
    return (PRIOR_WEIGHT * start + good) / (PRIOR_WEIGHT + good + bad)


def salience(level: ArrayLike, useful: ArrayLike) -> FloatArray:
    """Move importance by one judgement: `s + .1 (1 - s)` up, `.9 s` down; stays in [0, 1]; O(n).

    Args:
        level: s [n] in [0, 1].
        useful: [n], 1 for useful and 0 for not.

    >>> salience([0.5, 0.5], [1, 0])
    array([0.55, 0.45])
    """
    before, good = floats("level", level, low=0.0, high=1.0), floats("useful", useful)
    one_size(level=before, useful=good)
    return np.where(good > 0.0, before + STEP * (1.0 - before), (1.0 - STEP) * before)
