"""Several kinds of evidence become one score, and each keeps its part in it.

Source of the weights: a listwise logistic fit on development questions, rounded; any single one
may be off by half without harm. Parts always add up to the score to 1e-9.
"""

from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import BoolArray, FloatArray, bools, floats, one_size

__all__ = [
    "PARTS",
    "Bounds",
    "Scored",
    "TextBounds",
    "TextSignals",
    "TextWeights",
    "bounds_of",
    "fusion",
    "min_max",
    "recipe_score",
]

PARTS: Final = ("lex", "sem", "ctx", "spk", "len", "isq", "texp", "date")
"""Names of the columns of `recipe_score`'s parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The least and the largest value of a signal over one query's candidates."""

    low: float = 0.0
    high: float = 0.0

    @classmethod
    def of(cls, values: FloatArray) -> "Bounds":
        """Measure a signal; no values give 0 to 0."""
        if not values.size:
            return cls()
        return cls(low=float(values.min()), high=float(values.max()))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBounds:
    """Bounds of the three signals without a natural scale."""

    lex: Bounds
    sem: Bounds
    ctx: Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class TextWeights:
    """Say how much each signal counts; a document has only the first three."""

    lex: float = 0.28
    sem: float = 0.17
    ctx: float = 0.13
    spk: float = 0.20
    len: float = 0.10
    isq: float = -0.05
    texp: float = 0.12
    date: float = 0.20

    def vector(self) -> FloatArray:
        """List the weights in the order of `PARTS`.

        >>> TextWeights().vector()[:3]
        array([0.28, 0.17, 0.13])
        """
        return np.array([getattr(self, field.name) for field in fields(self)], dtype=np.float64)


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
    """

    lex: FloatArray
    sem: FloatArray
    ctx: FloatArray
    spk: FloatArray
    len: FloatArray
    isq: FloatArray
    texp: FloatArray
    date: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scored:
    """Scores [n] and the parts [n, p] they are the sums of."""

    score: FloatArray
    parts: FloatArray


def min_max(
    x: ArrayLike, low: float | None = None, high: float | None = None, *, equal: float = 0.0
) -> FloatArray:
    """Scale to 0..1 between two bounds and hold there; O(n).

    Args:
        x: [n].
        low: what becomes 0; None for the least of x.
        high: what becomes 1; None for the largest of x.
        equal: value of all when the bounds do not differ.

    >>> min_max([2, 3, 4])
    array([0. , 0.5, 1. ])
    >>> min_max([1, 9], low=2, high=4)
    array([0., 1.])
    """
    values = floats("x", x)
    measured = Bounds.of(values)
    bottom = measured.low if low is None else low
    span = (measured.high if high is None else high) - bottom
    if not np.isfinite(span):
        raise ValueError("low and high must be finite")
    if not span > 0.0:
        return np.full_like(values, equal)
    return np.clip((values - bottom) / span, 0.0, 1.0)


def bounds_of(signals: TextSignals, among: BoolArray | None = None) -> TextBounds:
    """Measure the bounds over the candidates proper.

    Items that spreading adds later are scaled by the bounds of those that were there before.

    Args:
        signals: [n] each.
        among: [n], which items count; None for all.
    """
    rows = slice(None) if among is None else bools("among", among)
    return TextBounds(
        lex=Bounds.of(signals.lex[rows]),
        sem=Bounds.of(signals.sem[rows]),
        ctx=Bounds.of(signals.ctx[rows]),
    )


def recipe_score(
    signals: TextSignals,
    *,
    weights: TextWeights | None = None,
    bounds: TextBounds | None = None,
) -> Scored:
    """Score how well each item's text and circumstances match the query; O(n).

    `.28 n(lex) + .17 n(sem) + .13 n(ctx) + .20 spk + .10 len - .05 isq + .12 texp + .20 date`,
    n = min-max over the candidates. For documents this is `.30 n(BM25) + .30 n(cosine)`.

    Args:
        signals: [n] each.
        weights: None for the measured ones.
        bounds: None to measure them on these items.

    Returns:
        score [n] and parts [n, 8] in the order of `PARTS`.

    >>> one = np.ones(2)
    >>> no = np.zeros(2)
    >>> raw = np.array([0.0, 4.0])
    >>> tell = TextSignals(
    ...     lex=raw, sem=raw, ctx=raw, spk=one, len=no, isq=one, texp=no, date=no
    ... )
    >>> recipe_score(tell).score.round(2)
    array([0.15, 0.73])
    """
    arrays = {name: floats(name, getattr(signals, name)) for name in PARTS}
    one_size(**arrays)
    scale = bounds_of(signals) if bounds is None else bounds
    for name, bound in (("lex", scale.lex), ("sem", scale.sem), ("ctx", scale.ctx)):
        arrays[name] = _scaled(arrays[name], bound)
    parts = np.stack([arrays[name] for name in PARTS], axis=1)
    parts *= (TextWeights() if weights is None else weights).vector()
    return Scored(score=parts.sum(axis=1), parts=parts)


def _scaled(values: FloatArray, bound: Bounds) -> FloatArray:
    """Scale between bounds; where they are equal, what reaches a bound above 0 counts whole.

    Without that the only memory of a store would score 0.
    """
    if bound.high > bound.low or bound.high <= 0.0:
        return min_max(values, bound.low, bound.high)
    return (values >= bound.high).astype(np.float64)


def fusion(
    bm25: ArrayLike,
    cosine: ArrayLike,
    *,
    lexical: float = 0.5,
    bounds: tuple[Bounds, Bounds] | None = None,
) -> Scored:
    """Add up two min-max scales: the plain bar every mechanism has to beat; O(n).

    Args:
        bm25: [n].
        cosine: [n].
        lexical: weight of bm25, in [0, 1]; the cosine has the rest.
        bounds: of bm25 and cosine; None to measure them on these items.

    >>> fusion([0, 2, 1], [0.1, 0.2, 0.3]).score
    array([0.  , 0.75, 0.75])
    """
    words, meaning = floats("bm25", bm25), floats("cosine", cosine)
    one_size(bm25=words, cosine=meaning)
    if not 0.0 <= lexical <= 1.0:
        raise ValueError("lexical must lie in [0, 1]")
    scale = (Bounds.of(words), Bounds.of(meaning)) if bounds is None else bounds
    parts = np.stack(
        (
            lexical * _scaled(words, scale[0]),
            (1.0 - lexical) * _scaled(meaning, scale[1]),
        ),
        axis=1,
    )
    return Scored(score=parts.sum(axis=1), parts=parts)
