"""MemoryBank and MyAgent: how much of a memory is left, in closed form.

Source: SynapticRAG, appendices C.2 and C.3. Two printed signs cannot be meant: without a minus, a
memory gains by age; and with e^(-t) / g instead of e^(-t / g), the printed scales of the adapted
MyAgent, both negative, give negative probabilities. The authors' code has the minus and the
division inside, and so has this.
"""

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.maths.arrays import FloatArray, floats


def retention(
    age: ArrayLike, strength: ArrayLike, *, age_scale: float = 1.0, strength_scale: float = 5.0
) -> FloatArray:
    """Tell what is left of memories: `exp(-a age / (b s))`; O(n).

    Args:
        age: [n] >= 0, in the caller's unit of time.
        strength: s [n] > 0, grows by 1 with each recall.
        age_scale: a; the paper's adapted model has its own.
        strength_scale: b > 0.

    >>> retention([0.0, 5.0, 5.0], [1.0, 1.0, 2.0]).round(4)
    array([1.    , 0.3679, 0.6065])
    """
    span = strength_scale * floats(strength)
    return np.asarray(np.exp(-age_scale * floats(age) / span), dtype=np.float64)


def recall_probability(
    relevance: ArrayLike,
    age: ArrayLike,
    strength: ArrayLike,
    *,
    relevance_scale: float = 1.0,
    age_scale: float = 1.0,
    strength_scale: float = 1.0,
) -> FloatArray:
    """Give `p = (1 - exp(-a r exp(-b age / (c g)))) / (1 - 1/e)`; O(n).

    Without a strength nothing is recalled. The three scales are those of the adapted model, in
    which b and c are both negative.

    Args:
        relevance: r [n] in [0, 1], the cosine.
        age: [n] >= 0.
        strength: g [n].
        relevance_scale: a >= 0.
        age_scale: b.
        strength_scale: c, of the same sign as b.

    >>> recall_probability([1.0, 0.5, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]).round(4)
    array([1.    , 0.6225, 0.4869])
    """
    near, held = floats(relevance), floats(strength)
    span = strength_scale * held
    there = held > 0.0
    left = np.exp(
        -age_scale * floats(age) / np.where(there, span, 1.0), where=there, out=np.zeros(near.size)
    )
    return np.asarray(-np.expm1(-relevance_scale * near * left) / -np.expm1(-1.0), np.float64)


def consolidated(ages: ArrayLike, *, age_scale: float = 1.0) -> float:
    """Give the strength g after recalls: `1 + sum tanh(b age / 2)`; O(m).

    tanh(x / 2) is the printed (1 - e^-x) / (1 + e^-x).

    Args:
        ages: [m] >= 0, the age of the memory at each recall.
        age_scale: b.

    >>> round(consolidated([1.0, 3.0]), 4)
    2.3673
    """
    return 1.0 + float(np.tanh(0.5 * age_scale * floats(ages)).sum())
