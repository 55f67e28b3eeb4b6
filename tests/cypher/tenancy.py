"""What every query gives for one tenant, and for another with the ids of the first.

Lives are lived while every query that runs is noted with its parameters. Each is then run again
with the parameters of one tenant and the id of the other, in a transaction that is rolled back. A
query that no life reaches needs a sample here, or a reason why it names no tenant.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
import neo4j
import numpy as np
import pytest
from neo4j.exceptions import ConstraintError
from neo4j.vector import Vector

from ecphoria.neo4j_store.queries import GIVEN, Mode, cypher_root, load_queries
from ecphoria.records.ids import fresh_id
from tests.acceptance.answers import ended
from tests.acceptance.lives import OPERATORS, Life, samples, settled
from tests.conftest import Cypher, Server

Params = dict[str, Any]
Noted = dict[str, list[Params]]

QUERIES = {
    name: query
    for name, query in load_queries(cypher_root()).items()
    if query.mode is not Mode.SCHEMA
}
LATER = datetime(2100, 1, 1, tzinfo=UTC)
LOOKED_AT = 6
"""Calls of each query that are tried with the tenant they were made for."""
TRIED = 2
"""Calls of each query that are tried, of those that tell or write something there."""

NO_TENANT: Mapping[str, str] = {
    "consolidation.list_projections": "lists names of projections, which are cycles' ids",
    "consolidation.list_ranks": "reads the projection that its cycle made of one tenant",
    "doctor.count_copies": "looks for a text in the whole store, counts only; no face calls it",
    "graphiti.list_keys": "reads the database of another product",
    "graphiti.load_episodes": "reads the database of another product",
    "embedding.cancel_reembedding": "the model of the whole store changes",
    "embedding.count_vectors": "the model of the whole store changes",
    "embedding.drop_index": "the model of the whole store changes",
    "embedding.find_reembedding": "the model of the whole store changes",
    "embedding.hold_reembedding": "the model of the whole store changes",
    "embedding.hold_store": "the model of the whole store changes",
    "embedding.list_pending": "the model of the whole store changes",
    "embedding.load_owners": "the model of the whole store changes",
    "embedding.load_texts": "the model of the whole store changes",
    "embedding.release_reembedding": "the model of the whole store changes",
    "embedding.remove_vectors": "the model of the whole store changes",
    "embedding.save_vectors": "the model of the whole store changes",
    "embedding.start_reembedding": "the model of the whole store changes",
    "embedding.update_generation": "the model of the whole store changes",
    "jobs.claim_job": "a worker works for every tenant",
    "jobs.count_jobs": "counts for the operator's metrics",
    "jobs.hold_lease": "a worker works on the job that it holds the lease of",
    "jobs.list_due_jobs": "a worker works for every tenant",
    "jobs.release_job": "a worker gives back or ends the job that it holds the lease of",
    "jobs.renew_lease": "a worker works on the job that it holds the lease of",
    "keys.find_principal": "tells the tenant by the key",
    "keys.revoke_key": "the service looks first whose key it is",
    "learning.list_waiting": "learning goes on for every tenant when the service starts",
    "portability.create_edges": "an import joins nodes that it made itself",
    "server.find_store": "belongs to the store",
    "portability.list_taken": "an import asks which ids of its file any tenant has",
    "portability.load_edges": "reads nodes that a copy listed of one tenant",
    "portability.load_nodes": "reads nodes that a copy listed of one tenant",
    "server.await_indexes": "belongs to the store",
    "server.bind_store": "belongs to the store",
    "server.find_current": "belongs to the store",
    "server.find_procedures": "belongs to the store",
    "server.gds_version": "belongs to the store",
    "server.list_migrations": "belongs to the store",
    "server.record_migration": "belongs to the store",
    "server.hold_lock": "belongs to the store",
    "server.show_components": "belongs to the store",
    "tenants.create_tenant": "makes a tenant",
    "tenants.list_tenants": "an operator lists tenants, and the scheduler looks after every one",
}


@contextmanager
def noting() -> Iterator[Noted]:
    """Note every query that the driver is given in this block, by name, with its parameters."""
    names = {
        text: name
        for name, query in QUERIES.items()
        for text in (query.text, query.sent.text)  # GDS is given the first
    }
    found: Noted = defaultdict(list)
    classes: Sequence[type] = (
        neo4j.AsyncSession, neo4j.AsyncManagedTransaction, neo4j.Session, neo4j.ManagedTransaction,
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        for kind in classes:
            original = kind.run  # type: ignore[attr-defined]

            def note(self: Any, query: Any, *args: Any, _run: Any = original, **more: Any) -> Any:
                text = query.text if isinstance(query, neo4j.Query) else query
                if (name := names.get(text)) is not None:
                    given: Params = next(
                        (arg for arg in (*args, more.get("parameters")) if arg), {}
                    )
                    found[name].append(dict(given.get(GIVEN, given)))
                return _run(self, query, *args, **more)

            patch.setattr(kind, "run", note)
        yield found


@dataclass(frozen=True)
class Pair:
    """Two tenants by id, what must not be told of the second, and calls with its ids."""

    asking: str
    other: str
    hidden: frozenset[str]
    calls: Noted


ERASING = {("delete", "/v1/episodes/{episode}"), ("delete", "/v1/keys/{key}"), *OPERATORS}


def tour(life: Life, operator: httpx.Client, *, erasing: bool) -> None:
    """Call every route of the tenant with its own ids."""
    for route, calls in samples(life).items():
        if route == ("post", "/v1/tenants") or (route in ERASING and not erasing):
            continue
        for path, more in calls:
            who = operator if route in OPERATORS else life.owner
            answer = who.request(route[0], path, **more)
            assert answer.status_code < 500, answer.text
            if "Location" in answer.headers:
                ended(life.owner, answer.headers["Location"])
    if not erasing:
        settled(life.owner)


async def pair_of(
    cypher: Cypher, noted: Noted, other_life: Life, asking_life: Life, operator: httpx.Client
) -> Pair:
    """Call every route of both lives; of the one that asks also what erases."""
    tour(other_life, operator, erasing=False)
    tenants = {
        row["name"]: row["id"]
        for row in await cypher("MATCH (t:Tenant) RETURN t.name AS name, t.id AS id")
    }
    other, asking = tenants[other_life.owner.name], tenants[asking_life.owner.name]
    twins = await twins_of(cypher, (asking, asking_life.mark), (other, other_life.mark))
    tour(asking_life, operator, erasing=True)
    rows = await cypher(
        "MATCH (n) WHERE n.tenant = $id AND n.id IS NOT NULL RETURN n.id AS id", id=other
    )
    hidden = frozenset(row["id"] for row in rows) | {other, other_life.mark}
    calls = {
        name: distinct(
            replaced(params, twins) if params.get("tenant") == asking else params
            for params in found
            if params.get("tenant") in {other, asking}
        )
        for name, found in noted.items()
    }
    given = await by_hand(cypher, other)
    needed = {name for name, query in QUERIES.items() if "tenant" in query.params}
    for name in sorted(name for name in needed if not calls.get(name)):
        lacking = QUERIES[name].params.keys() - given.keys()
        assert not lacking, f"let a life reach {name}, or give a sample of {lacking}"
        calls[name] = [{param: given[param] for param in QUERIES[name].params}]
    return Pair(asking, other, hidden, calls)


async def by_hand(cypher: Cypher, tenant: str) -> Params:
    """Give samples by parameter for queries that no life of so few turns reaches."""
    pairs = await cypher(
        "MATCH (a)-[r:SIMILAR|ASSOCIATED|MENTIONS]->(b) WHERE a.tenant = $id"
        " RETURN type(r) AS edge, a.id AS one, b.id AS other, a.id AS episode,"
        " b.normalised AS concept,"
        " a.id AS id, r.w_learned AS was, 0.5 AS part, 0.5 AS learned, 0.5 AS weight,"
        " [1] AS turns, [0.5] AS strengths, 0.5 AS tau, 0.5 AS potential, 0.5 AS current,"
        " 1 AS turn, ['Extra'] AS labels, {} AS properties, 1 AS number",
        id=tenant,
    )
    keys = await cypher(
        "MATCH (f:Fact {tenant: $id}) RETURN f.subject AS subject, f.relation AS relation,"
        " coalesce(f.qualifier, '') AS qualifier",
        id=tenant,
    )
    nodes = await cypher(
        "MATCH (n) WHERE n.tenant = $id AND n.id IS NOT NULL RETURN n.id AS id", id=tenant
    )
    ids = [row["id"] for row in nodes]
    return {
        "tenant": tenant, "ids": ids, "episodes": ids, "frontier": ids, "rows": pairs,
        "concepts": ids, "near": [ids] * len(ids),
        "keys": keys, "vector": Vector.from_numpy(np.ones(384, np.float32)), "limit": 50,
        "batch": 50, "digest": "x", "done": 1, "only_empty": False,
        "fetch": 50, "fan": 50, "longer_than": 1, "floor": 0.0, "keep": 1, "turn": 1,
        "associated": True, "after": "", "searched": ids, "generation": 0,
        "delete": True, "session": "x", "above": 0.0,
        "light_turn": 1, "after_turn": 0, "due_at": LATER, "now": LATER, "before": LATER,
        "load": "x", "loaded": 1,
    }  # fmt: skip


async def twins_of(
    cypher: Cypher, one: tuple[str, str], other: tuple[str, str]
) -> Mapping[str, str]:
    """Pair what the same life made in two tenants: ids, the tenants' own, and the marks."""

    async def named(tenant: str, mark: str) -> dict[str, str]:
        rows = await cypher(
            "MATCH (n) WHERE n.tenant = $id AND n.id IS NOT NULL"
            " RETURN n.id AS id, labels(n)[0] AS label, [n.normalised, n.text, n.statement,"
            " n.ordinal, n.start, n.name, n.title, n.kind, n.why, n.number] AS told",
            id=tenant,
        )
        return {
            f"{row['label']} {row['told']}".lower().replace(mark, "MARK"): row["id"]
            for row in rows
        }

    mine, theirs = await named(*one), await named(*other)
    found = {ident: theirs[name] for name, ident in mine.items() if name in theirs}
    assert len(found) > 40
    return {**found, one[0]: other[0], one[1]: other[1]}


def replaced(value: Any, by: Mapping[str, str]) -> Any:
    """Put other words for these, wherever they stand."""
    if isinstance(value, str):
        for old, new in by.items():
            value = value.replace(old, new)
        return value
    if isinstance(value, dict):
        return {name: replaced(inner, by) for name, inner in value.items()}
    return [replaced(one, by) for one in value] if isinstance(value, list) else value


def distinct(calls: Iterable[Params]) -> list[Params]:
    """Keep the latest of those that are the same."""
    return list({repr(sorted(map(repr, one.items()))): one for one in calls}.values())


@dataclass(frozen=True)
class Tried:
    """The rows of a run as text, whether it wrote, and the other tenant's state after it."""

    rows: str
    wrote: bool
    seen: list[str] | None


@asynccontextmanager
async def undone(driver: neo4j.AsyncDriver) -> AsyncIterator[neo4j.AsyncTransaction]:
    """Give a transaction that leaves nothing."""
    async with driver.session() as session, await session.begin_transaction() as transaction:
        yield transaction
        await transaction.rollback()


async def state_of(transaction: neo4j.AsyncTransaction, tenant: str) -> list[str]:
    """Write every node of a tenant with its edges, jobs, traces and keys too."""
    result = await transaction.run(
        "MATCH (n) WHERE n.tenant = $id OR n.id = $id"
        " RETURN elementId(n) AS node, labels(n) AS labels, properties(n) AS told,"
        " COLLECT { MATCH (n)-[r]-(m) RETURN [elementId(r), properties(r), elementId(m)]"
        " ORDER BY elementId(r) } AS edges",
        id=tenant,
    )
    return sorted([repr(record.data()) async for record in result])


async def tried(
    driver: neo4j.AsyncDriver, name: str, params: Params, looks_at: str | None = None
) -> Tried:
    """Run a query and undo it; what it makes gets new ids where the old ones are taken."""
    if "graph" in params:  # a projection is no part of the transaction
        params |= {"graph": f"ecphoria-{fresh_id()}"}
    for given in (params, renewed(params)):
        with suppress(ConstraintError):
            async with undone(driver) as transaction:
                sent = QUERIES[name].sent
                result = await transaction.run(sent.text, sent.given(given))
                rows = repr([record.data() async for record in result]).lower()
                wrote = (await result.consume()).counters.contains_updates
                if "graph" in given:
                    await transaction.run("CALL gds.graph.drop($graph, false)", given)
                seen = await state_of(transaction, looks_at) if looks_at and wrote else None
            return Tried(rows, wrote, seen)
    return Tried("", wrote=False, seen=None)


def renewed(value: Any) -> Any:
    """Give everything that is made another id."""
    if isinstance(value, dict):
        return {
            name: fresh_id() if name == "id" and isinstance(inner, str) else renewed(inner)
            for name, inner in value.items()
        }
    return [renewed(one) for one in value] if isinstance(value, list) else value


def handed(params: Params, tenant: str, was: str) -> Params:
    """Give the parameters to another tenant; the text index is asked for its own id too."""
    given = params | {"tenant": tenant}
    if "query" in given:
        given["query"] = given["query"].replace(was, tenant)
    return given


async def faults_of(pair: Pair, neo4j_server: Server) -> tuple[list[str], str]:
    """Run every query for the other tenant; give its faults, and what was tried."""
    auth = (neo4j_server.user, neo4j_server.password)
    faults: list[str] = []
    telling = runs = 0
    needed = {name for name, query in QUERIES.items() if "tenant" in query.params}
    async with neo4j.AsyncGraphDatabase.driver(
        neo4j_server.uri, auth=auth, notifications_min_severity="OFF"
    ) as driver:
        async with undone(driver) as transaction:
            before = await state_of(transaction, pair.other)
        for name in sorted(needed):
            best: list[Params] = []
            for params in reversed(pair.calls[name][-LOOKED_AT:]):
                own = await tried(driver, name, params)
                if own.wrote or any(one in own.rows for one in pair.hidden):
                    best.append(params)
                    if len(best) == TRIED:
                        break
            telling += bool(best)
            for params in best or pair.calls[name][-TRIED:]:
                runs += 1
                given = handed(params, pair.asking, pair.other)
                foreign = await tried(driver, name, given, looks_at=pair.other)
                if told := [one for one in pair.hidden if one in foreign.rows]:
                    faults.append(f"{name} tells {told[:3]}")
                if foreign.wrote and foreign.seen != before:
                    faults.append(f"{name} writes")
    # Counts, the doctor's searches and what has nothing to do in a whole graph tell no id.
    assert telling > 0.6 * len(needed)
    return faults, (
        f"{len(QUERIES)} queries, {len(needed)} of a tenant: {telling} tell or write"
        f" something of the tenant whose ids they are given, {runs} runs for another"
    )
