"""Turn a presented key into who is asking, and that into the tenant it may act for."""

from collections import OrderedDict
from collections.abc import Callable

from ecphoria.errors import Forbidden, InvalidInput, NotFound, Unauthenticated
from ecphoria.model.ids import TenantId
from ecphoria.model.tenant import Principal, Scope
from ecphoria.ports.tenants import KeyStore, TenantStore
from ecphoria.tenancy.secrets import hashed

__all__ = ["DEFAULT_TENANT", "Access"]

DEFAULT_TENANT = "default"
_ANYONE = Principal(key=None, tenant=None, scopes=frozenset(Scope))
_REMEMBERED = 4_096


class Access:
    """Answers who is asking and whether they may.

    A key found in the store is trusted for `cache_s` seconds; that is how long one revoked by
    another process goes on working. Unknown keys are always looked up.
    """

    def __init__(
        self,
        *,
        keys: KeyStore,
        tenants: TenantStore,
        enabled: bool,
        cache_s: float,
        monotonic: Callable[[], float],
    ) -> None:
        self._keys = keys
        self._tenants = tenants
        self._enabled = enabled
        self._cache_s = cache_s
        self._monotonic = monotonic
        self._trusted: OrderedDict[str, tuple[Principal, float]] = OrderedDict()

    async def identify(self, secret: str | None) -> Principal:
        """Find who presents this key.

        Raises:
            Unauthenticated: There is no key, or nobody issued it, or it was revoked.
        """
        if not self._enabled:
            return _ANYONE
        if not secret:
            raise Unauthenticated
        key = hashed(secret)
        now = self._monotonic()
        found, until = self._trusted.get(key, (None, now))
        if found is None or until <= now:
            self._trusted.pop(key, None)
            found = await self._keys.find(key)
            if found is None:
                raise Unauthenticated("Nobody issued this API key, or it was revoked.")
            self._trusted[key] = (found, now + self._cache_s)
            while len(self._trusted) > _REMEMBERED:
                self._trusted.popitem(last=False)
        return found

    def forget(self) -> None:
        """Trust no key without asking the store again."""
        self._trusted.clear()

    def permit(self, principal: Principal, scope: Scope) -> None:
        """Let pass whoever has the scope.

        Raises:
            Forbidden: The key lacks it.
        """
        if scope not in principal.scopes:
            raise Forbidden(
                f"This API key lacks the scope `{scope}`; ask an admin for one that has it.",
                scope=scope.value,
            )

    def permit_operator(self, principal: Principal) -> None:
        """Let pass operators only.

        Raises:
            Forbidden: The key belongs to a tenant.
        """
        if principal.tenant is not None:
            raise Forbidden("Only an operator's key may administer tenants.")

    async def acting_for(self, principal: Principal, named: str | None) -> TenantId | None:
        """Find the tenant a request is about; None for an operator who named none.

        Raises:
            Forbidden: A tenant's key names another tenant.
            NotFound: There is no tenant of this name.
        """
        if principal.tenant is None:
            if named is None and self._enabled:
                return None
            return (await self._tenants.find(named or DEFAULT_TENANT)).id
        if named is not None:
            try:
                tenant = (await self._tenants.find(named)).id
            except NotFound:
                tenant = None
            if tenant != principal.tenant:
                raise Forbidden("This API key acts for its own tenant only; leave the name out.")
        return principal.tenant

    async def tenant_of(self, principal: Principal, named: str | None) -> TenantId:
        """Find the tenant a request is about, which must be one.

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
