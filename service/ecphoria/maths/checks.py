"""Checks of arrays, and unit vectors.

Every check returns a C-contiguous array of the kernel's own type, or raises `ValueError`.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecphoria.errors import BadVector

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]


def floats(
    name: str,
    values: ArrayLike,
    *,
    ndim: int = 1,
    low: float = -np.inf,
    high: float = np.inf,
    single: bool = False,
) -> FloatArray:
    """Accept finite numbers in [low, high] with `ndim` axes, else raise ValueError.

    With `single`, numbers of single precision stay so: stored vectors take a fifth of the time.

    >>> floats("weight", [0, 1], low=0, high=1)
    array([0., 1.])
    """
    kept = single and np.asarray(values).dtype == np.float32
    array: FloatArray = np.ascontiguousarray(values, dtype=np.float32 if kept else np.float64)
    if array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} axes, not {array.ndim}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite")
    if array.size and (array.min() < low or array.max() > high):
        raise ValueError(f"{name} must lie in [{low:g}, {high:g}]")
    return array


def indices(name: str, values: ArrayLike, *, size: int, low: int = 0) -> IntArray:
    """Accept whole numbers in [low, size), else raise ValueError; low = -1 lets -1 say "none".

    >>> indices("previous", [-1, 0], size=2, low=-1)
    array([-1,  0])
    """
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold whole numbers")
    if array.ndim != 1:
        raise ValueError(f"{name} must have 1 axis, not {array.ndim}")
    if array.size and (array.min() < low or array.max() >= size):
        raise ValueError(f"{name} must lie in [{low}, {size})")
    return np.ascontiguousarray(array, dtype=np.int64)


def bools(name: str, values: ArrayLike) -> BoolArray:
    """Accept a vector of truth values, else raise ValueError.

    >>> bools("question", [True, False])
    array([ True, False])
    """
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind != "b"):
        raise ValueError(f"{name} must be a vector of booleans")
    return np.ascontiguousarray(array, dtype=np.bool_)


def ordered(name: str, values: ArrayLike) -> IntArray:
    """Accept any vector of whole numbers (an order key), else raise ValueError.

    >>> ordered("order", [7, -3])
    array([ 7, -3])
    """
    limit = np.iinfo(np.int64)
    return indices(name, values, size=limit.max, low=limit.min)


def check_same_length(**arrays: FloatArray | IntArray | BoolArray) -> int:
    """Return the length all arrays share along their first axis, else raise ValueError.

    >>> check_same_length(tail=np.zeros(3), head=np.zeros(3))
    3
    """
    sizes = {name: array.shape[0] for name, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"these must have one length: {sizes}")
    return next(iter(sizes.values()), 0)


def tally(index: IntArray, weight: FloatArray, *, size: int) -> FloatArray:
    """Add up weights by index, [size]; O(m), always in the given order.

    >>> tally(np.array([1, 1]), np.array([0.5, 2.0]), size=3)
    array([0. , 2.5, 0. ])
    """
    return np.bincount(index, weights=weight, minlength=size).astype(np.float64, copy=False)


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
