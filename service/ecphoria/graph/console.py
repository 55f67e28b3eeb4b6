"""Cypher typed by a person: the statement and the rows as they are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import neo4j
from neo4j.exceptions import ClientError

from ecphoria.errors import InvalidInput
from ecphoria.graph.driver import translated_errors

__all__ = ["Run", "open_console"]

Run = Callable[[str], Sequence[Mapping[str, object]]]


@contextmanager
def open_console(uri: str, user: str, password: str) -> Iterator[Run]:
    """Connect for a while; each statement runs in a transaction of its own.

    Raises:
        StoreUnavailable: The server does not answer.
        InvalidInput: A statement is wrong; the server's own words say where.
    """
    with neo4j.GraphDatabase.driver(
        uri,
        auth=(user, password),
        notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
        user_agent="ecphoria",
    ) as driver:

        def run(statement: str) -> Sequence[Mapping[str, object]]:
            with translated_errors("console"), driver.session() as session:
                try:
                    return [record.data() for record in session.run(neo4j.Query(statement))]
                except ClientError as error:
                    raise InvalidInput(error.message or "Neo4j refuses the statement.") from error

        yield run
