"""The weight of what joins two nodes, and the ladder of totals that it is computed with.

Source: SYNAPSE's association edges.
"""

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import FloatArray, floats, one_size

__all__ = ["combined", "rung", "similarity"]

_STEP = 1.25


def similarity(cosine: ArrayLike, *, scale: float = 0.8) -> FloatArray:
    """Weigh nearness: `w_sim = 0.8 max(0, cos)`, in [0, 0.8].

    >>> similarity([0.9, -0.2]).round(2)
    array([0.72, 0.  ])
    """
    return scale * np.maximum(0.0, floats("cosine", cosine, low=-1.0 - 1e-6, high=1.0 + 1e-6))


def combined(similar: ArrayLike, lift: ArrayLike, learned: ArrayLike) -> FloatArray:
    """Join the parts of an association: `1 - (1 - w_sim)(1 - w_lift)(1 - w_learned)`.

    All [m] in [0, 1], and so is the result; a part of 0 changes nothing.

    >>> combined([0.576], [0.355556], [0.2]).round(6)
    array([0.781405])
    """
    parts = [
        floats(name, part, low=0.0, high=1.0)
        for name, part in (("similar", similar), ("lift", lift), ("learned", learned))
    ]
    one_size(similar=parts[0], lift=parts[1], learned=parts[2])
    return 1.0 - (1.0 - parts[0]) * (1.0 - parts[1]) * (1.0 - parts[2])


def rung(total: int) -> int:
    """Round a count down to a ladder with rungs a quarter apart: 1, 2, ..., 8, 10, 12, 15, ...

    What depends on a growing total changes only when it reaches the next rung, so renewing all
    of it then costs a constant for each item that was added.

    >>> [rung(total) for total in (0, 1, 9, 10, 100, 1000)]
    [0, 1, 8, 10, 97, 891]
    """
    if total < 1:
        return 0
    step = 1
    while (higher := max(step + 1, int(step * _STEP))) <= total:
        step = higher
    return step
