"""Fitting a gate: what it is fitted on, and how well it judges."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ecphoria.records.answered import answered
from ecphoria.records.tenant import Gate


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """Options of fitting a gate.

    Attributes:
        false_refusals: Share of answerable questions that may be refused, in [0, 1).
        question_type: Also weigh the type of the question.
        judged: Report the judgement of each question too.
    """

    false_refusals: float = 0.021
    question_type: bool = False
    judged: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOptions:
    """Options of a calibration: the questions made of a tenant's memories, and the fit.

    Attributes:
        memories: Number of memories to make questions of.
        seed: Of the sample and of the questions.
    """

    memories: int = 200
    seed: int = 1
    fit: FitOptions = field(default_factory=FitOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One question as the gate saw it.

    Attributes:
        evidence: As its recall answered it.
        group: What is left out together when the fit is judged.
    """

    evidence: Mapping[str, float]
    answerable: bool
    group: str = ""


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
