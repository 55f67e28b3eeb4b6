from dataclasses import replace
from datetime import timedelta

import pytest

from ecphoria.errors import Conflict, NotFound
from ecphoria.ingest.store import IngestStore, IngestTransaction
from ecphoria.items.store import ItemStore, StoredItem
from ecphoria.jobs.store import JobStore
from ecphoria.neo4j_store.session import Graph
from ecphoria.neo4j_store.traces import TraceStore
from ecphoria.recall.listing import EpisodeArchive
from ecphoria.recall.store import EpisodeReader
from ecphoria.records.ids import KeyId, TenantId, fresh_id
from ecphoria.records.job import JobKind
from ecphoria.records.tenant import Principal, Scope
from ecphoria.tenancy.store import Keys, Tenants
from tests.conftest import Cypher
from tests.contract.memories import appended, everything, place_in_time, turn, write
from tests.contract.tenants import NOW, a_key, a_tenant
from tests.contract.traces import a_trace


async def test_a_tenant_is_found_by_name_and_listed(graph: Graph) -> None:
    tenants, made = Tenants(graph), a_tenant()
    assert await tenants.create(made) == made
    assert await tenants.find(made.name) == made
    listed = await tenants.list()
    assert made in listed
    assert [tenant.name for tenant in listed] == sorted(tenant.name for tenant in listed)
    await tenants.erase(made.id)
    with pytest.raises(NotFound):
        await tenants.find(made.name)


def an_item() -> StoredItem:
    return StoredItem(
        namespace=("users", "ana"), key="food", value="{}", created_at=NOW, updated_at=NOW,
        ttl_s=None, expires_at=None, vector=None, text=None,
    )  # fmt: skip


async def test_a_name_is_taken_once(graph: Graph) -> None:
    tenants, made = Tenants(graph), a_tenant()
    await tenants.create(made)
    with pytest.raises(Conflict, match="name"):
        await tenants.create(replace(a_tenant(), name=made.name))
    await tenants.erase(made.id)


async def test_erasing_leaves_nothing_of_one_and_all_of_the_other(
    graph: Graph, tenant: TenantId, cypher: Cypher
) -> None:
    tenants, gone = Tenants(graph), a_tenant()
    await tenants.create(gone)
    for owner in (tenant, gone.id):
        await write(graph, owner, everything(owner))
        await place_in_time(graph, owner)
        await TraceStore(graph, keep=5).save(owner, [a_trace(owner)])
        await Keys(graph).create(a_key(owner, Scope.READ), fresh_id())
        await JobStore(graph, keep=5).enqueue(owner, JobKind.DRY_RUN)
        keyed = turn(owner, 9, ordinal=9, idempotency_key="k9")
        await write(graph, owner, appended(keyed))
        await write(graph, owner, appended(removed=(keyed.id,)))
        await ItemStore(graph).write(owner, [an_item()], [], NOW)
    counts = await tenants.erase(gone.id)
    assert counts == {
        "jobs": 1,
        "traces": 1,
        "engrams": 0,
        "decisions": 1,
        "facts": 1,
        "episodes": 4,
        "passages": 2,
        "sessions": 2,
        "speakers": 2,
        "names": 2,
        "terms": 2,
        "words": 2,
        "items": 1,
        "tombstones": 1,
        "keys": 1,
        "tenants": 1,
        "remaining": 0,
    }
    rows = await cypher(
        "MATCH (n) WHERE n.tenant = $id OR n.id = $id RETURN count(n) AS n", id=gone.id
    )
    assert rows == [{"n": 0}]
    stats = await EpisodeArchive(graph).stats(tenant)
    assert (stats.episodes, stats.mentions, stats.traces) == (4, 3, 1)
    with pytest.raises(NotFound):
        await tenants.erase(gone.id)


async def test_more_than_one_batch_is_erased(graph: Graph) -> None:
    tenants, gone = Tenants(graph), a_tenant()
    await tenants.create(gone)
    rows = [turn(gone.id, number) for number in range(1, 1_052)]
    await write(graph, gone.id, appended(*rows))
    assert (await tenants.erase(gone.id))["episodes"] == 1_051


async def test_a_tenant_that_is_being_erased_is_closed(graph: Graph, cypher: Cypher) -> None:
    tenants, made = Tenants(graph), a_tenant()
    await tenants.create(made)
    await cypher("MATCH (t:Tenant {id: $id}) SET t.erasing = true", id=made.id)

    async def nothing(transaction: IngestTransaction) -> None:
        raise AssertionError

    with pytest.raises(NotFound):
        await IngestStore(graph).change(made.id, nothing)
    with pytest.raises(NotFound):
        await EpisodeReader(graph).lexicon(made.id, [], [])
    assert (await tenants.erase(made.id))["remaining"] == 0


async def test_a_key_opens_until_it_is_revoked(graph: Graph, tenant: TenantId) -> None:
    keys, secret = Keys(graph), fresh_id()
    key = a_key(tenant, Scope.READ, Scope.WRITE)
    await keys.create(key, secret)
    assert await keys.find(secret) == Principal(
        key=key.id, tenant=tenant, scopes=frozenset(key.scopes)
    )
    assert await keys.find(fresh_id()) is None
    assert await keys.list(tenant) == [key]
    await keys.revoke(key.id, NOW)
    await keys.revoke(key.id, NOW + timedelta(days=1))
    assert await keys.find(secret) is None
    assert await keys.list(tenant) == [replace(key, revoked_at=NOW)]
    with pytest.raises(NotFound):
        await keys.revoke(KeyId(fresh_id()), NOW)


async def test_a_key_that_expired_is_listed_for_a_month(
    graph: Graph, tenant: TenantId, other_tenant: TenantId
) -> None:
    keys = Keys(graph)
    for owner in (tenant, other_tenant, None):
        for days in (31, 29):
            key = replace(a_key(owner), expires_at=NOW - timedelta(days=days), name=str(days))
            born = NOW - timedelta(days=90 + days)  # a list of keys is in their order
            await keys.create(replace(key, created_at=born), fresh_id())
    fresh = a_key(tenant)
    await keys.create(fresh, fresh_id())
    assert [key.name for key in await keys.list(tenant)] == ["29", fresh.name]
    assert [key.name for key in await keys.list(other_tenant)] == ["31", "29"]
    assert {key.name for key in await keys.list(None)} >= {"31", "29"}


async def test_keys_are_listed_by_owner(
    graph: Graph, tenant: TenantId, other_tenant: TenantId
) -> None:
    keys, operator = Keys(graph), a_key(None, Scope.ADMIN)
    before = await keys.count_admins()
    await keys.create(operator, fresh_id())
    await keys.create(a_key(tenant, Scope.ADMIN), fresh_id())
    assert await keys.count_admins() == before + 1
    assert operator in await keys.list(None)
    assert operator not in await keys.list(tenant)
    assert await keys.list(other_tenant) == []
    await keys.revoke(operator.id, NOW)
    assert await keys.count_admins() == before


async def test_a_secret_is_stored_once(graph: Graph, tenant: TenantId) -> None:
    keys, secret = Keys(graph), fresh_id()
    await keys.create(a_key(tenant, Scope.READ), secret)
    with pytest.raises(Conflict):
        await keys.create(a_key(tenant, Scope.READ), secret)
