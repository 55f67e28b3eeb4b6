from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from typing import Any

import neo4j
import numpy as np
import pytest
from neo4j.vector import Vector

from ecphoria.consolidation.archive import ColdStore
from ecphoria.consolidation.dormancy_store import DormancyStore
from ecphoria.consolidation.engram_store import EngramStore
from ecphoria.consolidation.engrams import MakeEngrams
from ecphoria.consolidation.knn_store import Association, AssociationStore, NeighbourCount, Touched
from ecphoria.consolidation.merge import AlikeNames, Compared, MergeStore
from ecphoria.consolidation.service import Cycle
from ecphoria.ingest.changes import Reading
from ecphoria.ingest.service import IngestService
from ecphoria.ingest.store import IngestStore
from ecphoria.items.service import ItemService
from ecphoria.items.store import ItemStore
from ecphoria.neo4j_store.gds import PriorStore
from ecphoria.neo4j_store.queries import Mode, Query, cypher_root, load_queries
from ecphoria.neo4j_store.session import Graph
from ecphoria.neo4j_store.traces import TraceStore
from ecphoria.portability.store import Copies
from ecphoria.ports import Embedder
from ecphoria.records.episode import Extracted, NewEpisode, Statement
from ecphoria.records.fact import MergeStatus
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.records.item import ItemWrite
from ecphoria.records.tenant import SHIPPED, Scope
from ecphoria.records.upkeep import CopiedNode, Located
from ecphoria.tenancy.store import Keys, Tenants
from tests.conftest import Server, WallClock, new_tenant
from tests.contract.jobs import jobs_of
from tests.contract.learning import judged, learn, stimulated, woke
from tests.contract.memories import (
    appended,
    concept_id,
    episode_id,
    everything,
    place_in_time,
    turn,
    write,
)
from tests.contract.tenants import a_key, gate_values, set_settings
from tests.contract.traces import a_trace
from tests.graphiti_graph import graphiti_graph

NOW = datetime(2024, 3, 1, tzinfo=UTC)
SAMPLES: Mapping[str, object] = {
    "MAP": {},
    "STRING": "x",
    "BOOLEAN": True,
    "INTEGER": 1,
    "FLOAT": 0.5,
    "DATETIME": NOW,
    "LIST<STRING>": ["x"],
    "LIST<LIST<STRING>>": [["x"]],
    "LIST<INTEGER>": [1],
    "LIST<FLOAT>": [0.5],
    "LIST<MAP>": [{}],
    "VECTOR": Vector.from_numpy(np.ones(384, np.float32)),
}
# What the server calls a query by mode; `s` is also any call into the system's own procedures,
# and the end of an index.
QUERY_TYPES = {Mode.READ: {"r", "s"}, Mode.WRITE: {"w", "rw", "s"}}
NEVER = frozenset({"AllNodesScan", "UndirectedAllRelationshipsScan"})
WITH_A_REASON = frozenset({"Eager", "CartesianProduct"})
# Here no store changes its model: the tests of that have one of their own.
OF_ANOTHER_MODEL = (
    "embedding_1", "generation", "held_at", "state", "source", "model", "dimension", "choice",
    "done", "total", "started_at", "attempt_at", "attempt_done", "switched_at", "finished_at",
    "holder", "until", "code", "message",
)  # fmt: skip
# Only a language model gives the record of a session these.
OF_A_RECORD = ("topic", "valence", "novelty")
QUERIES = {
    name: query
    for name, query in load_queries(cypher_root()).items()
    if query.mode is not Mode.SCHEMA
}


@pytest.fixture(scope="session")
async def planner(
    graph: Graph, neo4j_server: Server, embedder: Embedder
) -> AsyncIterator[neo4j.AsyncDriver]:
    """A driver that passes on the server's advice, on a store with one of everything."""
    given = neo4j_server.options()
    for _ in range(2):
        tenant = await new_tenant(graph)
        await write(graph, tenant, everything(tenant))
        await set_settings(graph, tenant, learning={"on": True}, now=NOW)
        traces = [woke(tenant, 1, 2), stimulated(tenant, 1, 9, 0.2), a_trace(tenant)]
        await TraceStore(graph, keep=5).save(tenant, traces)
        for trace in traces[:2]:
            await learn(graph, tenant, trace.id)
        await judged(graph, tenant, traces[0], useful="1", not_useful="2")
        priors = PriorStore(graph, given)
        turn = episode_id(tenant, "1")
        await priors.save_priors(tenant, None, concepts=False, priors={turn: 0.5})
        await _associate(graph, tenant)
        await jobs_of(graph, tenant)
        await _merge(graph, tenant)
        later = NOW + timedelta(days=30)
        await MakeEngrams(EngramStore(graph)).run(Cycle(id="cycle", tenant=tenant, now=later))
        await set_settings(graph, tenant, gate=gate_values(SHIPPED))
        await place_in_time(graph, tenant)
        dormancies = DormancyStore(graph)
        await set_settings(graph, tenant, dormancy={"mode": "off"})
        await dormancies.put_to_sleep(tenant, [(episode_id(tenant, "2"), "x")], NOW)
        await dormancies.pin(tenant, turn, pinned=True)
        await _archive(graph, tenant)
        await _read(graph, tenant, embedder)
        kept = ItemWrite(namespace=("rome",), key="river", value={"name": "Tiber"}, ttl_s=3_600)
        items = ItemService(store=ItemStore(graph), embedder=embedder, clock=WallClock())
        await items.write(tenant, [kept])
        key = a_key(tenant, Scope.READ)
        await Keys(graph).create(key, fresh_id())
        await Keys(graph).revoke(key.id, NOW)
        made = CopiedNode(number=0, labels=("Episode",), properties={})
        await Copies(graph).add(tenant, "digest", 1, nodes=[made])
        await Copies(graph).discard(tenant)
        await Tenants(graph).erase(tenant)
    with graphiti_graph(neo4j_server) as other:
        (one,) = other.entities("Ana").values()
        other.fact(one, "KNOWS", one, valid_at=NOW, invalid_at=NOW, expired_at=NOW)
        other.episode("Hello.", [one])
    auth = (neo4j_server.user, neo4j_server.password)
    async with neo4j.AsyncGraphDatabase.driver(
        neo4j_server.uri, auth=auth, warn_notification_severity=None
    ) as driver:
        for name in (*OF_ANOTHER_MODEL, *OF_A_RECORD):
            await driver.execute_query("CALL db.createProperty($name)", {"name": name})
        await driver.execute_query("CALL db.createLabel('Reembedding')")
        yield driver


async def _merge(graph: Graph, tenant: TenantId) -> None:
    """Propose that two concepts are one, and accept it."""
    names = AlikeNames(one="rome", other="tiber", kind="name", other_kind="name")
    same = Compared(names=names, cosine=0.95, reason="alike")
    await MergeStore(graph).propose(tenant, None, [same])
    await MergeStore(graph).propose_near(tenant, None, [concept_id(tenant, "rome")], [same])
    await MergeStore(graph).decide(tenant, "rome", "tiber", MergeStatus.ACCEPTED)


async def _associate(graph: Graph, tenant: TenantId) -> None:
    """Join what is there, with all that an association and a mark can hold."""
    store = AssociationStore(graph)
    turns = sorted(episode_id(tenant, name) for name in "12")
    near = Association(one=turns[0], other=turns[1], part=0.7)
    done = [Touched(id=turns[0], turn=2, mark="")]
    crowds = [NeighbourCount(id=turns[0], size=16, cosine=0.7, turn=1)]
    await store.save_similar(tenant, None, now=NOW, edges=[near], counts=crowds, done=done)
    names = sorted(concept_id(tenant, name) for name in ("rome", "tiber"))
    lifted = Association(one=names[0], other=names[1], part=0.3)
    await store.save_associated(tenant, None, now=NOW, edges=[lifted], done={})
    await store.save_total(tenant, None, 4)
    await write(graph, tenant, appended(removed=(episode_id(tenant, "3"),)))
    said = (turn(tenant, number, ordinal=number) for number in range(6, 10))
    await write(graph, tenant, appended(*said))


async def _read(graph: Graph, tenant: TenantId, embedder: Embedder) -> None:
    """Store what a language model read in a turn, and an episode that expires elsewhere."""
    fact = Statement(subject="Rome", predicate="lies on", object="the Tiber", span=(0, 4))
    reading = Reading(
        episode=episode_id(tenant, "1"),
        found=Extracted(names=("Rome",), facts=(fact,)),
        extracted_by="m 0",
    )
    ingest = IngestService(store=IngestStore(graph), embedder=embedder, clock=WallClock())
    await ingest.restate(tenant, [reading], by="m")
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    elsewhere = tomorrow.astimezone(timezone(timedelta(hours=9)))
    rain = NewEpisode(text="It rains.", occurred_at=elsewhere, expires_at=tomorrow)
    await ingest.append_batch(tenant, [rain])


async def _archive(graph: Graph, tenant: TenantId) -> None:
    """Leave a stub of a sleeping turn."""
    cold, asleep = ColdStore(graph), episode_id(tenant, "2")
    (record,) = await cold.records(tenant, [asleep])
    digest = sha256(record.content).hexdigest()
    place = Located(id=asleep, file="x.cold", offset=10, sha256=digest)
    assert await cold.replace(tenant, [place], NOW) == [asleep]


async def test_the_server_plans_every_query_well(planner: neo4j.AsyncDriver) -> None:
    faults = {name: await _faults(query, planner) for name, query in QUERIES.items()}
    assert {name: found for name, found in faults.items() if found} == {}


async def _explained(query: Query, planner: neo4j.AsyncDriver) -> neo4j.EagerResult:
    """Have the server plan a query as it is sent, with a sample of each parameter."""
    params = {param: SAMPLES[kind] for param, kind in query.params.items()}
    return await planner.execute_query("EXPLAIN " + query.sent.text, query.sent.given(params))


async def _faults(query: Query, planner: neo4j.AsyncDriver) -> list[str]:
    answer = await _explained(query, planner)
    summary = answer.summary
    assert summary.plan is not None
    operators = set(_operators(summary.plan))
    faults = [
        status.status_description
        for status in summary.gql_status_objects
        if status.is_notification
    ]
    if summary.query_type not in QUERY_TYPES[query.mode]:
        faults.append(f"its type is {summary.query_type}, its mode {query.mode}")
    if list(answer.keys) != list(query.returns):
        faults.append(f"it returns {answer.keys}")
    if unsaid := (operators & (NEVER | WITH_A_REASON)) - query.plan.keys():
        faults.append(f"tell the reason for {unsaid} in a `plan:` header")
    return faults


@pytest.mark.parametrize(
    ("name", "sorts"),
    [("recall.list_places", 1), ("archive.list_episodes", 1), ("extraction.list_unread", 0)],
)
async def test_the_walks_use_their_composite_indexes(
    name: str, sorts: int, planner: neo4j.AsyncDriver
) -> None:
    query = QUERIES[name]
    answer = await _explained(query, planner)
    assert answer.summary.plan is not None
    operators = list(_operators(answer.summary.plan))
    assert "NodeIndexSeek" in operators
    assert "NodeByLabelScan" not in operators
    # The walks end at their limit; only what comes from several of them is sorted.
    assert operators.count("Top") + operators.count("Sort") == sorts


@pytest.mark.parametrize(
    "name", ["recall.list_places", "recall.list_contents", "ingest.list_segments"]
)
def test_a_run_of_turns_is_sought_whatever_the_statistics_say(name: str) -> None:
    """Plans made in a store that just grew scanned every episode for each turn."""
    runs = [part for part in QUERIES[name].text.split("MATCH") if "e.ordinal >" in part]
    assert runs
    assert all("USING INDEX SEEK e:Episode(tenant, session, ordinal)" in run for run in runs)


def _operators(plan: Mapping[str, Any]) -> Iterator[str]:
    yield plan["operatorType"].split("@")[0]
    for child in plan.get("children", ()):
        yield from _operators(child)


async def test_what_is_due_is_found_by_its_index(planner: neo4j.AsyncDriver) -> None:
    query = QUERIES["jobs.list_due_jobs"]
    answer = await _explained(query, planner)
    assert answer.summary.plan is not None
    operators = set(_operators(answer.summary.plan))
    assert "NodeIndexSeekByRange" in operators
    assert "NodeByLabelScan" not in operators


async def test_a_plan_serves_lists_of_any_length(planner: neo4j.AsyncDriver) -> None:
    async def expected_rows(ids: list[str]) -> float:
        query = "EXPLAIN UNWIND $ids AS id RETURN id"
        plan = (await planner.execute_query(query, ids=ids)).summary.plan
        assert plan is not None
        return float(plan["args"]["EstimatedRows"])

    assert len({await expected_rows(["x"] * count) for count in (1, 9, 90, 900)}) == 1


def test_every_declared_type_has_a_sample() -> None:
    declared: set[str] = set()
    for query in QUERIES.values():
        declared |= set(_types(query))
    assert declared == set(SAMPLES)


def _types(query: Query) -> Iterator[str]:
    yield from query.params.values()
