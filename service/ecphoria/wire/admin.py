"""Bodies of administration: tenants, keys and the sign-in of the explorer."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from ecphoria.records.asked import FewFaults, Instant, StrictBool, StrictInt
from ecphoria.records.episode import Session
from ecphoria.records.tenant import TENANT_NAME, ApiKey, Scope, Tenant
from ecphoria.wire.base import Answer, Listing, PageSize, Parameters, Request


def _tenant_name(value: str) -> str:
    if re.fullmatch(TENANT_NAME, value) is None:
        raise ValueError(
            "A tenant's name has 1 to 64 lower-case letters, digits, `-` and `_`, and begins "
            "with a letter or digit."
        )
    return value


TenantName = Annotated[
    str, AfterValidator(_tenant_name), Field(json_schema_extra={"pattern": f"^{TENANT_NAME}$"})
]


class TenantRequest(Request, json_schema_extra={"examples": [{"name": "acme"}]}):
    """An owner of memories to create."""

    name: TenantName
    """1 to 64 lower-case letters, digits, `-` and `_`, beginning with a letter or digit."""


class ErasureAnswer(Answer):
    """The counts of an erasure."""

    removed: dict[str, int]
    """Counts by kind."""


LONGEST_LIFE_S = 10 * 366 * 86_400
"""Longest life of a key that has an end, in seconds."""


class KeyRequest(
    Request, json_schema_extra={"examples": [{"name": "chat agent", "scopes": ["read", "write"]}]}
):
    """A key to issue."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
    """Purpose of the key, 1 to 100 characters."""
    scopes: Annotated[frozenset[Scope], FewFaults] = Field(min_length=1)
    """Scopes of the key; a wider scope does not include a narrower one."""
    expires_in_s: StrictInt | None = Field(default=None, ge=1, le=LONGEST_LIFE_S)
    """Seconds until the key is refused; without it the key has no end."""


class SessionQuery(Parameters):
    """Page of sessions."""

    cursor: str | None = None
    """`next_cursor` of the page before."""
    limit: PageSize = 100
    """Size of the page."""


class SessionPage(Listing[Session]):
    """Sessions by name."""


class TenantList(Listing[Tenant]):
    """Tenants by name."""


class KeyList(Listing[ApiKey]):
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
    """Its address."""


class BrowserFileList(Listing[BrowserFileAnswer]):
    """Files for Neo4j Browser."""


class TicketRequest(Request, json_schema_extra={"examples": [{"write": False}]}):
    """A ticket to make."""

    tenant: TenantName | None = None
    """Name of the tenant; by default that of the key or of the header `Ecphoria-Tenant`."""
    write: StrictBool = False
    """Whether the browser may also change the memory."""


class TicketAnswer(Answer):
    """A ticket for one browser."""

    ticket: str
    """Open `/explorer#ticket=TICKET` with it; it works once."""
    expires_at: Instant
    """Time from which it is refused, if nobody used it before."""


class RedeemRequest(Request, json_schema_extra={"examples": [{"ticket": "A" * 43}]}):
    """A ticket to exchange for a key."""

    ticket: Annotated[str, StringConstraints(pattern="^[A-Za-z0-9_-]{43}$")]
    """The ticket."""


class SignedIn(Answer):
    """The key of a browser, and the tenant that it acts for."""

    key: str | None = None
    """Send it as `Authorization: Bearer KEY`; null if the service asks for no keys."""
    tenant: str
    """Name of the tenant."""
    scopes: tuple[Scope, ...]
    """The scopes of the ticket."""
    expires_at: Instant | None = None
    """End of the key."""
