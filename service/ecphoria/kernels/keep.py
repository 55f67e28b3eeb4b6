"""How much a memory is worth keeping awake.

Source: the specification of dormancy; retrievability and strength are NeuromemoryAI's, the prior
is SYNAPSE's.
"""

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import FloatArray, floats, one_size

__all__ = ["keep_value"]


def keep_value(
    retrievability: ArrayLike, strength: ArrayLike, prior: ArrayLike, importance: ArrayLike
) -> FloatArray:
    """Weigh what speaks for a memory: `.5 max(R, m) + .3 prior + .2 importance`; O(n).

    Args:
        retrievability: R [n] in [0, 1].
        strength: m [n] in [0, 1], both traces of the memory chain together.
        prior: [n] in [0, 1], rank by PageRank; 0 where there is none.
        importance: [n] in [0, 1], as the caller gave it.

    >>> keep_value([0.2], [0.5], [0.7], [0.4]).round(6)
    array([0.54])
    """
    given = {
        "retrievability": floats("retrievability", retrievability, low=0.0, high=1.0),
        "strength": floats("strength", strength, low=0.0, high=1.0),
        "prior": floats("prior", prior, low=0.0, high=1.0),
        "importance": floats("importance", importance, low=0.0, high=1.0),
    }
    one_size(**given)
    held = np.maximum(given["retrievability"], given["strength"])
    return 0.5 * held + 0.3 * given["prior"] + 0.2 * given["importance"]
