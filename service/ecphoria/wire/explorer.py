"""Bodies of the explorer's sign-in."""

from typing import Annotated

from pydantic import ConfigDict, StringConstraints

from ecphoria.records.asked import Instant, StrictBool
from ecphoria.records.tenant import Scope
from ecphoria.wire.admin import TenantName
from ecphoria.wire.base import Answer, Request


class TicketRequest(Request):
    """A ticket to make."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"write": False}]})

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


class RedeemRequest(Request):
    """A ticket to exchange for a key."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ticket": "A" * 43}]})

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
