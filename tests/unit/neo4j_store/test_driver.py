import pytest
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    ConstraintError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransactionError,
    TransientError,
)

from ecphoria.errors import (
    Conflict,
    EcphoriaError,
    Misconfigured,
    StoreUnavailable,
    StoreUnsuitable,
    Timeout,
    Unavailable,
)
from ecphoria.neo4j_store.session import GraphOptions, open_driver, translated_errors


def server_error(code: str) -> Neo4jError:
    return Neo4jError._hydrate_neo4j(code=code, message="told by the server")


@pytest.mark.parametrize(
    ("foreign", "ours"),
    [
        (ServiceUnavailable("gone"), StoreUnavailable),
        (SessionExpired("gone"), StoreUnavailable),
        (server_error("Neo.ClientError.Security.Unauthorized"), Misconfigured),
        (server_error("Neo.ClientError.Security.AuthenticationRateLimit"), Misconfigured),
        (server_error("Neo.ClientError.Database.DatabaseNotFound"), Misconfigured),
        # What the driver raises where a server is too old, or no Neo4j.
        (ConfigurationError("Notification filtering is not supported"), StoreUnsuitable),
        (server_error("Neo.ClientError.Schema.ConstraintValidationFailed"), Conflict),
        (server_error("Neo.ClientError.Transaction.TransactionTimedOut"), Timeout),
        (
            server_error("Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"),
            Timeout,
        ),
        (server_error("Neo.TransientError.Transaction.DeadlockDetected"), StoreUnavailable),
        (server_error("Neo.DatabaseError.General.UnknownError"), StoreUnavailable),
        (server_error("Neo.ClientError.Statement.EntityNotFound"), Unavailable),
        (server_error("Neo.ClientError.Statement.SyntaxError"), EcphoriaError),
    ],
)
def test_what_the_driver_raises_becomes_ours_once(
    foreign: Exception, ours: type[EcphoriaError]
) -> None:
    with pytest.raises(EcphoriaError) as raised, translated_errors("recall.find_it"):
        raise foreign
    assert type(raised.value) is ours
    assert raised.value.__cause__ is foreign
    assert raised.value.fields["query"] == "recall.find_it"
    assert "told by the server" not in raised.value.message


def test_a_database_that_stopped_is_told_with_its_remedy() -> None:
    error = server_error("Neo.DatabaseError.Transaction.TransactionStartFailed")
    with pytest.raises(StoreUnavailable, match="full disk"), translated_errors("recall.find_it"):
        raise error


@pytest.mark.parametrize(
    ("code", "ours"),
    [
        ("Neo.ClientError.Transaction.TransactionTimedOut", Timeout),
        ("Neo.ClientError.Schema.ConstraintValidationFailed", Conflict),
    ],
)
def test_the_error_behind_that_of_a_later_statement_is_told(
    code: str, ours: type[EcphoriaError]
) -> None:
    later = TransactionError(None, "the transaction has failed")
    later.__context__ = server_error(code)
    with pytest.raises(ours), translated_errors("recall.find_it"):
        raise later


def test_our_own_errors_pass_unchanged() -> None:
    with pytest.raises(Conflict, match="mine"), translated_errors("recall.find_it"):
        raise Conflict("mine")


def test_hydrated_errors_are_of_the_classes_the_table_expects() -> None:
    assert isinstance(server_error("Neo.ClientError.Security.Unauthorized"), AuthError)
    assert isinstance(
        server_error("Neo.ClientError.Schema.ConstraintValidationFailed"), ConstraintError
    )
    assert isinstance(
        server_error("Neo.TransientError.Transaction.DeadlockDetected"), TransientError
    )
    assert isinstance(server_error("Neo.ClientError.Statement.SyntaxError"), ClientError)


@pytest.mark.parametrize("uri", ["http://127.0.0.1:7474", "nonsense", ""])
def test_a_uri_of_something_else_is_refused(uri: str) -> None:
    with pytest.raises(Misconfigured, match="URI"):
        open_driver(GraphOptions(uri=uri, user="neo4j", password="secret"))
