"""Bodies of tenants, keys, sessions, statistics, strategies and health."""

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field

from ecphoria.model.recall import OptionValue
from ecphoria.model.tenant import TENANT_NAME, Scope
from ecphoria.wire.base import Answer, FewFaults, Instant, Parameters, Request

__all__ = [
    "BrowserFileAnswer",
    "ErasureAnswer",
    "ErrorAnswer",
    "HealthAnswer",
    "IssuedKeyAnswer",
    "KeyAnswer",
    "KeyRequest",
    "OptionAnswer",
    "ReadinessAnswer",
    "SessionAnswer",
    "SessionPage",
    "SessionQuery",
    "StatsAnswer",
    "StrategyAnswer",
    "TenantAnswer",
    "TenantRequest",
]


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
    """What an erasure removed."""

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
    """Which sessions to list."""

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
    """Whether requests can be served, and what is missing for full service."""

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
    """What an error code means."""

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
