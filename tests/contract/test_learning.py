"""What recalls leave on memories, on the real server: once, for its tenant, and as computed."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from ecphoria.consolidation.knn_store import Association, AssociationStore
from ecphoria.errors import Conflict, EcphoriaError, InvalidInput, NotFound
from ecphoria.learning.service import LearningService
from ecphoria.learning.store import LearningStore, LearningTransaction
from ecphoria.maths.spreading import edge_decay
from ecphoria.neo4j_store.session import Graph
from ecphoria.neo4j_store.traces import TraceStore
from ecphoria.recall.ports import FanLimits
from ecphoria.recall.store import EpisodeReader
from ecphoria.records.history import Charge, Use
from ecphoria.records.ids import TenantId, TraceId
from ecphoria.records.recall import Trace
from ecphoria.tenancy.store import Tenants
from tests.conftest import Cypher, Server, WallClock, new_tenant
from tests.contract.learning import LONG_AGO, judged, learn, stimulated, woke
from tests.contract.memories import START, appended, episode_id, everything, turn, write
from tests.contract.tenants import learned, set_settings

STATE = """
MATCH (n {tenant: $tenant}) WHERE NOT n:Trace
OPTIONAL MATCH (n)-[r]->()
WITH n, r ORDER BY elementId(r)
WITH n, collect([type(r), properties(r)]) AS edges
RETURN elementId(n) AS id, properties(n) AS node, edges ORDER BY id
"""


async def uses(graph: Graph, tenant: TenantId, *numbers: int) -> list[Use]:
    async def work(transaction: LearningTransaction) -> list[Use]:
        ids = [episode_id(tenant, str(number)) for number in numbers]
        found = await transaction.uses(ids)
        return [found[one] for one in ids]

    return await LearningStore(graph).change(tenant, work)


def ms(at: datetime) -> int:
    return round(at.timestamp() * 1e3)


@pytest.fixture
async def learning(graph: Graph, tenant: TenantId) -> LearningStore:
    """The state of a tenant with seven turns that learns."""
    await write(graph, tenant, appended(*(turn(tenant, number) for number in range(1, 8))))
    store = LearningStore(graph)
    await set_settings(graph, tenant, learning={"on": True}, now=LONG_AGO)
    return store


async def recalled(graph: Graph, tenant: TenantId, traces: Sequence[Trace]) -> None:
    """Store traces, and apply them in their order."""
    await TraceStore(graph, keep=1000).save(tenant, traces)
    for trace in traces:
        assert await learn(graph, tenant, trace.id)


async def test_a_use_moves_base_level_stability_and_chain(
    graph: Graph, tenant: TenantId, learning: LearningStore
) -> None:
    made = START + timedelta(minutes=1)
    later = made + timedelta(days=7)
    await recalled(graph, tenant, [woke(tenant, 1, at=later)])
    (use,) = await uses(graph, tenant, 1)
    assert (use.recent_ms, use.count, use.first_ms) == ((ms(made), ms(later)), 2, ms(made))
    # r1 from (1, 0) after 7 days is 0.496585, and half-way back to 1 is 0.748293.
    assert use.working == pytest.approx(0.748293, abs=5e-7)
    assert use.lasting == pytest.approx(0.242116, abs=5e-7)
    # S_0 = 30: R(7 d) = exp(-7/30) = 0.791890, S = 30 (1 + 1.5 (1 - R)) = 39.364970.
    assert use.stability == pytest.approx(39.364970, abs=5e-6)
    assert (use.stability_ms, use.chain_ms, use.recalls) == (ms(later), ms(later), 1)
    assert await learned(graph, tenant) == (1, 0)


async def test_only_the_first_five_count_as_used(
    graph: Graph, tenant: TenantId, learning: LearningStore
) -> None:
    await recalled(graph, tenant, [woke(tenant, 7, 6, 5, 4, 3, 2, 1, at=START)])
    found = await uses(graph, tenant, *range(1, 8))
    assert [use.count for use in found] == [1, 1, 2, 2, 2, 2, 2]
    assert [use.recalls for use in found] == [0, 0, 1, 1, 1, 1, 1]


async def test_eight_instants_are_kept_and_all_are_counted(
    graph: Graph, tenant: TenantId, learning: LearningStore
) -> None:
    instants = [START + timedelta(hours=hour) for hour in range(1, 13)]
    await recalled(graph, tenant, [woke(tenant, 1, at=at) for at in instants])
    (use,) = await uses(graph, tenant, 1)
    assert use.recent_ms == tuple(ms(at) for at in instants[-8:])
    assert (use.count, use.first_ms) == (13, ms(START + timedelta(minutes=1)))


async def test_a_late_trace_counts_without_time_passing(
    graph: Graph, tenant: TenantId, learning: LearningStore
) -> None:
    early, late = (woke(tenant, 1, at=START + timedelta(days=day)) for day in (2, 9))
    await recalled(graph, tenant, [late])
    (before,) = await uses(graph, tenant, 1)
    await recalled(graph, tenant, [early])
    (after,) = await uses(graph, tenant, 1)
    assert after.recent_ms == (before.recent_ms[0], ms(early.created_at), before.recent_ms[1])
    assert (after.stability, after.lasting) == (before.stability, before.lasting)
    assert (after.stability_ms, after.chain_ms) == (before.stability_ms, before.chain_ms)
    assert after.working == pytest.approx(1 - (1 - before.working) / 2)


async def test_a_trace_applied_again_changes_nothing(
    graph: Graph, tenant: TenantId, learning: LearningStore, cypher: Cypher
) -> None:
    trace = woke(tenant, 1, 2)
    await recalled(graph, tenant, [trace])
    state = await cypher(STATE, tenant=tenant)
    assert not await learn(graph, tenant, trace.id)
    assert await cypher(STATE, tenant=tenant) == state
    assert await learned(graph, tenant) == (1, 0)


async def test_eight_writers_at_once_lose_nothing(
    graph: Graph, tenant: TenantId, learning: LearningStore, cypher: Cypher
) -> None:
    """Each saves traces and works on the whole queue, as eight services on one store would."""
    outcomes: list[str] = []

    async def one(writer: int) -> None:
        service = LearningService(LearningStore(graph), WallClock(), outcomes.append)
        traces = TraceStore(graph, keep=1000, pending=service.wake)
        for number in range(3):
            at = START + timedelta(days=1, seconds=3 * writer + number)
            await traces.save(tenant, [woke(tenant, 1, 2 + writer % 6, at=at)])
        await service.drain()

    await asyncio.gather(*(one(writer) for writer in range(8)))
    assert outcomes.count("applied") == 24
    assert "failed" not in outcomes
    first, *others = await uses(graph, tenant, *range(1, 8))
    assert (first.count, first.recalls) == (25, 24)
    assert [use.recalls for use in others] == [6, 6, 3, 3, 3, 3]
    counted = await cypher(
        "MATCH (:Episode {tenant: $tenant})-[r:SIMILAR]->() "
        "RETURN r.coactivations AS n ORDER BY n",
        tenant=tenant,
    )
    assert [row["n"] for row in counted] == [3, 3, 3, 3, 6, 6]
    assert await learned(graph, tenant) == (24, 0)


async def test_what_waits_is_found_again_at_the_next_start(
    graph: Graph, tenant: TenantId, learning: LearningStore
) -> None:
    await TraceStore(graph, keep=1000).save(tenant, [woke(tenant, 1), woke(tenant, 1, 2)])
    assert await learned(graph, tenant) == (0, 2)
    service = LearningService(LearningStore(graph), WallClock())
    await service.begin()
    await service.drain()
    assert await learned(graph, tenant) == (2, 0)
    assert [use.count for use in await uses(graph, tenant, 1, 2)] == [3, 2]


async def test_what_waits_is_not_dropped_with_old_traces(
    graph: Graph, tenant: TenantId, learning: LearningStore
) -> None:
    traces = TraceStore(graph, keep=1)
    waiting = [woke(tenant, 1, at=START + timedelta(seconds=number)) for number in range(4)]
    for trace in waiting:
        await traces.save(tenant, [trace])
    assert list(await learning.pending(tenant, 10)) == [trace.id for trace in waiting]
    for trace in waiting:
        assert await learn(graph, tenant, trace.id)
    await traces.save(tenant, [woke(tenant, 1, at=START + timedelta(seconds=9))])
    with pytest.raises(NotFound):
        await traces.find(tenant, waiting[0].id)


async def test_switched_off_nothing_is_written(
    graph: Graph, tenant: TenantId, learning: LearningStore, cypher: Cypher
) -> None:
    service = LearningService(learning, WallClock())
    traces = TraceStore(graph, keep=1000, pending=service.wake)
    # Stored without a word to the service, which could else be faster than the switch.
    await TraceStore(graph, keep=1000).save(tenant, [woke(tenant, 1)])
    await set_settings(graph, tenant, learning={"on": False}, now=LONG_AGO)
    state = await cypher(STATE, tenant=tenant)
    await traces.save(tenant, [woke(tenant, 1)])
    await service.begin()
    await service.drain()
    assert await cypher(STATE, tenant=tenant) == state
    assert await learned(graph, tenant) == (0, 0)
    await set_settings(graph, tenant, learning={"on": True}, now=WallClock().now())
    await traces.save(tenant, [woke(tenant, 1)])
    await service.drain()
    assert await learned(graph, tenant) == (0, 0), "recalled before it was switched on"


async def test_another_tenant_stays_as_it_was(
    graph: Graph, tenant: TenantId, other_tenant: TenantId, learning: LearningStore, cypher: Cypher
) -> None:
    await write(graph, other_tenant, everything(other_tenant))
    state = await cypher(STATE, tenant=other_tenant)
    # Hits are ids: a trace that names another's memory must not reach it.
    await recalled(graph, tenant, [woke(other_tenant, 1, 2), woke(tenant, 1)])
    assert await cypher(STATE, tenant=other_tenant) == state
    assert await learned(graph, other_tenant) == (0, 0)
    assert await learned(graph, tenant) == (1, 0)


async def test_state_goes_with_its_episode_and_its_tenant(graph: Graph, cypher: Cypher) -> None:
    tenant = await new_tenant(graph)
    await write(graph, tenant, appended(*(turn(tenant, number) for number in (1, 2, 3))))
    store = LearningStore(graph)
    await set_settings(graph, tenant, learning={"on": True}, now=LONG_AGO)
    gone = woke(tenant, 3, 1)
    await TraceStore(graph, keep=9).save(tenant, [gone])
    await write(graph, tenant, appended(removed=(episode_id(tenant, "3"),)))
    assert await learn(graph, tenant, gone.id)
    (use,) = await uses(graph, tenant, 1)
    assert (use.count, use.recalls) == (2, 1)
    await TraceStore(graph, keep=9).save(tenant, [woke(tenant, 1)])
    await Tenants(graph).erase(tenant)
    assert await cypher("MATCH (n {tenant: $tenant}) RETURN count(n) AS n", tenant=tenant) == [
        {"n": 0}
    ]
    assert tenant not in await store.waiting()
    for call in (learned(graph, tenant), set_settings(graph, tenant, learning={"on": True})):
        with pytest.raises(NotFound):
            await call


async def test_one_bad_trace_does_not_stop_the_queue(
    graph: Graph, tenant: TenantId, learning: LearningStore, cypher: Cypher
) -> None:
    bad, good = woke(tenant, 1), woke(tenant, 1, at=START + timedelta(seconds=1))
    await TraceStore(graph, keep=9).save(tenant, [bad, good])
    await cypher("MATCH (t:Trace {id: $id}) SET t.payload = '{'", id=bad.id)
    outcomes: list[str] = []
    service = LearningService(learning, WallClock(), outcomes.append)
    service.wake(tenant)
    await service.drain()
    assert outcomes == ["failed", "applied"]
    marks: list[dict[str, Any]] = await cypher(
        "MATCH (t:Trace {tenant: $tenant}) RETURN t.effects_applied AS applied "
        "ORDER BY t.created_at",
        tenant=tenant,
    )
    assert marks == [{"applied": False}, {"applied": True}]


async def test_memories_recalled_together_are_linked(
    graph: Graph, tenant: TenantId, learning: LearningStore, cypher: Cypher
) -> None:
    """Turns 1 and 2 come together three times in nine recalls, 3 and 4 twice."""
    at = START + timedelta(minutes=9)
    pairs = ((1, 2), (1, 2), (3, 4), (3, 4), (5,), (6,), (7,), (5,), (1, 2))
    await recalled(graph, tenant, [woke(tenant, *pair, at=at, t2=0.8) for pair in pairs])
    rows = await cypher(
        "MATCH (a:Episode {tenant: $tenant})-[r:SIMILAR]->(b) "
        "RETURN a.turn + b.turn AS turns, a.id < b.id AS ordered, r {.*} AS edge ORDER BY turns",
        tenant=tenant,
    )
    linked, counted = rows[0]["edge"], rows[1]["edge"]
    assert [(row["turns"], row["ordered"]) for row in rows] == [(3, True), (7, True)]
    assert (linked["coactivations"], counted["coactivations"]) == (3, 2)
    # Both were just used: R is 1, so x is 1 and .8, and .1 * 1 * .8 * (1 - 0) = .08.
    assert linked["w_learned"] == pytest.approx(0.08, abs=1e-9)
    assert linked["weight"] == pytest.approx(0.08, abs=1e-9)
    assert (counted["w_learned"], counted["weight"]) == (0, 0)
    for edge in (linked, counted):
        assert edge["family"] == "association"
        assert edge["last_used"].to_native() == edge["created_at"].to_native() == at


async def test_a_walk_takes_links_with_a_weight_as_they_have_faded(
    graph: Graph, tenant: TenantId, learning: LearningStore, cypher: Cypher
) -> None:
    at = START + timedelta(minutes=9)
    await recalled(graph, tenant, [woke(tenant, *pair, at=at) for pair in ((1, 2), (1, 3))])
    one, other = sorted(episode_id(tenant, name) for name in "12")
    await cypher(
        "MATCH ({id: $one})-[r:SIMILAR]->({id: $other}) "
        "SET r.w_sim = .576, r.w_learned = .5, r.weight = 1 - .424 * .5",
        one=one,
        other=other,
    )
    reader = EpisodeReader(graph)
    for days in (0, 30):
        now = at + timedelta(days=days)
        arcs = await reader.expand(
            tenant, [episode_id(tenant, "1")], FanLimits(fan=10, floor=0.05), now
        )
        assert (arcs.edge, arcs.head) == (("SIMILAR",), (episode_id(tenant, "2"),))
        assert arcs.degree.tolist() == [1], "a pair that is only counted is no edge to walk"
        kept = float(edge_decay([days])[0])
        assert arcs.weight[0] == pytest.approx(1 - 0.424 * (1 - 0.5 * kept), abs=1e-12)
    (back,) = (
        await reader.expand(tenant, [episode_id(tenant, "2")], FanLimits(fan=10, floor=0.05), at)
    ).forward
    (there,) = (
        await reader.expand(tenant, [episode_id(tenant, "1")], FanLimits(fan=10, floor=0.05), at)
    ).forward
    assert bool(back) is not bool(there)


async def test_nearness_and_learning_keep_each_others_part(
    graph: Graph, tenant: TenantId, learning: LearningStore, cypher: Cypher
) -> None:
    one, other = sorted(episode_id(tenant, name) for name in "12")
    store = AssociationStore(graph)
    at = START + timedelta(minutes=9)
    await store.save_similar(
        tenant, None, now=at, edges=[Association(one=one, other=other, part=0.576)], done=[]
    )
    others = [woke(tenant, 3, at=at) for _ in range(6)]
    await recalled(graph, tenant, [*others, *(woke(tenant, 1, 2, at=at) for _ in range(3))])
    parts = "MATCH ({id: $one})-[r:SIMILAR]->({id: $other}) RETURN r {.*} AS edge"
    ((learned,),) = [row.values() for row in await cypher(parts, one=one, other=other)]
    assert learned["w_sim"] == 0.576
    assert learned["weight"] == pytest.approx(1 - 0.424 * (1 - learned["w_learned"]), abs=1e-12)
    assert learned["w_learned"] == pytest.approx(0.1, abs=1e-9)
    await store.save_similar(
        tenant, None, now=at, edges=[Association(one=one, other=other, part=0.0)], done=[]
    )
    ((after,),) = [row.values() for row in await cypher(parts, one=one, other=other)]
    assert (after["w_sim"], after["coactivations"]) == (0, 3)
    assert after["weight"] == pytest.approx(learned["w_learned"], abs=1e-12)


async def test_a_stimulus_charges_and_what_fires_is_reset(
    graph: Graph, tenant: TenantId, learning: LearningStore
) -> None:
    """The worked example of the leaky integrator, with the tau that each spike leaves."""
    own, stimuli = 1, ((1, 0.2), (11, 0.2), (21, 0.05))
    expected = ((0.0, 0.2), (0.0, 0.0), (0.0, 0.05))
    for number, ((at, strength), (potential, current)) in enumerate(
        zip(stimuli, expected, strict=True), 1
    ):
        trace = stimulated(tenant, 1, at, strength)
        await recalled(graph, tenant, [trace])
        (charge,) = await charges(graph, tenant, 1)
        assert (charge.potential, charge.current) == pytest.approx((potential, current), abs=1e-6)
        assert (charge.turn, len(charge.turns)) == (at, number)
    assert charge.turns == (own, 11, 21)
    assert charge.strengths == (1.0, 0.2, 0.05), "at its own turn the larger strength wins"
    # One gap of 10 turns leaves 43.4166, a second one a little less more.
    assert charge.tau == pytest.approx(43.4166 + 0.462117 * (1 - 43.4166 / 172.28), abs=1e-4)
    assert await learned(graph, tenant) == (0, 0)


async def test_a_train_keeps_its_latest_sixteen_spikes(
    graph: Graph, tenant: TenantId, learning: LearningStore
) -> None:
    await recalled(graph, tenant, [stimulated(tenant, 2, at, 0.1) for at in (*range(3, 23), 9)])
    (charge,) = await charges(graph, tenant, 2)
    assert charge.turns == tuple(range(7, 23))
    assert charge.turn == 22


async def charges(graph: Graph, tenant: TenantId, number: int) -> list[Charge]:
    known = await EpisodeReader(graph).charges(tenant, [episode_id(tenant, str(number))])
    return list(known.values())


async def test_feedback_moves_reliability_and_salience(graph: Graph, tenant: TenantId) -> None:
    """Three useful and one not: .7 becomes .725; what the user stated starts at .9."""
    rows = (turn(tenant, 1), turn(tenant, 2, role="user"), turn(tenant, 3, role="tool"))
    await write(graph, tenant, appended(*rows))
    traces = [woke(tenant, 1, 2, 3) for _ in range(4)]
    await TraceStore(graph, keep=9).save(tenant, traces)
    found = await judged(graph, tenant, traces[0], useful="1")
    assert found["1"] == pytest.approx((0.76, 0.55))
    for trace in traces[1:3]:
        await judged(graph, tenant, trace, useful="1")
    found = await judged(graph, tenant, traces[3], useful="2", not_useful="13")
    assert found["1"] == pytest.approx((0.725, 0.9 * (1 - 0.5 * 0.9**3)))
    assert found["2"] == pytest.approx((4.6 / 5, 0.55))
    assert found["3"] == pytest.approx((3.2 / 5, 0.45))
    (use,) = await uses(graph, tenant, 1)
    assert (use.salience, use.count) == (found["1"][1], 1), "no use: the tenant does not learn"
    assert use.trust_change == pytest.approx(0.025)


async def test_the_same_feedback_again_changes_nothing_and_the_opposite_is_a_conflict(
    graph: Graph, tenant: TenantId, learning: LearningStore, cypher: Cypher
) -> None:
    trace = woke(tenant, 1, 2, 3)
    await recalled(graph, tenant, [trace])
    first = await judged(graph, tenant, trace, useful="1", not_useful="2")
    state = await cypher(STATE, tenant=tenant)
    assert await judged(graph, tenant, trace, useful="1", not_useful="2") == first
    with pytest.raises(Conflict, match="judged otherwise"):
        await judged(graph, tenant, trace, useful="3", not_useful="1")
    assert await cypher(STATE, tenant=tenant) == state


async def test_a_useful_hit_that_was_not_counted_is_used(
    graph: Graph, tenant: TenantId, learning: LearningStore
) -> None:
    trace = woke(tenant, 7, 6, 5, 4, 3, 2, 1)
    await recalled(graph, tenant, [trace])
    await judged(graph, tenant, trace, useful="712", not_useful="6")
    found = await uses(graph, tenant, 1, 2, 6, 7)
    assert [use.count for use in found] == [2, 2, 2, 2]
    assert [use.recalls for use in found] == [0, 0, 1, 1]


async def test_feedback_on_what_is_not_there_is_refused(
    graph: Graph, tenant: TenantId, other_tenant: TenantId, learning: LearningStore
) -> None:
    trace = woke(tenant, 1, 2)
    await TraceStore(graph, keep=9).save(tenant, [trace])
    with pytest.raises(InvalidInput, match="did not return"):
        await judged(graph, tenant, trace, useful="13")
    with pytest.raises(InvalidInput, match="at least one"):
        await judged(graph, tenant, trace)
    with pytest.raises(InvalidInput, match="both"):
        await judged(graph, tenant, trace, useful="1", not_useful="1")
    with pytest.raises(NotFound):
        await judged(graph, other_tenant, trace, useful="1")
    await write(graph, tenant, appended(removed=(episode_id(tenant, "2"),)))
    assert set(await judged(graph, tenant, trace, useful="12")) == {"1"}


async def test_eight_judges_at_once_are_all_heard(
    graph: Graph, tenant: TenantId, learning: LearningStore, cypher: Cypher
) -> None:
    traces = [woke(tenant, 1) for _ in range(8)]
    await TraceStore(graph, keep=9).save(tenant, traces)
    await asyncio.gather(*(judged(graph, tenant, trace, useful="1") for trace in traces))
    rows = await cypher(
        "MATCH (e {id: $id}) RETURN e.reward_pos AS n, e.salience AS s", id=episode_id(tenant, "1")
    )
    assert rows == [{"n": 8, "s": pytest.approx(1 - 0.5 * 0.9**8)}]


async def test_a_trace_stored_after_the_service_closed_stays_on_the_queue(
    graph: Graph, tenant: TenantId, learning: LearningStore, neo4j_server: Server
) -> None:
    options = neo4j_server.options()
    async with Graph.connect(options) as own:
        service = LearningService(LearningStore(own), WallClock())
        await service.close()
    await TraceStore(graph, keep=9, pending=service.wake).save(tenant, [woke(tenant, 1)])
    await service.drain()
    assert await learned(graph, tenant) == (0, 1)


async def test_what_stops_the_queue_is_no_lost_exception(
    graph: Graph, tenant: TenantId, learning: LearningStore
) -> None:
    class Refusing(LearningStore):
        refusals = 1

        async def pending(self, tenant: TenantId, limit: int) -> Sequence[TraceId]:
            if self.refusals:
                self.refusals -= 1
                raise EcphoriaError("Neo4j refused the query")
            return await super().pending(tenant, limit)

    service = LearningService(Refusing(graph), WallClock())
    traces = TraceStore(graph, keep=9, pending=service.wake)
    for number, waiting in ((1, 1), (2, 0)):
        await traces.save(tenant, [woke(tenant, 1, at=START + timedelta(seconds=number))])
        await service.drain()
        assert (await learned(graph, tenant))[1] == waiting
