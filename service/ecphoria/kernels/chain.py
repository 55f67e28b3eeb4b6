"""How one memory fades: the two-compartment chain, retrievability and stability.

Source: NeuromemoryAI, memory chain (Murre) and forgetting curve (Ebbinghaus). The chain runs in
closed form, so ten steps of a day equal one of ten days; the paper's Euler step does not.
"""

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import FloatArray, floats, one_size

__all__ = ["decay", "grow", "refresh", "retrievability", "strength"]

CLOSE = 1e-6  # rates nearer than this share one formula: their difference would be rounding


def decay(
    working: ArrayLike,
    lasting: ArrayLike,
    days: ArrayLike,
    *,
    mu_working: float = 0.1,
    mu_lasting: float = 0.01,
    transfer: float = 0.05,
) -> tuple[FloatArray, FloatArray]:
    """Let time pass over both traces; the working one feeds the lasting one; O(n).

    ```
    r1(t) = r1 e^(-mu1 t)
    r2(t) = r2 e^(-mu2 t) + alpha r1 (e^(-mu2 t) - e^(-mu1 t)) / (mu1 - mu2)
    ```

    If both rates are equal, `r2(t) = (r2 + alpha r1 t) e^(-mu t)`.

    Args:
        working: r1 [n] >= 0.
        lasting: r2 [n] >= 0.
        days: [n], time passed; below 0 counts as 0.
        mu_working: mu1 per day, > 0.
        mu_lasting: mu2 per day, > 0.
        transfer: alpha per day, in [0, mu1), else a memory would grow by being left alone.

    >>> r1, r2 = decay([1.0], [0.0], [7.0])
    >>> r1.round(6), r2.round(6)
    (array([0.496585]), array([0.242116]))
    """
    if not (mu_working > 0.0 and mu_lasting > 0.0 and 0.0 <= transfer < mu_working):
        raise ValueError("rates must be above 0 and transfer must lie in [0, mu_working)")
    first, second = floats("working", working, low=0.0), floats("lasting", lasting, low=0.0)
    time = np.maximum(0.0, floats("days", days))
    one_size(working=first, lasting=second, days=time)
    gap = mu_working - mu_lasting
    kept = np.exp(-mu_lasting * time)
    even = abs(gap) <= CLOSE * mu_working
    moved = kept * (time if even else -np.expm1(-gap * time) / gap)
    return first * np.exp(-mu_working * time), second * kept + transfer * first * moved


def refresh(working: ArrayLike) -> FloatArray:
    """Bring the working trace half-way back to 1 on a use: `1 - (1 - r1) / 2`.

    >>> refresh([0.496585]).round(6)
    array([0.748292])
    """
    return 1.0 - 0.5 * (1.0 - floats("working", working, low=0.0, high=1.0))


def strength(working: ArrayLike, lasting: ArrayLike) -> FloatArray:
    """Add both traces: `min(1, r1 + r2)`.

    >>> strength([0.9, 0.1], [0.3, 0.2]).round(6)
    array([1. , 0.3])
    """
    first, second = floats("working", working, low=0.0), floats("lasting", lasting, low=0.0)
    one_size(working=first, lasting=second)
    return np.minimum(1.0, first + second)


def retrievability(age_days: ArrayLike, stability: ArrayLike) -> FloatArray:
    """Tell how well a memory can be called back: `exp(-age / S)`, in [0, 1]; O(n).

    Args:
        age_days: [n] since the last use; a future instant counts as now.
        stability: S [n] > 0, in days.

    >>> retrievability([1.0, 30.0], [1.0, 10.0]).round(6)
    array([0.367879, 0.049787])
    """
    age, span = floats("age_days", age_days), floats("stability", stability, low=0.0)
    one_size(age_days=age, stability=span)
    if (span <= 0.0).any():
        raise ValueError("stability must be above 0")
    return np.exp(-np.maximum(0.0, age) / span)


def grow(
    stability: ArrayLike,
    recalled: ArrayLike,
    *,
    growth: float = 1.5,
    most: float = 3650.0,
) -> FloatArray:
    """Make a used memory last longer, the more the closer it was to being lost; O(n).

    `S <- min(most, S (1 + beta_max (1 - R)))`: spaced use beats massed use.

    Args:
        stability: S [n] > 0, in days.
        recalled: R [n] in [0, 1], retrievability just before the use.
        growth: beta_max > 0; the paper's constant factor of .1 ignores spacing.
        most: days.

    >>> grow([1.0], retrievability([1.0], [1.0])).round(5)
    array([1.94818])
    """
    span = floats("stability", stability, low=0.0)
    ready = floats("recalled", recalled, low=0.0, high=1.0)
    one_size(stability=span, recalled=ready)
    if (span <= 0.0).any() or not (growth > 0.0 and most > 0.0):
        raise ValueError("stability, growth and most must be above 0")
    return np.minimum(most, span * (1.0 + growth * (1.0 - ready)))
