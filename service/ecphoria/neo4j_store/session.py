"""The session with Neo4j: connect, run a query, retry, translate errors."""

import asyncio
import copy
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Self, TypeVar

import neo4j
import numpy as np
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    ConnectionPoolError,
    ConstraintError,
    DriverError,
    IncompleteCommit,
    Neo4jError,
    ResultError,
    ServiceUnavailable,
    SessionExpired,
    TransactionError,
)
from neo4j.vector import Vector as PackedVector

from ecphoria.errors import (
    Conflict,
    EcphoriaError,
    EmbedderChanged,
    Misconfigured,
    OutcomeUnknown,
    StoreUnavailable,
    StoreUnsuitable,
)
from ecphoria.neo4j_store.decoding import decoded
from ecphoria.neo4j_store.failures import chain_of, error_of, retryable_behind, timed_out
from ecphoria.neo4j_store.queries import (
    Mode,
    Query,
    cypher_root,
    for_generation,
    load_queries,
    statements,
    vector_name,
)
from ecphoria.telemetry import Spans

# The driver would also speak HTTP, but without the transactions that writing needs.
_SCHEMES = frozenset({"bolt", "neo4j"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The timeout of each query and transaction, by its name.

    Neo4j plans a query when it first runs. On a slow machine that takes much longer than the
    query itself, so until its first success a query may take `first_s`.
    """

    usual_s: float
    first_s: float
    _succeeded: set[str] = field(default_factory=set)

    def limit_s(self, name: str) -> float:
        """Give the timeout of a query, in seconds."""
        return self.usual_s if name in self._succeeded else self.longest_s

    @property
    def longest_s(self) -> float:
        """The timeout of a query that has not succeeded yet, in seconds."""
        return max(self.usual_s, self.first_s)

    def knows(self, name: str) -> bool:
        """Tell whether a query has succeeded."""
        return name in self._succeeded

    def succeeded(self, name: str) -> None:
        """Note that a query has succeeded."""
        self._succeeded.add(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOptions:
    """The address of the server, and the timeouts.

    Attributes:
        uri: `bolt://` or `neo4j://`, with `+s` for TLS.
        query_timeout_s: Longest a transaction may run before the server ends it.
        first_query_timeout_s: The same before the first success of a query or transaction.
        retry_s: Longest time of the driver's retries.
        connect_timeout_s: Longest to wait for a connection, new or from the pool.
    """

    uri: str
    user: str
    password: str
    database: str = "neo4j"
    query_timeout_s: float = 30.0
    first_query_timeout_s: float = 300.0
    retry_s: float = 15.0
    connect_timeout_s: float = 10.0
    connections: int = 50


def open_driver(options: GraphOptions) -> neo4j.AsyncDriver:
    """Make a driver; it connects when first used.

    Raises:
        Misconfigured: The URI cannot be one of a Neo4j server.
    """
    if options.uri.partition("://")[0].partition("+")[0] not in _SCHEMES:
        raise Misconfigured(
            "the Neo4j URI must start with bolt:// or neo4j://, or with +s for TLS"
        )
    try:
        return neo4j.AsyncGraphDatabase.driver(
            options.uri,
            auth=(options.user, options.password),
            connection_timeout=options.connect_timeout_s,
            connection_acquisition_timeout=options.connect_timeout_s,
            max_connection_pool_size=options.connections,
            max_transaction_retry_time=options.retry_s,
            keep_alive=True,
            # Only the tests ask the server for advice on query texts.
            notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
            user_agent="ecphoria",
        )
    except (ConfigurationError, ValueError) as error:
        raise Misconfigured(f"the Neo4j URI cannot be used: {error}") from error


@contextmanager
def translated_errors(query: str) -> Iterator[None]:
    """Translate the driver's errors to ours; `query` is the name of the statement."""
    try:
        yield
    except AuthError as error:
        raise Misconfigured(
            "Neo4j refuses the user and password; check the Neo4j settings", query=query
        ) from error
    except ConfigurationError as error:
        # The driver finds out while it connects that the server is too old, or no Neo4j.
        raise StoreUnsuitable(
            "The server at the Neo4j URI is too old, or no Neo4j: update it, or unset the URI to"
            f" use the managed one. {error}",
            query=query,
        ) from error
    except ConstraintError as error:
        raise Conflict("something with this name or id exists already", query=query) from error
    except IncompleteCommit as error:
        raise OutcomeUnknown(query=query) from error
    except (ServiceUnavailable, SessionExpired, ConnectionPoolError) as error:
        raise StoreUnavailable(query=query) from error
    except Neo4jError as error:
        raise error_of(error, query) from error
    except DriverError as error:
        # The first error of the transaction tells more than those of its later statements.
        behind = next((found for found in chain_of(error) if isinstance(found, Neo4jError)), None)
        if behind is None:
            raise EcphoriaError(query=query) from error
        with translated_errors(query):
            raise behind from None  # avoids a circle in the chain


R = TypeVar("R")
T = TypeVar("T")
V = TypeVar("V")

Transaction = neo4j.AsyncManagedTransaction | neo4j.AsyncTransaction
QueryListener = Callable[[str, float], None]

_IS_VECTOR: Final = re.compile(r"embedding(_\d+)?")
_FOLLOWED: ContextVar[tuple[str, ...]] = ContextVar("followed", default=())


def follow(bookmarks: Iterable[str]) -> None:
    """Let the transactions of this task see the writes of these bookmarks (decision 0115).

    They come from `Graph.bookmarks`, of this service or another one on the same store.
    """
    _FOLLOWED.set(tuple(bookmarks))


def _followed() -> neo4j.Bookmarks:
    return neo4j.Bookmarks.from_raw_values(_FOLLOWED.get())


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The row of a statement that returns none."""


@dataclass(frozen=True, slots=True)
class Statement(Generic[R]):
    """The name of a query, and the class of its rows; a column is a field of the class.

    The row of one column is its value; that of two columns may be their pair.
    """

    name: str
    row: type[R]


class _Rows(list[object]):
    """Rows whose text form is only their number.

    The driver formats all parameters for its debug log, even if the log is off. That takes 50 ms
    for a thousand episodes, and would put memory text into the log if it is on.
    """

    def __repr__(self) -> str:
        return f"[{len(self)} rows]"


class Work:
    """An open transaction: statements run in it are committed or undone together."""

    def __init__(self, graph: "Graph", transaction: Transaction) -> None:
        self._graph = graph
        self._transaction = transaction
        self._turn = asyncio.Lock()
        self.unfamiliar = False  # whether a statement ran that never succeeded before

    @property
    def generation(self) -> int:
        """The generation of vectors that the statements name."""
        return self._graph.generation

    async def run(self, statement: Statement[R], **params: object) -> list[R]:
        """Run one statement after the earlier ones of this transaction.

        Errors are the driver's, so that it can retry the transaction.
        """
        self.unfamiliar |= not self._graph.patience.knows(statement.name)
        async with self._turn:
            return await self._graph.run_in(self._transaction, statement, params)

    async def run_one(self, statement: Statement[R], **params: object) -> R | None:
        """Run one statement for its first row."""
        rows = await self.run(statement, **params)
        return rows[0] if rows else None


class Graph:
    """A connected server with the checked queries; made by `connect`, ended by `close`.

    Each call raises StoreUnavailable if the server does not answer, and Timeout if it was stopped.
    """

    def __init__(
        self,
        driver: neo4j.AsyncDriver,
        options: GraphOptions,
        queries: Mapping[str, Query],
        on_query: QueryListener | None,
        spans: Spans | None = None,
    ) -> None:
        self._driver = driver
        self._database = options.database
        # Shared with copies for other generations of vectors, as is `_closed`.
        self._bookmarks = neo4j.AsyncGraphDatabase.bookmark_manager(bookmarks_supplier=_followed)
        self.patience = Patience(
            usual_s=options.query_timeout_s, first_s=options.first_query_timeout_s
        )
        self._retry_s = options.retry_s
        self._on_query = on_query
        self._spans = spans or Spans()
        self._closed = asyncio.Event()
        self.connections = options.connections
        self.is_routed = options.uri.startswith("neo4j")
        self.queries = queries
        self._files = queries
        self.generation = 0

    @classmethod
    def connect(
        cls,
        options: GraphOptions,
        *,
        on_query: QueryListener | None = None,
        spans: Spans | None = None,
    ) -> Self:
        """Load the queries and make a driver, which connects when first used.

        `on_query` is called with the name and the seconds of every query; `spans` are opened
        around it.

        Raises:
            Misconfigured: The URI or a query file is unusable.
        """
        return cls(open_driver(options), options, load_queries(cypher_root()), on_query, spans)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def stored(self, properties: Mapping[str, V]) -> dict[str, V]:
        """Rename the vector in a node's properties to its name in the store."""
        own = vector_name(self.generation)
        return {own if name == "embedding" else name: properties[name] for name in properties}

    async def close(self) -> None:
        """Close every connection; from now on the store is unavailable."""
        self._closed.set()
        await self._driver.close()

    def at(self, generation: int) -> Self:
        """Copy the graph with queries for another generation of vectors (decision 0037)."""
        other = copy.copy(self)
        other.generation = generation
        other.queries = {
            name: for_generation(query, generation) for name, query in self._files.items()
        }
        return other

    def canonical(self, properties: Mapping[str, V]) -> dict[str, V]:
        """Rename a node's vector to `embedding`; drop a vector of another model."""
        own = vector_name(self.generation)
        return {
            "embedding" if name == own else name: value
            for name, value in properties.items()
            if name == own or not _IS_VECTOR.fullmatch(name)
        }

    async def bookmarks(self) -> neo4j.Bookmarks:
        """Get the bookmarks with which another transaction sees every write of this service."""
        return neo4j.Bookmarks.from_raw_values(await self._bookmarks.get_bookmarks())

    async def run(self, statement: Statement[R], **params: object) -> list[R]:
        """Run one statement in a transaction of its own, retried when the server allows."""
        query = self._query(statement)
        text = neo4j.Query(query.sent.text, timeout=self.patience.limit_s(query.name))
        read, given = _rows_of(statement.row, query), query.sent.given(_quiet_params(params))
        self._require_open()
        with translated_errors(query.name), self._timed(query.name):
            if query.mode is Mode.READ:
                # The server's own transaction saves the round trip of a commit; after a temporary
                # failure the query runs again below (decision 0028).
                try:
                    async with self._session(default_access_mode=neo4j.READ_ACCESS) as session:
                        return await read(await session.run(text, given))
                except (DriverError, Neo4jError) as error:
                    if not error.is_retryable():
                        raise
            return await self._driver.execute_query(
                text,
                parameters_=given,
                routing_=_routing(query.mode),
                database_=self._database,
                bookmark_manager_=self._bookmarks,
                result_transformer_=read,
            )

    async def run_one(self, statement: Statement[R], **params: object) -> R | None:
        """Run one statement for its first row."""
        rows = await self.run(statement, **params)
        return rows[0] if rows else None

    async def change(self, name: str, work: Callable[[Work], Awaitable[T]]) -> T:
        """Run `work` in one write transaction, again from the start if it must be retried.

        Args:
            name: What to call it when it is timed or fails.
            work: An error that it raises rolls the transaction back and passes through.

        Raises:
            StoreUnavailable: The server does not answer; nothing was written.
            OutcomeUnknown: The server did not answer the commit; all or nothing was written.
            Timeout: The server stopped it; nothing was written.
        """
        opened: list[Work] = []

        async def unit(transaction: neo4j.AsyncManagedTransaction) -> T:
            opened.append(Work(self, transaction))
            return await work(opened[-1])

        limit_s = self.patience.limit_s(name)
        with translated_errors(name), self._timed(name):
            started = time.monotonic()
            for pause_s in _pauses():  # endless
                try:
                    async with self._session() as session:
                        return await session.execute_write(
                            neo4j.unit_of_work(timeout=limit_s)(unit)
                        )
                except (DriverError, Neo4jError) as error:
                    if (
                        timed_out(error)
                        and opened[-1].unfamiliar
                        and limit_s < self.patience.longest_s
                    ):
                        limit_s = self.patience.longest_s  # a statement had to be planned first
                        continue
                    if not isinstance(error, (ResultError, TransactionError)):
                        raise
                    cause = retryable_behind(error)
                    if cause is None:
                        raise
                    if time.monotonic() - started > self._retry_s:
                        raise cause from error
                await asyncio.sleep(pause_s)
            raise AssertionError

    @asynccontextmanager
    async def holding(self, name: str, timeout_s: float) -> AsyncIterator[Work]:
        """Open one transaction for a block of reads and their locks, for at most `timeout_s`.

        It is not retried, because rows may have left the block already. `name` is told when it is
        timed or fails.
        """
        with translated_errors(name), self._timed(name):
            async with (
                self._session() as session,
                await session.begin_transaction(timeout=timeout_s) as transaction,
            ):
                yield Work(self, transaction)
                await transaction.commit()

    async def apply_schema(self, query: Query, **params: object) -> None:
        """Run the statements of a schema file, each in its own transaction."""
        with translated_errors(query.name):
            async with self._session() as session:
                for text in statements(query):
                    used = {name: value for name, value in params.items() if f"${name}" in text}
                    result = await session.run(text, used)
                    await result.consume()

    async def run_in(
        self, transaction: Transaction, statement: Statement[R], params: Mapping[str, object]
    ) -> list[R]:
        """Run one statement in an open transaction."""
        query = self._query(statement)
        with self._timed(query.name):
            given = query.sent.given(_quiet_params(params))
            result = await transaction.run(query.sent.text, given)
            return await _rows_of(statement.row, query)(result)

    def _query(self, statement: Statement[R]) -> Query:
        query = self.queries.get(statement.name)
        if query is None:
            raise Misconfigured(f"there is no query {statement.name}")
        return query

    def _require_open(self) -> None:
        if self._closed.is_set():
            raise StoreUnavailable("The service is stopping; send it again when it is back.")

    @asynccontextmanager
    async def _session(self, **config: Any) -> AsyncIterator[neo4j.AsyncSession]:
        self._require_open()
        async with self._driver.session(
            database=self._database, bookmark_manager=self._bookmarks, **config
        ) as session:
            yield session

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            with self._spans.query(name):
                yield
            self.patience.succeeded(name)
        finally:
            if self._on_query is not None:
                self._on_query(name, time.perf_counter() - start)


class Store:
    """The statements of one subject, run on a graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph


def _pauses() -> Iterator[float]:
    """Yield pauses in seconds: they double, with a random part against collisions."""
    longest = 0.1
    while True:
        yield random.uniform(longest / 2, longest)  # noqa: S311 (nothing is kept secret)
        longest = min(2 * longest, 2.0)


def packed(vector: np.ndarray[Any, np.dtype[np.float32]]) -> PackedVector:
    """Pack a vector as Bolt's float32 array, a fifth of the bytes of a list."""
    return PackedVector.from_numpy(np.ascontiguousarray(vector, dtype=np.float32))


def _quiet_params(params: Mapping[str, object]) -> dict[str, object]:
    return {
        name: _Rows(value) if isinstance(value, list) else value for name, value in params.items()
    }


def _routing(mode: Mode) -> neo4j.RoutingControl:
    return neo4j.RoutingControl.READ if mode is Mode.READ else neo4j.RoutingControl.WRITE


def _rows_of(row: type[R], query: Query) -> Callable[[neo4j.AsyncResult], Awaitable[list[R]]]:
    async def read(result: neo4j.AsyncResult) -> list[R]:
        if row is Done:
            await result.consume()
            return []
        if query.each:
            (record,) = [one async for one in result]
            return decoded(row, query.each, record["rows"])
        return decoded(row, query.returns, [record.values() async for record in result])

    return read


def require_generation(graph: Graph | Work, stored: int) -> None:
    """Refuse to work with vectors that the store no longer uses (decision 0037).

    Raises:
        EmbedderChanged: The store has changed its embedding model.
    """
    if stored != graph.generation:
        raise EmbedderChanged
