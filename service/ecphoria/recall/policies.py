"""Which strategy a tenant's recalls run by, and which one is tried in its shadow."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace

from ecphoria.errors import Conflict
from ecphoria.recall.ports import PolicyStore
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import OptionValue, Policy, Shadow

_REMEMBERED = 4_096
_TRUSTED_S = 5.0
_UNDOABLE = 16

Check = Callable[[str, Mapping[str, OptionValue]], None]


class TenantPolicies:
    """Looks policies up and changes them.

    One that was found is trusted for 5 s; that is how late a change made by another process is
    noticed. A change made here counts from the next recall on.
    """

    def __init__(self, store: PolicyStore, check: Check, monotonic: Callable[[], float]) -> None:
        self._store = store
        self._check = check
        self._monotonic = monotonic
        self._trusted: OrderedDict[TenantId, tuple[Policy, float]] = OrderedDict()

    async def of(self, tenant: TenantId) -> Policy:
        """Tell by what the tenant's recalls run.

        Raises:
            NotFound: There is no such tenant.
        """
        now = self._monotonic()
        found, until = self._trusted.get(tenant, (None, now))
        if found is None or until <= now:
            found = await self._store.find(tenant)
            self._trust(tenant, found)
        return found

    async def set_shadow(self, tenant: TenantId, shadow: Shadow | None) -> Policy:
        """Run a strategy in the shadow, or none with None.

        Raises:
            NotFound: There is no such tenant.
            UnknownStrategy: No such strategy.
            InvalidInput: It does not take these options.
        """
        if shadow is not None:
            self._check(shadow.choice.strategy, shadow.choice.options)
        policy = replace(await self._store.find(tenant), shadow=shadow)
        return await self._save(tenant, policy)

    async def promote(self, tenant: TenantId) -> Policy:
        """Make the shadow's strategy the tenant's default, and end the shadow.

        Raises:
            NotFound: There is no such tenant.
            Conflict: No shadow is set.
        """
        policy = await self._store.find(tenant)
        if policy.shadow is None:
            raise Conflict("There is no shadow to promote; set one first.")
        promoted = (*policy.promoted, policy.shadow.choice)[-_UNDOABLE:]
        return await self._save(tenant, Policy(promoted=promoted))

    async def undo(self, tenant: TenantId) -> Policy:
        """Go back to what was the default before the latest promotion.

        Raises:
            NotFound: There is no such tenant.
            Conflict: Nothing was promoted.
        """
        policy = await self._store.find(tenant)
        if not policy.promoted:
            raise Conflict("No strategy was promoted; the service's default is in force.")
        return await self._save(tenant, replace(policy, promoted=policy.promoted[:-1]))

    async def _save(self, tenant: TenantId, policy: Policy) -> Policy:
        await self._store.save(tenant, policy)
        self._trust(tenant, policy)
        return policy

    def _trust(self, tenant: TenantId, policy: Policy) -> None:
        self._trusted[tenant] = (policy, self._monotonic() + _TRUSTED_S)
        self._trusted.move_to_end(tenant)
        while len(self._trusted) > _REMEMBERED:
            self._trusted.popitem(last=False)
