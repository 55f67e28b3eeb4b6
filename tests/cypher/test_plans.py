from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import neo4j
import numpy as np
import pytest
from neo4j.vector import Vector

from ecphoria.neo4j_store.queries import Mode, Query, cypher_root, load_queries
from ecphoria.neo4j_store.session import Graph
from tests.conftest import Server
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
QUERIES = {
    name: query
    for name, query in load_queries(cypher_root()).items()
    if query.mode is not Mode.SCHEMA
}


@pytest.fixture(scope="session")
async def planner(graph: Graph, neo4j_server: Server) -> AsyncIterator[neo4j.AsyncDriver]:
    """A driver that passes on the server's advice, on a store with all names of the schema."""
    with graphiti_graph(neo4j_server) as other:
        (one,) = other.entities("Ana").values()
        other.fact(one, "KNOWS", one, valid_at=NOW, invalid_at=NOW, expired_at=NOW)
        other.episode("Hello.", [one])
    auth = (neo4j_server.user, neo4j_server.password)
    async with neo4j.AsyncGraphDatabase.driver(
        neo4j_server.uri, auth=auth, warn_notification_severity=None
    ) as driver:
        yield driver


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
