"""BM25 over a candidate pool, spread over NEXT, and the prior of length."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.maths.arrays import FloatArray, IntArray, floats, ints

# Words spread at query time: two further indexed texts with windows of turns ranked no better, and
# would be written again for up to four turns at each append (decision 0011).
BACK: Final = (0.7, 0.4, 0.2)
"""Weights of a stem 1, 2 and 3 turns before."""
FORTH: Final = (0.4, 0.2)
"""Weights of a stem 1 and 2 turns after."""
REACH_BACK: Final = len(BACK)
REACH_AHEAD: Final = len(FORTH)
CONTEXT_BACK: Final = 0.6
"""Share of the turn before in a turn's context vector."""
CONTEXT_FORTH: Final = 0.3
"""Share of the turn after in a turn's context vector."""


def idf(df: ArrayLike, n: int) -> FloatArray:
    """Weigh stems by rarity: `ln(1 + (n - df + .5) / (df + .5))`, always above 0; O(q).

    df [q] of the n items have the stem.

    >>> idf([1, 3], 3).round(6)
    array([0.980829, 0.133531])
    """
    found = floats(df)
    return np.log1p((n - found + 0.5) / (found + 0.5))


def bm25(
    tf: ArrayLike,
    *,
    qtf: ArrayLike,
    idf: ArrayLike,
    length: ArrayLike,
    mean_length: float,
    k1: float = 0.6,
    b: float = 0.3,
) -> FloatArray:
    """Score items against query stems, each stem saturating on its own; O(n q).

    `score_i = sum_c qtf_c idf_c tf_ic (k1 + 1) / (tf_ic + k1 (1 - b + b length_i / mean_length))`
    (Robertson; Lucene's idf). The columns of `tf` may be spread first (`spread_next`); then the
    activation of each stem saturates.

    Args:
        tf: [n, q] count or activation of each query stem in each item, >= 0.
        qtf: [q] count in the query.
        idf: [q] rarity.
        length: [n] sum of tf over all stems of the item, >= 0.
        mean_length: mean of `length` over the whole store, > 0 unless all lengths are 0.
        k1: saturation, > 0.
        b: length normalisation, in [0, 1].

    >>> bm25([[1.0], [0.0]], qtf=[1], idf=[2.0], length=[4, 4], mean_length=4)
    array([2., 0.])
    """
    count, size = floats(tf), floats(length)
    relative = size / mean_length if mean_length else size
    damping = k1 * (1.0 - b + b * relative)
    level = count + damping[:, None]
    # b = 1 and an item of length 0 leave 0/0: an item without stems matches nothing.
    saturated = np.divide(count * (k1 + 1.0), level, out=np.zeros_like(count), where=level > 0.0)
    return saturated @ (floats(qtf) * floats(idf))


def spread_next(tf: ArrayLike, *, previous: ArrayLike, following: ArrayLike) -> FloatArray:
    """Spread stems along NEXT, so that words of turns before and after also count.

    `A(i) = tf(i) + .7 tf(i-1) + .4 tf(i-2) + .2 tf(i-3) + .4 tf(i+1) + .2 tf(i+2)` along the
    neighbour indices, so a chain that ends (a Session's bound, a document) spreads no further.

    Args:
        tf: [n, q] (or [n]) counts, >= 0.
        previous: int [n], index of the turn before, -1 for none.
        following: int [n], index of the turn after, -1 for none.

    Returns:
        A, of tf's shape; O(n q).

    >>> chain = {"previous": [-1, 0, 1, 2, 3], "following": [1, 2, 3, 4, -1]}
    >>> spread_next([1, 0, 0, 0, 0], **chain)
    array([1. , 0.7, 0.4, 0.2, 0. ])
    """
    count = floats(tf)
    # Row n stands for "none": index -1 finds it, and it holds nothing.
    padded = np.concatenate((count, np.zeros_like(count[:1]) if len(count) else count), axis=0)
    result = count.copy()
    for step, shares in ((ints(previous), BACK), (ints(following), FORTH)):
        at = step
        hop = np.append(step, -1)
        for share in shares:
            result += share * padded[at]
            at = hop[at]
    return result


def context_norms(vectors: ArrayLike, *, joined: ArrayLike) -> FloatArray:
    """Measure each turn's context vector `e_i + .6 e_{i-1} + .3 e_{i+1}`, [n]; O(n d).

    This number makes the cosine with the smoothed vector out of the turns' own cosines
    (`context_similarity`).

    Args:
        vectors: [n, d] unit vectors.
        joined: bool [n - 1], whether the turn of a row is followed by that of the next row.

    >>> context_norms([[1.0, 0.0], [1.0, 0.0]], joined=[True])
    array([1.3, 1.6])
    """
    own = np.ascontiguousarray(vectors)
    follows = np.asarray(joined, dtype=np.bool_)
    # The square is made out of products of rows: copies of the neighbours' vectors take longer.
    near = np.where(follows, np.einsum("ij,ij->i", own[1:], own[:-1]), 0.0)
    far = np.where(follows[1:] & follows[:-1], np.einsum("ij,ij->i", own[2:], own[:-2]), 0.0)
    size = np.einsum("ij,ij->i", own, own).astype(np.float64)
    square = size.copy()
    square[1:] += np.where(follows, CONTEXT_BACK**2 * size[:-1], 0.0) + 2 * CONTEXT_BACK * near
    square[:-1] += np.where(follows, CONTEXT_FORTH**2 * size[1:], 0.0) + 2 * CONTEXT_FORTH * near
    square[1:-1] += 2 * CONTEXT_BACK * CONTEXT_FORTH * far
    # Neighbours may cancel each other out; rounding may leave a little less than 0.
    norms: FloatArray = np.sqrt(np.maximum(square, 0.0))
    return norms


def context_similarity(
    similarity: ArrayLike, *, norm: ArrayLike, previous: ArrayLike, following: ArrayLike
) -> FloatArray:
    """Find the cosine of the query with each context vector, [n]; O(n).

    `ctx_i = (d_i + .6 d_{i-1} + .3 d_{i+1}) / norm_i`; 0 where the norm is 0.

    Args:
        similarity: [n] cosine d of each item with the query; a neighbour must be among the items.
        norm: [n] from `context_norms`; 1 for an item without neighbours.
        previous: int [n], -1 for none.
        following: int [n], -1 for none.

    >>> pair = {"previous": [-1, 0], "following": [1, -1]}
    >>> context_similarity([0.5, 0.5], norm=[1.3, 1.6], **pair)
    array([0.5, 0.5])
    """
    own, scale = floats(similarity), floats(norm)
    padded = np.append(own, 0.0)
    total = own + CONTEXT_BACK * padded[ints(previous)] + CONTEXT_FORTH * padded[ints(following)]
    return np.divide(total, scale, out=np.zeros_like(total), where=scale > 0.0)


# A long reply lent all its words to the short messages around it; this cost 6 points of R@10 on
# chats with an assistant (decision 0029).
LENT_WHOLE: Final = 10.0
"""Stems up to which a turn lends its words whole."""
LENT_HALF: Final = 40.0
"""Stems at which a turn lends half of its words' weight."""
# The prior of length falls above this; the former prior cost 4 points of R@10 on chats with an
# assistant (decision 0029).
TELLING: Final = 30.0
"""Stems of the turns that tell most."""
# Chosen together with `B_LENGTH` on chats and conversations; no constant depends on the data set
# (decision 0029).
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
    size = floats(length)
    relative = size / mean_length if mean_length > 0.0 else np.ones_like(size)
    divisor = 1.0 - b + b * relative
    # b = 1 and a text without stems would divide nothing by nothing.
    return floats(tf) / np.where(divisor > 0.0, divisor, 1.0)[:, None]


def lending_share(length: ArrayLike) -> FloatArray:
    """Say how much of its words a turn lends to the turns around it, [n] in (0, 1].

    `min(1, 30 / (20 + length))`: a short turn is about one thing and lends its words whole; a
    reply of a thousand words is about many, and its words say little about its neighbours.
    Measured on talk between people and on chats with an assistant: 20 to 80 in place of 30
    change neither by more than a point. The length [n] is in stems.

    >>> lending_share([10, 40, 580]).round(2)
    array([1.  , 0.5 , 0.05])
    """
    size = floats(length)
    reach = LENT_HALF - LENT_WHOLE
    return np.minimum(1.0, reach / (size + reach - LENT_WHOLE))


def length_weight(length: ArrayLike) -> FloatArray:
    """Say how telling a turn's length is, [n] in [0, 1], most at 30 stems; O(n).

    `min(1, ln(1 + length) / ln 30) * min(1, 30 / length)`: a few words say little, and a long
    reply says little about any one thing. Measured with 30 to 60. The length [n] is in stems.

    >>> length_weight([0, 5, 30, 300]).round(2)
    array([0.  , 0.53, 1.  , 0.1 ])
    """
    size = floats(length)
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
    level = floats(frequency)
    return (level * (k1 + 1.0) / (level + k1)) @ floats(weight)


def share_held(counts: ArrayLike, weight: ArrayLike) -> FloatArray:
    """Share of a query's stems that each item has, by weight, [n] in [0, 1]; O(n q).

    Args:
        counts: [n, q] how often each item has each stem.
        weight: [q] >= 0; if all are 0, the shares are 0.

    >>> share_held([[2.0, 0.0], [1.0, 1.0], [0.0, 0.0]], [3.0, 1.0])
    array([0.75, 1.  , 0.  ])
    """
    held, each = floats(counts) > 0.0, floats(weight)
    total = float(each.sum())
    return held @ (each / total) if total > 0.0 else np.zeros(len(held))


_MANY = 100
"""Number of stems of a cue from which reading every word once is faster than one search a stem."""

_BETWEEN = " \n "
"""Separator of texts that are searched together; no stem has a line break."""


_SEARCHES = 100
"""Number of searches for a stem that take as long as finding the names of a text."""


def count_stems(terms: Sequence[str], stems: Sequence[str]) -> FloatArray:
    """Count stems in texts, which are stems joined by blanks, [n, q]."""
    if len(stems) > _MANY:
        return _count_all(terms, stems)
    counts = np.zeros((len(terms), len(stems)))
    # One search through all texts is several times faster than one search a text.
    everything = f" {_BETWEEN.join(terms)} "
    starts = np.cumsum([0, *(len(joined) + len(_BETWEEN) for joined in terms)])
    for column, stem in enumerate(stems):
        rows = np.searchsorted(starts, _find_all(everything, f" {stem} "), side="right") - 1
        counts[:, column] = np.bincount(rows, minlength=len(terms))
    return counts


def count_terms(
    terms: Sequence[str], stems: Sequence[str], also: Mapping[str, Sequence[str]]
) -> FloatArray:
    """Count stems, [n, q], or that of the terms that stand for them which is most frequent.

    The stems of a text's own language join more forms of a word than Porter's, so they are
    counted at least as often (decision 0051).
    """
    counts = count_stems(terms, stems)
    others = sorted({other for stem in stems for other in also.get(stem, ())})
    if others:
        found = dict(zip(others, count_stems(terms, others).T, strict=True))
        for column, stem in enumerate(stems):
            for other in also.get(stem, ()):
                np.maximum(counts[:, column], found[other], out=counts[:, column])
    return counts


def counting_work(terms: Iterable[str], stems: Sequence[str]) -> int:
    """Estimate the work of `count_stems`, in the characters that `run_off_loop` expects."""
    return sum(map(len, terms)) * len(stems) // _SEARCHES


def _count_all(terms: Sequence[str], stems: Sequence[str]) -> FloatArray:
    """Count in one pass over each text, for any number of stems."""
    counts = np.zeros((len(terms), len(stems)))
    place = {stem: column for column, stem in enumerate(stems)}
    for row, joined in enumerate(terms):
        for stem, count in Counter(joined.split()).items():
            if stem in place:
                counts[row, place[stem]] = count
    return counts


def _find_all(text: str, sought: str) -> IntArray:
    """Find every place of `" stem "`; neighbours share the blank between them."""
    places = []
    at = text.find(sought)
    while at >= 0:
        places.append(at)
        at = text.find(sought, at + len(sought) - 1)
    return np.array(places, dtype=np.int64)
