"""The fit against theory and against a general minimiser."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from ecphoria.maths.arrays import BoolArray, FloatArray
from ecphoria.maths.gate import fit_logistic, logits


def sample(seed: int, size: int = 60, width: int = 3) -> tuple[FloatArray, BoolArray]:
    """Labels that follow the features with noise, three of four true."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(size, width)) * [1.0, 10.0, 0.1] + [0.0, 5.0, -2.0]
    score = features @ [1.0, -0.1, 8.0] + random.normal(size=size)
    return features, score > np.quantile(score, 0.25)


def objective(beta: FloatArray, features: FloatArray, labels: BoolArray, ridge: float) -> float:
    """The penalised loss as the docstring writes it, on scaled features."""
    scaled = (features - features.mean(axis=0)) / features.std(axis=0)
    total = 0.0
    for row, label in zip(scaled, labels, strict=True):
        margin = (1 if label else -1) * (beta[0] + beta[1:] @ row)
        total += np.log1p(np.exp(-margin)) / (2 * np.sum(labels == label))
    return float(total + 0.5 * ridge * np.sum(beta[1:] ** 2))


@pytest.mark.parametrize("ridge", [0.003, 0.03, 1.0])
def test_a_general_minimiser_finds_the_same(ridge: float) -> None:
    features, labels = sample(1)
    fit = fit_logistic(features, labels, ridge=ridge)
    best = minimize(
        objective, np.zeros(4), args=(features, labels, ridge), method="BFGS",
        options={"gtol": 1e-9},
    )  # fmt: skip
    spread = features.std(axis=0)
    np.testing.assert_allclose(fit.weights * spread, best.x[1:], atol=2e-6)
    assert fit.bias == pytest.approx(best.x[0] - fit.weights @ features.mean(axis=0), abs=1e-5)
    assert fit.converged


def test_without_a_signal_only_the_balance_is_left() -> None:
    """Features of equal mean in both classes tell nothing; balanced classes give even odds."""
    features = [[-1.0], [1.0], [-1.0], [1.0], [-1.0], [1.0]]
    fit = fit_logistic(features, [True, True, False, False, False, False])
    assert fit.weights[0] == pytest.approx(0.0, abs=1e-12)
    assert fit.bias == pytest.approx(0.0, abs=1e-12)


def test_repeating_one_class_changes_nothing() -> None:
    features, labels = sample(2)
    more = np.r_[features, features[~labels]], np.r_[labels, labels[~labels]]
    fit = fit_logistic(features, labels)
    # The scale of the penalty moves with the mix, the likelihood does not.
    assert logits(fit_logistic(*more, ridge=1e-9), features) == pytest.approx(
        logits(fit_logistic(features, labels, ridge=1e-9), features), rel=1e-4
    )
    assert fit.converged


@given(st.integers(0, 50), st.floats(0.01, 100), st.floats(-10, 10))
def test_units_and_origin_of_a_feature_are_indifferent(
    seed: int, unit: float, origin: float
) -> None:
    features, labels = sample(seed)
    moved = features * [unit, 1.0, 1.0] + [origin, 0.0, 0.0]
    one, other = fit_logistic(features, labels), fit_logistic(moved, labels)
    np.testing.assert_allclose(logits(one, features), logits(other, moved), atol=1e-6)


@given(st.integers(0, 50))
def test_swapping_the_labels_mirrors_the_fit(seed: int) -> None:
    features, labels = sample(seed)
    one, other = fit_logistic(features, labels), fit_logistic(features, ~labels)
    np.testing.assert_allclose(one.weights, -other.weights, rtol=1e-6, atol=1e-9)
    assert one.bias == pytest.approx(-other.bias, abs=1e-6)


@given(st.integers(0, 50))
def test_a_stronger_penalty_never_lengthens_the_weights(seed: int) -> None:
    features, labels = sample(seed)
    spread = features.std(axis=0)
    lengths = [
        float(np.linalg.norm(fit_logistic(features, labels, ridge=ridge).weights * spread))
        for ridge in (0.001, 0.01, 0.1, 1.0)
    ]
    assert lengths == sorted(lengths, reverse=True)


def test_separable_data_and_constant_features_have_a_fit() -> None:
    fit = fit_logistic([[0.0, 7.0], [0.1, 7.0], [5.0, 7.0]], [False, False, True])
    assert fit.converged
    assert fit.weights[0] > 0
    assert fit.weights[1] == 0.0
    known = logits(fit, [[0.0, 7.0], [5.0, 9.0]])
    assert known[0] < 0 < known[1]


def test_the_same_data_give_the_same_bits() -> None:
    features, labels = sample(3)
    one, other = fit_logistic(features, labels), fit_logistic(features.copy(), labels.copy())
    assert one.bias == other.bias
    assert one.weights.tolist() == other.weights.tolist()
