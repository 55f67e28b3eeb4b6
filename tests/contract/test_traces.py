from dataclasses import replace
from datetime import timedelta

import pytest

from ecphoria.errors import NotFound
from ecphoria.neo4j_store.session import Graph
from ecphoria.neo4j_store.traces import TraceStore
from ecphoria.recall.listing import EpisodeArchive
from ecphoria.records.ids import TenantId
from tests.conftest import Cypher
from tests.contract.memories import START, appended, concept_id, episode_id, everything, write
from tests.contract.traces import a_trace


async def test_a_trace_comes_back_as_it_went(graph: Graph, tenant: TenantId) -> None:
    await write(graph, tenant, everything(tenant))
    traces = TraceStore(graph, keep=5)
    saved = a_trace(tenant)
    await traces.save(tenant, [saved])
    found = await traces.find(tenant, saved.id)
    assert replace(found, nodes=()) == saved
    assert {node.id: (node.kind, node.label) for node in found.nodes} == {
        episode_id(tenant, "1"): ("episode", "Ann: Turn 1 was said."),
        episode_id(tenant, "2"): ("episode", "Bob: Turn 2 was said."),
        concept_id(tenant, "rome"): ("concept", "Rome"),
    }


async def test_the_reasons_name_a_speaker_only_while_the_speaker_is_stored(
    graph: Graph, tenant: TenantId, cypher: Cypher
) -> None:
    new = everything(tenant)
    await write(graph, tenant, new)
    traces = TraceStore(graph, keep=5)
    said = ("what matches best was said by Ann, not by Annabel", "no memory by Ann has it")
    saved = a_trace(tenant, reasons=said, speakers=("Ann",))
    await traces.save(tenant, [saved])
    (row,) = await cypher("MATCH (t:Trace {id: $id}) RETURN t.payload AS payload", id=saved.id)
    assert "by Ann," not in row["payload"]
    assert (await traces.find(tenant, saved.id)).reasons == said
    await cypher("MATCH (s:Speaker {tenant: $tenant, name: 'Ann'}) DETACH DELETE s", tenant=tenant)
    assert (await traces.find(tenant, saved.id)).reasons == (
        "what matches best was said by someone, not by Annabel", "no memory by someone has it",
    )  # fmt: skip


async def test_labels_are_looked_up_when_a_trace_is_read(
    graph: Graph, tenant: TenantId, cypher: Cypher
) -> None:
    await write(graph, tenant, everything(tenant))
    traces, saved = TraceStore(graph, keep=5), a_trace(tenant, about="Ann")
    await traces.save(tenant, [saved])
    (row,) = await cypher("MATCH (t:Trace {id: $id}) RETURN t.payload AS payload", id=saved.id)
    assert "Ann" not in row["payload"]
    assert '"label": "Rome"' not in row["payload"]
    assert (await traces.find(tenant, saved.id)).about == "Ann"
    await write(graph, tenant, appended(removed=(episode_id(tenant, "1"),)))
    found = await traces.find(tenant, saved.id)
    assert [seed.label for seed in found.seeds] == ["", "Rome"]


async def test_a_trace_leads_to_what_it_woke(
    graph: Graph, tenant: TenantId, cypher: Cypher
) -> None:
    await write(graph, tenant, everything(tenant))
    saved = a_trace(tenant)
    await TraceStore(graph, keep=5).save(tenant, [saved])
    rows = await cypher(
        "MATCH (:Trace {id: $id})-[r]->(n) RETURN type(r) AS type, n.id AS id, "
        "r{.family, .weight, .rank, .score, .energy, .stream} AS told ORDER BY type, r.energy",
        id=saved.id,
    )
    empty = {"family": "provenance", "rank": None, "score": None, "energy": None, "stream": None}
    assert [(row["type"], row["id"], row["told"]) for row in rows] == [
        (
            "SEEDED",
            episode_id(tenant, "1"),
            {**empty, "weight": 0.5, "energy": 0.5, "stream": "text"},
        ),
        (
            "SEEDED",
            concept_id(tenant, "rome"),
            {**empty, "weight": 1.0, "energy": 1.5, "stream": "name"},
        ),
        ("WOKE", episode_id(tenant, "2"), {**empty, "weight": 1.0, "rank": 1, "score": 2.5}),
    ]


async def test_a_trace_of_nothing_can_be_kept(graph: Graph, tenant: TenantId) -> None:
    traces = TraceStore(graph, keep=5)
    empty = a_trace(tenant, seeds=(), waves=(), hits=())
    await traces.save(tenant, [empty])
    assert await traces.find(tenant, empty.id) == empty


async def test_only_the_newest_are_kept(graph: Graph, tenant: TenantId) -> None:
    await write(graph, tenant, everything(tenant))
    traces = TraceStore(graph, keep=3)
    saved = [a_trace(tenant, created_at=START + timedelta(seconds=number)) for number in range(5)]
    for trace in saved:
        await traces.save(tenant, [trace])
    assert (await EpisodeArchive(graph).stats(tenant)).traces == 3
    assert (await traces.find(tenant, saved[2].id)).id == saved[2].id
    with pytest.raises(NotFound):
        await traces.find(tenant, saved[1].id)


async def test_a_trace_is_its_tenants_and_so_is_what_it_points_at(
    graph: Graph, tenant: TenantId, other_tenant: TenantId, cypher: Cypher
) -> None:
    await write(graph, tenant, everything(tenant))
    traces = TraceStore(graph, keep=5)
    mine, foreign = a_trace(tenant), a_trace(tenant)
    await traces.save(tenant, [mine])
    with pytest.raises(NotFound):
        await traces.find(other_tenant, mine.id)
    await traces.save(other_tenant, [foreign])
    rows = await cypher("MATCH (:Trace {id: $id})-[r]->() RETURN r.rank AS rank", id=foreign.id)
    assert rows == []
    for _ in range(6):
        await traces.save(other_tenant, [a_trace(tenant)])
    assert (await traces.find(tenant, mine.id)).hits == mine.hits
