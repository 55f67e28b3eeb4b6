"""The settings of tenants: read, change, and promote the strategy on trial."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Final

from ecphoria.errors import Conflict
from ecphoria.neo4j_store.tenant_settings import OwnSettings, SettingsStore
from ecphoria.ports import Clock
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import OptionValue
from ecphoria.records.settings import TenantSettings, Values, merge
from ecphoria.runtime import Bounded

_REMEMBERED: Final = 4_096
# Settings are read before each recall, so they are cached (decision 0014).
_TRUSTED_S: Final = 5.0
_UNDOABLE: Final = 16

Check = Callable[[str, Mapping[str, OptionValue]], None]
"""Checks the name of a strategy and its options."""


class SettingsService:
    """Reads settings and changes them.

    They are cached for 5 s, so a change by another process takes effect within that time. A change
    by this process takes effect at the next recall.
    """

    def __init__(
        self, store: SettingsStore, check: Check, clock: Clock, monotonic: Callable[[], float]
    ) -> None:
        self._store = store
        self._check = check
        self._clock = clock
        self._monotonic = monotonic
        self._trusted = Bounded[TenantId, tuple[TenantSettings, float]](_REMEMBERED)

    async def of(self, tenant: TenantId) -> TenantSettings:
        """Return the settings in force, at most 5 s old.

        Raises:
            NotFound: There is no such tenant.
        """
        found, until = self._trusted.get(tenant, (None, 0.0))
        if found is None or until <= self._monotonic():
            found = (await self.find(tenant)).settings
        return found

    async def find(self, tenant: TenantId) -> OwnSettings:
        """Read what the tenant has set itself.

        Raises:
            NotFound: There is no such tenant.
        """
        return self._trust(tenant, await self._store.find(tenant))

    async def change(self, tenant: TenantId, patch: Values) -> OwnSettings:
        """Merge a patch of valid values into the tenant's own settings; null resets one.

        Raises:
            NotFound: There is no such tenant.
            UnknownStrategy: The strategy to try does not exist.
            InvalidInput: It does not take these options.
        """

        def merged(own: OwnSettings) -> Values:
            after = OwnSettings(values=merge(own.values, patch))
            if "trial" in patch and (trial := after.settings.trial) is not None:
                self._check(trial.strategy, trial.options)
            return after.values

        return await self._save(tenant, merged)

    async def promote(self, tenant: TenantId) -> OwnSettings:
        """Make the strategy on trial the tenant's default, and end the trial.

        Raises:
            NotFound: There is no such tenant.
            Conflict: No strategy is on trial.
        """

        def promoted(own: OwnSettings) -> Values:
            trial = own.settings.trial
            if trial is None:
                raise Conflict("No strategy is on trial; try one first.")
            choices = (*own.settings.promoted, trial.choice)[-_UNDOABLE:]
            return merge(own.values, {"trial": None, "promoted": [asdict(one) for one in choices]})

        return await self._save(tenant, promoted)

    async def roll_back(self, tenant: TenantId) -> OwnSettings:
        """Go back to the default before the latest promotion.

        Raises:
            NotFound: There is no such tenant.
            Conflict: Nothing was promoted.
        """

        def rolled_back(own: OwnSettings) -> Values:
            promoted = own.settings.promoted
            if not promoted:
                raise Conflict("No strategy was promoted; the service's default is in force.")
            return merge(own.values, {"promoted": [asdict(one) for one in promoted[:-1]]})

        return await self._save(tenant, rolled_back)

    async def _save(
        self, tenant: TenantId, change: Callable[[OwnSettings], Values]
    ) -> OwnSettings:
        return self._trust(tenant, await self._store.change(tenant, change, self._clock.now()))

    def _trust(self, tenant: TenantId, own: OwnSettings) -> OwnSettings:
        self._trusted[tenant] = (own.settings, self._monotonic() + _TRUSTED_S)
        return own
