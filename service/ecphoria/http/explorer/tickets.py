"""Tickets that sign a browser in, kept in the memory of this process only."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from ecphoria.errors import Unauthenticated
from ecphoria.ports import Clock
from ecphoria.records.ids import TenantId
from ecphoria.records.tenant import Scope
from ecphoria.runtime import Bounded
from ecphoria.tenancy.access import Entropy, hashed

_LIFE: Final = timedelta(seconds=120)
_MOST: Final = 100
_BYTES: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """The right to get one key.

    Attributes:
        tenant: The tenant of the key.
        scopes: The scopes of the key.
        expires_at: The ticket is refused from then on.
    """

    tenant: TenantId
    scopes: frozenset[Scope]
    expires_at: datetime


class Tickets:
    """Issue tickets, and take each once.

    A ticket stands in an address, which a program can see when it opens a browser. So it lives for
    two minutes, and it is not a key. Beyond 100 open tickets the oldest ones end.
    """

    def __init__(self, *, clock: Clock, entropy: Entropy) -> None:
        self._clock = clock
        self._entropy = entropy
        self._open = Bounded[str, Ticket](_MOST)

    def issue(self, tenant: TenantId, scopes: frozenset[Scope]) -> tuple[str, Ticket]:
        """Make a ticket with a secret of 256 random bits; the secret is kept as its hash."""
        secret = base64.urlsafe_b64encode(self._entropy(_BYTES)).rstrip(b"=").decode("ascii")
        made = Ticket(tenant=tenant, scopes=scopes, expires_at=self._clock.now() + _LIFE)
        self._open[hashed(secret)] = made
        return secret, made

    @contextmanager
    def taken(self, secret: str) -> Iterator[Ticket]:
        """Take the ticket with this secret; it can be taken again only if the block fails.

        Raises:
            Unauthenticated: It was never issued here, was taken, or is too old.
        """
        place = hashed(secret)
        found = self._open.pop(place, None)
        if found is None or found.expires_at <= self._clock.now():
            raise Unauthenticated(
                "This ticket was used or has expired; `ecphoria explore` makes a new one."
            )
        try:
            yield found
        except BaseException:
            self._open[place] = found
            raise
