"""Bodies of the shadow: what is tried beside the live strategy, and how it compares."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from ecphoria.model.shadow import Choice, Shadow
from ecphoria.wire.base import Answer, Flat, Request, StrictFloat

__all__ = ["ChoiceAnswer", "ShadowAnswer", "ShadowReportAnswer", "ShadowRequest"]

_EXAMPLE: JsonDict = {"strategy": "synapse", "options": {"preset": "paper"}, "share": 0.1}


class ShadowRequest(Request):
    """A strategy to run in the shadow of the live one."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    strategy: str = Field(min_length=1)
    """Name of the strategy; `GET /v1/strategies` lists them."""
    options: dict[str, Flat] = Field(default_factory=dict)
    """The strategy's own parameters, `preset` among them."""
    share: Annotated[StrictFloat, Field(ge=0, le=1, allow_inf_nan=False)] = 0.1
    """Share of the cues to run it on; a cue is always in it or never."""

    def to_model(self) -> Shadow:
        """Hand over what to run."""
        choice = Choice(strategy=self.strategy, options=self.options)
        return Shadow(choice=choice, share=self.share)


class ChoiceAnswer(Answer):
    """A strategy with its options."""

    strategy: str
    """Its name."""
    options: Mapping[str, Flat]
    """Its parameters that were set."""


class ShadowReportAnswer(Answer):
    """How the shadow's answers compare; figures are over the newest `window` comparisons."""

    compared: int
    """Recalls compared since the shadow was set, the report reset or the service started."""
    dropped: int
    """Recalls of the sample left out, because too many waited."""
    failed: int
    """Recalls of the sample on which the shadow failed or took longer than 10 s."""
    window: int
    """Comparisons behind the figures, at most 1,000."""
    overlap: float | None = None
    """Mean share of the k hits that both have; absent, as all that follow, without any."""
    rank_overlap: float | None = None
    """Mean rank-biased overlap at p = .9: agreement that counts the first ranks most."""
    rank_difference: float | None = None
    """Mean number of places between the ranks of a shared hit."""
    same_first: float | None = None
    """Share of recalls with the same first hit."""
    same_verdict: float | None = None
    """Share of recalls with the same verdict."""
    live_p50_ms: float | None = None
    """Median time of the live strategy, without the encoder."""
    live_p95_ms: float | None = None
    """Its 95th percentile."""
    shadow_p50_ms: float | None = None
    """Median time of the shadow, without the encoder."""
    shadow_p95_ms: float | None = None
    """Its 95th percentile."""
    live_tokens: float | None = None
    """Mean size of the live context."""
    shadow_tokens: float | None = None
    """Mean size of the shadow's context."""


class ShadowAnswer(Answer):
    """The tenant's default strategy, and the one in its shadow."""

    live: ChoiceAnswer
    """What runs when a recall names no strategy."""
    promoted: tuple[ChoiceAnswer, ...]
    """What was promoted, the latest last; empty for the service's default."""
    shadow: ChoiceAnswer | None = None
    """What runs in the shadow; absent for nothing."""
    share: float
    """Share of the cues it runs on."""
    report: ShadowReportAnswer
    """How the two compare."""
