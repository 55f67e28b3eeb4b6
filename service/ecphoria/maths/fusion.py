"""Scale, fuse, rank and compare scores.

Source of the weights: a listwise logistic fit on development questions, then a check on twelve
kinds of data (decision 0047). Parts always add up to the score to 1e-9.

All measures are symmetric, take each thing at most once in a ranking, and cost O(n).
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.maths.arrays import BoolArray, FloatArray, IntArray, floats, ints

PARTS: Final = ("lex", "sem", "ctx", "spk", "len", "isq", "texp", "date")
"""Names of the columns of `recipe_score`'s parts."""


_UNIT: Final = 4.0
"""Standard deviations above the median that count 1; the best of many candidates usually stands
there."""
_MANY: Final = 200
"""Candidates from which on a store ranks as the large ones for which the weights were fitted."""
_MOST: Final = 3.0
"""Largest scaled value, so that one rare word cannot outweigh everything else without limit."""
_LEAST: Final = 0.25
"""Share of their weight that words always keep."""
_WORDED: Final = 0.5
"""Share of `ctx` that is words in a document of prose whose words count whole (decision 0093)."""
_UNREAD: Final = 0.4
"""Share of its weight that meaning has where the encoder does not read the query."""
_FEW: Final = 16
"""Number of values below which their spread says nothing: the largest z-score of n values is
`(n - 1) / sqrt(n)`, which reaches 4 at 18."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The scale of a signal: `(x - low) / (high - low)`, held between 0 and `most`."""

    low: float = 0.0
    high: float = 0.0
    most: float = 1.0

    @classmethod
    def of(cls, values: FloatArray) -> "Bounds":
        """Measure from the least to the largest value; no values give 0 to 0."""
        if not values.size:
            return cls()
        return cls(low=float(values.min()), high=float(values.max()))

    @classmethod
    def of_spread(cls, values: FloatArray) -> "Bounds":
        """Measure from the median to four standard deviations above it, fewer among few values.

        A signal in which many candidates are about equal then counts little, and one in which a
        few stand out counts much; the scale by range makes both look the same. The best of few
        candidates stands out less than the best of many, so in a young store the unit is smaller
        (decision 0107). Fewer than 16 values are scaled by their range.
        """
        if values.size < _FEW:
            return cls.of(values)
        unit = _UNIT * min(1.0, expected_largest(values.size) / expected_largest(_MANY))
        middle = float(np.median(values))
        return cls(low=middle, high=middle + unit * float(values.std()), most=_MOST)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBounds:
    """Bounds of the three signals without a natural scale."""

    lex: Bounds
    sem: Bounds
    ctx: Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class TextWeights:
    """Say how much each signal counts; a document has only the first three.

    `worded` is the share of `ctx` that is words in a document of prose.
    """

    lex: float = 0.25
    sem: float = 0.18
    ctx: float = 0.16
    spk: float = 0.22
    len: float = 0.05
    isq: float = -0.05
    texp: float = 0.12
    date: float = 0.20
    worded: float = 0.0

    def vector(self) -> FloatArray:
        """List the weights of the parts in the order of `PARTS`.

        >>> TextWeights().vector()[:3]
        array([0.25, 0.18, 0.16])
        """
        return np.array([getattr(self, name) for name in PARTS], dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TextSignals:
    """Hold one query's raw evidence, each [n].

    Attributes:
        lex: BM25 over spread stems; of a document, plain BM25.
        sem: cosine; of a text with passages, the mean of its own and its passages'.
        ctx: cosine with the smoothed vector; of a document, `sem`.
        spk: 1 where the one person whom the query is about speaks.
        len: length signal in [0, 1].
        isq: 1 where the text is a question to a peer.
        texp: 1 where the text names a time and the query asks for one.
        date: closeness to a date in the query, in [0, 1].
        prose: True for a document where the documents are prose; None: all are turns.
    """

    lex: FloatArray
    sem: FloatArray
    ctx: FloatArray
    spk: FloatArray
    len: FloatArray
    isq: FloatArray
    texp: FloatArray
    date: FloatArray
    prose: BoolArray | None = None


def expected_largest(count: int) -> float:
    """Give the expected largest of `count` >= 2 values of a standard normal distribution.

    Blom's approximation (Statistical Estimates and Transformed Beta-Variables, 1958).

    >>> round(expected_largest(16), 2), round(expected_largest(200), 2)
    (1.77, 2.73)
    """
    return NormalDist().inv_cdf((count - 0.375) / (count + 0.25))


def share_of_largest(x: ArrayLike) -> FloatArray:
    """Divide by the largest value, [n] in [0, 1]; a value below 0 counts as 0; O(n).

    >>> share_of_largest([1, 3, 4])
    array([0.25, 0.75, 1.  ])
    """
    values = floats(x)
    largest = float(values.max(initial=0.0))
    return np.clip(values / largest, 0.0, 1.0) if largest > 0.0 else np.zeros_like(values)


def bounds_of(
    signals: TextSignals,
    among: BoolArray | None = None,
    *,
    measure: Callable[[FloatArray], Bounds] = Bounds.of_spread,
) -> TextBounds:
    """Measure the bounds over the candidates proper.

    Items that spreading adds later are scaled by the bounds of those that were there before.
    `among` [n] flags the items that count; None for all. `measure` measures one signal.
    """
    rows = slice(None) if among is None else among
    return TextBounds(
        lex=measure(signals.lex[rows]),
        sem=measure(signals.sem[rows]),
        ctx=measure(signals.ctx[rows]),
    )


def adapted(
    weights: TextWeights, signals: TextSignals, among: BoolArray, *, covered: float, unread: bool
) -> TextWeights:
    """Weigh words and meaning by what they are worth for this query; O(n).

    Words count by `max(g, c^2)`, .25 at least and 1 at most. g is the skewness over the
    candidates: 1 or more where few stand out, 0 where as many stand above the middle as below it.
    c is the share of the query that one candidate has in its own words. Where many candidates have
    the same words and none has nearly all of them, these do not tell the answer. A document has no
    neighbours, so its `ctx` is its cosine once more; in prose half of it is words, as far as they
    count. Of a query that the encoder does not read, words keep their weight, and meaning has .4
    of its own. The skewness of fewer than 16 candidates says nothing.

    Args:
        weights: As measured over all kinds of data.
        signals: [n] each.
        among: [n], True for a candidate.
        covered: c, by the rarity of the words, 0 to 1.
        unread: Whether the query is in a language that the encoder does not read.
    """
    if unread:
        return replace(weights, sem=_UNREAD * weights.sem, ctx=_UNREAD * weights.ctx)
    words = signals.lex[among]
    if words.size < _FEW:
        return weights
    tell = min(1.0, max(_LEAST, skewness(words), covered**2))
    return replace(weights, lex=weights.lex * tell, worded=_WORDED * tell)


def skewness(x: ArrayLike) -> float:
    """Third moment over the third power of the standard deviation; 0 if all are equal; O(n).

    `mean((x - mean)^3) / s^3` (Fisher). Above 0 a few values stand far above the rest.

    >>> round(skewness([0, 0, 0, 0, 1]), 2), skewness([1, 2, 3]), skewness([5, 5])
    (1.5, 0.0, 0.0)
    """
    values = floats(x)
    if values.size < 2 or not values.max() > values.min():
        return 0.0
    # Divided by the range first, so that no power leaves the range of floats.
    off = (values - values.mean()) / (values.max() - values.min())
    return float((off**3).mean() / (off**2).mean() ** 1.5)


def recipe_score(
    signals: TextSignals, *, weights: TextWeights | None = None, bounds: TextBounds | None = None
) -> FloatArray:
    """Score how well each item's text and circumstances match the query; O(n).

    `.25 n(lex) + .18 n(sem) + .16 n(ctx) + .22 spk + .05 len - .05 isq + .12 texp + .20 date`,
    n = (x - median) / (4 standard deviations) over the candidates, in [0, 3]; with fewer than 200
    the unit is smaller (`Bounds.of_spread`), with fewer than 16 it is the range. For documents
    this is `.25 n(BM25) + .34 n(cosine)`.

    Args:
        signals: [n] each.
        weights: None for the measured ones.
        bounds: None to measure them on these items.

    Returns:
        The parts [n, 8] of the score, in the order of `PARTS`.

    >>> one = np.ones(2)
    >>> no = np.zeros(2)
    >>> raw = np.array([0.0, 4.0])
    >>> tell = TextSignals(
    ...     lex=raw, sem=raw, ctx=raw, spk=one, len=no, isq=one, texp=no, date=no
    ... )
    >>> recipe_score(tell).sum(axis=1).round(2)
    array([0.17, 0.76])
    """
    parts = floats(np.stack([getattr(signals, name) for name in PARTS], axis=1))
    scale = bounds_of(signals) if bounds is None else bounds
    for name, bound in (("lex", scale.lex), ("sem", scale.sem), ("ctx", scale.ctx)):
        place = PARTS.index(name)
        parts[:, place] = _scaled(parts[:, place], bound)
    weights = TextWeights() if weights is None else weights
    if signals.prose is not None:
        lex, ctx = parts[:, PARTS.index("lex")], parts[:, PARTS.index("ctx")]
        ctx += weights.worded * signals.prose * (lex - ctx)
    parts *= weights.vector()
    return parts


def _scaled(values: FloatArray, bound: Bounds) -> FloatArray:
    """Scale between bounds; where they are equal, what reaches a bound above 0 counts whole.

    Without that the only memory of a store would score 0.
    """
    span = bound.high - bound.low
    if span > 0.0:
        return np.clip((values - bound.low) / span, 0.0, bound.most)
    return (values >= bound.high).astype(np.float64) if bound.high > 0.0 else np.zeros_like(values)


def fusion(
    bm25: ArrayLike,
    cosine: ArrayLike,
    *,
    lexical: float = 0.5,
    bounds: tuple[Bounds, Bounds] | None = None,
) -> FloatArray:
    """Weigh two min-max scales, [n, 2]: their sum is the bar every mechanism has to beat; O(n).

    Args:
        bm25: [n].
        cosine: [n].
        lexical: weight of bm25, in [0, 1]; the cosine has the rest.
        bounds: of bm25 and cosine; None to measure them on these items.

    >>> fusion([0, 2, 1], [0.1, 0.2, 0.3]).sum(axis=1)
    array([0.  , 0.75, 0.75])
    """
    words, meaning = floats(bm25), floats(cosine)
    scale = (Bounds.of(words), Bounds.of(meaning)) if bounds is None else bounds
    return np.stack(
        (lexical * _scaled(words, scale[0]), (1.0 - lexical) * _scaled(meaning, scale[1])), axis=1
    )


DECIMALS = 12  # sums that differ less than this differ by the order of adding


def rank(parts: ArrayLike, order: ArrayLike, k: int) -> IntArray:
    """Find the best k rows by the sum of parts, best first; ties by the order key; O(n log n).

    Scores equal to 12 decimals tie, so adding the same parts in another order changes nothing.
    Rows with equal score and equal key stay as given: make the key distinct.

    Args:
        parts: [n, p], the terms of each score.
        order: int [n], smaller comes first (say, the place by occurred_at descending, then id).
        k: how many, >= 0.

    >>> rank([[0.2, 0.3], [0.9, 0.0], [0.5, 0.0]], [2, 1, 0], 3)
    array([1, 2, 0])
    """
    score = np.round(floats(parts).sum(axis=1), DECIMALS)
    return np.lexsort((ints(order), -score))[:k]


_PRIOR_DECIMALS = 11
"""Values that differ less than this differ by the order of adding."""


def midrank(values: ArrayLike) -> FloatArray:
    """Scale values to 0..1 by their rank, ties sharing the middle of theirs; O(n log n).

    `r = (midrank - 1) / (n - 1)` with ranks from 1, the least first; one value alone gets 0.
    Values are compared to 11 decimals.

    >>> midrank([0.2, 0.1, 0.4, 0.2])
    array([0.5, 0. , 1. , 0.5])
    """
    given = np.round(floats(values), _PRIOR_DECIMALS)
    if given.size < 2:
        return np.zeros_like(given)
    _, place, count = np.unique(given, return_inverse=True, return_counts=True)
    last = np.cumsum(count).astype(np.float64)
    middle: FloatArray = (last - 0.5 * (count - 1) - 1.0) / (given.size - 1)
    return middle[place]


Ranking = Sequence[Hashable]


def overlap(one: Ranking, other: Ranking) -> float:
    """Share of the longer ranking that the other holds too, 0 to 1; two empty ones agree.

    `|A & B| / max(|A|, |B|)`; with both cut at k and both full this is overlap at k.

    >>> overlap("abcd", "bcxy")
    0.5
    """
    longest = max(len(one), len(other))
    return len(set(one) & set(other)) / longest if longest else 1.0


def same_first(one: Ranking, other: Ranking) -> bool:
    """Tell whether both begin with the same item, or both are empty."""
    return list(one[:1]) == list(other[:1])


def rank_difference(one: Ranking, other: Ranking) -> float | None:
    """Mean absolute difference in rank of shared items, in places; None if none are shared.

    >>> rank_difference("abcd", "bcxa")
    1.6666666666666667
    """
    place = {thing: rank for rank, thing in enumerate(other)}
    moved = [abs(rank - place[thing]) for rank, thing in enumerate(one) if thing in place]
    return sum(moved) / len(moved) if moved else None


def rank_biased_overlap(one: Ranking, other: Ranking, persistence: float = 0.9) -> float:
    """Expected agreement for a reader who goes on to the next rank with probability p, 0 to 1.

    With `X_d` things shared by the first d ranks, s <= l the lengths, and beyond the end the
    agreement that was seen there:
    `A_d = X_d / d` for d <= s, `(X_d + X_s (d - s) / s) / d` for s < d <= l,
    `RBO = (1 - p) sum_{d=1..l} p^(d-1) A_d + p^l A_l`
    (Webber, Moffat and Zobel 2010, equation 32). An empty ranking agrees with an empty one only.

    Args:
        one: A ranking, best first.
        other: Another one; lengths may differ.
        persistence: p in (0, 1); at .9 the first ten ranks carry 86 % of the weight.

    >>> round(rank_biased_overlap("abc", "bac", 0.5), 6)
    0.5
    """
    short, long = sorted((one, other), key=len)
    if not short:
        return float(not long)
    seen_short: set[Hashable] = set()
    seen_long: set[Hashable] = set()
    shared = shared_at_end = 0
    total, weight, agreement = 0.0, 1.0, 0.0
    for depth, thing in enumerate(long, start=1):
        seen_long.add(thing)
        if depth <= len(short):
            twin = short[depth - 1]
            seen_short.add(twin)
            shared += (twin in seen_long) + (thing in seen_short) - (twin == thing)
            shared_at_end = shared
            agreement = shared / depth
        else:
            shared += thing in seen_short
            beyond = shared_at_end * (depth - len(short)) / len(short)
            agreement = (shared + beyond) / depth
        total += (1 - persistence) * weight * agreement
        weight *= persistence
    return total + weight * agreement
