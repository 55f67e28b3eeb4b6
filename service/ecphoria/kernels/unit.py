"""Unit vectors: what every index holds and every cue is compared with."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ecphoria.errors import BadVector

__all__ = ["unit_vector"]


def unit_vector(values: Sequence[float], dimension: int) -> NDArray[np.float32]:
    """Scale a caller's vector to length 1; O(dimension).

    Args:
        values: as many finite numbers as the store's model makes, not all 0.
        dimension: how many that is.

    Raises:
        BadVector: Wrong size, not finite, or zero.

    >>> unit_vector([3.0, 4.0], 2)
    array([0.6, 0.8], dtype=float32)
    """
    vector = np.asarray(values, dtype=np.float64)
    if vector.shape != (dimension,):
        raise BadVector(
            f"the vector has {vector.size} numbers; this store's model makes {dimension}",
            field="vector",
        )
    with np.errstate(over="ignore"):  # an infinite norm is refused below
        norm = float(np.linalg.norm(vector))
    if not np.isfinite(norm) or norm < 1e-12:
        raise BadVector(
            "the vector is zero or not finite; send the model's output", field="vector"
        )
    return (vector / norm).astype(np.float32)
