"""Associations on the real server, against brute force, in whatever cycles they came."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from ecphoria.consolidation.dormancy_store import DormancyStore
from ecphoria.consolidation.knn import NEAR, NEIGHBOURS, Associate
from ecphoria.consolidation.knn_store import AssociationStore
from ecphoria.consolidation.service import Cycle
from ecphoria.ingest.prepare import Prepared
from ecphoria.maths.hebbian import association, combined, lift, round_down_to_step
from ecphoria.maths.spreading import edge_decay
from ecphoria.neo4j_store.session import Graph
from ecphoria.records.ids import EpisodeId, TenantId, fresh_id
from ecphoria.records.job import Lease, LeaseLost
from tests.conftest import Cypher
from tests.contract.associations import COUNT, NOW, VECTORS, Killed, edges, some_mentions
from tests.contract.memories import appended, concept_id, episode_id, mention, turn, write


def a_cycle(tenant: TenantId, **how: Any) -> Cycle:
    return Cycle(id=fresh_id(), tenant=tenant, now=NOW, **how)


def a_turn(tenant: TenantId, number: int) -> Prepared:
    return turn(tenant, number, vector=VECTORS[number - 1])


def brute_force(tenant: TenantId, numbers: list[int]) -> dict[tuple[str, str], float]:
    """Compare all with all."""
    rows = np.array([VECTORS[number - 1] for number in numbers], np.float64)
    cosine = rows @ rows.T
    np.fill_diagonal(cosine, -1)
    best = np.argsort(-cosine, axis=1, kind="stable")[:, :NEIGHBOURS]
    near = [
        {int(two) for two in best[one] if cosine[one, two] >= NEAR} for one in range(len(rows))
    ]
    ids = [episode_id(tenant, str(number)) for number in numbers]
    return {
        (min(ids[one], ids[two]), max(ids[one], ids[two])): 0.8 * cosine[one, two]
        for one, two in combinations(range(len(rows)), 2)
        if two in near[one] and one in near[two]
    }


@pytest.fixture
def step(graph: Graph) -> Associate:
    return Associate(AssociationStore(graph))


@pytest.fixture(params=[0, 2, 1_000], ids=["index", "table, then index", "table"])
def _searching(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ecphoria.consolidation.vector_table._SHARE", request.param)


@pytest.mark.usefixtures("_searching")
async def test_similar_equals_brute_force_in_one_cycle_and_in_many(
    graph: Graph, step: Associate, tenant: TenantId, other_tenant: TenantId, cypher: Cypher
) -> None:
    for batch in (range(1, 41), range(41, 90), range(90, COUNT + 1)):
        await write(graph, tenant, appended(*(a_turn(tenant, number) for number in batch)))
        await step.run(a_cycle(tenant))
    shuffled = [int(one) for one in np.random.default_rng(2).permutation(COUNT) + 1]
    rows = (
        replace(a_turn(other_tenant, number), sequence=place, ordinal=place)
        for place, number in enumerate(shuffled, 1)
    )
    await write(graph, other_tenant, appended(*rows))
    await step.run(a_cycle(other_tenant))
    for one in (tenant, other_tenant):
        expected = brute_force(one, list(range(1, COUNT + 1)))
        assert len(expected) > COUNT
        assert max(Counter(end for pair in expected for end in pair).values()) == NEIGHBOURS
        assert await edges(cypher, one, "w_sim") == pytest.approx(expected, abs=1e-5)


async def test_the_server_finds_one_as_near_the_other_as_the_other_the_one(
    graph: Graph, tenant: TenantId
) -> None:
    await write(graph, tenant, appended(*(a_turn(tenant, number) for number in range(1, 61))))
    ids = [episode_id(tenant, str(number)) for number in range(1, 61)]
    rows = await AssociationStore(graph).near(tenant, ids, fetch=64, above=NEAR)
    cosines = {(row.of, row.id): row.cosine for row in rows}
    assert len(cosines) > 100
    assert all(cosines[other, one] == cosine for (one, other), cosine in cosines.items())


async def test_twice_is_once_and_a_dry_run_tells_without_writing(
    graph: Graph, step: Associate, tenant: TenantId, cypher: Cypher
) -> None:
    await write(graph, tenant, appended(*(a_turn(tenant, number) for number in range(1, 61))))
    dry = await step.run(a_cycle(tenant, dry_run=True))
    assert await edges(cypher, tenant, "w_sim") == {}
    wet = await step.run(a_cycle(tenant))
    assert (dry.counts, dry.changes) == (wet.counts, wet.changes)
    found = await edges(cypher, tenant, "w_sim")
    assert wet.counts["added"] == len(found) == len(brute_force(tenant, list(range(1, 61))))
    assert len(wet.changes) == min(100, len(found))
    again = await step.run(a_cycle(tenant))
    assert set(again.counts.values()) == {0}
    assert await edges(cypher, tenant, "w_sim") == found


async def test_a_deletion_makes_room_for_the_next_nearest(
    graph: Graph, step: Associate, tenant: TenantId, cypher: Cypher
) -> None:
    numbers = list(range(1, COUNT + 1))
    await write(graph, tenant, appended(*(a_turn(tenant, number) for number in numbers)))
    await step.run(a_cycle(tenant))
    before = await edges(cypher, tenant, "w_sim")
    busiest = Counter(end for pair in before for end in pair).most_common(6)
    gone = {one for one, _ in busiest}
    for one in sorted(gone):
        await write(graph, tenant, appended(removed=(one,), items=-1))
    assert {pair for pair in before if gone.isdisjoint(pair)} == set(
        await edges(cypher, tenant, "w_sim")
    )
    outcome = await step.run(a_cycle(tenant))
    assert outcome.counts["added"] > 0
    left = [one for one in numbers if episode_id(tenant, str(one)) not in gone]
    expected = brute_force(tenant, left)
    assert await edges(cypher, tenant, "w_sim") == pytest.approx(expected, abs=1e-5)


async def test_who_sleeps_makes_room_and_who_wakes_is_joined_again(
    graph: Graph, step: Associate, tenant: TenantId, cypher: Cypher
) -> None:
    numbers = list(range(1, COUNT + 1))
    await write(graph, tenant, appended(*(a_turn(tenant, number) for number in numbers)))
    full = brute_force(tenant, numbers)
    busiest = Counter(end for pair in full for end in pair).most_common(6)
    asleep = sorted(EpisodeId(one) for one, _ in busiest)
    reasons = [(one, "to see") for one in asleep]
    left = [one for one in numbers if episode_id(tenant, str(one)) not in asleep]
    # The first time they sleep before they were ever joined, then after.
    for _ in range(2):
        await DormancyStore(graph).put_to_sleep(tenant, reasons, NOW)
        await step.run(a_cycle(tenant))
        among = await edges(cypher, tenant, "w_sim")
        awake = {pair: part for pair, part in among.items() if not {*pair} & {*asleep}}
        assert awake == pytest.approx(brute_force(tenant, left), abs=1e-5)
        await write(graph, tenant, appended(woken=tuple(asleep)))
        await step.run(a_cycle(tenant))
        assert await edges(cypher, tenant, "w_sim") == pytest.approx(full, abs=1e-5)


async def test_concepts_mentioned_together_above_chance_are_joined(
    graph: Graph, step: Associate, tenant: TenantId, cypher: Cypher
) -> None:
    await some_mentions(graph, tenant, 30)
    await step.run(a_cycle(tenant))
    total = round_down_to_step(30)
    pair = sorted((concept_id(tenant, "rome"), concept_id(tenant, "tiber")))
    expected = float(association([6], [8], [6], total=total)[0])
    assert lift([6], [8], [6], total=total) > 2
    found = await edges(cypher, tenant, "w_lift")
    assert found == {tuple(pair): pytest.approx(expected)}, "not the hub, nor what is too rare"
    await write(
        graph,
        tenant,
        appended(mentions_removed=tuple((episode_id(tenant, str(n)), "tiber") for n in (3, 4, 5))),
    )
    changed = await step.run(a_cycle(tenant))
    expected = float(association([3], [8], [3], total=total)[0])
    assert await edges(cypher, tenant, "w_lift") == {tuple(pair): pytest.approx(expected)}
    assert (changed.counts["changed"], changed.counts["concepts"]) == (1, 1)
    await write(graph, tenant, appended(mentions_removed=((episode_id(tenant, "6"), "tiber"),)))
    assert (await step.run(a_cycle(tenant))).counts["dropped"] == 1
    assert await edges(cypher, tenant, "w_lift") == {}


async def test_lifts_do_not_depend_on_when_the_rest_came(
    graph: Graph, step: Associate, tenant: TenantId, other_tenant: TenantId, cypher: Cypher
) -> None:
    await some_mentions(graph, tenant, 12)
    await step.run(a_cycle(tenant))
    assert await edges(cypher, tenant, "w_lift") == {}, "too few to be above chance"
    later = tuple(turn(tenant, number) for number in range(13, 31))
    names = tuple(mention(tenant, number, "hub") for number in range(13, 31))
    await write(graph, tenant, appended(*later, mentions_added=names))
    await step.run(a_cycle(tenant))
    await some_mentions(graph, other_tenant, 30)
    await step.run(a_cycle(other_tenant))
    one = await edges(cypher, tenant, "w_lift")
    assert list(one.values()) == list((await edges(cypher, other_tenant, "w_lift")).values())
    assert len(one) == 1


async def test_what_was_learned_stays_and_counts_in_the_weight(
    graph: Graph, step: Associate, tenant: TenantId, cypher: Cypher
) -> None:
    await write(graph, tenant, appended(*(a_turn(tenant, number) for number in range(1, 31))))
    await step.run(a_cycle(tenant))
    pair, part = max((await edges(cypher, tenant, "w_sim")).items())
    await cypher(
        "MATCH (a {id: $a})-[r:SIMILAR]->(b {id: $b}) SET r.w_learned = 0.4, r.coactivations = 5,"
        " r.last_used = $then, r.w_sim = 0.1",
        a=pair[0], b=pair[1], then=NOW - timedelta(days=30),
    )  # fmt: skip
    await cypher("MATCH (e:Episode {id: $a}) SET e.touched = 'a mark'", a=pair[0])
    await step.run(a_cycle(tenant))
    (row,) = await cypher(
        "MATCH (a {id: $a})-[r:SIMILAR]->(b {id: $b}) RETURN r.weight AS weight,"
        " r.w_sim AS part, r.family AS family, r.formula AS formula, r.created_at AS at",
        a=pair[0], b=pair[1],
    )  # fmt: skip
    now = 0.4 * float(edge_decay([30])[0])
    assert row["weight"] == pytest.approx(float(combined([part], [0], [now])[0]))
    assert (row["part"], row["family"], row["formula"]) == (part, "association", 1)
    await cypher("MATCH (e:Episode {id: $id}) REMOVE e:LiveEpisode", id=pair[1])
    await cypher("MATCH (e:Episode {id: $id}) SET e.touched = 'a mark'", id=pair[0])
    await step.run(a_cycle(tenant))
    assert pair in await edges(cypher, tenant, "w_sim"), "a dormant end keeps its edges"


@pytest.mark.parametrize("held", [{"token": 2, "seconds": -1}, {"token": 3, "seconds": 60}])
async def test_without_its_lease_nothing_is_written(
    graph: Graph, step: Associate, tenant: TenantId, cypher: Cypher, held: dict[str, int]
) -> None:
    await write(graph, tenant, appended(*(a_turn(tenant, number) for number in range(1, 11))))
    job = fresh_id()
    await cypher(
        "CREATE (:Job {id: $job, tenant: $tenant, state: 'done', token: $token,"
        " lease_until: datetime() + duration({seconds: $seconds})})",
        job=job, tenant=tenant, **held,
    )  # fmt: skip
    with pytest.raises(LeaseLost):
        await step.run(a_cycle(tenant, lease=Lease(job=job, token=2)))
    assert await edges(cypher, tenant, "w_sim") == {}


async def test_a_cycle_cut_short_anywhere_is_completed_by_the_next(
    graph: Graph,
    step: Associate,
    tenant: TenantId,
    cypher: Cypher,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ecphoria.consolidation.knn._FIRST_EPISODES", 64)
    numbers = list(range(1, COUNT + 1))
    await write(graph, tenant, appended(*(a_turn(tenant, number) for number in numbers)))
    places: list[str] = []

    async def reached(place: str) -> None:
        places.append(place)
        if len(places) == 3:
            raise Killed

    with pytest.raises(Killed):
        await step.run(a_cycle(tenant, reached=reached))
    assert places == ["associate: read vectors", *["associate: episodes"] * 2]
    assert (await AssociationStore(graph).progress(tenant)).associated_turn == 64
    await step.run(a_cycle(tenant))
    expected = brute_force(tenant, numbers)
    assert await edges(cypher, tenant, "w_sim") == pytest.approx(expected, abs=1e-5)
