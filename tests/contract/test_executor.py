import asyncio
import base64
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import neo4j
import pytest
from neo4j.exceptions import SessionExpired

from ecphoria.errors import (
    EcphoriaError,
    InvalidInput,
    Misconfigured,
    StoreUnavailable,
    Timeout,
    Unavailable,
)
from ecphoria.neo4j_store.queries import Mode, Query
from ecphoria.neo4j_store.schema import check, health
from ecphoria.neo4j_store.session import (
    Done,
    Graph,
    GraphOptions,
    Statement,
    Work,
    follow,
    open_driver,
)
from tests.conftest import Cypher, Server

SPIN = Statement("tests.spin", int)
WRONG = Statement("tests.wrong", int)
ONE = Statement("tests.one", int)
MARKED = Statement("tests.mark", int)
MARK = "spinning for a test"


def query(name: str, text: str, mode: Mode = Mode.READ) -> Query:
    return Query(
        name=name,
        doc="Test.",
        mode=mode,
        params={},
        returns={"n": "INTEGER"},
        each={},
        plan={},
        text=text,
        source=Path(__file__),
    )


QUERIES = {
    one.name: one
    for one in (
        query(
            "tests.spin",
            f"/* {MARK} */ UNWIND range(1, 10000) AS a UNWIND range(1, 1000000) AS b "
            "WITH a * b AS c WHERE c < 0 RETURN count(c) AS n",
        ),
        query("tests.wrong", "RETURN nothing AS n"),
        query("tests.one", "RETURN 1 AS n"),
        query(
            "tests.mark",
            "MERGE (t:ExecutorTest) SET t.n = coalesce(t.n, 0) + 1 RETURN t.n AS n",
            Mode.WRITE,
        ),
        query("tests.forget", "MATCH (t:ExecutorTest) DELETE t RETURN 1 AS n", Mode.WRITE),
    )
}


@pytest.fixture
def options(neo4j_server: Server) -> GraphOptions:
    return neo4j_server.options(query_timeout_s=1.0, first_query_timeout_s=1.0, retry_s=0.1)


@pytest.fixture
async def heard() -> list[tuple[str, float]]:
    return []


@pytest.fixture
async def spinning(options: GraphOptions, heard: list[tuple[str, float]]) -> AsyncIterator[Graph]:
    def listen(name: str, seconds: float) -> None:
        heard.append((name, seconds))

    async with Graph(open_driver(options), options, QUERIES, listen) as graph:
        yield graph


@pytest.fixture
async def unhurried(options: GraphOptions) -> AsyncIterator[Graph]:
    longer = dataclasses.replace(options, query_timeout_s=120.0)
    async with Graph(open_driver(longer), longer, QUERIES, None) as graph:
        yield graph


async def running(cypher: Cypher) -> int:
    rows = await cypher(
        "SHOW TRANSACTIONS YIELD currentQuery, status "
        "WHERE currentQuery CONTAINS $mark AND NOT currentQuery CONTAINS 'SHOW' "
        "AND status = 'Running' RETURN count(*) AS n",
        mark=MARK,
    )
    return int(rows[0]["n"])


async def wait_for(cypher: Cypher, number: int) -> int:
    for _ in range(100):
        if (found := await running(cypher)) == number:
            return found
        await asyncio.sleep(0.1)
    return await running(cypher)


async def test_the_server_ends_what_takes_too_long(spinning: Graph, cypher: Cypher) -> None:
    with pytest.raises(Timeout):
        await spinning.run(SPIN)
    assert await wait_for(cypher, 0) == 0


async def test_a_transaction_is_ended_like_a_query(spinning: Graph) -> None:
    async def work(transaction: Work) -> None:
        await transaction.run(SPIN)

    with pytest.raises(Timeout):
        await spinning.change("tests.change", work)


@asynccontextmanager
async def slow_store(graph: Graph, seconds: float) -> AsyncIterator[None]:
    """Hold the lock that `tests.mark` waits for: the store answers it only after a while.

    A test that ends sooner waits no longer.
    """
    await graph.run(MARKED)
    held, over = asyncio.Event(), asyncio.Event()

    async def hold(transaction: Work) -> None:
        await transaction.run(MARKED)
        held.set()
        with suppress(TimeoutError):
            await asyncio.wait_for(over.wait(), seconds)

    holding = asyncio.create_task(graph.change("tests.hold", hold))
    await held.wait()
    yield
    over.set()
    await holding


@pytest.fixture
async def patient(options: GraphOptions) -> AsyncIterator[Graph]:
    """A store whose queries have a second, and minutes before their first success."""
    waiting = dataclasses.replace(options, first_query_timeout_s=120.0)
    async with (
        Graph(open_driver(waiting), waiting, QUERIES, None) as graph,
        Graph(open_driver(waiting), waiting, QUERIES, None) as other,
    ):
        async with slow_store(other, 6.0):
            yield graph
        await other.run(Statement("tests.forget", int))


async def test_the_first_run_of_a_query_may_take_longer(patient: Graph) -> None:
    assert await patient.run(MARKED) == [3]


async def test_a_query_that_has_succeeded_has_the_usual_limit(patient: Graph) -> None:
    patient.patience.succeeded("tests.mark")
    with pytest.raises(Unavailable):
        await patient.run(MARKED)


async def test_the_first_run_of_a_transaction_may_take_longer(patient: Graph) -> None:
    async def work(transaction: Work) -> list[int]:
        return await transaction.run(MARKED)

    assert await patient.change("tests.change", work) == [3]


async def test_a_new_statement_in_a_known_transaction_may_take_longer(patient: Graph) -> None:
    async def work(transaction: Work) -> list[int]:
        return await transaction.run(MARKED)

    patient.patience.succeeded("tests.change")
    assert await patient.change("tests.change", work) == [3], "done once, though repeated"
    assert patient.patience.knows("tests.mark")


async def test_a_transaction_of_known_statements_has_the_usual_limit(patient: Graph) -> None:
    async def work(transaction: Work) -> None:
        await transaction.run(MARKED)

    patient.patience.succeeded("tests.change")
    patient.patience.succeeded("tests.mark")
    with pytest.raises(Unavailable):
        await patient.change("tests.change", work)


async def test_a_read_whose_connection_was_lost_is_tried_again(
    spinning: Graph, heard: list[tuple[str, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = 0

    async def lost(_: object, sent: neo4j.Query, *__: object) -> None:
        nonlocal tried
        # A service that other tests left to end may read as well.
        tried += QUERIES[ONE.name].text in sent.text
        raise SessionExpired("gone")

    monkeypatch.setattr(neo4j.AsyncSession, "run", lost)
    assert await spinning.run(ONE) == [1]
    assert tried == 1
    assert [name for name, _ in heard] == ["tests.one"]


async def test_a_read_that_is_refused_is_not_tried_again(
    spinning: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def again(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(neo4j.AsyncDriver, "execute_query", again)
    with pytest.raises(EcphoriaError, match=r"tests\.wrong"):
        await spinning.run(WRONG)


async def test_cancelling_the_caller_ends_the_query_on_the_server(
    unhurried: Graph, cypher: Cypher
) -> None:
    task = asyncio.create_task(unhurried.run(SPIN))
    assert await wait_for(cypher, 1) == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await wait_for(cypher, 0) == 0


async def test_each_query_is_told_with_its_seconds_also_when_it_fails(
    spinning: Graph, heard: list[tuple[str, float]]
) -> None:
    with pytest.raises(Timeout):
        await spinning.run(SPIN)
    ((name, seconds),) = heard
    assert name == "tests.spin"
    assert seconds > 0.5


async def test_a_refused_query_is_told_by_name_and_code_alone(spinning: Graph) -> None:
    with pytest.raises(EcphoriaError) as refused:
        await spinning.run(WRONG)
    assert refused.value.fields["reason"] == "Neo.ClientError.Statement.SyntaxError"
    assert "nothing" not in refused.value.message


async def test_a_name_without_a_file_is_refused(spinning: Graph) -> None:
    with pytest.raises(Misconfigured, match=r"tests\.absent"):
        await spinning.run(Statement("tests.absent", Done))


async def test_no_server_is_told_as_unavailable(options: GraphOptions) -> None:
    nowhere = dataclasses.replace(options, uri="bolt://127.0.0.1:1", connect_timeout_s=1.0)
    async with Graph(open_driver(nowhere), nowhere, QUERIES, None) as graph:
        with pytest.raises(StoreUnavailable):
            await graph.run(SPIN)


async def test_a_wrong_password_is_told_as_a_setting(options: GraphOptions) -> None:
    wrong = dataclasses.replace(options, password="not the password")
    async with Graph.connect(wrong) as graph:
        with pytest.raises(Misconfigured, match="password"):
            await check(graph)


async def test_the_check_passes_on_the_pinned_server(graph: Graph) -> None:
    found = await check(graph)
    assert found.neo4j.startswith("2026.01")
    assert found.gds is not None
    assert found.missing == ()
    assert await health(graph) == found


def ahead(bookmark: str, transactions: int) -> str:
    """Give the bookmark of a write that is so many transactions later.

    Its bytes are a list of a database's id (in 19 bytes), the number of the transaction, and an
    empty list, in the format of Bolt (PackStream).
    """
    raw = base64.b64decode(bookmark.removeprefix("FB:"))
    marked = raw[19:-1]
    number = int.from_bytes(marked[1:] or marked) + transactions
    later = raw[:19] + b"\xcb" + number.to_bytes(8) + raw[-1:]
    return f"FB:{base64.b64encode(later).decode()}"


async def test_a_read_waits_for_the_writes_of_the_bookmarks_that_it_follows(
    unhurried: Graph,
) -> None:
    await unhurried.run(MARKED)
    (last,) = (await unhurried.bookmarks()).raw_values

    async def follow_and_read() -> list[int]:
        follow([ahead(last, 100)])
        return await unhurried.run(ONE)

    reading = asyncio.create_task(follow_and_read())
    await asyncio.sleep(0.3)
    assert not reading.done()
    assert await unhurried.run(ONE) == [1], "other callers do not wait"
    while not reading.done():
        await unhurried.run(MARKED)
    assert await reading == [1]
    await unhurried.run(Statement("tests.forget", int))


async def test_bookmarks_that_neo4j_cannot_read_are_told_as_bad_input(unhurried: Graph) -> None:
    async def follow_and_run(statement: Statement[int]) -> None:
        follow(["nonsense"])
        with pytest.raises(InvalidInput, match="bookmarks"):
            await unhurried.run(statement)

    await asyncio.create_task(follow_and_run(ONE))
    await asyncio.create_task(follow_and_run(MARKED))
    assert await unhurried.run(ONE) == [1]
