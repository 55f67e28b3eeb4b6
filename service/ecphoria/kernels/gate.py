"""Feeling of knowing: whether what was found answers the question at all.

Absolute evidence goes through a logistic; a raw top score cannot be thresholded, because
min-max makes the best candidate 1 whatever it is worth.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import BoolArray, FloatArray, bools, floats, one_size, ordered
from ecphoria.kernels.fusion import min_max
from ecphoria.kernels.rank import rank

__all__ = [
    "BIAS",
    "FEATURES",
    "WEIGHTS",
    "Evidence",
    "attribution",
    "auroc",
    "confidence",
    "evidence_features",
    "threshold",
]

FEATURES: Final = (
    "attributed_coverage",
    "attributed_similarity",
    "decline",
    "speaker_similarity",
    "top_coverage",
    "speaker_bm25",
)
"""Names of the six features, in the order of `WEIGHTS`."""
WEIGHTS: Final = (2.31, 5.25, -4.03, -3.59, 0.75, 1.30)
"""Class-balanced logistic fit on development questions."""
BIAS: Final = 0.36


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """Hold what the gate looks at, each [n] over one query's candidates.

    Attributes:
        score: text score, as ranked.
        coverage: share of the query stems' idf mass that occurs in the item itself, in [0, 1].
        similarity: cosine with the query.
        bm25: BM25 of the single item, no spreading.
        is_question: whether the item is a question; a question covers nothing.
        own: spoken by the subject p of the query; all False without a subject.
        attribution: how far the item speaks about p, in [0, 1] (`attribution`).
        order: int, tie order of the ranking.
    """

    score: FloatArray
    coverage: FloatArray
    similarity: FloatArray
    bm25: FloatArray
    is_question: BoolArray
    own: BoolArray
    attribution: FloatArray
    order: ArrayLike


def attribution(own: ArrayLike, first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Judge by pronouns how far each item is about the subject p; O(n).

    Spoken by p: 1 with a first-person pronoun or without a second-person one, else .6. Spoken by
    another: .8 with second-person pronouns only, .5 with both, else 0 ("your" in another's turn
    may be about p, "my" cannot).

    Args:
        own: bool [n], spoken by p.
        first: bool [n], has a first-person pronoun.
        second: bool [n], has a second-person pronoun.

    >>> attribution([True, False, False], [True, True, False], [False, True, True])
    array([1. , 0.5, 0.8])
    """
    mine, me, you = bools("own", own), bools("first", first), bools("second", second)
    one_size(own=mine, first=me, second=you)
    by_subject = np.where(me | ~you, 1.0, 0.6)
    by_other = np.where(you, np.where(me, 0.5, 0.8), 0.0)
    return np.where(mine, by_subject, by_other)


def evidence_features(evidence: Evidence, *, has_subject: bool) -> FloatArray:
    """Reduce one query's evidence to the six features, [6]; O(n log n).

    With cov 0 for questions, N = min-max over the items (0 for questions in the second):

    ```
    attributed_coverage    max(cov att) - max(cov (1 - att))
    attributed_similarity  the same with N(similarity)
    decline                score of rank 1 - score of rank 10
    speaker_similarity     max similarity of p's items - max of the others'
    top_coverage           coverage of the rank 1 item, questions included
    speaker_bm25           mean of p's three best N(bm25) - the same for the others
    ```

    Features that need a subject are 0 without one; nothing found gives zeros.

    Args:
        evidence: the candidates.
        has_subject: whether the query names a participant (of two, `own` follows the first).
    """
    score, similar = floats("score", evidence.score), floats("similarity", evidence.similarity)
    cover = floats("coverage", evidence.coverage, low=0.0, high=1.0 + 1e-9)
    words = floats("bm25", evidence.bm25, low=0.0)
    about = floats("attribution", evidence.attribution, low=0.0, high=1.0)
    asks, own = bools("is_question", evidence.is_question), bools("own", evidence.own)
    key = ordered("order", evidence.order)
    one_size(
        score=score, similarity=similar, coverage=cover, bm25=words,
        attribution=about, is_question=asks, own=own, order=key,
    )  # fmt: skip
    features = np.zeros(len(FEATURES))
    if not score.size:
        return features
    best = rank(score[:, None], key, 10).index
    features[2] = score[best[0]] - score[best[-1]]
    features[4] = cover[best[0]]
    if has_subject:
        features[0] = _attributed(np.where(asks, 0.0, cover), about)
        features[1] = _attributed(np.where(asks, 0.0, min_max(similar)), about)
        features[3] = _top_mean(similar[own], 1) - _top_mean(similar[~own], 1)
        scaled = min_max(words)
        features[5] = _top_mean(scaled[own], 3) - _top_mean(scaled[~own], 3)
    return features


def confidence(features: ArrayLike, *, bias: float = BIAS, weights: ArrayLike = WEIGHTS) -> float:
    """Turn features into the probability that the store holds the answer.

    `1 / (1 + exp(-(bias + weights . features)))`.

    >>> round(confidence([0.8, 0.1, 0.75, 1, 0.6], bias=-2, weights=[2.5, 1, 2, 1, 0.5]), 6)
    0.947846
    """
    values, slope = floats("features", features), floats("weights", weights)
    one_size(features=values, weights=slope)
    # Stays exact, and within the range of exp, on both sides.
    return 0.5 * (1.0 + math.tanh(0.5 * (bias + float(slope @ values))))


def threshold(confidences: ArrayLike, frr: float) -> float:
    """Find the confidence under which at most a share `frr` of answerable questions falls.

    The floor(frr * n)-th smallest, 0-based; what is below it is refused.

    Args:
        confidences: [n >= 1], of answerable questions.
        frr: false refusal rate, in [0, 1).

    >>> threshold([0.9, 0.3, 0.5, 0.7], 0.25)
    0.5
    """
    known = floats("confidences", confidences, low=0.0, high=1.0)
    if not known.size or not 0.0 <= frr < 1.0:
        raise ValueError("confidences must not be empty and frr lie in [0, 1)")
    return float(np.sort(known)[math.floor(frr * known.size + 1e-9)])


def auroc(answerable: ArrayLike, unanswerable: ArrayLike) -> float:
    """Measure how often an answerable question has the higher confidence; ties count half.

    O((n + m) log m).

    >>> round(auroc([0.9, 0.6, 0.4], [0.5, 0.3]), 6)
    0.833333
    """
    yes, no = floats("answerable", answerable), floats("unanswerable", unanswerable)
    if not (yes.size and no.size):
        raise ValueError("both groups must have a question")
    sorted_no = np.sort(no)
    below = np.searchsorted(sorted_no, yes, side="left")
    reach = np.searchsorted(sorted_no, yes, side="right")
    return float((below + reach).sum() / (2 * yes.size * no.size))


def _attributed(value: FloatArray, about: FloatArray) -> float:
    """Compare the best evidence about the subject with the best about others."""
    return float((value * about).max() - (value * (1.0 - about)).max())


def _top_mean(values: FloatArray, count: int) -> float:
    """Average the largest few; 0 of none."""
    return float(np.sort(values)[::-1][:count].mean()) if values.size else 0.0
