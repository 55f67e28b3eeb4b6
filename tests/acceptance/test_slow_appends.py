"""The client's time limit of an append, on the real service whose store makes it wait."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import neo4j
import pytest

from ecphoria import Client
from ecphoria.errors import Timeout
from ecphoria.records.episode import Outcome
from tests.acceptance.conftest import Owner
from tests.conftest import Server


@contextmanager
def locked(server: Server, tenant: str, seconds: float) -> Iterator[None]:
    """Hold the write lock of a tenant, as another writer would; it is over after the block."""
    held = threading.Event()

    def hold() -> None:
        auth = (server.user, server.password)
        with (
            neo4j.GraphDatabase.driver(server.uri, auth=auth) as driver,
            driver.session() as session,
            session.begin_transaction() as writing,
        ):
            writing.run("MATCH (t:Tenant {name: $t}) SET t.locked_at = datetime()", t=tenant)
            held.set()
            time.sleep(seconds)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert held.wait(20)
        yield
    finally:
        holder.join()


def test_a_long_text_outlasts_the_usual_limit(owner: Owner, neo4j_server: Server) -> None:
    with Client(str(owner.base_url), owner.key, timeout=1.0) as client:
        client.stats()
        with locked(neo4j_server, owner.name, 3.0):
            begun = time.monotonic()
            stored = client.remember("The boat is painted again. " * 2_000)
            took = time.monotonic() - begun
    assert stored.outcome is Outcome.CREATED
    assert took > 1.5


def test_what_was_stored_after_the_limit_is_stored_once(
    owner: Owner, neo4j_server: Server
) -> None:
    text, key = "Ana painted the boat.", "m-1"
    with Client(str(owner.base_url), owner.key, timeout=1.0) as client:
        client.stats()
        with (
            locked(neo4j_server, owner.name, 3.0),
            pytest.raises(Timeout, match="same `idempotency_key` is stored once"),
        ):
            client.remember(text, idempotency_key=key)
    with Client(str(owner.base_url), owner.key) as client:
        client.remember(text, idempotency_key=key)
    assert owner.texts() == [text]
