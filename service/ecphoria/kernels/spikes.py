"""SynapticRAG: memories stimulated at the same times belong together.

A memory's spike train is the list of turns at which it was stimulated, its append included. Two
trains are aligned in time; well-aligned trains let a stimulus pass. Source: SynapticRAG, equations
3 to 8. The paper maximises where its code minimises, and its score grows with the number of
spikes; here every alignment weighs the same (Sakoe and Chiba's symmetric steps).
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import FloatArray, IntArray, floats, one_size

__all__ = ["MOST_ASSOCIATION", "MOST_SPIKES", "association", "join", "transmission"]

MOST_SPIKES: Final = 16
"""Longest train that is kept: the latest spikes."""
MOST_ASSOCIATION: Final = float(np.tanh(0.5))
"""Association of identical trains, 0.462117."""


def association(one: ArrayLike, other: ArrayLike, tau: ArrayLike) -> FloatArray:
    """Align trains pair by pair by dynamic time warping; O(q MOST_SPIKES^2).

    ```
    W(i,j) = exp(-|t_i - t_j| / tau)
    L(i,j) = max(L(i-1,j) + W, L(i,j-1) + W, L(i-1,j-1) + 2 W),   L(1,1) = 2 W
    T      = tanh(L(n,m) / (2 (n + m)))                            in (0, tanh .5]
    ```

    Args:
        one: int [q, a], turns of the first train of each pair, padded behind with -1; a <= 16.
        other: int [q, b], turns of the second.
        tau: [q] > 0, mean time constant of the pair, in turns.

    Returns:
        T [q]; 0 where a train is empty.

    >>> association([[1, 5, 9]], [[2, 6, 20]], [43.07]).round(5)
    array([0.43655])
    """
    first, second, constant = _trains("one", one), _trains("other", other), floats("tau", tau)
    pairs = one_size(one=first, other=second, tau=constant)
    if (constant <= 0.0).any():
        raise ValueError("tau must be above 0")
    lengths = np.stack(((first >= 0).sum(axis=1), (second >= 0).sum(axis=1)))
    aligned = np.zeros((pairs, first.shape[1], second.shape[1]))
    for i in range(first.shape[1]):
        for j in range(second.shape[1]):
            weight = np.exp(-np.abs(first[:, i] - second[:, j]) / constant)
            aligned[:, i, j] = _best(aligned, weight, i, j)
    both = (lengths > 0).all(axis=0)
    last = np.maximum(lengths - 1, 0)
    reached = aligned[np.arange(pairs), last[0], last[1]] if aligned.size else np.zeros(pairs)
    cells = np.maximum(1, lengths.sum(axis=0))
    return np.where(both, np.tanh(reached / (2.0 * cells)), 0.0)


def transmission(cosine: ArrayLike, aligned: ArrayLike, *, floor: float = 0.5) -> FloatArray:
    """Tell what share of a stimulus passes: `cos+ (omega + (1 - omega) T / tanh .5)`; O(q).

    Args:
        cosine: [q] in [-1, 1]; below 0 nothing passes.
        aligned: T [q] in [0, tanh .5].
        floor: omega in [0, 1], what passes between memories far apart in time. In the paper T
            never falls below 1/2, the only reason why an old memory can fire; 0 is Eq. 6.

    >>> transmission([0.5, -0.2], [MOST_ASSOCIATION, 0.1])
    array([0.5, 0. ])
    """
    near = np.clip(floats("cosine", cosine, low=-1.0 - 1e-6, high=1.0 + 1e-6), 0.0, 1.0)
    time = floats("aligned", aligned, low=0.0, high=MOST_ASSOCIATION + 1e-12)
    one_size(cosine=near, aligned=time)
    if not 0.0 <= floor <= 1.0:
        raise ValueError("floor must lie in [0, 1]")
    return near * (floor + (1.0 - floor) * time / MOST_ASSOCIATION)


def join(
    turns: ArrayLike, strengths: ArrayLike, *, turn: int, strength: float
) -> tuple[IntArray, FloatArray]:
    """Add a spike to one train: one a turn, the larger strength wins, the latest 16 stay.

    Args:
        turns: int [s], ascending.
        strengths: [s] >= 0.
        turn: >= 0.
        strength: >= 0.

    >>> join([3, 7], [1.0, 0.2], turn=7, strength=0.5)
    (array([3, 7]), array([1. , 0.5]))
    """
    before, size = np.asarray(turns, dtype=np.int64), floats("strengths", strengths, low=0.0)
    one_size(turns=before, strengths=size)
    if turn < 0 or not strength >= 0.0 or (np.diff(before) <= 0).any():
        raise ValueError("turn and strength must not be negative, turns must ascend")
    place = int(np.searchsorted(before, turn))
    if place < before.size and before[place] == turn:
        size = size.copy()
        size[place] = max(size[place], strength)
    else:
        before, size = np.insert(before, place, turn), np.insert(size, place, strength)
    return before[-MOST_SPIKES:], size[-MOST_SPIKES:]


def _trains(name: str, values: ArrayLike) -> IntArray:
    trains = np.asarray(values)
    if trains.ndim != 2 or (trains.size and trains.dtype.kind not in "iu"):
        raise ValueError(f"{name} must hold whole numbers on 2 axes")
    if trains.shape[1] > MOST_SPIKES or (trains < -1).any():
        raise ValueError(f"{name} must have at most {MOST_SPIKES} turns, each 0 or later, or -1")
    told = trains >= 0
    if (told[:, 1:] & ~told[:, :-1]).any():
        raise ValueError(f"{name} must be padded behind")
    return np.ascontiguousarray(trains, dtype=np.int64)


def _best(aligned: FloatArray, weight: FloatArray, i: int, j: int) -> FloatArray:
    """Extend the best alignment into cell (i, j)."""
    if i == 0 and j == 0:
        return 2.0 * weight
    ways = []
    if i:
        ways.append(aligned[:, i - 1, j] + weight)
    if j:
        ways.append(aligned[:, i, j - 1] + weight)
    if i and j:
        ways.append(aligned[:, i - 1, j - 1] + 2.0 * weight)
    best: FloatArray = np.maximum.reduce(ways)
    return best
