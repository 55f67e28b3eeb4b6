"""Types of arrays, their conversion for a kernel, and unit vectors.

A kernel trusts its caller: what arrays are made of is checked where it enters, as a request, a
setting or a model's answer.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecphoria.errors import BadVector

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]


_LEAST: Final = float(np.finfo(np.float32).tiny)  # divides zero without a warning


def floats(values: ArrayLike) -> FloatArray:
    """Convert to float64, C-contiguous; an array that is so already is not copied.

    >>> floats([0, 1])
    array([0., 1.])
    """
    return np.ascontiguousarray(values, dtype=np.float64)


def ints(values: ArrayLike) -> IntArray:
    """Convert to int64, C-contiguous."""
    return np.ascontiguousarray(values, dtype=np.int64)


def bools(values: ArrayLike) -> BoolArray:
    """Convert to bool, C-contiguous."""
    return np.ascontiguousarray(values, dtype=np.bool_)


def tally(index: IntArray, weight: FloatArray, *, size: int) -> FloatArray:
    """Add up weights by index, [size]; O(m), always in the given order.

    >>> tally(np.array([1, 1]), np.array([0.5, 2.0]), size=3)
    array([0. , 2.5, 0. ])
    """
    return np.bincount(index, weights=weight, minlength=size).astype(np.float64, copy=False)


def unit_vector(values: Sequence[float], dimension: int) -> NDArray[np.float32]:
    """Scale a caller's vector to length 1; `dimension` is that of the store's model.

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


def rounded(vectors: ArrayLike) -> NDArray[np.int8]:
    """Round vectors, [..., d], to a byte a number, each scaled so that its largest is 127.

    The unit vectors of the result round to the same bytes. Zero stays zero.

    >>> rounded([0.6, -0.8, 0.0])
    array([  95, -127,    0], dtype=int8)
    """
    numbers = np.asarray(vectors, np.float32)
    largest = np.maximum(np.abs(numbers).max(axis=-1, keepdims=True), _LEAST)
    made: NDArray[np.int8] = np.rint(numbers * (127 / largest)).astype(np.int8)
    return made


def unit_vectors(rows: NDArray[np.int8]) -> NDArray[np.float32]:
    """Scale rounded vectors, [..., d], to length 1; zero stays zero.

    >>> unit_vectors(np.array([[3, 4], [0, -127]], np.int8))
    array([[ 0.6,  0.8],
           [ 0. , -1. ]], dtype=float32)
    """
    vectors = rows.astype(np.float32)
    lengths = np.sqrt(np.einsum("...i,...i->...", vectors, vectors))
    vectors /= np.maximum(lengths, _LEAST)[..., np.newaxis]
    return vectors
