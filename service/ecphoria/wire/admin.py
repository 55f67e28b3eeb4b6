"""Bodies of administration: tenants, keys, gates, shadow strategies."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from ecphoria.records.recall import Choice, OptionValue, Shadow
from ecphoria.records.tenant import EVIDENCE, QUESTION_TYPE, TENANT_NAME, Gate, GateFit, Scope
from ecphoria.wire.base import (
    Answer,
    FewFaults,
    Flat,
    Instant,
    Parameters,
    Request,
    StrictFloat,
    StrictInt,
)


class TenantRequest(Request):
    """An owner of memories to create."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "acme"}]})

    name: Annotated[str, Field(json_schema_extra={"pattern": f"^{TENANT_NAME}$"})]
    """1 to 64 lower-case letters, digits, `-` and `_`, beginning with a letter or digit."""


class TenantAnswer(Answer):
    """An owner of memories."""

    id: str
    """Its id, which every node of its graph carries as `tenant`."""
    name: str
    """The name to send as `Ecphoria-Tenant`."""
    created_at: Instant
    """When it was created."""


class ErasureAnswer(Answer):
    """The counts of an erasure."""

    removed: dict[str, int]
    """Counts by kind."""


class KeyRequest(Request):
    """A key to issue."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "chat agent", "scopes": ["read", "write"]}]}
    )

    name: str
    """What the key is for, 1 to 100 characters."""
    scopes: Annotated[frozenset[Scope], FewFaults]
    """What it may do; a wider scope does not include a narrower one."""


def _in_order(scopes: tuple[Scope, ...]) -> tuple[Scope, ...]:
    return tuple(sorted(scopes))


class KeyAnswer(Answer):
    """A key without its secret."""

    id: str
    """The id to revoke it by."""
    name: str
    """What it is for."""
    prefix: str
    """The first characters of the secret."""
    scopes: Annotated[tuple[Scope, ...], AfterValidator(_in_order)]
    """What it may do."""
    created_at: Instant
    """When it was issued."""
    revoked_at: Instant | None = None
    """When it was revoked."""


class IssuedKeyAnswer(KeyAnswer):
    """A new key; its secret is shown this once."""

    secret: str
    """Send it as `Authorization: Bearer SECRET`; only its hash is kept."""


class SessionAnswer(Answer):
    """One stream of turns."""

    name: str
    """As the caller named it."""
    episodes: int
    """Number of turns."""
    first_occurred_at: Instant
    """The first turn's time."""
    last_occurred_at: Instant
    """The last turn's time."""
    speakers: tuple[str, ...]
    """Who spoke."""
    summary: str | None = None
    """A few of its own sentences, once consolidation has chosen them."""


class SessionQuery(Parameters):
    """Page of sessions."""

    cursor: str | None = None
    """`next_cursor` of the page before."""
    limit: int = Field(default=100, ge=1, le=1_000)
    """Size of the page."""


class SessionPage(Answer):
    """Sessions by name."""

    sessions: tuple[SessionAnswer, ...]
    """The page."""
    next_cursor: str | None = None
    """Send it as `cursor` for the next page; absent on the last."""


class StatsAnswer(Answer):
    """Counts of one tenant's graph."""

    episodes: int
    """Live, dormant and archived episodes."""
    dormant: int
    """Dormant episodes."""
    archived: int = 0
    """Archived episodes."""
    passages: int = 0
    """Parts of long episodes, live and dormant."""
    sessions: int
    """Streams of turns."""
    speakers: int
    """Distinct speakers."""
    concepts: int
    """Concept nodes."""
    mentions: int
    """MENTIONS edges."""
    abouts: int
    """ABOUT edges."""
    next_edges: int
    """NEXT edges."""
    terms: int
    """Distinct stems."""
    traces: int
    """Kept traces."""
    change: int
    """The tenant's change counter; equal counters mean equal graphs."""
    first_occurred_at: Instant | None = None
    """Time of the earliest episode."""
    last_occurred_at: Instant | None = None
    """Time of the latest episode."""


class OptionAnswer(Answer):
    """A parameter of a strategy."""

    name: str
    """Its key in `options`."""
    default: OptionValue
    """Its value if not sent; also tells its type."""
    doc: str
    """What it does."""
    unit: str
    """What a number counts."""
    source: str
    """Where the default comes from."""
    low: float | None = None
    """Least value allowed."""
    high: float | None = None
    """Greatest value allowed."""
    choices: tuple[str, ...] = ()
    """The words allowed."""


class StrategyAnswer(Answer):
    """A recall mechanism."""

    name: str
    """The name to send as `strategy`."""
    doc: str
    """What it does and where it comes from."""
    presets: tuple[str, ...]
    """Values of the option `preset`, each a set of defaults."""
    parameters: tuple[OptionAnswer, ...]
    """The options it takes."""


class HealthAnswer(Answer):
    """The process is alive."""

    status: Literal["alive"] = "alive"
    """Always `alive`."""
    version: str
    """Version of the service."""


class ReadinessAnswer(Answer):
    """Readiness of the service, and what is missing for full service."""

    status: Literal["ready", "degraded"]
    """`degraded` if something optional is missing."""
    degraded: tuple[str, ...]
    """What is missing, with the remedy."""
    neo4j: str
    """Version of the store."""
    gds: str | None = None
    """Version of Graph Data Science."""
    model: str
    """The embedding model."""
    dimension: int
    """Length of its vectors."""


class ErrorAnswer(Answer):
    """The explanation of an error code."""

    code: str
    """The code, the last part of a problem's `type`."""
    title: str
    """Its name."""
    status: int
    """The HTTP status it comes with."""
    remedy: str
    """What to do."""


class BrowserFileAnswer(Answer):
    """A file for Neo4j Browser: a style or a saved query."""

    name: str
    """File name."""
    doc: str
    """What it shows."""
    href: str
    """Where to fetch it."""


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
    """The origin of a gate, and its quality on questions left out of the fit."""

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
        """Convert to the record."""
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
    """The origin of a gate, and its quality on questions left out of the fit."""

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


_SHADOW_EXAMPLE: JsonDict = {"strategy": "synapse", "options": {"preset": "paper"}, "share": 0.1}


class ShadowRequest(Request):
    """A strategy to run in the shadow of the live one."""

    model_config = ConfigDict(json_schema_extra={"examples": [_SHADOW_EXAMPLE]})

    strategy: str = Field(min_length=1)
    """Name of the strategy; `GET /v1/strategies` lists them."""
    options: dict[str, Flat] = Field(default_factory=dict)
    """The strategy's own parameters, `preset` among them."""
    share: Annotated[StrictFloat, Field(ge=0, le=1, allow_inf_nan=False)] = 0.1
    """Share of the cues to run it on; a cue is always in it or never."""

    def to_model(self) -> Shadow:
        """Convert to the record."""
        choice = Choice(strategy=self.strategy, options=self.options)
        return Shadow(choice=choice, share=self.share)


class ChoiceAnswer(Answer):
    """A strategy with its options."""

    strategy: str
    """Its name."""
    options: Mapping[str, Flat]
    """Its parameters that were set."""


class ShadowReportAnswer(Answer):
    """The comparison of the shadow's answers; figures are over the newest `window` ones."""

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
