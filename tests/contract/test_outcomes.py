"""A failed transaction is repeated where that is safe, and never wrongly reported as undone."""

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import neo4j
import numpy as np
import pytest
from neo4j.exceptions import ResultFailedError, TransientError

from ecphoria.errors import OutcomeUnknown, StoreUnavailable
from ecphoria.ingest.service import IngestService
from ecphoria.ingest.store import IngestStore
from ecphoria.neo4j_store.queries import Mode, Query
from ecphoria.neo4j_store.session import Done, Graph, GraphOptions, Statement, Work, open_driver
from ecphoria.ports import Embedder
from ecphoria.records.episode import NewEpisode, Outcome, Receipt
from ecphoria.records.ids import TenantId
from tests.conftest import Cypher, Server, WallClock, new_tenant

COMMIT = b"\x00\x02\xb0\x12\x00\x00"
"""Bolt's message COMMIT, which has no fields."""

TOUCH = Statement("tests.touch", Done)
QUERIES = {
    TOUCH.name: Query(
        name=TOUCH.name,
        doc="Test.",
        mode=Mode.WRITE,
        params={"name": "STRING"},
        returns={},
        each={},
        plan={},
        text="MERGE (n:TestLock {name: $name}) SET n.times = coalesce(n.times, 0) + 1",
        source=Path(__file__),
    )
}


@pytest.fixture
async def touching(neo4j_server: Server, cypher: Cypher) -> AsyncIterator[Graph]:
    options = neo4j_server.options()
    await cypher("UNWIND ['a', 'b'] AS name MERGE (:TestLock {name: name})")
    try:
        async with Graph(open_driver(options), options, QUERIES, None) as graph:
            yield graph
    finally:
        await cypher("MATCH (n:TestLock) DETACH DELETE n")


async def test_a_deadlock_is_repeated_when_a_statement_waits_behind_the_one_that_failed(
    touching: Graph, cypher: Cypher
) -> None:
    both_hold = asyncio.Barrier(2)
    attempts: list[str] = []

    async def crossing(first: str, second: str) -> None:
        async def work(transaction: Work) -> None:
            attempts.append(first)
            await transaction.run(TOUCH, name=first)
            if len(attempts) <= 2:
                await both_hold.wait()
            # One statement under way, the next one asked for meanwhile.
            ahead = asyncio.create_task(transaction.run(TOUCH, name=second))
            await asyncio.sleep(0)
            try:
                await transaction.run(TOUCH, name=first)
            finally:
                await ahead

        await touching.change("tests.crossing", work)

    await asyncio.gather(crossing("a", "b"), crossing("b", "a"))
    assert len(attempts) == 3
    rows = await cypher("MATCH (n:TestLock) RETURN n.name AS name, n.times AS times ORDER BY name")
    assert [row["times"] for row in rows] == [3, 3]


async def test_an_error_that_hides_a_deadlock_is_repeated(
    touching: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = 0
    closed = neo4j.AsyncManagedTransaction._close

    async def close(transaction: neo4j.AsyncManagedTransaction) -> None:
        await closed(transaction)  # type: ignore[no-untyped-call]  # the driver gives no types
        raise ResultFailedError(None, "failed")

    async def work(transaction: Work) -> int:
        nonlocal attempts
        attempts += 1
        await transaction.run(TOUCH, name="a")
        if attempts < 3:
            # Neo4jError is made by the driver from a server's answer only.
            raise TransientError._hydrate_neo4j(
                code="Neo.TransientError.Transaction.DeadlockDetected", message="a test"
            )
        return attempts

    monkeypatch.setattr(neo4j.AsyncManagedTransaction, "_close", close)
    assert await touching.change("tests.hidden", work) == 3


async def test_a_hidden_deadlock_that_does_not_end_is_told_as_such(
    neo4j_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(_: Work) -> None:
        raise TransientError._hydrate_neo4j(
            code="Neo.TransientError.Transaction.DeadlockDetected", message="a test"
        )

    async def close(_: neo4j.AsyncManagedTransaction) -> None:
        raise ResultFailedError(None, "failed")

    monkeypatch.setattr(neo4j.AsyncManagedTransaction, "_close", close)
    impatient = dataclasses.replace(options_of(neo4j_server.uri, neo4j_server), retry_s=0.2)
    async with Graph(open_driver(impatient), impatient, QUERIES, None) as graph:
        with pytest.raises(StoreUnavailable) as caught:
            await graph.change("tests.hidden", work)
    assert caught.value.fields["reason"] == "Neo.TransientError.Transaction.DeadlockDetected"


def options_of(uri: str, server: Server, connections: int = 50) -> GraphOptions:
    return GraphOptions(
        uri=uri, user=server.user, password=server.password, connections=connections
    )


@asynccontextmanager
async def losing_commits(server: Server, losses: int) -> AsyncIterator[str]:
    """Stand between driver and server: pass a COMMIT on, and cut the line before its answer."""
    left = losses
    target = urlsplit(server.uri)

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal left
        far_reader, far_writer = await asyncio.open_connection(target.hostname, target.port)
        lost = asyncio.Event()

        async def back() -> None:
            while piece := await far_reader.read(65_536):
                if lost.is_set():
                    return
                writer.write(piece)

        answers = asyncio.create_task(back())
        with contextlib.suppress(OSError):
            while piece := await reader.read(65_536):
                if left and piece.endswith(COMMIT):
                    left -= 1
                    lost.set()
                far_writer.write(piece)
                await far_writer.drain()
                if lost.is_set():
                    await answers  # the server has committed and answered
                    break
        writer.transport.abort()
        far_writer.transport.abort()
        answers.cancel()

    proxy = await asyncio.start_server(carry, "127.0.0.1", 0)
    async with proxy:
        yield f"bolt://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"


async def turns_of(cypher: Cypher, tenant: TenantId) -> int:
    (row,) = await cypher(
        "MATCH (e:Episode {tenant: $tenant}) RETURN count(e) AS n", tenant=tenant
    )
    return int(row["n"])


@pytest.mark.parametrize("key", [None, "k1"])
async def test_an_append_whose_commit_was_not_confirmed_is_stored_once(
    key: str | None, neo4j_server: Server, tenant: TenantId, embedder: Embedder, cypher: Cypher
) -> None:
    new = NewEpisode(text="The boat is moored in Izola.", idempotency_key=key)
    async with (
        losing_commits(neo4j_server, 1) as uri,
        Graph.connect(options_of(uri, neo4j_server)) as graph,
    ):
        service = IngestService(store=IngestStore(graph), embedder=embedder, clock=WallClock())
        receipt = await service.append(tenant, new)
    assert receipt.outcome is Outcome.CREATED
    assert await turns_of(cypher, tenant) == 1


async def test_an_unknown_outcome_is_told_and_the_same_key_is_safe(
    neo4j_server: Server, tenant: TenantId, embedder: Embedder, cypher: Cypher
) -> None:
    new = NewEpisode(text="The boat is moored in Izola.", idempotency_key="k1")
    async with (
        losing_commits(neo4j_server, 2) as uri,
        Graph.connect(options_of(uri, neo4j_server)) as graph,
    ):
        service = IngestService(store=IngestStore(graph), embedder=embedder, clock=WallClock())
        with pytest.raises(OutcomeUnknown, match="same key"):
            await service.append(tenant, new)
        assert (await service.append(tenant, new)).outcome is Outcome.EXISTED
    assert await turns_of(cypher, tenant) == 1


@pytest.mark.parametrize("connections", [1, 2])
async def test_sixty_tenants_append_at_once_over_few_connections(
    connections: int, graph: Graph, neo4j_server: Server, embedder: Embedder, cypher: Cypher
) -> None:
    tenants = [await new_tenant(graph) for _ in range(60)]
    options = options_of(neo4j_server.uri, neo4j_server, connections)
    vector = tuple(np.eye(1, embedder.dimension)[0].tolist())
    # "Marek Novak" becomes a concept with the second episode, so older episodes are looked at.
    texts = ("I met Marek Novak at the pier.", "Marek Novak sold his boat to Marek Novak.")
    async with Graph.connect(options) as few:
        service = IngestService(store=IngestStore(few), embedder=embedder, clock=WallClock())

        async def append(tenant: TenantId, text: str) -> Receipt:
            return await service.append(tenant, NewEpisode(text=text, vector=vector))

        for text in texts:
            made = await asyncio.gather(*(append(tenant, text) for tenant in tenants))
            assert all(one.outcome is Outcome.CREATED for one in made)
    (row,) = await cypher(
        "MATCH (e:Episode)-[:MENTIONS]->(c:Concept {normalised: 'marek novak'}) "
        "WHERE e.tenant IN $tenants RETURN count(*) AS n",
        tenants=tenants,
    )
    assert row["n"] == 120
