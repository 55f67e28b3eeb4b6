"""A console of Neo4j for statements that a person types."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import neo4j
from neo4j.exceptions import ClientError

from ecphoria.errors import InvalidInput
from ecphoria.neo4j_store.session import translated_errors

Run = Callable[[str], Sequence[Mapping[str, object]]]


@contextmanager
def open_console(uri: str, user: str, password: str) -> Iterator[Run]:
    """Connect for the length of a block; each statement runs in its own transaction.

    Raises:
        StoreUnavailable: The server does not answer.
        InvalidInput: A statement is wrong; the message is the server's.
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
