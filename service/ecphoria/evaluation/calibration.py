"""Fit a gate on questions whose answer is known to be there or not, and say what it is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecphoria.errors import InvalidInput
from ecphoria.evaluation.abstention import Bin, calibration_error, reliability
from ecphoria.evaluation.measures import auroc, refusal_at
from ecphoria.kernels.gate import threshold
from ecphoria.kernels.logistic import fit_logistic, logits
from ecphoria.model.gate import Gate, GateFit, shipped_confidence

__all__ = ["LEAST", "RATES", "Calibration", "Judged", "Sample", "calibrate"]

LEAST: Final = 10
"""Questions needed of either kind; with fewer no fit is better than the shipped gate."""
RATES: Final = (0.021, 0.05, 0.10)
"""False refusals at which the estimate is told."""

_VERIFY_RATE, _FOLDS, _DIGITS = 0.10, 5, 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One question as the gate saw it.

    Attributes:
        evidence: As its recall answered it.
        group: What is left out together when the fit is judged.
    """

    evidence: Mapping[str, float]
    answerable: bool
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A question judged by a gate that was fitted without its group."""

    confidence: float
    answerable: bool
    group: str
    evidence: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A gate, and what its like is worth on questions it has not seen.

    Attributes:
        judged: Every question, in the order given.
        by_group: Whether whole groups were left out, rather than every fifth question.
        shipped_auroc: Of the shipped gate on the same questions, none of which it has seen
            unless it was fitted on them.
        group_auroc: Of each group left out, where it has both kinds.
        ece: Expected calibration error.
        reliability: Share that has an answer, by confidence.
        refused: Share refused of the questions without an answer, by rate of false refusals.
    """

    gate: Gate
    judged: tuple[Judged, ...]
    by_group: bool
    auroc: float
    shipped_auroc: float
    group_auroc: Mapping[str, float]
    refused: Mapping[float, float]
    ece: float
    reliability: Sequence[Bin]


def calibrate(
    samples: Sequence[Sample],
    *,
    names: Sequence[str],
    false_refusals: float,
    data_sha256: str,
    fitted_at: datetime,
) -> Calibration:
    """Fit the gate on everything, and judge each question by a fit without its group.

    The thresholds are taken from those judgements, so that they hold for questions not seen.
    The same samples give the same gate.

    Args:
        samples: At least `LEAST` of either kind.
        names: The evidence to weigh.
        false_refusals: Share of answerable questions that may be refused, in [0, 1).
        data_sha256: Of the labelled file.
        fitted_at: Now.

    Raises:
        InvalidInput: There are too few questions, or the rate is no share.
    """
    labels = np.array([one.answerable for one in samples], dtype=np.bool_)
    _check(labels, false_refusals)
    evidence = np.array([[one.evidence[name] for name in names] for one in samples])
    fold, by_group = _folds(samples, labels)
    left_out = _left_out(evidence, labels, fold)
    judged = tuple(
        Judged(
            confidence=float(sure),
            answerable=one.answerable,
            group=one.group,
            evidence=one.evidence,
        )
        for sure, one in zip(left_out, samples, strict=True)
    )
    yes, no = left_out[labels].tolist(), left_out[~labels].tolist()
    cut = threshold(yes, false_refusals)
    verify = threshold(yes, max(_VERIFY_RATE, false_refusals))
    fit = fit_logistic(evidence, labels)
    worth = auroc(yes, no) or 0.0
    gate = Gate(
        weights={
            name: round(float(weight), _DIGITS)
            for name, weight in zip(names, fit.weights, strict=True)
        },
        bias=round(fit.bias, _DIGITS),
        threshold=round(cut, _DIGITS),
        verify_below=round(verify, _DIGITS),
        fit=GateFit(
            questions=len(samples),
            unanswerable=len(no),
            auroc=round(worth, _DIGITS),
            refused=round(sum(one < cut for one in no) / len(no), _DIGITS),
            false_refusals=round(sum(one < cut for one in yes) / len(yes), _DIGITS),
            data_sha256=data_sha256,
            fitted_at=fitted_at,
        ),
    )
    return Calibration(
        gate=gate,
        judged=judged,
        by_group=by_group,
        auroc=worth,
        shipped_auroc=_worth_of_shipped(samples),
        group_auroc=_by_group(judged),
        refused={rate: refusal_at(yes, no, rate) or 0.0 for rate in RATES},
        ece=calibration_error(yes, no) or 0.0,
        reliability=reliability(yes, no),
    )


def _check(labels: NDArray[np.bool_], false_refusals: float) -> None:
    if not 0.0 <= false_refusals < 1.0:
        raise InvalidInput("The rate of false refusals is a share from 0 to below 1.")
    yes, no = int(labels.sum()), int((~labels).sum())
    if min(yes, no) < LEAST:
        raise InvalidInput(
            f"A gate needs at least {LEAST} questions with an answer and {LEAST} without;"
            f" here are {yes} and {no}."
        )


def _folds(samples: Sequence[Sample], labels: NDArray[np.bool_]) -> tuple[NDArray[np.int64], bool]:
    """Number what is left out together: groups, or every fifth question of either kind.

    Groups serve if whatever is left has enough questions of either kind to fit on.
    """
    names = sorted({one.group for one in samples})
    group = np.array([names.index(one.group) for one in samples], dtype=np.int64)
    rest = [labels[group != number] for number in range(len(names))]
    if len(names) > 1 and all(min(one.sum(), (~one).sum()) >= LEAST for one in rest):
        return group, True
    fold = np.zeros(labels.size, dtype=np.int64)
    for kind in (labels, ~labels):
        fold[kind] = np.arange(kind.sum()) % _FOLDS
    return fold, False


def _left_out(
    evidence: NDArray[np.float64], labels: NDArray[np.bool_], fold: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Judge each question by a fit on all other folds; [n] confidences."""
    sure = np.empty(labels.size)
    for number in np.unique(fold):
        out = fold == number
        fit = fit_logistic(evidence[~out], labels[~out])
        sure[out] = 0.5 * (1.0 + np.tanh(0.5 * logits(fit, evidence[out])))
    return sure


def _worth_of_shipped(samples: Sequence[Sample]) -> float:
    sure = [shipped_confidence(one.evidence) for one in samples]
    pairs = list(zip(sure, samples, strict=True))
    found = auroc(
        [value for value, one in pairs if one.answerable],
        [value for value, one in pairs if not one.answerable],
    )
    return found or 0.0


def _by_group(judged: Sequence[Judged]) -> dict[str, float]:
    found = {}
    for name in sorted({one.group for one in judged}):
        of = [one for one in judged if one.group == name]
        share = auroc(
            [one.confidence for one in of if one.answerable],
            [one.confidence for one in of if not one.answerable],
        )
        if share is not None:
            found[name] = share
    return found
