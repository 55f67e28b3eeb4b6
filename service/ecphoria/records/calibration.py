"""Fitting a gate: what it is fitted on, and how well it judges."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic.config import JsonDict

from ecphoria.records.answered import answered
from ecphoria.records.asked import StrictBool, StrictFloat, StrictInt, asked
from ecphoria.records.tenant import EVIDENCE_NAMES, Gate, known_evidence


def _all_known(evidence: Mapping[str, float]) -> Mapping[str, float]:
    if missing := [name for name in EVIDENCE_NAMES if name not in evidence]:
        raise ValueError(f"The evidence lacks {', '.join(missing)}; send that of a recall whole")
    return known_evidence(evidence)


_Figure = Annotated[StrictFloat, Field(ge=-2, le=2, allow_inf_nan=False)]
_FIT_EXAMPLE: JsonDict = {
    "samples": [
        {"evidence": dict.fromkeys(EVIDENCE_NAMES, value), "answerable": value > 0}
        for value in (0.5, 0.0)
        for _ in range(10)
    ]
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """Options of fitting a gate."""

    false_refusals: Annotated[StrictFloat, Field(ge=0, le=0.99, allow_inf_nan=False)] = 0.021
    """Share of answerable questions that the gate may refuse."""
    question_type: StrictBool = False
    """Also weigh the type of the question, not only its hits."""
    judged: StrictBool = False
    """Report the judgement of each question too."""


@asked({"memories": 200})
@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOptions(FitOptions):
    """Options of a calibration: the questions made of the tenant's memories, and the fit."""

    memories: Annotated[StrictInt, Field(ge=10, le=2_000)] = 200
    """Number of memories to make questions of."""
    seed: Annotated[StrictInt, Field(ge=0, le=2**31 - 1)] = 1
    """Of the sample and of the questions."""


@asked()
@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One question as the gate saw it."""

    evidence: Annotated[Mapping[str, _Figure], AfterValidator(_all_known)]
    """The `evidence` of its recall; each figure is from -2 to 2."""
    answerable: StrictBool
    """Whether the store can answer it."""
    group: Annotated[str, Field(max_length=200)] = ""
    """Questions that are alike share one; they are left out together when the fit is judged."""


@asked(_FIT_EXAMPLE)
@dataclass(frozen=True, slots=True, kw_only=True)
class FitRequest(FitOptions):
    """Questions that were asked already, and how to fit a gate on them."""

    samples: Annotated[tuple[Sample, ...], Field(max_length=5_000)]
    """The questions; at least 10 with an answer and 10 without."""
    data_sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] = "0" * 64
    """Of the file that they came from, for `fit` of the gate."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A question judged by a gate that was fitted without its group."""

    confidence: float
    """Confidence that the store has the answer."""
    answerable: bool
    """Whether it has."""
    group: str
    """Its group."""
    evidence: Mapping[str, float]
    """The evidence of its recall, by name."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Questions with a confidence from `low` to below `high`; the last bin includes 1.

    Questions with and without an answer have the same total weight, however many there are.
    """

    low: float
    """Lower bound."""
    high: float
    """Upper bound."""
    n: int
    """Questions in the bin."""
    weight: float
    """Their share of the total weight."""
    confidence: float
    """Their mean confidence."""
    right: float
    """Share of them that has an answer."""


@answered("findings", "judged")
@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A gate, with its quality on held-out questions."""

    gate: Gate
    """The gate, fitted on all questions; `gate` of `PATCH /v1/settings` takes it as it is."""
    by_group: bool
    """Whether whole groups were left out, rather than every fifth question."""
    auroc: float
    """Share of pairs in which the question with an answer is the surer one."""
    shipped_auroc: float
    """The same by the shipped gate, which has not seen the questions."""
    group_auroc: Mapping[str, float]
    """The same within each group that has both kinds."""
    refused: Mapping[str, float]
    """Share refused of the questions without an answer, by rate of false refusals."""
    ece: float
    """Expected calibration error."""
    reliability: tuple[Bin, ...]
    """Share that has an answer, by confidence."""
    findings: Mapping[str, int] = field(default_factory=dict)
    """Reasons why questions were left out, with their counts."""
    judged: tuple[Judged, ...] = ()
    """Every question in its order, if that was wanted."""
