"""Confidence of an answer: a logistic model and its calibration.

Absolute evidence goes through a logistic; a raw top score cannot be thresholded, because
min-max makes the best candidate 1 whatever it is worth.

Balanced: each class weighs half, however many it has, so a probability says what it would be if
both were equally frequent, and a fit does not learn the mix of the questions it was given.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.maths.arrays import BoolArray, FloatArray, bools, floats
from ecphoria.records.tenant import EVIDENCE

RANKS: Final = 10
"""Rank that the first one's score is compared with."""
TEMPERATURE: Final = 0.1
"""Match by which an item's weight in `share` grows e-fold; .08 to .12 measured alike."""

_MOST_BEST: Final = 3
"""Most of the best items."""
_APART: Final = 3.0
"""Least size of the drop behind the best items, as a multiple of those before it."""

_FEW: Final = 20
"""Number of items with which who said it may count only half (docs/evaluation/gate.md)."""
_USUAL: Final = 200
"""Number of items in the conversations that the weights were fitted on."""
_FAR, _NEAR = 0.5, 0.7
"""Best similarity of those named, as a share of the best of all: far below it, and near to it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """Signals of the gate, over the n candidates and q distinct stems of one query.

    Attributes:
        match: [n] how well the item matches, whoever said it.
        score: [n] how well it matches in all; what it is ranked by.
        said: [n, q] whether the item itself has the stem.
        rarity: [q] idf times count in the query; 0 for words that carry little.
        covered: [n] share of the stems' rarity that one passage of the item has, in [0, 1].
        joint: [n] the same times that passage's cosine, at least 0, best passage.
        similarity: [n] cosine with the query.
        answers_nothing: [n] whether the item only asks, or says "I don't know".
        own: [n] spoken by one of those the query names; all False if it names nobody.
        about: [n] rows that may hold the answer: the subject's, or all.
        attribution: [n] how far the item speaks about them, in [0, 1] (`attribution`).
    """

    match: FloatArray
    score: FloatArray
    said: BoolArray
    rarity: FloatArray
    covered: FloatArray
    joint: FloatArray
    similarity: FloatArray
    answers_nothing: BoolArray
    own: BoolArray
    about: BoolArray
    attribution: FloatArray


def attribution(own: ArrayLike, first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Judge by pronouns how likely each item is about the subjects of the query; O(n).

    Spoken by one of them: 1 with a first-person pronoun or without a second-person one, else .6.
    Spoken by another: .5 with second-person pronouns only, .3 with both, else 0 ("your" in
    another's turn may be about them, "my" cannot).

    Args:
        own: bool [n], spoken by one of them.
        first: bool [n], has a first-person pronoun.
        second: bool [n], has a second-person pronoun.

    >>> attribution([True, False, False], [True, True, False], [False, True, True])
    array([1. , 0.3, 0.5])
    """
    mine, me, you = bools(own), bools(first), bools(second)
    by_subject = np.where(me | ~you, 1.0, 0.6)
    by_other = np.where(you, np.where(me, 0.3, 0.5), 0.0)
    return np.where(mine, by_subject, by_other)


def evidence_features(evidence: Evidence, *, names_someone: bool) -> FloatArray:
    """Reduce one query's evidence to the features of `EVIDENCE`, in its order, [8]; O(n q).

    With w = exp(match / .1), att = attribution, m = sum(w att) / sum(w), b = mean(att) but at
    most 1/2, cov = `covered` (0 for items that answer nothing), mass = sum of the rarity:

    ```
    share           1 / (1 + (1 - m) / m * b / (1 - b)) - 1/2    whose the matching items are
    coverage        max(cov att) - max(cov (1 - att))
    unsaid          share of the mass of stems that others' items have and no own item has
    unheard         rarity of the rarest stem that no item has, over the mass
    similarity      max similarity, at least 0
    joint           max of `joint` over what may hold the answer
    top_similarity  similarity of the first in rank, at least 0
    gap             score of rank 1 minus score of rank 10 (of the last, if fewer)
    ```

    A share of 0 is undecided; b corrects for those who speak seldom, of whom little can match.
    The first three are 0 where the query names nobody; nothing found gives zeros. Among few items
    it is chance who has which word. So these three are multiplied by w = `weight_of_speakers`
    where they speak against those named, and by (1 + w) / 2 where they speak for them.

    >>> one = np.ones(1)
    >>> told = Evidence(
    ...     match=one, score=one, said=np.array([[True, False]]), rarity=np.array([1.0, 3.0]),
    ...     covered=one / 4, joint=one / 8, similarity=one / 2, answers_nothing=one < 0,
    ...     own=one > 0, about=one > 0, attribution=one,
    ... )
    >>> evidence_features(told, names_someone=True).round(3)
    array([0.263, 0.132, 0.   , 0.75 , 0.5  , 0.125, 0.5  , 0.   ])
    """
    features = np.zeros(len(EVIDENCE))
    if not evidence.match.size:
        return features
    about, own, void = evidence.attribution, evidence.own, evidence.answers_nothing
    rarity, said, similar = evidence.rarity, evidence.said, evidence.similarity
    mass = float(rarity.sum()) or 1.0
    heard = said.any(axis=0)
    if names_someone:
        features[0] = _share(evidence.match, about)
        covered = np.where(void, 0.0, evidence.covered)
        features[1] = (covered * about).max() - (covered * (1.0 - about)).max()
        features[2] = rarity[heard & ~said[own].any(axis=0)].sum() / mass
        weight = weight_of_speakers(similar, own)
        against = np.array([features[0] < 0.0, features[1] < 0.0, True])
        features[:3] *= np.where(against, weight, (1.0 + weight) / 2.0)
    features[3] = rarity[~heard].max(initial=0.0) / mass
    features[4] = max(0.0, float(similar.max()))
    features[5] = evidence.joint[evidence.about & ~void].max(initial=0.0)
    best = np.argsort(-evidence.score, kind="stable")[:RANKS]
    features[6] = max(0.0, float(similar[best[0]]))
    features[7] = evidence.score[best[0]] - evidence.score[best[-1]]
    return features


def count_best(score: FloatArray) -> int:
    """Count the items that stand apart from all others, from 1 to 3, of n >= 2 descending scores.

    A question about two documents has two. The first always counts, the second and third with it
    if the drop of the score behind them is more than three times as large as each drop before.

    >>> count_best(np.array([1.9, 1.6, 0.7, 0.5])), count_best(np.array([1.9, 1.6, 1.4, 1.3]))
    (2, 1)
    """
    drops = -np.diff(score[: _MOST_BEST + 1])
    largest = np.maximum.accumulate(drops)
    apart = np.flatnonzero(drops[1:] > _APART * largest[:-1])
    return 1 if not apart.size else int(apart[-1]) + 2


def weight_of_speakers(similarity: FloatArray, own: BoolArray) -> float:
    """Tell how much it counts who said which word, from .1 to 1; O(n).

    ```text
    chance  min(1, 1.1 n / (n + 20)): 1 where the weights were fitted, .1 among two items
    near    (best similarity of those named / best of all - .5) / .2, held between 0 and 1
    weight  1 - near (1 - chance)
    ```

    Among few items it is chance who has which word of the query. It is no chance if those named
    said nothing nearly as near in meaning as somebody else did; `own` [n] flags what they said.

    >>> near, far, own = np.array([0.5, 0.5]), np.array([0.1, 0.5]), np.array([True, False])
    >>> round(weight_of_speakers(near, own), 2), weight_of_speakers(far, own)
    (0.1, 1.0)
    """
    items = similarity.size
    best, named = similarity.max(initial=0.0), similarity[own].max(initial=0.0)
    if best <= 0.0:
        return 1.0
    near = min(1.0, max(0.0, (float(named / best) - _FAR) / (_NEAR - _FAR)))
    chance = min(1.0, (1.0 + _FEW / _USUAL) * items / (items + _FEW))
    return 1.0 - near * (1.0 - chance)


def fact_contrast(joint: ArrayLike, own: ArrayLike) -> float:
    """Subtract the best statement about others from the best about those named; O(s).

    Args:
        joint: [s] share of the query's mass that a statement has, times its cosine, >= 0.
        own: bool [s], whether it is about one of those named.

    >>> round(fact_contrast([0.5, 0.2], [True, False]), 6)
    0.3
    """
    match, mine = floats(joint), bools(own)
    return float(match[mine].max(initial=0.0) - match[~mine].max(initial=0.0))


def _share(match: FloatArray, about: FloatArray) -> float:
    """Compare what matches about the subject with what would if matching were blind to it."""
    weight = np.exp((match - match.max()) / TEMPERATURE)
    mine, theirs = float(weight @ about), float(weight @ (1.0 - about))
    base = min(0.5, float(about.mean()))
    mine, theirs = mine * (1.0 - base), theirs * base
    # Where nobody is the subject, neither side weighs anything.
    return mine / (mine + theirs) - 0.5 if mine > 0.0 else -0.5


def threshold(confidences: ArrayLike, frr: float) -> float:
    """Find the confidence under which at most a share `frr` of answerable questions falls.

    The floor(frr * n)-th smallest of n, 0-based; what is below it is refused. `frr` is the false
    refusal rate, in [0, 1).

    >>> threshold([0.9, 0.3, 0.5, 0.7], 0.25)
    0.5
    """
    known = floats(confidences)
    return float(np.sort(known)[math.floor(frr * known.size + 1e-9)])


# .01 to .08 give an AUROC of .913 to .916 (decision 0010).
RIDGE: Final = 0.03
"""Penalty: .01 to .1 measured alike, out of sample."""

_STEPS, _CLOSE = 100, 1e-12
"""Most steps of Newton's method, which needs fewer than ten, and the gradient that counts as 0."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Logistic:
    """`P(true) = 1 / (1 + exp(-(bias + weights . x)))`.

    Attributes:
        weights: [d], in the units of the features as given.
        converged: Whether the gradient vanished; a caller must look.
    """

    bias: float
    weights: FloatArray
    converged: bool


def fit_logistic(features: ArrayLike, labels: ArrayLike, *, ridge: float = RIDGE) -> Logistic:
    """Fit by maximum penalised likelihood; O(d^2 n) a step, few steps.

    With z = features scaled to mean 0 and standard deviation 1 (constant ones to 0), minimise

    ```
    sum_i c_i ln(1 + exp(-s_i (b + v . z_i))) + ridge / 2 |v|^2,    s_i = +1 or -1
    ```

    c_i = 1 / (2 m), m = number of items with the label of i. Strictly convex: one minimum,
    separable data included. Scaling before the penalty makes it indifferent to units. Source:
    Hastie, Tibshirani, Friedman, The Elements of Statistical Learning, 4.4.

    Args:
        features: [n, d].
        labels: bool [n], both values present.
        ridge: > 0.

    >>> fit = fit_logistic([[0.0], [1.0], [2.0], [3.0]], [False, False, True, True])
    >>> fit.converged, float(np.round(fit.bias / -fit.weights[0], 6))
    (True, 1.5)
    """
    x, wanted = floats(features), bools(labels)
    centre, spread = x.mean(axis=0), x.std(axis=0)
    flat = spread <= 1e-9 * np.maximum(1.0, np.abs(centre))
    scale = np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, spread))
    design = np.column_stack((np.ones(wanted.size), (x - centre) * scale))
    costs = np.where(wanted, 0.5 / wanted.sum(), 0.5 / (~wanted).sum())
    penalty = np.r_[0.0, np.full(x.shape[1], ridge)]
    beta, converged = _newton(design, wanted, costs, penalty)
    weights = beta[1:] * scale
    return Logistic(bias=float(beta[0] - weights @ centre), weights=weights, converged=converged)


def logits(fit: Logistic, features: ArrayLike) -> FloatArray:
    """Give the log-odds of rows [n, d], [n]; monotone in the probability, and never saturated."""
    return np.asarray(fit.bias + floats(features) @ fit.weights)


def _newton(
    design: FloatArray, wanted: BoolArray, costs: FloatArray, penalty: FloatArray
) -> tuple[FloatArray, bool]:
    """Step to the minimum, halving a step that does not go down."""
    sign = np.where(wanted, 1.0, -1.0)

    def loss(beta: FloatArray) -> float:
        margins = sign * (design @ beta)
        return float(costs @ np.logaddexp(0.0, -margins) + 0.5 * penalty @ beta**2)

    beta = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        chance = 0.5 * (1.0 + np.tanh(0.5 * (design @ beta)))
        gradient = design.T @ (costs * (chance - wanted)) + penalty * beta
        if np.abs(gradient).max() < _CLOSE:
            return beta, True
        curvature = costs * chance * (1.0 - chance)
        # The last term keeps columns without variance and saturated fits solvable.
        hessian = (design.T * curvature) @ design + np.diag(penalty + _CLOSE)
        step = np.linalg.solve(hessian, gradient)
        # Near the minimum the loss moves by rounding alone.
        size, bound = 1.0, loss(beta) * (1.0 + _CLOSE)
        while size > _CLOSE and loss(beta - size * step) > bound:
            size *= 0.5
        beta = beta - size * step
    return beta, bool(np.abs(gradient).max() < 1e-8)
