"""Logistic regression, small and exact: ridge penalty, balanced classes, Newton's method.

Balanced: each class weighs half, however many it has, so a probability says what it would be if
both were equally frequent, and a fit does not learn the mix of the questions it was given.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import BoolArray, FloatArray, bools, floats

__all__ = ["RIDGE", "Logistic", "fit_logistic", "logits"]

RIDGE: Final = 0.03
"""Penalty: .01 to .1 measured alike, out of sample."""

_STEPS, _CLOSE = 100, 1e-12


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
    x, wanted = floats("features", features, ndim=2), bools("labels", labels)
    if x.shape[0] != wanted.size or wanted.all() or not wanted.any() or not ridge > 0.0:
        raise ValueError("features need a label each, both labels present, and ridge above 0")
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
    """Give the log-odds of each row, [n]; monotone in the probability, and never saturated.

    Args:
        fit: of d features.
        features: [n, d].
    """
    x = floats("features", features, ndim=2)
    if x.shape[1] != fit.weights.size:
        raise ValueError("features must have a column for each weight")
    return np.asarray(fit.bias + x @ fit.weights)


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
