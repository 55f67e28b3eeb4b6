"""Check API keys and find the tenant of a request.

A key is `eck_1f3a90c2_` and 43 more characters: a prefix that may be shown, and 256 random bits.
Such a long random secret cannot be guessed from its SHA-256, so it needs no slow hash.
"""

import base64
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from ecphoria.errors import Forbidden, InvalidInput, NotFound, Unauthenticated
from ecphoria.ports import Clock
from ecphoria.records.ids import TenantId
from ecphoria.records.tenant import Principal, Scope
from ecphoria.runtime import Bounded
from ecphoria.tenancy.store import Keys, Tenants

Entropy = Callable[[int], bytes]
T = TypeVar("T")

# Enough to tell keys apart in a list, and too little to guess one.
_SHOWN = len("eck_") + 8
_SHOWN_OF_FOREIGN = 4


# 256 random bits need no slow hash (docs/explanation/threats.md).
def new_secret(entropy: Entropy) -> str:
    """Make a key, to be shown once, from 4 random bytes to show and 32 secret random bytes."""
    shown, hidden = entropy(4).hex(), base64.urlsafe_b64encode(entropy(32))
    return f"eck_{shown}_{hidden.rstrip(b'=').decode('ascii')}"


def hashed(secret: str) -> str:
    """Hash a key for the store; lower-case hexadecimal SHA-256."""
    return hashlib.sha256(secret.encode()).hexdigest()


def prefix_of(secret: str) -> str:
    """Get the part of a key that may be shown: our prefix, or four characters of a foreign key."""
    return secret[: _SHOWN if secret.startswith("eck_") else _SHOWN_OF_FOREIGN]


DEFAULT_TENANT = "default"
_ANYONE = Principal(key=None, tenant=None, scopes=frozenset(Scope))
_REMEMBERED = 4_096


@dataclass(slots=True, kw_only=True)
class Access:
    """Authenticate callers and check their scopes.

    Keys and names of tenants are cached for `cache_s` seconds, so a key that another process
    revokes works that long, and so does the name of a tenant that it erases: the tenant is then
    empty. Unknown keys and names are always looked up.
    """

    keys: Keys
    tenants: Tenants
    enabled: bool
    cache_s: float
    clock: Clock
    monotonic: Callable[[], float]
    _trusted: Bounded[str, tuple[Principal, float]] = field(
        init=False, default_factory=lambda: Bounded(_REMEMBERED)
    )
    _named: Bounded[str, tuple[TenantId, float]] = field(
        init=False, default_factory=lambda: Bounded(_REMEMBERED)
    )

    async def identify(self, secret: str | None) -> Principal:
        """Find the caller with this key.

        Raises:
            Unauthenticated: The key is missing, unknown, revoked or expired.
        """
        if not self.enabled:
            return _ANYONE
        if not secret:
            raise Unauthenticated
        found = await self._cached(self._trusted, hashed(secret), self._principal)
        if found.expires_at is not None and found.expires_at <= self.clock.now():
            raise Unauthenticated(
                f"This API key expired at {found.expires_at:%Y-%m-%d %H:%M:%S} UTC; get a new one."
            )
        return found

    def forget(self) -> None:
        """Clear the cache of keys and names."""
        self._trusted.clear()
        self._named.clear()

    def permit(self, principal: Principal, scope: Scope) -> None:
        """Require a scope; Forbidden if the key lacks it."""
        if scope not in principal.scopes:
            raise Forbidden(
                f"This API key lacks the scope `{scope}`; ask an admin for one that has it.",
                scope=scope.value,
            )

    def permit_operator(self, principal: Principal) -> None:
        """Require an operator's key; Forbidden if the key belongs to a tenant."""
        if principal.tenant is not None:
            raise Forbidden("Only an operator's key may administer tenants.")

    async def acting_for(self, principal: Principal, named: str | None) -> TenantId | None:
        """Find the tenant of a request; None if an operator names none.

        Raises:
            Forbidden: A tenant's key names another tenant.
            NotFound: There is no tenant of this name.
        """
        if principal.tenant is None:
            if named is None and self.enabled:
                return None
            return await self._cached(self._named, named or DEFAULT_TENANT, self._tenant)
        if named is not None:
            try:
                tenant = await self._cached(self._named, named, self._tenant)
            except NotFound:
                tenant = None
            if tenant != principal.tenant:
                raise Forbidden("This API key acts for its own tenant only; leave the name out.")
        return principal.tenant

    async def _principal(self, key: str) -> Principal:
        found = await self.keys.find(key)
        if found is None:
            raise Unauthenticated("Nobody issued this API key, or it was revoked.")
        return found

    async def _tenant(self, name: str) -> TenantId:
        return (await self.tenants.find(name)).id

    async def _cached(
        self, kept: Bounded[str, tuple[T, float]], key: str, find: Callable[[str], Awaitable[T]]
    ) -> T:
        """Take a value from a cache while it is trusted, else find it and cache it."""
        now = self.monotonic()
        if key in kept and kept[key][1] > now:
            return kept[key][0]
        kept.pop(key, None)
        found = await find(key)
        kept[key] = (found, now + self.cache_s)
        return found

    async def tenant_of(self, principal: Principal, named: str | None) -> TenantId:
        """Find the tenant of a request that must have one.

        Raises:
            Forbidden: A tenant's key names another tenant.
            NotFound: There is no tenant of this name.
            InvalidInput: An operator's key names none.
        """
        tenant = await self.acting_for(principal, named)
        if tenant is None:
            raise InvalidInput(
                "An operator's key acts for every tenant: name one in the header Ecphoria-Tenant, "
                f"for example `{DEFAULT_TENANT}`.",
                field="header:Ecphoria-Tenant",
            )
        return tenant
