"""Engrams of clusters on the real server: of what hangs together, and gone with its words."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ecphoria.consolidation.dormancy_store import DormancyStore
from ecphoria.consolidation.engram_store import EngramStore
from ecphoria.consolidation.engrams import MakeClusters, MakeEngrams
from ecphoria.consolidation.knn import Associate
from ecphoria.consolidation.knn_store import AssociationStore
from ecphoria.consolidation.service import Cycle
from ecphoria.ingest.prepare import Prepared
from ecphoria.neo4j_store.session import Graph
from ecphoria.recall.listing import EpisodeArchive
from ecphoria.records.episode import EngramKind
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.records.job import Lease, LeaseLost
from tests.conftest import Cypher, new_tenant
from tests.contract.canonical import canonical
from tests.contract.memories import START, appended, axis, episode_id, turn, write

NOW = START + timedelta(days=2)
COUNT = 12


def a_cycle(tenant: TenantId, **how: Any) -> Cycle:
    return Cycle(**{"id": fresh_id(), "tenant": tenant, "now": NOW, **how})


@pytest.fixture
def step(graph: Graph) -> MakeClusters:
    return MakeClusters(EngramStore(graph))


def said(tenant: TenantId, number: int) -> Prepared:
    """Of thirteen turns six are about one thing, four about another, three about a third."""
    topic = 0 if number <= 6 else 1 if number <= 10 else 2
    return turn(
        tenant, number, session=f"s{number % 3}", ordinal=(number - 1) // 3, length=10,
        text=f"Number {number} is about thing {topic}.", vector=axis(20 + number, topic, 0.75),
    )  # fmt: skip


async def remembered(graph: Graph, tenant: TenantId, *numbers: int) -> None:
    await write(graph, tenant, appended(*(said(tenant, number) for number in numbers)))
    await Associate(AssociationStore(graph)).run(a_cycle(tenant))


async def clusters(cypher: Cypher, tenant: TenantId) -> dict[tuple[int, ...], dict[str, Any]]:
    """List the engrams of clusters by the turns of their members."""
    rows = await cypher(
        "MATCH (g:Engram {kind: 'cluster'}) WHERE g.tenant = $tenant RETURN g.id AS id,"
        " g.summary AS summary, g.members AS members, g.method AS method,"
        " COLLECT { MATCH (g)-[:SUMMARISES]->(e) RETURN e.turn ORDER BY e.turn } AS turns,"
        " COLLECT { MATCH (g)-[:EVIDENCE]->(e) RETURN e.text ORDER BY e.turn } AS quoted",
        tenant=tenant,
    )
    return {tuple(row["turns"]): row for row in rows}


async def test_what_hangs_together_has_an_engram(
    graph: Graph, step: MakeClusters, tenant: TenantId, other_tenant: TenantId, cypher: Cypher
) -> None:
    for one in (tenant, other_tenant):
        await remembered(graph, one, *range(1, 14))
    dry = await step.run(a_cycle(tenant, dry_run=True))
    assert await clusters(cypher, tenant) == {}
    wet = await step.run(a_cycle(tenant))
    assert (dry.counts, dry.changes) == (wet.counts, wet.changes)
    assert wet.counts == {"clusters": 2, "made": 2, "dropped": 0}
    found = await clusters(cypher, tenant)
    assert set(found) == {tuple(range(1, 7)), tuple(range(7, 11))}
    for turns, engram in found.items():
        assert (engram["members"], engram["method"]) == (len(turns), "extractive")
        lines = engram["summary"].split("\n")
        assert lines == [f"Ann: {text}" for text in engram["quoted"]]
        assert 2 <= len(lines) <= 3
    assert await clusters(cypher, other_tenant) == {}
    before = await canonical(cypher, tenant)
    assert (await step.run(a_cycle(tenant))).counts == {"clusters": 2, "made": 0, "dropped": 0}
    assert await canonical(cypher, tenant) == before


async def test_the_same_whatever_the_order_and_the_cycles(
    graph: Graph, step: MakeClusters, tenant: TenantId, other_tenant: TenantId, cypher: Cypher
) -> None:
    await remembered(graph, tenant, *range(1, 14))
    await step.run(a_cycle(tenant))
    place = 0
    for part in ((12, 3, 9, 1), (7, 13, 2), (5, 4, 11, 10, 8, 6)):
        rows = []
        for number in part:
            place += 1
            rows.append(replace(said(other_tenant, number), sequence=place))
        await write(graph, other_tenant, appended(*rows))
        await Associate(AssociationStore(graph)).run(a_cycle(other_tenant))
        await step.run(a_cycle(other_tenant))
    at_once, bit_by_bit = await clusters(cypher, tenant), await clusters(cypher, other_tenant)
    assert len(at_once) == 2
    assert {one["summary"] for one in at_once.values()} == {
        one["summary"] for one in bit_by_bit.values()
    }


async def test_only_what_changed_is_made_anew(
    graph: Graph, step: MakeClusters, tenant: TenantId, cypher: Cypher
) -> None:
    await remembered(graph, tenant, *range(1, 10))
    await step.run(a_cycle(tenant))
    first = await clusters(cypher, tenant)
    assert set(first) == {tuple(range(1, 7))}
    await remembered(graph, tenant, 10)
    assert (await step.run(a_cycle(tenant))).counts == {"clusters": 2, "made": 1, "dropped": 0}
    assert (await clusters(cypher, tenant))[tuple(range(1, 7))] == first[tuple(range(1, 7))]


async def test_words_of_a_deleted_memory_are_gone_at_once(
    graph: Graph, step: MakeClusters, tenant: TenantId, cypher: Cypher
) -> None:
    await remembered(graph, tenant, *range(1, 11))
    await step.run(a_cycle(tenant))
    found = (await clusters(cypher, tenant))[tuple(range(7, 11))]
    quoted = next(
        number for number in range(7, 11) if said(tenant, number).new.text in found["quoted"]
    )
    await write(graph, tenant, appended(removed=(episode_id(tenant, str(quoted)),)))
    assert set(await clusters(cypher, tenant)) == {tuple(range(1, 7))}
    await Associate(AssociationStore(graph)).run(a_cycle(tenant))
    assert (await step.run(a_cycle(tenant))).counts["clusters"] == 1, "three are too few"


async def test_sleep_changes_no_engram(
    graph: Graph, step: MakeClusters, tenant: TenantId, cypher: Cypher
) -> None:
    await remembered(graph, tenant, *range(1, 7))
    await step.run(a_cycle(tenant))
    before = await clusters(cypher, tenant)
    await DormancyStore(graph).put_to_sleep(tenant, [(episode_id(tenant, "2"), "x")], NOW)
    assert (await step.run(a_cycle(tenant))).counts == {"clusters": 1, "made": 0, "dropped": 0}
    assert await clusters(cypher, tenant) == before


async def test_who_lost_the_job_writes_nothing(
    graph: Graph, step: MakeClusters, tenant: TenantId, cypher: Cypher
) -> None:
    await remembered(graph, tenant, *range(1, 7))
    with pytest.raises(LeaseLost):
        await step.run(a_cycle(tenant, lease=Lease(job=fresh_id(), token=1)))
    assert await clusters(cypher, tenant) == {}


async def test_engrams_are_listed_in_pages_and_by_kind(graph: Graph, tenant: TenantId) -> None:
    await remembered(graph, tenant, *range(1, 14))
    engrams = EngramStore(graph)
    await MakeEngrams(engrams).run(a_cycle(tenant))
    await MakeClusters(engrams).run(a_cycle(tenant))
    archive = EpisodeArchive(graph)
    everything = await archive.list_engrams(tenant, kind=None, after=None, limit=99)
    assert len(everything) == 5
    assert [one.id for one in everything] == sorted(one.id for one in everything)
    of_sessions = await archive.list_engrams(tenant, kind=EngramKind.SESSION, after=None, limit=9)
    assert sorted(str(one.session) for one in of_sessions) == ["s0", "s1", "s2"]
    of_clusters = await archive.list_engrams(tenant, kind=EngramKind.CLUSTER, after=None, limit=9)
    assert [(one.session, one.members) for one in of_clusters].count((None, 6)) == 1
    assert sorted([*of_sessions, *of_clusters], key=lambda one: one.id) == list(everything)
    page = await archive.list_engrams(tenant, kind=None, after=everything[1].id, limit=2)
    assert page == everything[2:4]
    quoted = of_clusters[0].evidence
    turns = {episode_id(tenant, str(number)): number for number in range(1, 14)}
    assert [turns[one] for one in quoted] == sorted(turns[one] for one in quoted)
    stranger = await new_tenant(graph)
    assert await archive.list_engrams(stranger, kind=None, after=None, limit=9) == []
