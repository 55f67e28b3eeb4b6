from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from ecphoria.errors import Conflict, Forbidden, InvalidInput, NotFound, Unauthenticated
from ecphoria.records.ids import KeyId, TenantId
from ecphoria.records.tenant import ApiKey, Principal, Scope, Tenant
from ecphoria.tenancy.access import Access, hashed, new_secret, prefix_of
from ecphoria.tenancy.service import TenancyService
from ecphoria.tenancy.store import EraseArchive, Keys, Tenants

READ = frozenset({Scope.READ})
MINE, OTHER = TenantId("a" * 32), TenantId("b" * 32)


class TenantsInMemory:
    """Tenants by name; counts the questions."""

    def __init__(self) -> None:
        self.kept: dict[str, Tenant] = {}
        self.asked = 0

    async def create(self, tenant: Tenant) -> Tenant:
        if tenant.name in self.kept:
            raise Conflict
        self.kept[tenant.name] = tenant
        return tenant

    async def find(self, name: str) -> Tenant:
        self.asked += 1
        if name not in self.kept:
            raise NotFound
        return self.kept[name]

    async def list(self) -> Sequence[Tenant]:
        return [self.kept[name] for name in sorted(self.kept)]

    async def erase(self, tenant: TenantId, _: EraseArchive | None = None) -> dict[str, int]:
        self.kept = {n: t for n, t in self.kept.items() if t.id != tenant}
        return {"tenants": 1}


class KeysInMemory:
    """Keys by the hash of their secret; counts the questions."""

    def __init__(self) -> None:
        self.kept: dict[str, ApiKey] = {}
        self.asked = 0

    async def create(self, key: ApiKey, secret_hash: str) -> None:
        self.kept[secret_hash] = key

    async def find(self, secret_hash: str) -> Principal | None:
        self.asked += 1
        key = self.kept.get(secret_hash)
        if key is None or key.revoked_at is not None:
            return None
        return Principal(
            key=key.id, tenant=key.tenant, scopes=frozenset(key.scopes), expires_at=key.expires_at
        )

    async def list(self, tenant: TenantId | None) -> Sequence[ApiKey]:
        return [key for key in self.kept.values() if key.tenant == tenant]

    async def revoke(self, key: KeyId, revoked_at: datetime) -> None:
        for secret_hash, kept in self.kept.items():
            if kept.id == key:
                self.kept[secret_hash] = replace(kept, revoked_at=revoked_at)
                return
        raise NotFound

    async def count_admins(self) -> int:
        return sum(
            key.tenant is None
            and key.revoked_at is None
            and key.expires_at is None
            and Scope.ADMIN in key.scopes
            for key in self.kept.values()
        )


class House:
    """A tenancy over memory, with a clock and randomness that a test moves."""

    def __init__(self, *, enabled: bool = True) -> None:
        self.tenants, self.keys = TenantsInMemory(), KeysInMemory()
        self.seconds = 0.0
        self._counter = 0
        tenants, keys = cast("Tenants", self.tenants), cast("Keys", self.keys)
        self.access = Access(
            keys=keys,
            tenants=tenants,
            enabled=enabled,
            cache_s=5.0,
            clock=self,
            monotonic=lambda: self.seconds,
        )
        self.service = TenancyService(
            tenants=tenants, keys=keys, access=self.access, clock=self, entropy=self._entropy
        )

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def _entropy(self, size: int) -> bytes:
        self._counter += 1
        return self._counter.to_bytes(size, "big")


@pytest.fixture
def house() -> House:
    return House()


def test_a_secret_shows_its_prefix_and_is_kept_as_a_hash() -> None:
    secret = new_secret(lambda size: b"\xfb" * size)
    assert secret == "eck_fbfbfbfb_" + "-_v7" * 10 + "-_s"
    assert prefix_of(secret) == "eck_fbfbfbfb"
    assert hashed("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_little_of_a_key_of_the_operators_own_is_shown() -> None:
    assert prefix_of("correct horse battery staple") == "corr"


async def test_the_first_start_makes_one_key_and_the_default_tenant(house: House) -> None:
    issued = await house.service.open_store(given_key=None, needs_key=True)
    assert issued is not None
    assert issued.tenant is None
    assert issued.scopes == tuple(Scope)
    assert (await house.access.identify(issued.secret)).key == issued.id
    assert list(house.tenants.kept) == ["default"]
    assert await house.service.open_store(given_key=None, needs_key=True) is None
    assert len(house.keys.kept) == 1


async def test_a_kept_key_of_another_store_is_replaced_and_one_that_fits_is_not(
    house: House,
) -> None:
    first = await house.service.open_store(given_key=None, needs_key=True, kept_key="eck_other")
    assert first is not None
    kept = first.secret
    assert await house.service.open_store(given_key=None, needs_key=True, kept_key=kept) is None
    second = await house.service.open_store(given_key=None, needs_key=True, kept_key="eck_other")
    assert second is not None
    assert len({(await house.access.identify(one)).key for one in (kept, second.secret)}) == 2


async def test_a_given_key_is_admitted_and_stored_once(house: House) -> None:
    for _ in range(2):
        assert await house.service.open_store(given_key="k" * 40, needs_key=True) is None
    assert len(house.keys.kept) == 1
    assert (await house.access.identify("k" * 40)).scopes == frozenset(Scope)


async def test_without_auth_no_key_is_made(house: House) -> None:
    assert await house.service.open_store(given_key=None, needs_key=False) is None
    assert not house.keys.kept
    assert "default" in house.tenants.kept


@pytest.mark.parametrize("secret", [None, "", "eck_00000000_unknown"])
async def test_an_unknown_key_is_nobody(house: House, secret: str | None) -> None:
    with pytest.raises(Unauthenticated):
        await house.access.identify(secret)


async def test_a_key_is_looked_up_once_while_it_is_trusted(house: House) -> None:
    issued = await house.service.issue(MINE, "k", READ)
    for _ in range(3):
        await house.access.identify(issued.secret)
    assert house.keys.asked == 1
    house.seconds = 5.0
    await house.access.identify(issued.secret)
    assert house.keys.asked == 2


async def test_a_tenant_is_looked_up_once_while_its_name_is_trusted(house: House) -> None:
    operator = Principal(key=None, tenant=None, scopes=READ)
    with pytest.raises(NotFound):
        await house.access.tenant_of(operator, "acme")
    first = await house.service.create_tenant("acme")
    asked = house.tenants.asked
    for _ in range(3):
        assert await house.access.tenant_of(operator, "acme") == first.id
    assert house.tenants.asked == asked + 1
    house.seconds = 5.0
    await house.access.tenant_of(operator, "acme")
    assert house.tenants.asked == asked + 2


async def test_a_tenant_erased_here_ends_at_once_and_its_name_can_be_used_again(
    house: House,
) -> None:
    operator = Principal(key=None, tenant=None, scopes=READ)
    first = await house.service.create_tenant("acme")
    assert await house.access.tenant_of(operator, "acme") == first.id
    await house.service.erase_tenant("acme")
    with pytest.raises(NotFound):
        await house.access.tenant_of(operator, "acme")
    second = await house.service.create_tenant("acme")
    assert await house.access.tenant_of(operator, "acme") == second.id != first.id


async def test_a_key_revoked_elsewhere_ends_when_trust_does(house: House) -> None:
    issued = await house.service.issue(MINE, "k", READ)
    await house.access.identify(issued.secret)
    await house.keys.revoke(issued.id, house.now())
    house.seconds = 4.9
    await house.access.identify(issued.secret)
    house.seconds = 5.1
    with pytest.raises(Unauthenticated):
        await house.access.identify(issued.secret)


async def test_a_key_revoked_here_ends_at_once(house: House) -> None:
    issued = await house.service.issue(MINE, "k", READ)
    await house.access.identify(issued.secret)
    await house.service.revoke(MINE, issued.id)
    with pytest.raises(Unauthenticated):
        await house.access.identify(issued.secret)


async def test_a_new_key_works_though_it_was_tried_before(house: House) -> None:
    with pytest.raises(Unauthenticated):
        await house.access.identify("k" * 40)
    await house.service.open_store(given_key="k" * 40, needs_key=True)
    assert await house.access.identify("k" * 40)


async def test_trust_is_bounded(house: House) -> None:
    secrets = [(await house.service.issue(MINE, "k", READ)).secret for _ in range(4_100)]
    for secret in secrets:
        await house.access.identify(secret)
    await house.access.identify(secrets[-1])
    assert house.keys.asked == 4_100
    await house.access.identify(secrets[0])
    assert house.keys.asked == 4_101


async def test_a_key_is_revoked_only_where_it_belongs(house: House) -> None:
    issued = await house.service.issue(MINE, "k", READ)
    for elsewhere in (OTHER, None):
        with pytest.raises(NotFound):
            await house.service.revoke(elsewhere, issued.id)
    await house.service.revoke(MINE, issued.id)
    await house.service.revoke(MINE, issued.id)


async def test_the_last_operators_key_stays(house: House) -> None:
    first = await house.service.issue(None, "first", Scope)
    with pytest.raises(Conflict):
        await house.service.revoke(None, first.id)
    await house.service.issue(None, "second", Scope)
    await house.service.revoke(None, first.id)


def test_a_scope_includes_no_other(house: House) -> None:
    for held in Scope:
        principal = Principal(key=None, tenant=MINE, scopes=frozenset({held}))
        for wanted in Scope:
            if wanted is held:
                house.access.permit(principal, wanted)
            else:
                with pytest.raises(Forbidden, match=wanted):
                    house.access.permit(principal, wanted)


async def test_whom_a_key_may_act_for(house: House) -> None:
    mine = await house.service.create_tenant("mine")
    await house.service.create_tenant("other")
    owner = Principal(key=KeyId("k"), tenant=mine.id, scopes=READ)
    operator = Principal(key=KeyId("o"), tenant=None, scopes=READ)
    assert await house.access.tenant_of(owner, None) == mine.id
    assert await house.access.tenant_of(owner, "mine") == mine.id
    assert await house.access.tenant_of(operator, "mine") == mine.id
    for name in ("other", "nobody"):
        with pytest.raises(Forbidden):
            await house.access.tenant_of(owner, name)
    with pytest.raises(NotFound):
        await house.access.tenant_of(operator, "nobody")
    with pytest.raises(InvalidInput, match="Ecphoria-Tenant"):
        await house.access.tenant_of(operator, None)
    assert await house.access.acting_for(operator, None) is None


async def test_without_auth_everyone_may_and_default_is_meant() -> None:
    house = House(enabled=False)
    await house.service.open_store(given_key=None, needs_key=False)
    anyone = await house.access.identify(None)
    assert anyone.scopes == frozenset(Scope)
    default = house.tenants.kept["default"].id
    assert await house.access.tenant_of(anyone, None) == default


async def test_only_operators_administer_tenants(house: House) -> None:
    house.access.permit_operator(Principal(key=None, tenant=None, scopes=READ))
    with pytest.raises(Forbidden):
        house.access.permit_operator(Principal(key=None, tenant=MINE, scopes=READ))


async def test_a_key_with_an_end_is_refused_from_then_on_though_it_is_remembered(
    house: House,
) -> None:
    issued = await house.service.issue(MINE, "k", READ, expires_in_s=3)
    assert issued.expires_at == house.now() + timedelta(seconds=3)
    house.seconds = 2.9
    assert (await house.access.identify(issued.secret)).expires_at == issued.expires_at
    house.seconds = 3.0
    with pytest.raises(Unauthenticated, match="expired at 2026-01-01 00:00:03 UTC"):
        await house.access.identify(issued.secret)


async def test_only_a_key_with_an_end_signs_out(house: House) -> None:
    short = await house.service.issue(MINE, "k", READ, expires_in_s=3)
    lasting = await house.service.issue(MINE, "k", READ)
    await house.service.sign_out(await house.access.identify(short.secret))
    with pytest.raises(Unauthenticated, match="revoked"):
        await house.access.identify(short.secret)
    with pytest.raises(Conflict):
        await house.service.sign_out(await house.access.identify(lasting.secret))
    assert (await house.access.identify(lasting.secret)).key == lasting.id


async def test_an_operators_key_with_an_end_is_not_the_last_one(house: House) -> None:
    first = await house.service.issue(None, "first", Scope)
    short = await house.service.issue(None, "short", Scope, expires_in_s=60)
    with pytest.raises(Conflict):
        await house.service.revoke(None, first.id)
    await house.service.revoke(None, short.id)
