"""Create, list and erase tenants, issue and revoke keys."""

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Final

from ecphoria.errors import Conflict, InvalidInput, NotFound
from ecphoria.neo4j_store.tenant_settings import OwnSettings, SettingsStore
from ecphoria.ports import Clock
from ecphoria.records.ids import KeyId, TenantId, fresh_id
from ecphoria.records.recall import OptionValue
from ecphoria.records.settings import TenantSettings, Trial, Values, merge
from ecphoria.records.tenant import ApiKey, IssuedKey, Me, Principal, Scope, Tenant
from ecphoria.runtime import Bounded
from ecphoria.tenancy.access import DEFAULT_TENANT, Access, Entropy, hashed, new_secret, prefix_of
from ecphoria.tenancy.store import EraseArchive, Keys, Tenants


@dataclass(frozen=True, slots=True, kw_only=True)
class TenancyService:
    """The administration of one store."""

    tenants: Tenants
    keys: Keys
    access: Access
    clock: Clock
    entropy: Entropy
    erase_archive: EraseArchive | None = None

    async def open_store(
        self, *, given_key: str | None, needs_key: bool, kept_key: str | None = None
    ) -> IssuedKey | None:
        """Create the default tenant, and an operator's key unless a known one fits.

        Args:
            given_key: A secret that the operator chose; it is always admitted.
            needs_key: Whether callers need a key.
            kept_key: The key that an earlier start left on this machine, perhaps for another
                store.

        Returns:
            The new key, or None. A key is made if the store has no operator's key, or if the kept
            key does not fit this store.
        """
        with contextlib.suppress(Conflict):  # not the first start, or another process was quicker
            await self.create_tenant(DEFAULT_TENANT)
        if given_key is not None:
            if await self.keys.find(hashed(given_key)) is None:
                await self._store(given_key, None, "bootstrap", frozenset(Scope))
            return None
        if not needs_key:
            return None
        if kept_key is not None:
            fits = await self.keys.find(hashed(kept_key)) is not None
        else:
            fits = await self.keys.count_admins() > 0
        if fits:
            return None
        return await self.issue(None, "first operator", Scope)

    async def create_tenant(self, name: str) -> Tenant:
        """Create a tenant; Conflict if the name is taken."""
        return await self.tenants.create(
            Tenant(id=TenantId(fresh_id()), name=name, created_at=self.clock.now())
        )

    async def erase_tenant(self, name: str) -> Mapping[str, int]:
        """Remove a tenant with its memories, keys and archive; return counts by kind.

        Raises:
            NotFound: There is no tenant of this name.
            ArchiveUnavailable: Its files cannot be deleted; the tenant stays, empty, until the
                call is repeated.
        """
        tenant = await self.tenants.find(name)
        try:
            return await self.tenants.erase(tenant.id, self.erase_archive)
        finally:
            self.access.forget()

    async def describe(self, caller: Principal, tenant: TenantId | None, *, ask: bool) -> Me:
        """Describe a caller who acts for a tenant, or for none."""
        name, key_name = await self.tenants.names(tenant, caller.key)
        return Me(
            tenant=name,
            key=caller.key,
            key_name=key_name,
            scopes=tuple(scope for scope in Scope if scope in caller.scopes),
            expires_at=caller.expires_at,
            operator=caller.tenant is None,
            ask=ask,
        )

    async def name_of(self, tenant: TenantId) -> str:
        """Tell a tenant's name; NotFound if it was erased."""
        name, _ = await self.tenants.names(tenant, None)
        if name is None:
            raise NotFound("The tenant was erased.")
        return name

    async def issue(
        self,
        tenant: TenantId | None,
        name: str,
        scopes: Iterable[Scope],
        *,
        expires_in_s: int | None = None,
    ) -> IssuedKey:
        """Make a key of a tenant, or an operator's with None; by default it has no end."""
        secret = new_secret(self.entropy)
        return await self._store(
            secret, tenant, name, frozenset(scopes), expires_in_s=expires_in_s
        )

    async def revoke(self, tenant: TenantId | None, key: KeyId) -> None:
        """Revoke a key of this tenant, or an operator's key with None.

        Raises:
            NotFound: There is no such key.
            Conflict: It is the last operator's key with the scope admin.
        """
        found = next((k for k in await self.keys.list(tenant) if k.id == key), None)
        if found is None:
            raise NotFound("There is no key with this id here; `ecphoria keys list` lists them.")
        if found.revoked_at is None:
            await self._keep_one_admin(found)
            await self.keys.revoke(key, self.clock.now())
        self.access.forget()

    async def sign_out(self, caller: Principal) -> None:
        """Revoke the caller's own key; a caller without a key has nothing to revoke.

        Raises:
            Conflict: The key has no end, so it may be in use elsewhere.
        """
        if caller.key is None:
            return
        if caller.expires_at is None:
            raise Conflict("This API key has no end; an admin revokes it by its id.")
        await self.revoke(caller.tenant, caller.key)

    async def _keep_one_admin(self, leaving: ApiKey) -> None:
        """Refuse to revoke the last admin key; two simultaneous revocations could still do it.

        A key that expires counts as none.
        """
        admin = leaving.tenant is None and Scope.ADMIN in leaving.scopes
        if admin and leaving.expires_at is None and await self.keys.count_admins() == 1:
            raise Conflict("This is the last operator's key; issue another one first.")

    async def _store(
        self,
        secret: str,
        tenant: TenantId | None,
        name: str,
        scopes: frozenset[Scope],
        *,
        expires_in_s: int | None = None,
    ) -> IssuedKey:
        now = self.clock.now()
        key = IssuedKey(
            id=KeyId(fresh_id()),
            tenant=tenant,
            name=name,
            prefix=prefix_of(secret),
            scopes=tuple(scope for scope in Scope if scope in scopes),
            created_at=now,
            expires_at=now + timedelta(seconds=expires_in_s) if expires_in_s else None,
            secret=secret,
        )
        await self.keys.create(key, hashed(secret))
        return key


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

    Each call raises NotFound without the tenant.
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
        """Return the settings in force, at most 5 s old; NotFound without the tenant."""
        found, until = self._trusted.get(tenant, (None, 0.0))
        if found is None or until <= self._monotonic():
            found = (await self.find(tenant)).settings
        return found

    async def find(self, tenant: TenantId) -> OwnSettings:
        """Read what the tenant has set itself; NotFound without the tenant."""
        return self._trust(tenant, await self._store.find(tenant))

    async def change(self, tenant: TenantId, patch: Values) -> OwnSettings:
        """Merge a patch of valid values into the tenant's own settings; null resets one.

        Raises:
            UnknownStrategy: The strategy to try does not exist.
            InvalidInput: It does not take these options.
        """

        def merged(own: OwnSettings) -> Values:
            after = OwnSettings(values=merge(own.values, patch))
            if "trial" in patch and (trial := after.settings.trial) is not None:
                self._check_trial(trial)
            return after.values

        return await self._save(tenant, merged)

    def _check_trial(self, trial: Trial) -> None:
        try:
            self._check(trial.strategy, trial.options)
        except InvalidInput as error:
            place = {"field": f"trial.{error.fields['field']}"}
            raise type(error)(error.message, **{**error.fields, **place}) from error

    async def promote(self, tenant: TenantId) -> OwnSettings:
        """Make the strategy on trial the tenant's default, and end the trial.

        Raises:
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
