"""How the length of a text weighs: its own words, what it lends and what it tells."""

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import FloatArray, floats

__all__ = [
    "B_LENGTH",
    "K1",
    "LENT_HALF",
    "LENT_WHOLE",
    "TELLING",
    "lending_share",
    "length_weight",
    "relative_frequency",
    "saturate",
]

LENT_WHOLE: Final = 10.0
"""Stems up to which a turn lends its words whole."""
LENT_HALF: Final = 40.0
"""Stems at which a turn lends half of its words' weight."""
TELLING: Final = 30.0
"""Stems of the turns that tell most."""
K1: Final = 0.9
"""Saturation of words that spread over NEXT."""
B_LENGTH: Final = 0.3
"""Length normalisation of words that spread over NEXT."""


def relative_frequency(
    tf: ArrayLike, *, length: ArrayLike, mean_length: float, b: float = B_LENGTH
) -> FloatArray:
    """Divide counts by how long the text is: `tf / (1 - b + b length / mean_length)`; O(n q).

    This is BM25F's way: each text is normalised by its own length before texts are added up, so
    that a long neighbour does not outweigh the turn itself. Source: Robertson, Zaragoza and
    Taylor 2004.

    Args:
        tf: [n, q] count of each query stem in each text, >= 0.
        length: [n] stems of the text, whole numbers (a fraction near 0 may overflow).
        mean_length: over the whole store; 0 only if all lengths are 0.
        b: in [0, 1].

    >>> relative_frequency([[2.0], [2.0]], length=[10, 30], mean_length=10, b=0.5)
    array([[2.],
           [1.]])
    """
    count = floats("tf", tf, ndim=2, low=0.0)
    size = floats("length", length, low=0.0)
    if count.shape[0] != size.size or not 0.0 <= b <= 1.0:
        raise ValueError("tf must have a row for each length and b lie in [0, 1]")
    relative = size / mean_length if mean_length > 0.0 else np.ones_like(size)
    divisor = 1.0 - b + b * relative
    # b = 1 and a text without stems would divide nothing by nothing.
    return count / np.where(divisor > 0.0, divisor, 1.0)[:, None]


def lending_share(length: ArrayLike) -> FloatArray:
    """Say how much of its words a turn lends to the turns around it, [n] in (0, 1].

    `min(1, 30 / (20 + length))`: a short turn is about one thing and lends its words whole; a
    reply of a thousand words is about many, and its words say little about its neighbours.
    Measured on talk between people and on chats with an assistant: 20 to 80 in place of 30
    change neither by more than a point.

    Args:
        length: [n] stems of the turn, >= 0.

    >>> lending_share([10, 40, 580]).round(2)
    array([1.  , 0.5 , 0.05])
    """
    size = floats("length", length, low=0.0)
    reach = LENT_HALF - LENT_WHOLE
    return np.minimum(1.0, reach / (size + reach - LENT_WHOLE))


def length_weight(length: ArrayLike) -> FloatArray:
    """Say how telling a turn's length is, [n] in [0, 1], most at 30 stems; O(n).

    `min(1, ln(1 + length) / ln 30) * min(1, 30 / length)`: a few words say little, and a long
    reply says little about any one thing. Measured with 30 to 60.

    Args:
        length: [n] stems of the turn, >= 0.

    >>> length_weight([0, 5, 30, 300]).round(2)
    array([0.  , 0.53, 1.  , 0.1 ])
    """
    size = floats("length", length, low=0.0)
    rise = np.minimum(1.0, np.log1p(size) / math.log(TELLING))
    return rise * np.minimum(1.0, TELLING / np.maximum(size, 1.0))


def saturate(frequency: ArrayLike, *, weight: ArrayLike, k1: float = K1) -> FloatArray:
    """Add up saturated frequencies: `sum_c weight_c f_c (k1 + 1) / (f_c + k1)`, [n]; O(n q).

    Args:
        frequency: f [n, q], relative frequency or activation of each stem, >= 0.
        weight: [q] rarity times count in the query.
        k1: > 0.

    >>> saturate([[0.0], [1.0], [1e9]], weight=[2.0]).round(3)
    array([0. , 2. , 3.8])
    """
    level = floats("frequency", frequency, ndim=2, low=0.0)
    rarity = floats("weight", weight, low=0.0)
    if level.shape[1] != rarity.size or not k1 > 0.0:
        raise ValueError("frequency must have a column for each weight, k1 be above 0")
    return (level * (k1 + 1.0) / (level + k1)) @ rarity
