"""Engrams on the real server: made of what is there, and gone with it."""

from datetime import timedelta
from typing import Any

import pytest

from ecphoria.consolidation.engram_store import EngramStore
from ecphoria.consolidation.engrams import CLOSED_AFTER, MakeEngrams
from ecphoria.consolidation.service import Cycle
from ecphoria.ingest.prepare import Prepared
from ecphoria.neo4j_store.session import Graph
from ecphoria.recall.listing import EpisodeArchive
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.records.job import Lease, LeaseLost
from ecphoria.tenancy.store import Tenants
from tests.conftest import Cypher, new_tenant
from tests.contract.memories import START, appended, axis, episode_id, turn, write

NOW = START + timedelta(days=2)


def a_cycle(tenant: TenantId, **how: Any) -> Cycle:
    return Cycle(**{"id": fresh_id(), "tenant": tenant, "now": NOW, **how})


@pytest.fixture
def step(graph: Graph) -> MakeEngrams:
    return MakeEngrams(EngramStore(graph))


def a_talk(tenant: TenantId, count: int = 9, session: str = "s1") -> list[Prepared]:
    """Turns about three things, five of them about the first; a short one in between."""
    towards = (0, 0, 0, 0, 0, 1, 1, 2, 0)
    return [
        turn(
            tenant,
            number,
            session=session,
            ordinal=number - 1,
            text=f"Sentence {number} of the talk. And more.",
            length=1 if number == 1 else 10,
            vector=axis(10 + number, towards[number - 1], 0.5),
        )
        for number in range(1, count + 1)
    ]


async def engrams(cypher: Cypher, tenant: TenantId) -> list[dict[str, Any]]:
    return await cypher(
        "MATCH (g:Engram)-[:SUMMARISES]->(s) WHERE g.tenant = $tenant RETURN s.name AS session,"
        " g.id AS id, g.summary AS summary, g.members AS members, g.kind AS kind,"
        " g.method AS method, COLLECT { MATCH (g)-[:EVIDENCE]->(e) RETURN e.text } AS quoted"
        " ORDER BY session",
        tenant=tenant,
    )


async def test_a_session_is_summarised_by_its_own_words_in_their_order(
    graph: Graph, step: MakeEngrams, tenant: TenantId, other_tenant: TenantId, cypher: Cypher
) -> None:
    await write(graph, tenant, appended(*a_talk(tenant)))
    await write(graph, other_tenant, appended(*a_talk(other_tenant)))
    dry = await step.run(a_cycle(tenant, dry_run=True))
    assert await engrams(cypher, tenant) == []
    wet = await step.run(a_cycle(tenant))
    assert (dry.counts, dry.changes) == (wet.counts, wet.changes)
    assert wet.counts == {"sessions": 1, "open": 0, "made": 1, "dropped": 0}
    (found,) = await engrams(cypher, tenant)
    assert (found["kind"], found["members"], found["method"]) == ("session", 9, "extractive")
    lines = found["summary"].split("\n")
    assert lines == sorted(lines)
    assert len(lines) == 3
    assert {f"Ann: {text}" for text in found["quoted"]} == set(lines)
    assert "Ann: Sentence 1 of the talk. And more." not in lines, "it says too little"
    assert any(line.startswith(("Ann: Sentence 6", "Ann: Sentence 7")) for line in lines)
    assert await engrams(cypher, other_tenant) == []

    again = await step.run(a_cycle(tenant))
    assert set(again.counts.values()) == {0}
    assert await engrams(cypher, tenant) == [found]
    (listed,) = await EpisodeArchive(graph).list_sessions(tenant, after=None, limit=5)
    assert listed.summary == found["summary"]


async def test_an_open_session_waits_and_one_that_went_on_is_made_anew(
    graph: Graph, step: MakeEngrams, tenant: TenantId, cypher: Cypher
) -> None:
    talk = a_talk(tenant)
    await write(graph, tenant, appended(*talk[:5]))
    early = talk[4].occurred_at + CLOSED_AFTER - timedelta(seconds=1)
    await step.run(a_cycle(tenant))
    (first,) = await engrams(cypher, tenant)
    await write(graph, tenant, appended(*talk[5:]))
    counts = (await step.run(a_cycle(tenant, now=early))).counts
    assert counts == {"sessions": 0, "open": 1, "made": 0, "dropped": 0}
    assert await engrams(cypher, tenant) == [first]
    await step.run(a_cycle(tenant))
    (second,) = await engrams(cypher, tenant)
    assert (first["members"], second["members"]) == (5, 9)
    assert first["id"] != second["id"]


async def test_words_of_a_deleted_memory_are_gone_at_once(
    graph: Graph, step: MakeEngrams, tenant: TenantId, cypher: Cypher
) -> None:
    talk = a_talk(tenant)
    await write(graph, tenant, appended(*talk))
    await step.run(a_cycle(tenant))
    (found,) = await engrams(cypher, tenant)
    unquoted, quoted = [
        next(one for one in talk if (one.new.text in found["quoted"]) is wanted)
        for wanted in (False, True)
    ]
    await write(graph, tenant, appended(removed=(unquoted.id,)))
    assert await engrams(cypher, tenant) == [found]
    await write(graph, tenant, appended(removed=(quoted.id,)))
    assert await engrams(cypher, tenant) == []
    await step.run(a_cycle(tenant))
    (made,) = await engrams(cypher, tenant)
    assert made["members"] == 7
    assert quoted.new.text not in made["summary"]


async def test_an_engram_is_as_if_the_deleted_had_never_been(
    graph: Graph, step: MakeEngrams, tenant: TenantId, other_tenant: TenantId, cypher: Cypher
) -> None:
    await write(graph, tenant, appended(*a_talk(tenant)))
    await step.run(a_cycle(tenant))
    await write(graph, tenant, appended(removed=(episode_id(tenant, "4"),)))
    await step.run(a_cycle(tenant))
    never = [row for row in a_talk(other_tenant) if row.id != episode_id(other_tenant, "4")]
    await write(graph, other_tenant, appended(*never))
    await step.run(a_cycle(other_tenant))
    (one,), (other,) = await engrams(cypher, tenant), await engrams(cypher, other_tenant)
    assert one["summary"] == other["summary"]


async def test_a_session_of_too_few_turns_has_none_and_loses_the_one_it_had(
    graph: Graph, step: MakeEngrams, tenant: TenantId, cypher: Cypher
) -> None:
    await write(graph, tenant, appended(*a_talk(tenant, 4)))
    await step.run(a_cycle(tenant))
    (found,) = await engrams(cypher, tenant)
    gone = [row.id for row in a_talk(tenant, 4) if row.new.text not in found["quoted"]][:2]
    await write(graph, tenant, appended(removed=tuple(gone)))
    counts = (await step.run(a_cycle(tenant))).counts
    assert counts == {"sessions": 1, "open": 0, "made": 0, "dropped": 1}
    assert await engrams(cypher, tenant) == []


async def test_no_engram_is_stored_of_what_was_deleted_meanwhile(
    graph: Graph, tenant: TenantId, cypher: Cypher
) -> None:
    await write(graph, tenant, appended(*a_talk(tenant)))

    class Late(EngramStore):
        async def members(self, tenant: TenantId, session: str) -> Any:
            found = await super().members(tenant, session)
            await write(graph, tenant, appended(removed=tuple(one.id for one in found[:8])))
            return found

    await MakeEngrams(Late(graph)).run(a_cycle(tenant))
    assert await engrams(cypher, tenant) == []
    (session,) = await EngramStore(graph).touched_sessions(tenant, "1")
    assert session.mark, "the next cycle looks again"


async def test_without_its_lease_nothing_is_written(
    graph: Graph, step: MakeEngrams, tenant: TenantId, cypher: Cypher
) -> None:
    await write(graph, tenant, appended(*a_talk(tenant)))
    with pytest.raises(LeaseLost):
        await step.run(a_cycle(tenant, lease=Lease(job=fresh_id(), token=1)))
    assert await engrams(cypher, tenant) == []


async def test_erasing_a_tenant_takes_its_engrams(
    graph: Graph, step: MakeEngrams, cypher: Cypher
) -> None:
    tenant = await new_tenant(graph)
    await write(graph, tenant, appended(*a_talk(tenant)))
    await step.run(a_cycle(tenant))
    assert len(await engrams(cypher, tenant)) == 1
    counts = await Tenants(graph).erase(tenant)
    assert (counts["engrams"], counts["remaining"]) == (1, 0)
    assert await engrams(cypher, tenant) == []
