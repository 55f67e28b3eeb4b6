"""Errors of Neo4j in the service's terms."""

from collections.abc import Iterator, Mapping
from typing import Final

from neo4j.exceptions import ClientError, DriverError, Neo4jError, TransientError

from ecphoria.errors import (
    EcphoriaError,
    EmbedderChanged,
    InvalidInput,
    Misconfigured,
    OutcomeUnknown,
    StoreUnavailable,
    Timeout,
    Unavailable,
)

# The commit began, and its result is unknown, for instance because the server's disk is full.
_COMMIT_FAILED = "Neo.DatabaseError.Transaction.TransactionCommitFailed"
_TIMED_OUT = frozenset(
    {
        "Neo.ClientError.Transaction.TransactionTimedOut",
        "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration",
        "Neo.TransientError.Transaction.LockAcquisitionTimeout",
    }
)
# This code is for a timeout while the transaction waits for a lock.
_ENDED = _TIMED_OUT | {"Neo.ClientError.Transaction.LockClientStopped"}
_KNOWN: Final[Mapping[str, tuple[type[EcphoriaError], str]]] = {
    "Neo.ClientError.Database.DatabaseNotFound": (
        Misconfigured,
        "Neo4j has no such database; check ECPHORIA_NEO4J__DATABASE",
    ),
    "Neo.ClientError.Security.AuthenticationRateLimit": (
        Misconfigured,
        "Neo4j takes no password for some seconds, after wrong ones; check the Neo4j settings",
    ),
    # A query read a node that another transaction deleted meanwhile.
    "Neo.ClientError.Statement.EntityNotFound": (
        Unavailable,
        "Somebody deleted what the query read; nothing was written. Try again.",
    ),
    # All indexes exist from the start; those of the old vectors are dropped after a switch.
    "Neo.ClientError.Schema.IndexNotFound": (
        EmbedderChanged,
        "The store has changed its embedding model; nothing was written. Try again.",
    ),
    "Neo.ClientError.Transaction.InvalidBookmark": (
        InvalidInput,
        "Neo4j cannot read the bookmarks; send them as an answer gave them, or leave them out.",
    ),
    "Neo.TransientError.Transaction.BookmarkTimeout": (
        StoreUnavailable,
        "The server of Neo4j that was asked does not have your last writes yet. Try again.",
    ),
    # By its settings, or while an operator of a cluster moves the database.
    "Neo.ClientError.General.WriteOnReadOnlyAccessDatabase": (
        StoreUnavailable,
        "Neo4j's database is read-only now: reads work, nothing was written. Allow writes again.",
    ),
    # After a critical error the server begins no transaction before a restart.
    "Neo.DatabaseError.Transaction.TransactionStartFailed": (
        StoreUnavailable,
        (
            "Neo4j stopped its database after an error, often a full disk; nothing was written."
            " Free space. The local Neo4j then restarts by itself; restart your own."
        ),
    ),
}


def error_of(error: Neo4jError, query: str) -> EcphoriaError:
    """Translate an error of the server; `query` is the name of the statement."""
    code = error.code or ""
    if code in _TIMED_OUT:
        return Timeout(query=query)
    if code == _COMMIT_FAILED:
        return OutcomeUnknown(query=query, reason=code)
    if code in _KNOWN:
        kind, remedy = _KNOWN[code]
        return kind(remedy, query=query, reason=code)
    if isinstance(error, TransientError) or code.startswith("Neo.ClientError.Transaction."):
        return StoreUnavailable(query=query, reason=code)
    if isinstance(error, ClientError):
        return EcphoriaError(f"Neo4j refused the query {query}: {code}", query=query, reason=code)
    return StoreUnavailable(query=query, reason=code)


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """List an error and its causes.

    After a failed statement, the driver raises another error for each other statement of the same
    transaction, and the last one may be one of these.
    """
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        found = found.__cause__ or found.__context__


def retryable_behind(error: BaseException) -> DriverError | Neo4jError | None:
    """Find a retryable error among the causes of another error."""
    for found in chain_of(error):
        if isinstance(found, (DriverError, Neo4jError)) and found.is_retryable():
            return found
    return None


def timed_out(error: BaseException) -> bool:
    """Tell whether the server stopped the transaction after its timeout."""
    return any(isinstance(found, Neo4jError) and found.code in _ENDED for found in chain_of(error))
