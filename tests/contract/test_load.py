"""A first load stores its batches in order, however they come, and leaves the usual graph."""

import asyncio
from datetime import timedelta

import pytest

from ecphoria.consolidation.doctor import Doctor, IntegrityStore
from ecphoria.errors import Conflict
from ecphoria.ingest.service import IngestService
from ecphoria.ingest.store import IngestStore
from ecphoria.neo4j_store.session import Graph
from ecphoria.ports import Embedder
from ecphoria.records.episode import Load, NewEpisode, Outcome, Receipt
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.records.tenant import Tenant
from ecphoria.tenancy.store import Tenants
from tests.conftest import Cypher, WallClock
from tests.contract.canonical import canonical
from tests.contract.cycles import NAMES, THINGS
from tests.contract.memories import START
from tests.hashing import HashingEmbedder

TURNS = [
    NewEpisode(
        text=f"{NAMES[n % 4]} painted {THINGS[n % 3]}; {NAMES[(n + 1 + n // 6) % 4]} helped.",
        speaker=NAMES[n % 2],
        session=f"s{n // 7}",
        occurred_at=START + timedelta(hours=n if n % 5 else n - 3),
        idempotency_key=str(n),
    )
    for n in range(24)
]
SIZE = 6


@pytest.fixture
def ingest(graph: Graph, embedder: Embedder) -> IngestService:
    # The last bits of the usual embedder's vectors depend on the texts of the same call.
    exact = HashingEmbedder(embedder.model, embedder.dimension)
    return IngestService(store=IngestStore(graph), embedder=exact, clock=WallClock())


async def make(graph: Graph, tenant: TenantId) -> None:
    await Tenants(graph).create(
        Tenant(id=tenant, name=f"t-{tenant}", created_at=WallClock().now())
    )


async def load(
    ingest: IngestService, tenant: TenantId, start: int, end: int, name: str = "chats"
) -> list[Outcome]:
    place = Load(id=name, start=start, end=end)
    results = await ingest.append_batch(tenant, TURNS[start:end], place)
    return [result.outcome for result in results if isinstance(result, Receipt)]


async def test_a_load_in_any_order_with_repeats_leaves_the_graph_of_single_appends(
    graph: Graph, ingest: IngestService, cypher: Cypher
) -> None:
    tenant = TenantId(fresh_id())
    await make(graph, tenant)
    for turn in TURNS:
        await ingest.append(tenant, turn)
    expected = await canonical(cypher, tenant)
    await Tenants(graph).erase(tenant)

    await make(graph, tenant)
    starts = range(0, len(TURNS), SIZE)
    backwards = [load(ingest, tenant, start, start + SIZE) for start in reversed(starts)]
    created = await asyncio.gather(*backwards)
    assert created == [[Outcome.CREATED] * SIZE] * len(starts)
    # A process that was killed sends all again, perhaps cut in another way.
    again = [load(ingest, tenant, start, min(start + 9, 24)) for start in range(0, 24, 9)]
    assert {one for part in await asyncio.gather(*again) for one in part} == {Outcome.EXISTED}
    assert not (
        await Doctor(IntegrityStore(graph), asyncio.get_running_loop().time).examine(tenant)
    ).findings
    await cypher(
        "MATCH (t:Tenant {id: $tenant}) SET t.load = null, t.loaded = null", tenant=tenant
    )
    assert await canonical(cypher, tenant) == expected
    await Tenants(graph).erase(tenant)


async def test_a_load_that_was_cut_short_goes_on(ingest: IngestService, tenant: TenantId) -> None:
    await load(ingest, tenant, 0, 6)
    cut = asyncio.create_task(load(ingest, tenant, 12, 18))
    await asyncio.sleep(0.3)
    assert not cut.done()  # it waits for the batch before it, which does not come
    cut.cancel()
    assert await load(ingest, tenant, 0, 12) == [Outcome.EXISTED] * 6 + [Outcome.CREATED] * 6
    assert await load(ingest, tenant, 12, 24) == [Outcome.CREATED] * 12


async def test_a_stored_batch_wakes_the_next_one(
    graph: Graph, embedder: Embedder, tenant: TenantId
) -> None:
    ingest = IngestService(
        store=IngestStore(graph), embedder=embedder, clock=WallClock(), look_s=3_600.0
    )
    later = asyncio.create_task(load(ingest, tenant, 6, 12))
    await asyncio.sleep(0.3)
    async with asyncio.timeout(60):
        await load(ingest, tenant, 0, 6)
        assert await later == [Outcome.CREATED] * 6


async def test_items_that_cannot_be_sent_hold_up_no_batch(
    ingest: IngestService, tenant: TenantId
) -> None:
    later = asyncio.create_task(load(ingest, tenant, 1, 6))
    await ingest.append_batch(tenant, [], Load(id="chats", start=0, end=1))
    assert await later == [Outcome.CREATED] * 5


async def test_a_used_tenant_and_a_second_load_are_refused(
    ingest: IngestService, tenant: TenantId, graph: Graph
) -> None:
    await load(ingest, tenant, 0, 6)
    with pytest.raises(Conflict, match="empty tenant"):
        await load(ingest, tenant, 6, 12, name="other")
    other = TenantId(fresh_id())
    await make(graph, other)
    await ingest.append(other, TURNS[0])
    with pytest.raises(Conflict, match="empty tenant"):
        await load(ingest, other, 0, 6)
    await Tenants(graph).erase(other)
