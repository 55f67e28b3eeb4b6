"""Fit a gate on questions that were asked, and judge it on those it has not seen."""

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecphoria.calibration.separation import auroc, calibration_error, refusal_at, reliability_bins
from ecphoria.errors import InvalidInput
from ecphoria.maths.gate import fit_logistic, logits, threshold
from ecphoria.records.calibration import Calibration, FitOptions, Judged, Sample
from ecphoria.records.tenant import (
    CONFIDENCE_DIGITS,
    EVIDENCE,
    QUESTION_TYPE,
    STATED,
    Gate,
    GateFit,
    shipped_confidence,
)

LEAST: Final = 10
"""Questions needed of either kind; with fewer no fit is better than the shipped gate."""
RATES: Final = (0.021, 0.05, 0.10)
"""False refusals at which the estimate is told."""

_VERIFY_RATE, _FOLDS, _DIGITS = 0.10, 5, 6
_MOST_FOLDS: Final = 100
"""Each fold is a fit: 5,000 questions take two seconds with so many."""


def calibrate(
    samples: Sequence[Sample], options: FitOptions, *, data_sha256: str, fitted_at: datetime
) -> Calibration:
    """Fit the gate on everything, and judge each question by a fit without its group.

    The thresholds are taken from those judgements, so that they hold for questions not seen.
    The same samples give the same gate.

    Raises:
        InvalidInput: There are too few questions, or the rate is no share.
    """
    labels = np.array([sample.answerable for sample in samples], dtype=np.bool_)
    false_refusals = options.false_refusals
    _check(labels, false_refusals)
    names = (*EVIDENCE, STATED, *(QUESTION_TYPE if options.question_type else ()))
    evidence = np.array([[sample.evidence[name] for name in names] for sample in samples])
    fold, by_group = _folds(samples, labels)
    left_out = _left_out(evidence, labels, fold)
    judged = tuple(
        Judged(
            confidence=float(sure),
            answerable=sample.answerable,
            group=sample.group,
            evidence=sample.evidence,
        )
        for sure, sample in zip(left_out, samples, strict=True)
    )
    yes, no = left_out[labels].tolist(), left_out[~labels].tolist()
    cut = _limit(yes, false_refusals)
    verify = _limit(yes, max(_VERIFY_RATE, false_refusals))
    fit = fit_logistic(evidence, labels)
    worth = auroc(yes, no) or 0.0
    gate = Gate(
        weights={
            name: round(float(weight), _DIGITS)
            for name, weight in zip(names, fit.weights, strict=True)
        },
        bias=round(fit.bias, _DIGITS),
        threshold=cut,
        verify_below=verify,
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
        judged=judged if options.judged else (),
        by_group=by_group,
        auroc=worth,
        shipped_auroc=_worth_of_shipped(samples),
        group_auroc=_by_group(judged),
        refused={str(rate): refusal_at(yes, no, rate) or 0.0 for rate in RATES},
        ece=calibration_error(yes, no) or 0.0,
        reliability=tuple(reliability_bins(yes, no)),
    )


def _limit(yes: Sequence[float], rate: float) -> float:
    """Take a limit with the digits of a confidence, rounded down: its own question reaches it."""
    unit = 10**CONFIDENCE_DIGITS
    return math.floor(threshold(yes, rate) * unit) / unit


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
    """Number the folds: groups, several together if they are many, or every fifth question.

    Groups serve if whatever is left has enough questions of either kind to fit on.
    """
    names = sorted({sample.group for sample in samples})
    number_of = {name: number % _MOST_FOLDS for number, name in enumerate(names)}
    group = np.array([number_of[sample.group] for sample in samples], dtype=np.int64)
    rest = [labels[group != number] for number in np.unique(group)]
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
    sure = [shipped_confidence(sample.evidence) for sample in samples]
    pairs = list(zip(sure, samples, strict=True))
    found = auroc(
        [value for value, sample in pairs if sample.answerable],
        [value for value, sample in pairs if not sample.answerable],
    )
    return found or 0.0


def _by_group(judged: Sequence[Judged]) -> dict[str, float]:
    found = {}
    for name in sorted({question.group for question in judged}):
        of = [question for question in judged if question.group == name]
        share = auroc(
            [question.confidence for question in of if question.answerable],
            [question.confidence for question in of if not question.answerable],
        )
        if share is not None:
            found[name] = share
    return found
