"""Open the driver, and turn what it raises into our own errors, once."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import neo4j
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    ConnectionPoolError,
    ConstraintError,
    DriverError,
    IncompleteCommit,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from ecphoria.errors import (
    Conflict,
    EcphoriaError,
    Misconfigured,
    OutcomeUnknown,
    StoreUnavailable,
    Timeout,
    Unavailable,
)

__all__ = ["GraphOptions", "open_driver", "translated_errors"]

# The server began to commit and cannot say how far it came, for instance because its disk is full.
_COMMIT_FAILED = "Neo.DatabaseError.Transaction.TransactionCommitFailed"
# The driver would also speak HTTP, but without the transactions that writing needs.
_SCHEMES = frozenset({"bolt", "neo4j"})
_TIMED_OUT = frozenset(
    {
        "Neo.ClientError.Transaction.TransactionTimedOut",
        "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration",
        "Neo.TransientError.Transaction.LockAcquisitionTimeout",
    }
)
_UNAVAILABLE: Final[Mapping[str, tuple[type[Unavailable], str]]] = {
    # A query came upon a node that another transaction deleted while it ran.
    "Neo.ClientError.Statement.EntityNotFound": (
        Unavailable,
        "Somebody deleted what the query read; nothing was written. Try again.",
    ),
    # After a critical error the server starts no transaction until it is restarted.
    "Neo.DatabaseError.Transaction.TransactionStartFailed": (
        StoreUnavailable,
        (
            "Neo4j stopped its database after an error, often a full disk; nothing was written."
            " Free space. The local Neo4j then restarts by itself; restart your own."
        ),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOptions:
    """Where the server is and how long to wait for it.

    Attributes:
        uri: `bolt://` or `neo4j://`, with `+s` for TLS.
        query_timeout_s: Longest a transaction may run before the server ends it.
        retry_s: Longest the driver goes on retrying what the server says may be retried.
        connect_timeout_s: Longest to wait for a connection, new or from the pool.
    """

    uri: str
    user: str
    password: str
    database: str = "neo4j"
    query_timeout_s: float = 30.0
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
            # Advice on query texts belongs to the tests, which ask for it themselves.
            notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
            user_agent="ecphoria",
        )
    except (ConfigurationError, ValueError) as error:
        raise Misconfigured(f"the Neo4j URI cannot be used: {error}") from error


@contextmanager
def translated_errors(query: str) -> Iterator[None]:
    """Raise our error in place of the driver's; `query` names what was running."""
    try:
        yield
    except (AuthError, ConfigurationError) as error:
        raise Misconfigured(
            "Neo4j refuses the user and password; check the Neo4j settings", query=query
        ) from error
    except ConstraintError as error:
        raise Conflict("something with this name or id exists already", query=query) from error
    except IncompleteCommit as error:
        raise OutcomeUnknown(query=query) from error
    except (ServiceUnavailable, SessionExpired, ConnectionPoolError) as error:
        raise StoreUnavailable(query=query) from error
    except Neo4jError as error:
        raise _translate(error, query) from error
    except DriverError as error:
        raise EcphoriaError(query=query) from error


def _translate(error: Neo4jError, query: str) -> EcphoriaError:
    code = error.code or ""
    if code in _TIMED_OUT:
        return Timeout(query=query)
    if code == _COMMIT_FAILED:
        return OutcomeUnknown(query=query, reason=code)
    if code in _UNAVAILABLE:
        kind, remedy = _UNAVAILABLE[code]
        return kind(remedy, query=query, reason=code)
    if isinstance(error, TransientError) or code.startswith("Neo.ClientError.Transaction."):
        return StoreUnavailable(query=query, reason=code)
    if isinstance(error, ClientError):
        return EcphoriaError(f"Neo4j refused the query {query}: {code}", query=query, reason=code)
    return StoreUnavailable(query=query, reason=code)
