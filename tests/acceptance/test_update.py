"""Updates of what stands beside an episode's text."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from ecphoria.client import Client
from ecphoria.errors import Conflict, InvalidInput, NotFound, TooLarge
from tests.acceptance.conftest import Owner, RunningService, pointers, problem

THEN = datetime(2024, 3, 1, tzinfo=UTC)


@pytest.fixture
def client(server: RunningService, owner: Owner) -> Iterator[Client]:
    with Client(server.url, owner.key) as made:
        yield made


def boat(client: Client) -> str:
    return client.remember(
        "The boat is red.", occurred_at=THEN, metadata={"place": "pier", "n": 1, "draft": True}
    ).id


def test_entries_are_set_kept_and_removed(client: Client) -> None:
    first = boat(client)
    changed = client.update(first, metadata={"n": 2.5, "draft": None, "mark": 'x, "y": 1}'})
    assert changed.metadata == {"place": "pier", "n": 2.5, "mark": 'x, "y": 1}'}
    assert client.get(first) == changed
    assert client.update(first, metadata={"n": 2.5, "draft": None}) == changed
    assert [one.id for one in client.list(metadata={"n": 2.5})] == [first]
    assert list(client.list(metadata={"n": 1})) == []
    assert [hit.episode.metadata for hit in client.recall("boat", metadata={"n": 2.5}).hits]
    assert client.recall("boat", metadata={"draft": True}).hits == ()
    assert client.recall("What colour is the boat?").hits[0].episode == changed
    assert client.update(first, metadata={}) == changed


def test_a_repeat_of_the_append_finds_the_updated_episode(client: Client) -> None:
    first = boat(client)
    client.update(first, metadata={"place": None, "more": "words"})
    again = client.remember(
        "The boat is red.", occurred_at=THEN, metadata={"place": "pier", "n": 1, "draft": True}
    )
    assert (again.id, again.outcome) == (first, "existed")
    assert client.get(first).metadata == {"n": 1, "draft": True, "more": "words"}
    keyed = client.remember("The pot is blue.", idempotency_key="pot", metadata={"a": 1}).id
    client.update(keyed, metadata={"a": 2})
    assert (
        client.remember("The pot is blue.", idempotency_key="pot", metadata={"a": 1}).id == keyed
    )


def test_the_end_of_a_life_can_change(client: Client, owner: Owner) -> None:
    first, end = boat(client), datetime(2100, 1, 1, tzinfo=UTC)
    assert client.update(first, expires_at=end).expires_at == end
    assert client.update(first, metadata={"n": 2}).expires_at == end
    assert client.update(first, never_expires=True).expires_at is None
    with pytest.raises(InvalidInput, match="must lie ahead"):
        client.update(first, expires_at=THEN)
    assert client.get(first).expires_at is None
    sent = owner.patch(f"/v1/episodes/{first}", json={"expires_at": None})
    assert sent.json()["expires_at"] is None


def test_an_archived_episode_changes_its_end_only(client: Client, owner: Owner) -> None:
    first, end = boat(client), datetime(2100, 1, 1, tzinfo=UTC)
    owner.post("/v1/dormancy/sleep", json={"ids": [first]})
    assert client.update(first, metadata={"n": 2}).state == "dormant"
    assert owner.post("/v1/archive", json={"days": 0}).json() == {"archived": 1}
    with pytest.raises(Conflict, match="in the archive; restore it first"):
        client.update(first, metadata={"n": 3})
    assert client.update(first, expires_at=end).expires_at == end
    owner.post("/v1/archive/restore", json={"ids": [first]})
    kept = client.get(first)
    assert (kept.metadata["n"], kept.expires_at) == (2, end)
    assert owner.get("/v1/doctor").json()["findings"] == []


def test_updates_at_the_same_time_keep_each_others_entries(client: Client) -> None:
    first = boat(client)
    threads = [
        threading.Thread(target=client.update, args=(first,), kwargs={"metadata": {f"t{n}": n}})
        for n in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = client.get(first).metadata
    assert {f"t{n}": n for n in range(6)}.items() <= found.items()


def test_what_cannot_be_stored_is_refused_and_nothing_changes(
    client: Client, owner: Owner, stranger: Owner
) -> None:
    first = boat(client)
    before = client.get(first)
    path = f"/v1/episodes/{first}"
    problem(stranger.patch(path, json={"metadata": {"n": 9}}), 404, "not-found")
    problem(owner.patch(path, json={}), 422, "invalid-input")
    problem(owner.patch(path, json={"text": "The boat is green."}), 422, "invalid-input")
    nested = problem(owner.patch(path, json={"metadata": {"a": {"b": 1}}}), 422, "invalid-input")
    assert pointers(nested)[0].startswith("#/metadata")
    with pytest.raises(TooLarge):
        client.update(first, metadata={"long": "x" * 16_000, "longer": "y" * 1_000})
    with pytest.raises(NotFound):
        client.update("0" * 32, metadata={"n": 9})
    assert client.get(first) == before
