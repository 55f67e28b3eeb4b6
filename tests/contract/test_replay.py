"""Replay on the real server: it finds what is off around the memories it looks at, and no more."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from ecphoria.consolidation.knn import NEIGHBOURS, Associate
from ecphoria.consolidation.knn_store import Association, AssociationStore
from ecphoria.consolidation.links import LinkStore, Prune
from ecphoria.consolidation.replay import Replay, ReplayStore
from ecphoria.consolidation.service import Cycle
from ecphoria.neo4j_store.session import Graph
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.records.job import Lease, LeaseLost
from tests.conftest import Cypher
from tests.contract.associations import COUNT, NOW, VECTORS, Killed, edges, some_mentions
from tests.contract.canonical import canonical
from tests.contract.memories import appended, episode_id, turn, write

NOTHING = {"added": 0, "changed": 0, "dropped": 0}


def a_cycle(tenant: TenantId, **how: Any) -> Cycle:
    return Cycle(**{"id": fresh_id(), "tenant": tenant, "now": NOW, **how})


@pytest.fixture
def step(graph: Graph) -> Replay:
    return Replay(ReplayStore(graph), AssociationStore(graph))


def age_of(number: int) -> timedelta:
    """A third of the last day, a third of the week, a third older."""
    return timedelta(hours=(1, 50, 500)[number % 3])


async def a_memory(graph: Graph, tenant: TenantId, count: int = COUNT) -> None:
    """Memories around a few topics, of every age, associated."""
    rows = [
        turn(
            tenant, number, vector=VECTORS[number - 1], occurred_at=NOW - age_of(number),
            first_person=number % 2 == 0, is_question=number % 5 == 0,
        )
        for number in range(1, count + 1)
    ]  # fmt: skip
    await write(graph, tenant, appended(*rows))
    await Associate(AssociationStore(graph)).run(a_cycle(tenant))


def differences(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: counts[name] for name in NOTHING}


async def test_a_sound_graph_is_left_as_it_is(
    graph: Graph, step: Replay, tenant: TenantId, cypher: Cypher
) -> None:
    await a_memory(graph, tenant)
    before = await canonical(cypher, tenant)
    counts = (await step.run(a_cycle(tenant))).counts
    assert (counts["recent"], counts["medium"], counts["old"]) == (32, 19, 13)
    assert differences(counts) == NOTHING
    assert await canonical(cypher, tenant) == before


async def test_what_is_off_around_the_sample_is_found_and_mended(
    graph: Graph, step: Replay, tenant: TenantId, cypher: Cypher
) -> None:
    await a_memory(graph, tenant, 60)  # no more than a sample
    sound = await edges(cypher, tenant, "w_sim")
    names = sorted(sound)
    gone, off = names[0], names[1]
    strangers = (episode_id(tenant, "1"), episode_id(tenant, "10"))
    wrong = (min(strangers), max(strangers))
    assert wrong not in sound
    await cypher(
        "MATCH (:Episode {id: $one})-[r:SIMILAR]->(:Episode {id: $other}) DELETE r",
        one=gone[0], other=gone[1],
    )  # fmt: skip
    changed = [Association(one=off[0], other=off[1], part=0.1),
               Association(one=wrong[0], other=wrong[1], part=0.7)]  # fmt: skip
    await AssociationStore(graph).save_similar(tenant, None, now=NOW, edges=changed, done=())
    dry = await step.run(a_cycle(tenant, dry_run=True))
    assert await edges(cypher, tenant, "w_sim") != sound
    wet = await step.run(a_cycle(tenant))
    assert (dry.counts, dry.changes) == (wet.counts, wet.changes)
    assert differences(wet.counts) == {"added": 1, "changed": 1, "dropped": 1}
    assert {(change.kind, change.id) for change in wet.changes} == {
        ("link", gone[0]), ("reweigh", off[0]), ("unlink", wrong[0])
    }  # fmt: skip
    assert await edges(cypher, tenant, "w_sim") == pytest.approx(sound)
    assert differences((await step.run(a_cycle(tenant))).counts) == NOTHING


async def test_a_replay_cut_short_mends_the_rest_the_next_time(
    graph: Graph, step: Replay, tenant: TenantId, cypher: Cypher
) -> None:
    await some_mentions(graph, tenant, 30)
    await Associate(AssociationStore(graph)).run(a_cycle(tenant))
    lifted = await edges(cypher, tenant, "w_lift")
    assert len(lifted) == 1
    one, other = sorted(episode_id(tenant, str(number)) for number in (1, 2))
    strangers = [Association(one=one, other=other, part=0.7)]
    await AssociationStore(graph).save_similar(tenant, None, now=NOW, edges=strangers, done=())
    await cypher("MATCH (:Concept {tenant: $tenant})-[r:ASSOCIATED]->() DELETE r", tenant=tenant)

    async def reached(place: str) -> None:
        if place == "replay: concepts":
            raise Killed

    with pytest.raises(Killed):
        await step.run(a_cycle(tenant, reached=reached))
    assert await edges(cypher, tenant, "w_sim") == {}
    assert await edges(cypher, tenant, "w_lift") == {}
    counts = (await step.run(a_cycle(tenant))).counts
    assert differences(counts) == {**NOTHING, "added": 1}
    assert await edges(cypher, tenant, "w_lift") == pytest.approx(lifted)
    assert differences((await step.run(a_cycle(tenant))).counts) == NOTHING


async def test_what_pruning_took_is_not_brought_back(
    graph: Graph, step: Replay, tenant: TenantId, cypher: Cypher
) -> None:
    await a_memory(graph, tenant, 60)
    sound = await edges(cypher, tenant, "w_sim")
    ends = Counter(end for pair in sound for end in pair)
    hub, degree = ends.most_common(1)[0]
    strangers = [
        one
        for one in (episode_id(tenant, str(number)) for number in range(1, 61))
        if one != hub and (min(one, hub), max(one, hub)) not in sound
    ][: NEIGHBOURS + 1 - degree]
    await cypher(
        "MATCH (a:Episode {id: $hub}) UNWIND $strangers AS id MATCH (b:Episode {id: id})"
        " WITH CASE WHEN a.id < b.id THEN [a, b] ELSE [b, a] END AS ends"
        " WITH ends[0] AS one, ends[1] AS other"
        " CREATE (one)-[:SIMILAR {family: 'association', weight: 0.99, w_learned: 0.99,"
        " coactivations: 5, last_used: $now, created_at: $now, formula: 1}]->(other)",
        hub=hub, strangers=strangers, now=NOW,
    )  # fmt: skip
    pruned = (await Prune(LinkStore(graph)).run(a_cycle(tenant))).counts
    assert pruned["similar"] == 1
    assert len(await edges(cypher, tenant, "w_sim")) == len(sound) - 1
    assert differences((await step.run(a_cycle(tenant))).counts) == NOTHING


async def test_what_waits_is_left_to_associate(
    graph: Graph, step: Replay, tenant: TenantId
) -> None:
    await write(graph, tenant, appended(*(turn(tenant, number) for number in range(1, 9))))
    counts = (await step.run(a_cycle(tenant))).counts
    assert set(counts.values()) == {0}
    await Associate(AssociationStore(graph)).run(a_cycle(tenant))
    assert (await step.run(a_cycle(tenant))).counts["old"] == 8
    await write(graph, tenant, appended(turn(tenant, 9)))
    assert (await step.run(a_cycle(tenant))).counts["old"] == 8
    assert (await step.run(a_cycle(tenant, dry_run=True))).counts["old"] == 0


async def test_nothing_is_replayed_in_an_empty_memory(step: Replay, tenant: TenantId) -> None:
    assert set((await step.run(a_cycle(tenant))).counts.values()) == {0}


class Watched(ReplayStore):
    """Tells which memories a replay looked at."""

    seen: set[str]

    async def mentioned(self, tenant: TenantId, episodes: Sequence[str]) -> Sequence[str]:
        self.seen = set(episodes)
        return await super().mentioned(tenant, episodes)


async def test_each_attempt_at_a_cycle_looks_at_the_same_and_each_cycle_at_others(
    graph: Graph, tenant: TenantId
) -> None:
    await a_memory(graph, tenant)
    store = Watched(graph)
    step = Replay(store, AssociationStore(graph), pool=20)

    async def looked_at(now: datetime) -> set[str]:
        await step.run(a_cycle(tenant, now=now))
        return store.seen

    first = await looked_at(NOW)
    assert len(first) == 40
    assert first == await looked_at(NOW)
    other = await looked_at(NOW + timedelta(hours=1))
    newest = {episode_id(tenant, str(number)) for number in range(COUNT - 19, COUNT + 1)}
    assert first != other
    assert newest <= first & other


async def test_who_lost_the_job_mends_nothing(
    graph: Graph, step: Replay, tenant: TenantId, cypher: Cypher
) -> None:
    await a_memory(graph, tenant, 40)
    await cypher("MATCH (:Episode {tenant: $tenant})-[r:SIMILAR]->() DELETE r", tenant=tenant)
    with pytest.raises(LeaseLost):
        await step.run(a_cycle(tenant, lease=Lease(job=fresh_id(), token=1)))
    assert await edges(cypher, tenant, "w_sim") == {}
