"""Which memories are replayed: shares of ages, and within an age what asks to be looked at.

Source: interleaved replay of CLS-M, with the shares of NeuromemoryAI 3.4. CLS-M names four terms
of the priority; their mean is ours.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import FloatArray, floats, one_size

__all__ = ["priority", "quotas"]

SHARES = (0.5, 0.3, 0.2)
"""Of the recent, of those of middle age, of the old."""


def quotas(
    count: int, available: Sequence[int], *, shares: Sequence[float] = SHARES
) -> tuple[int, ...]:
    """Divide a number by shares, the largest remainders rounded up; O(k log k).

    What a class cannot fill goes to the others in their order. So the sum is the smaller of
    `count` and all that is available. Ties between remainders go to the earlier class.

    Args:
        count: how many in all, at least 0.
        available: [k], how many each class has.
        shares: [k], at least 0, with the sum 1.

    >>> [quotas(count, (99, 99, 99)) for count in (64, 10, 7)]
    [(32, 19, 13), (5, 3, 2), (4, 2, 1)]
    >>> quotas(10, (1, 99, 1)), quotas(10, (2, 2, 99)), quotas(10, (1, 2, 3))
    ((1, 8, 1), (2, 2, 6), (1, 2, 3))
    """
    if count < 0 or any(one < 0 for one in available):
        raise ValueError("count and available must not be negative")
    part = floats("shares", shares, low=0.0, high=1.0)
    if len(part) != len(available) or abs(part.sum() - 1.0) > 1e-9:
        raise ValueError("shares must be as many as the classes, with the sum 1")
    exact = np.round(part * count, 9)
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
    """Average what asks for a replay: `(salience + novelty + own + question) / 4`; O(n).

    Args:
        salience: [n] in [0, 1].
        novelty: [n] in [0, 1], 1 - the largest cosine to an older memory.
        own: [n] in [0, 1], whether the speaker speaks of themselves.
        question: [n] in [0, 1], whether it asks something.

    >>> priority([0.5, 1.0], [0.3, 1.0], [1, 1], [0, 1])
    array([0.45, 1.  ])
    """
    given = {
        "salience": floats("salience", salience, low=0.0, high=1.0),
        "novelty": floats("novelty", novelty, low=0.0, high=1.0),
        "own": floats("own", own, low=0.0, high=1.0),
        "question": floats("question", question, low=0.0, high=1.0),
    }
    one_size(**given)
    return np.asarray(np.mean(np.stack(list(given.values())), axis=0), dtype=np.float64)
