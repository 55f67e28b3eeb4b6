"""What was learned, read by the mechanisms on the real graph; nothing learned, nothing changed."""

import json
from dataclasses import asdict, replace

import pytest

from ecphoria.app import STRATEGIES
from ecphoria.ingest.service import IngestService
from ecphoria.maths.actr import base_level, older_uses, squash
from ecphoria.neo4j_store.session import Graph
from ecphoria.ports import Embedder
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Cue, RecallOptions, RecallResult
from tests.conftest import Cypher
from tests.contract.learning import LONG_AGO
from tests.contract.tenants import set_settings
from tests.integration.memory.chats import chat, fill
from tests.integration.memory.houses import CUE, NOW, House


@pytest.fixture
async def house(
    graph: Graph, embedder: Embedder, ingest: IngestService, tenant: TenantId
) -> House:
    """A conversation in a tenant that learns, recalled at a standing instant."""
    await fill(ingest, tenant, chat())
    await set_settings(graph, tenant, learning={"on": True}, now=LONG_AGO)
    return House(graph, embedder, tenant)


def lasting(answer: RecallResult) -> str:
    """What must be the same when the same is asked again."""
    return json.dumps(asdict(replace(answer, timings_ms={}, trace_id="")), default=str)  # type: ignore[arg-type]  # an id that says nothing


async def test_the_same_state_gives_the_same_answer_with_learning_on_or_off(
    graph: Graph, house: House
) -> None:
    await house.learn("synaptic", CUE, "Who adopted a parrot?")
    on = {name: lasting(await house.look(name)) for name in STRATEGIES}
    await set_settings(graph, house.tenant, learning={"on": False}, now=LONG_AGO)
    assert {name: lasting(await house.look(name)) for name in STRATEGIES} == on


async def test_without_a_history_reading_it_changes_nothing(house: House, cypher: Cypher) -> None:
    before = {name: lasting(await house.look(name)) for name in STRATEGIES}
    # The tenant counts as one that learned, and every history is still that of the append.
    await cypher("MATCH (t:Tenant {id: $id}) SET t.recall_total = 1", id=house.tenant)
    assert {name: lasting(await house.look(name)) for name in STRATEGIES} == before


async def test_actr_counts_every_use(house: House, graph: Graph) -> None:
    cue = "What is the pottery class like?"
    used = (await house.look("actr", cue)).hits[0].episode
    for _ in range(10):
        await house.learn("actr", cue)
    after = await house.look("actr", cue, w_presence=0.1, w_retrievability=0.2)
    (hit,) = (hit for hit in after.hits if hit.episode.id == used.id)
    first = (NOW - used.occurred_at).total_seconds()
    level = base_level([0.0] * 8, [0] * 8, size=1, beyond=older_uses([3.0], [first], [0.0]))
    assert hit.parts["presence"] == pytest.approx(0.1 * float(squash(level)[0]), abs=1e-9)
    assert hit.parts["retrievability"] == pytest.approx(0.2), "it was used just now"
    rest = [one for one in after.hits if one.episode.id != used.id]
    assert min(one.parts["presence"] for one in rest) < 0.03, "two were never used"
    assert min(one.parts["retrievability"] for one in rest) < 0.04
    assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-9)


async def test_synaptic_reads_its_trains_and_charges(graph: Graph, house: House) -> None:
    before = await house.look("synaptic", preset="paper")
    await house.learn("synaptic", CUE, preset="paper")
    (top, *_) = before.hits
    charges = await house.recalls._store.figures.charges(house.tenant, [EpisodeId(top.episode.id)])
    charge = charges[EpisodeId(top.episode.id)]
    assert charge.turns == (top.episode.turn, 8)
    assert charge.tau > 43.07
    after = await house.look("synaptic", preset="paper")
    scores = {hit.episode.id: hit.score for hit in before.hits}
    assert {hit.episode.id: hit.score for hit in after.hits} != scores
    fresh = await house.look("fusion")
    await set_settings(graph, house.tenant, learning={"on": False}, now=LONG_AGO)
    assert lasting(await house.look("fusion")) == lasting(fresh)


@pytest.mark.parametrize("strategy", ["synapse", "cls", "ppr", "actr"])
async def test_a_learned_link_is_walked(house: House, cypher: Cypher, strategy: str) -> None:
    found = [hit.episode.id for hit in (await house.look("fusion")).hits if not hit.echo]
    one, other = sorted((found[0], found[-1]))
    await cypher(
        "MATCH (a {id: $one}), (b {id: $other}) CREATE (a)-[:SIMILAR {family: 'association', "
        "w_learned: .9, weight: .9, last_used: $now, created_at: $now, coactivations: 9}]->(b)",
        one=one,
        other=other,
        now=NOW,
    )
    asked = RecallOptions(
        strategy=strategy, options={"similar": 1.0, "seeds": 10}, k=7, explain=True
    )
    answer = await house.recalls.recall(house.tenant, Cue(text=CUE), asked)
    trace = await house.recalls.trace(house.tenant, answer.trace_id)
    await house.recalls.close()
    await house.learning.drain()
    arcs = {
        (arc.tail, arc.head) for wave in trace.waves for arc in wave.arcs if arc.edge == "SIMILAR"
    }
    assert arcs & {(one, other), (other, one)}
    none = await house.look(strategy, similar=0.0, seeds=10)
    assert [hit.score for hit in none.hits] != [hit.score for hit in answer.hits]
