"""Tenants, API keys, and the gate of a tenant with the scale of its evidence."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from ecphoria.records.answered import Internal, answered
from ecphoria.records.ids import KeyId, TenantId

LEAST_RECALLS: Final = 10
"""Recorded recalls from which the scale counts; fewer and more are never mixed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figure:
    """A figure that is scaled.

    Attributes:
        name: Of the evidence.
        least: Least spread, for a store that is asked the same again and again.
        lead: Deviations by which the first hit stands above the others in any store, because it
            was chosen for this.
    """

    name: str
    least: float
    lead: float


_FIGURES: Final = (
    _Figure(name="joint", least=0.06, lead=0.1),
    _Figure(name="top_similarity", least=0.06, lead=0.3),
    _Figure(name="gap", least=0.04, lead=0.5),
)
SCALED: Final = tuple(figure.name for figure in _FIGURES)
"""Names of the figures that are scaled."""
_SUMS: Final = 4
"""Sums of a figure: of the values with the best hits, of their squares, and both without them."""
_LEAST_WORTH, _MOST = 0.2, 3.0


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Usual evidence of a tenant's recorded recalls, with and without their best hits.

    A recall without its best hits looks like a question without an answer. So the store itself
    tells how far apart both kinds are, without labels (decision 0070).
    """

    recalls: float
    """Recalls; those before the last 500 count half, and so on."""
    found: Mapping[str, float]
    """Mean of each figure."""
    without: Mapping[str, float]
    """Mean of each figure without the best hits."""
    spread: Mapping[str, float]
    """Standard deviation of each figure within either kind."""

    def scaled(self, evidence: Mapping[str, float]) -> dict[str, float]:
        """Scale figures: 0 half way between both means, in deviations times the figure's worth.

        The worth is the distance of both means in deviations. So a figure that says nothing in
        this store, such as cosines in a language that the model does not read, hardly counts.
        """
        scaled = {}
        for figure in _FIGURES:
            name, unit = figure.name, max(self.spread[figure.name], figure.least)
            apart = max(0.0, self.found[name] - self.without[name] - figure.lead * unit)
            above = (evidence[name] - self.without[name] - apart / 2.0) / unit
            worth = min(max(apart / unit, _LEAST_WORTH), _MOST)
            scaled[name] = min(max(above, -_MOST), _MOST) * worth
        return scaled


def sums_of(recalls: Iterable[tuple[Mapping[str, float], Mapping[str, float]]]) -> list[float]:
    """Add up recalls, with and without their best hits: their number, then the sums by figure."""
    sums = [0.0] * (1 + _SUMS * len(SCALED))
    for found, without in recalls:
        values = ((found[name], without[name]) for name in SCALED)
        row = [1.0, *(x for one, other in values for x in (one, one**2, other, other**2))]
        sums = [total + value for total, value in zip(sums, row, strict=True)]
    return sums


def scale_of(sums: Sequence[float]) -> Scale | None:
    """Read a scale from its sums; None with too few recalls."""
    if len(sums) != 1 + _SUMS * len(SCALED) or sums[0] < LEAST_RECALLS:
        return None
    count, *rest = sums
    found, without, spread = {}, {}, {}
    for place, name in enumerate(SCALED):
        one, one2, other, other2 = (value / count for value in rest[_SUMS * place :][:_SUMS])
        found[name], without[name] = one, other
        # Rounding may take a variance below 0.
        spread[name] = math.sqrt(max(0.0, (one2 - one**2 + other2 - other**2) / 2.0))
    return Scale(recalls=count, found=found, without=without, spread=spread)


TENANT_NAME = "[a-z0-9][a-z0-9_-]{0,63}"
"""Regular expression of a tenant's whole name."""


class Scope(StrEnum):
    """The scopes of a key; a wider scope does not include a narrower one."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """An owner of memories."""

    id: TenantId
    """Its id, which every node of its graph carries as `tenant`."""
    name: str
    """The name to send as `Ecphoria-Tenant`."""
    created_at: datetime
    """Time of creation."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key without its secret, whose hash never leaves the store."""

    id: KeyId
    """The id to revoke it by."""
    tenant: Internal[TenantId | None] = None
    """Its owner; None for an operator's key, which may act for every tenant."""
    name: str
    """Purpose of the key."""
    prefix: str
    """The first characters of the secret."""
    scopes: tuple[Scope, ...]
    """Scopes of the key."""
    created_at: datetime
    """Time of issue."""
    expires_at: datetime | None = None
    """Time from which it is refused; null if it has no end."""
    revoked_at: datetime | None = None
    """Time of revocation."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedKey(ApiKey):
    """A new key; its secret is shown this once."""

    secret: str = field(repr=False)
    """Send it as `Authorization: Bearer SECRET`; only its hash is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The caller of a request."""

    key: KeyId | None
    tenant: TenantId | None
    scopes: frozenset[Scope]
    expires_at: datetime | None = None


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """The caller of a request, and what it may do."""

    tenant: str | None
    """Name of the tenant that it acts for; null for an operator who names none."""
    key: KeyId | None
    """Id of its key; null if the service asks for none."""
    key_name: str | None
    """Name of its key."""
    scopes: tuple[Scope, ...]
    """The scopes of its key."""
    expires_at: datetime | None = None
    """End of its key; null if it has none."""
    operator: bool
    """Whether it may act for every tenant."""
    ask: bool
    """Whether the service has a language model, so that `POST /v1/ask` answers."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class TenantStats:
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
    recalls_learned: int = 0
    """Recalls that were learned from."""
    recalls_pending: int = 0
    """Recalls that wait to be learned from."""
    unconsolidated: int = 0
    """Episodes appended since the last cycle of consolidation, whole or light."""
    change: int
    """The tenant's change counter; equal counters mean equal graphs."""
    first_occurred_at: datetime | None = None
    """Time of the earliest episode."""
    last_occurred_at: datetime | None = None
    """Time of the latest episode."""
    scale: Scale | None = None
    """The usual evidence of its recalls, by which the shipped gate scales that of a recall; null
    before ten recorded recalls."""
    sums: Internal[tuple[float, ...]] = ()
    """The sums that the scale is computed from."""


EVIDENCE: Final = (
    "share", "coverage", "unsaid", "unheard", "similarity", "joint", "top_similarity", "gap",
)  # fmt: skip
"""Evidence that a gate weighs: features of the hits, not of the question; in the order in which
`maths.gate.evidence_features` gives it."""
# The gap had a negative weight on questions made by changing one word, and a positive one on pairs
# with the evidence taken out (decision 0010).

STATED: Final = "fact_contrast"
"""Evidence of a store with facts: what those about the named speaker say of the cue, against what
others say; 0 without facts."""

READ: Final = "reader"
"""Evidence of a recall with `rerank`: the reader's logit of the best first turn, else 0."""

# The shipped gates do not use these: a benchmark's unanswerable questions nearly all name one
# person, and a gate that learned this would be worse elsewhere (decision 0030).
QUESTION_TYPE: Final = ("names_one", "asks_when", "unread")
"""What it may weigh too, fitted on the questions a store is really asked: the cue names exactly
one participant; it asks for a time; the embedding model does not read its language. They learn the
mix of the questions they saw."""


EVIDENCE_NAMES: Final = (*EVIDENCE, STATED, *QUESTION_TYPE, READ)


def known_evidence(weights: Mapping[str, float]) -> Mapping[str, float]:
    """Check the names of evidence; ValueError names those that exist."""
    for name in weights:
        if name not in EVIDENCE_NAMES:
            known = ", ".join(EVIDENCE_NAMES)
            raise ValueError(f"There is no evidence `{name}`; weigh any of: {known}")
    return weights


CONFIDENCE_DIGITS: Final = 4
"""Decimal places of a confidence; the verdict is that of the rounded one."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class GateFit:
    """The origin of a gate: the fit, and its quality on questions left out of it."""

    questions: int
    """Questions it was fitted on."""
    unanswerable: int
    """Of these, questions without an answer."""
    auroc: float
    """Share of pairs in which the question with an answer is the surer one."""
    refused: float
    """Share refused, at the threshold, of the questions without an answer."""
    false_refusals: float
    """Share refused of the others."""
    data_sha256: str
    """Of the labelled file."""
    fitted_at: datetime
    """When."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A logistic over named evidence, with two cuts."""

    weights: Mapping[str, float]
    """Weight by name of evidence; absent ones count nothing."""
    bias: float
    """Log-odds that no evidence moves."""
    threshold: float
    """Below this confidence the verdict is `refuse`."""
    verify_below: float
    """Below this it is `verify`, from here on `answer`."""
    fit: GateFit | None = None
    """Source; absent for the shipped gate."""

    def sure(self, evidence: Mapping[str, float]) -> float:
        """Weigh evidence, by name: the probability that the store holds the answer."""
        logit = self.bias + sum(weight * evidence[name] for name, weight in self.weights.items())
        return 0.5 * (1.0 + math.tanh(0.5 * logit))


# Two gates, because without a named speaker "who said it" is no evidence: the first gate then
# answered everything (decision 0030).
SHIPPED: Final = Gate(
    weights={
        "share": 8.415,
        "coverage": 1.661,
        "unsaid": -1.386,
        "unheard": -1.998,
        "similarity": 0.336,
        "joint": 0.374,
        "top_similarity": 0.447,
        "gap": 0.967,
    },
    bias=-1.028,
    threshold=0.218,
    verify_below=0.367,
)
"""Judges cues that name a speaker, by who said what: fitted on development conversations, plus a
quarter of `OPEN`."""

# One model for both kinds of cues lowered the AUROC of named speakers from .88 to .77 (decision
# 0030).
OPEN: Final = Gate(
    weights={"unheard": -0.966, "joint": 1.497, "top_similarity": 1.786, "gap": 3.867},
    bias=-2.016,
    threshold=0.25,
    verify_below=0.4,
)
"""Judges every other cue, by what was found: fitted on questions that were asked with their
evidence in the store and once more with it taken out, in chats, conversations and documents."""

# Cosines in a language that the embedding model does not read are noise: on Chinese passages
# `joint` alone has an AUROC of .88, all figures of `OPEN` together .71 (decision 0054).
UNREAD: Final = Gate(weights={"joint": 5.28}, bias=-1.014, threshold=0.32, verify_below=0.45)
"""Judges cues in a language that the embedding model does not read, in the place of `OPEN`: fitted
on passages, notes and messages in German, Chinese and Japanese."""

# Fitted on ten kinds of data, on figures of recalls with their evidence and with it taken out,
# scaled by each store's own recalls (decision 0070).
SCALED_OPEN: Final = Gate(
    weights={"joint": 0.65, "top_similarity": 0.18, "gap": 0.23},
    bias=-0.1,
    threshold=0.3,
    verify_below=0.4,
)
"""Judges scaled figures, in the place of `OPEN`."""

SCALED_UNREAD: Final = Gate(weights={"joint": 0.79}, bias=0.0, threshold=0.25, verify_below=0.35)
"""Judges scaled figures, in the place of `UNREAD`."""

# Sums of doubts are lower than bounds, so the limits are too: as many false refusals as before.
SCALED_NAMED: Final = replace(SHIPPED, threshold=0.19, verify_below=0.32)
"""`SHIPPED` for a tenant with a scale."""

# A name alone must never make an answer (decision 0030).
_TRUST = 2.0
"""Log-odds by which a named speaker may make a cue surer than what was found does."""


_SCALED_TRUST = 1.0
"""The same for scaled figures, as the sum of both doubts: AUROC on LoCoMo .90, as with a bound."""


def shipped_gate(evidence: Mapping[str, float], scale: Scale | None = None) -> Gate:
    """Choose the gate whose limits a tenant without a gate of its own has."""
    if evidence["names_one"]:
        return SHIPPED if scale is None else SCALED_NAMED
    return _found_gate(evidence, scale)


def shipped_confidence(evidence: Mapping[str, float], scale: Scale | None = None) -> float:
    """Weigh evidence as a tenant without a gate of its own does, by the tenant's scale if any.

    Where the cue names one speaker, who said it counts, but only as far as something like an
    answer was found at all. The evidence has `names_one`; `unread` may be absent.
    """
    figures = evidence if scale is None else scale.scaled(evidence)
    found = _found_gate(evidence, scale).sure(figures)
    if not evidence["names_one"]:
        return found
    said = SHIPPED.sure(evidence)
    return min(said, with_odds(found, _TRUST)) if scale is None else _both(said, found)


def with_odds(confidence: float, odds: float) -> float:
    """Add to the log-odds of a confidence; 0 and 1 stay.

    >>> with_odds(0.5, 0.0)
    0.5
    """
    if not 0.0 < confidence < 1.0:
        return confidence
    return 0.5 * (1.0 + math.tanh(math.atanh(2.0 * confidence - 1.0) + 0.5 * odds))


def _both(said: float, found: float) -> float:
    """Join two confidences: the odds against an answer add up."""
    trusted = with_odds(found, _SCALED_TRUST)
    return 1.0 / (1.0 + (1.0 - said) / said + (1.0 - trusted) / trusted)


def _found_gate(evidence: Mapping[str, float], scale: Scale | None) -> Gate:
    """Choose the gate that weighs what was found, whoever said it."""
    if scale is None:
        return UNREAD if evidence.get("unread") else OPEN
    return SCALED_UNREAD if evidence.get("unread") else SCALED_OPEN
