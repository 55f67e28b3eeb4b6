"""Bodies of the gate: how a tenant's recalls are judged."""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from ecphoria.model.gate import EVIDENCE, QUESTION_TYPE, Gate, GateFit
from ecphoria.wire.base import Answer, Instant, Request, StrictFloat, StrictInt

__all__ = ["FitAnswer", "FitBody", "GateAnswer", "GateRequest"]

_NAMES = (*EVIDENCE, *QUESTION_TYPE)
_EXAMPLE: JsonDict = {
    "weights": {"share": 8.1, "coverage": 1.9, "unheard": -1.2},
    "bias": -0.4,
    "threshold": 0.24,
    "verify_below": 0.4,
}


def _known(weights: Mapping[str, float]) -> Mapping[str, float]:
    for name in weights:
        if name not in _NAMES:
            raise ValueError(f"There is no evidence `{name}`; weigh any of: {', '.join(_NAMES)}")
    return weights


Share = Annotated[StrictFloat, Field(ge=0, le=1, allow_inf_nan=False)]
Weight = Annotated[StrictFloat, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]


class FitBody(Request):
    """Where a gate comes from, and what it is worth on questions left out of the fit."""

    questions: StrictInt = Field(ge=1)
    """Questions it was fitted on."""
    unanswerable: StrictInt = Field(ge=1)
    """Those of them without an answer."""
    auroc: Share
    """Share of pairs in which the question with an answer is the surer one."""
    refused: Share
    """Share refused, at the threshold, of the questions without an answer."""
    false_refusals: Share
    """Share refused of the others."""
    data_sha256: str = Field(pattern="^[0-9a-f]{64}$")
    """Of the labelled file."""
    fitted_at: Instant
    """When."""

    def to_model(self) -> GateFit:
        """Hand over what it is worth."""
        return GateFit(**{name: getattr(self, name) for name in FitBody.model_fields})


class GateRequest(Request):
    """A gate of the tenant's own; `ecphoria calibrate` writes one."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    weights: Annotated[dict[str, Weight], AfterValidator(_known)] = Field(min_length=1)
    """Weight by name of what a recall answers as `evidence`."""
    bias: Weight
    """Log-odds that no evidence moves."""
    threshold: Share
    """Below this confidence a recall is refused."""
    verify_below: Share
    """Below this the answer should quote its evidence; at least `threshold`."""
    fit: FitBody | None = None
    """Where it comes from."""

    @model_validator(mode="after")
    def _cuts_in_order(self) -> Self:
        if self.verify_below < self.threshold:
            raise ValueError("`verify_below` must be at least `threshold`")
        return self

    def to_model(self) -> Gate:
        """Hand over the gate."""
        return Gate(
            weights=self.weights,
            bias=self.bias,
            threshold=self.threshold,
            verify_below=self.verify_below,
            fit=None if self.fit is None else self.fit.to_model(),
        )


class FitAnswer(Answer):
    """Where a gate comes from, and what it is worth on questions left out of the fit."""

    questions: int
    """Questions it was fitted on."""
    unanswerable: int
    """Those of them without an answer."""
    auroc: float
    """Share of pairs in which the question with an answer is the surer one."""
    refused: float
    """Share refused, at the threshold, of the questions without an answer."""
    false_refusals: float
    """Share refused of the others."""
    data_sha256: str
    """Of the labelled file."""
    fitted_at: Instant
    """When."""


class GateAnswer(Answer):
    """The gate that judges a tenant's recalls."""

    own: bool
    """Whether it is the tenant's own, rather than the shipped one."""
    weights: dict[str, float]
    """Weight by name of evidence."""
    bias: float
    """Log-odds that no evidence moves."""
    threshold: float
    """Below this confidence a recall is refused."""
    verify_below: float
    """Below this the answer should quote its evidence."""
    fit: FitAnswer | None = None
    """Where it comes from; absent for the shipped one."""
