"""Store of the settings of tenants."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from ecphoria.neo4j_store.decoding import parsed
from ecphoria.neo4j_store.locks import find_property, lock_tenant
from ecphoria.neo4j_store.session import Graph, Statement, Store, Work
from ecphoria.records.ids import TenantId
from ecphoria.records.settings import TenantSettings, Values, keys_of

_SAVE_SETTINGS = Statement("tenants.save_settings", TenantId)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSettings:
    """The settings that a tenant has changed, as a JSON object; all others have their default."""

    values: Values

    @property
    def settings(self) -> TenantSettings:
        """The settings in force."""
        return parsed(TenantSettings, json.dumps(self.values))

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that the tenant has set, such as `dormancy.budget`."""
        return keys_of(self.values)


class SettingsStore(Store):
    """Reads the settings of a tenant by one statement, and saves them by another."""

    async def find(self, tenant: TenantId) -> OwnSettings:
        """Find the tenant's own settings; NotFound without the tenant."""
        return await _find(self._graph, tenant)

    async def change(
        self, tenant: TenantId, change: Callable[[OwnSettings], Values], now: datetime
    ) -> OwnSettings:
        """Change the tenant's own settings under its lock, so that no change loses another.

        What `change` raises leaves the old values. A schedule that changes begins anew. Learning
        that is switched on counts recalls from `now` on; switched off, it drops the traces that
        wait.

        Raises:
            NotFound: There is no such tenant.
        """

        async def save(work: Work) -> OwnSettings:
            await lock_tenant(work, tenant)
            before = await _find(work, tenant)
            own = OwnSettings(values=change(before))
            await work.run(
                _SAVE_SETTINGS,
                tenant=tenant,
                settings=json.dumps(own.values, sort_keys=True) if own.values else None,
                learns=own.settings.learning.on,
                rescheduled=own.settings.schedule != before.settings.schedule,
                now=now,
            )
            return own

        return await self._graph.change("tenants.change_settings", save)


async def _find(graph: Graph | Work, tenant: TenantId) -> OwnSettings:
    text = await find_property(graph, tenant, "settings")
    return OwnSettings(values=json.loads(text) if text else {})
