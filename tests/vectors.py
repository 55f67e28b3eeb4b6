"""Vectors as the store keeps them, for results that are computed a second time."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecphoria.maths.arrays import rounded, unit_vectors

__all__ = ["as_stored"]


def as_stored(vectors: ArrayLike) -> NDArray[np.float32]:
    """Round vectors, [n, d], to those that a read of the store gives."""
    return unit_vectors(rounded(vectors))
