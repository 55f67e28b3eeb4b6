"""Every call of the client against the real service."""

from dataclasses import asdict
from datetime import UTC, datetime

import pytest

from ecphoria import Client, NewEpisode, Scope
from ecphoria.errors import Conflict, Forbidden, InvalidInput, NotFound
from ecphoria.records.asked import read_as
from ecphoria.records.episode import Outcome
from ecphoria.records.fact import MergeStatus


def test_an_episode_from_append_to_delete(client: Client) -> None:
    when = datetime(2026, 2, 1, 8, 0, tzinfo=UTC)
    receipt = client.remember(
        "The ferry to Brač leaves at eight.", speaker="Davor", session="ferry", occurred_at=when
    )
    assert receipt.outcome is Outcome.CREATED
    found = client.get(receipt.id)
    assert (found.text, found.session, found.ordinal) == (
        "The ferry to Brač leaves at eight.",
        "ferry",
        0,
    )
    assert found.occurred_at == when
    assert [episode.id for episode in client.list(session="ferry")] == [receipt.id]
    assert "ferry" in {session.name for session in client.sessions(page_size=1)}
    client.delete(receipt.id)
    with pytest.raises(NotFound):
        client.get(receipt.id)


def test_pages_hold_everything_once(client: Client) -> None:
    batch = [NewEpisode(text=f"lap {n}", session="pages", position=n) for n in range(7)]
    assert client.append_batch(batch).created == 7
    texts = [episode.text for episode in client.list(session="pages", page_size=3)]
    assert texts == [f"lap {n}" for n in range(7)]
    last = [episode.text for episode in client.last_turns("pages", 3)]
    assert last == ["lap 4", "lap 5", "lap 6"]
    texts = [episode.text for episode in client.list(order="newest", session="pages", page_size=3)]
    assert texts == [f"lap {n}" for n in reversed(range(7))]


def test_a_recall_leaves_its_trace(client: Client) -> None:
    client.remember("Ines keeps the parrot in the winter garden.", speaker="Ines")
    answer = client.recall("Where is the parrot?", k=3, explain=True)
    assert answer.hits
    for hit in answer.hits:
        assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-9)
    trace = client.trace(answer.trace_id)
    assert [hit.episode for hit in trace.hits] == [hit.episode.id for hit in answer.hits]


def test_the_first_strategy_is_the_default(client: Client) -> None:
    names = [strategy.name for strategy in client.strategies()]
    assert client.recall("parrot", k=1).strategy == names[0]
    assert client.recall("parrot", strategy=names[-1], k=1).strategy == names[-1]


def test_a_key_opens_what_its_scopes_say(client: Client) -> None:
    issued = client.admin.issue_key("reader", [Scope.READ])
    assert issued.id in {key.id for key in client.admin.keys()}  # noqa: SIM118 (a call, no mapping)
    with Client(client._connection._base_url, issued.secret) as reader:
        assert reader.stats() is not None
        with pytest.raises(Forbidden):
            reader.remember("not allowed")
    client.admin.revoke_key(issued.id)


def test_tenants_are_made_once_and_erased(client: Client) -> None:
    assert client.admin.create_tenant("short-lived").name == "short-lived"
    with pytest.raises(Conflict):
        client.admin.create_tenant("short-lived")
    assert "short-lived" in {tenant.name for tenant in client.admin.tenants()}
    assert isinstance(client.admin.erase_tenant("short-lived").removed, dict)


def test_a_merge_is_proposed_decided_and_undone(client: Client) -> None:
    names = ("Brass Anchor Inn", "Anchor Inn Brass")
    for name in names:
        episode = {"text": f"They met at the {name}.", "extraction": {"names": [name]}}
        client.append(read_as(NewEpisode, episode))
    (step,) = client.consolidate(steps=["merge"]).steps
    assert step.counts["proposed"] >= 1
    pair = ("anchor inn brass", "brass anchor inn")
    proposed = client.facts.merges(status="proposed")
    (found,) = (merge for merge in proposed if (merge.one, merge.other) == pair)
    assert (found.reason, found.decided_at) == ("the same words", None)
    accepted = client.facts.decide_merge(pair[1], pair[0], "accepted")
    assert (accepted.one, accepted.other, accepted.status) == (*pair, "accepted")
    assert client.facts.decide_merge(*pair, "rejected").status is MergeStatus.REJECTED
    undone = client.facts.decide_merge(*pair, "proposed")
    assert {name: getattr(found, name) for name in asdict(undone)} == asdict(undone)
    assert [(side.name, side.mentions, side.facts) for side in found.sides] == [
        ("Anchor Inn Brass", 1, 0),
        ("Brass Anchor Inn", 1, 0),
    ]
    assert [sample.text for side in found.sides for sample in side.samples] == [
        "They met at the Anchor Inn Brass.",
        "They met at the Brass Anchor Inn.",
    ]
    assert (found.memories, found.predicates) == (2, ())
    with pytest.raises(NotFound):
        client.facts.decide_merge("anchor inn brass", "no such inn", "accepted")
    with pytest.raises(InvalidInput):
        list(client.facts.merges(status="no status"))


def test_the_service_says_it_is_ready(client: Client) -> None:
    ready = client.ready()
    assert ready.dimension == 384
    assert ready.neo4j


def test_one_key_for_two_bodies_is_a_conflict(client: Client) -> None:
    client.remember("one", idempotency_key="the-key")
    with pytest.raises(Conflict):
        client.remember("another", idempotency_key="the-key")


def test_what_the_domain_refuses_names_its_field(client: Client) -> None:
    with pytest.raises(InvalidInput) as caught:
        client.remember("   ")
    assert "text" in str(caught.value.fields.get("field"))
