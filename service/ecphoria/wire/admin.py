"""Bodies of administration: tenants, keys, the fit of a gate."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field
from pydantic.config import JsonDict

from ecphoria.records.calibration import CalibrationOptions, FitOptions, Sample
from ecphoria.records.episode import Session
from ecphoria.records.tenant import TENANT_NAME, Scope, Tenant
from ecphoria.wire.base import (
    Answer,
    FewFaults,
    Instant,
    Listing,
    Parameters,
    Request,
    StrictBool,
    StrictFloat,
    StrictInt,
)
from ecphoria.wire.settings import EVIDENCE_NAMES, known_evidence


class TenantRequest(Request):
    """An owner of memories to create."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "acme"}]})

    name: Annotated[str, Field(json_schema_extra={"pattern": f"^{TENANT_NAME}$"})]
    """1 to 64 lower-case letters, digits, `-` and `_`, beginning with a letter or digit."""


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
    """Purpose of the key, 1 to 100 characters."""
    scopes: Annotated[frozenset[Scope], FewFaults]
    """Scopes of the key; a wider scope does not include a narrower one."""


def _in_order(scopes: tuple[Scope, ...]) -> tuple[Scope, ...]:
    return tuple(sorted(scopes))


class KeyAnswer(Answer):
    """A key without its secret."""

    id: str
    """The id to revoke it by."""
    name: str
    """Purpose of the key."""
    prefix: str
    """The first characters of the secret."""
    scopes: Annotated[tuple[Scope, ...], AfterValidator(_in_order)]
    """Scopes of the key."""
    created_at: Instant
    """Time of issue."""
    revoked_at: Instant | None = None
    """Time of revocation."""


class IssuedKeyAnswer(KeyAnswer):
    """A new key; its secret is shown this once."""

    secret: str
    """Send it as `Authorization: Bearer SECRET`; only its hash is kept."""


class SessionQuery(Parameters):
    """Page of sessions."""

    cursor: str | None = None
    """`next_cursor` of the page before."""
    limit: int = Field(default=100, ge=1, le=1_000)
    """Size of the page."""


class SessionPage(Listing[Session]):
    """Sessions by name."""


class TenantList(Listing[Tenant]):
    """Tenants by name."""


class KeyList(Listing[KeyAnswer]):
    """Keys."""


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
    """Missing parts, with the remedy."""
    neo4j: str
    """Version of the store."""
    gds: str | None = None
    """Version of Graph Data Science."""
    model: str
    """The embedding model."""
    dimension: int
    """Length of its vectors."""
    language_model: str | None = None
    """The language model that answers questions, if one is set."""


class ErrorAnswer(Answer):
    """The explanation of an error code."""

    code: str
    """The code, the last part of a problem's `type`."""
    title: str
    """Its name."""
    status: int
    """The HTTP status it comes with."""
    remedy: str
    """The remedy."""


class BrowserFileAnswer(Answer):
    """A file for Neo4j Browser: a style or a saved query."""

    name: str
    """File name."""
    doc: str
    """Description."""
    href: str
    """Address of the whole record."""


class BrowserFileList(Listing[BrowserFileAnswer]):
    """Files for Neo4j Browser."""


def _all_known(evidence: Mapping[str, float]) -> Mapping[str, float]:
    if missing := [name for name in EVIDENCE_NAMES if name not in evidence]:
        raise ValueError(f"The evidence lacks {', '.join(missing)}; send that of a recall whole")
    return known_evidence(evidence)


Figure = Annotated[StrictFloat, Field(ge=-2, le=2, allow_inf_nan=False)]


class FitSettings(Request):
    """Options of fitting a gate."""

    false_refusals: Annotated[StrictFloat, Field(ge=0, le=0.99, allow_inf_nan=False)] = 0.021
    """Share of answerable questions that the gate may refuse."""
    question_type: StrictBool = False
    """Also weigh the type of the question, not only its hits."""
    judged: StrictBool = False
    """Report the judgement of each question too."""

    def options(self) -> FitOptions:
        """Give the options."""
        return FitOptions(
            false_refusals=self.false_refusals,
            question_type=self.question_type,
            judged=self.judged,
        )


class CalibrationRequest(FitSettings):
    """Options of a calibration: the questions made of the tenant's memories, and the fit."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"memories": 200}]})

    memories: StrictInt = Field(default=200, ge=10, le=2_000)
    """Number of memories to make questions of."""
    seed: StrictInt = Field(default=1, ge=0, le=2**31 - 1)
    """Of the sample and of the questions."""

    def to_model(self) -> CalibrationOptions:
        """Hand over the options."""
        return CalibrationOptions(memories=self.memories, seed=self.seed, fit=self.options())


class SampleBody(Request):
    """One question as the gate saw it."""

    evidence: Annotated[dict[str, Figure], AfterValidator(_all_known)]
    """The `evidence` of its recall; each figure is from -2 to 2."""
    answerable: StrictBool
    """Whether the store can answer it."""
    group: str = Field(default="", max_length=200)
    """Questions that are alike share one; they are left out together when the fit is judged."""

    def to_model(self) -> Sample:
        """Hand over the sample."""
        return Sample(evidence=self.evidence, answerable=self.answerable, group=self.group)


_FIT_EXAMPLE: JsonDict = {
    "samples": [
        {"evidence": dict.fromkeys(EVIDENCE_NAMES, value), "answerable": value > 0}
        for value in (0.5, 0.0)
        for _ in range(10)
    ]
}


class FitRequest(FitSettings):
    """Questions that were asked already, and how to fit a gate on them."""

    model_config = ConfigDict(json_schema_extra={"examples": [_FIT_EXAMPLE]})

    samples: tuple[SampleBody, ...] = Field(max_length=5_000)
    """The questions; at least 10 with an answer and 10 without."""
    data_sha256: str = Field(default="0" * 64, pattern="^[0-9a-f]{64}$")
    """Of the file that they came from, for `fit` of the gate."""
