"""The end of a memory's life: hidden everywhere at once, then erased."""

import asyncio
import json
import secrets
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ecphoria.client import Client
from ecphoria.consolidation.doctor import count_copies
from ecphoria.errors import Erased, InvalidInput, NotFound
from ecphoria.neo4j_store.session import Graph
from ecphoria.settings import JobsSettings
from tests.acceptance.answers import ended
from tests.acceptance.conftest import (
    Owner,
    RunningService,
    new_owner,
    pointers,
    problem,
    running,
    settings_for,
)
from tests.acceptance.ending import let_end
from tests.conftest import Cypher, Server

CUE = "Who keeps the lighthouse lamp?"
LONG = "The keeper sleeps by the sea and the lamp of the lighthouse burns all night. " * 60
WAYS: tuple[dict[str, object], ...] = (
    {}, {"include_dormant": True}, {"as_of": "2100-01-01T00:00:00Z"}, {"strategy": "lexical"},
    {"strategy": "dense"}, {"strategy": "synapse"},
)  # fmt: skip


def later(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


def lived(client: Client, mark: str, **fields: object) -> list[str]:
    """Remember a turn with a fact, a document and a long note that end together."""
    end = later(600)
    fact = {"subject": mark, "predicate": "keeps", "object": "the lamp"}
    appended = client._connection._connections.here().post(
        "/v1/episodes",
        json={
            "text": f"{mark} keeps the lighthouse lamp.", "session": f"harbour {mark}",
            "speaker": mark, "idempotency_key": mark, "expires_at": end.isoformat(),
            "extraction": {"names": [mark], "facts": [fact]}, **fields,
        },
    )  # fmt: skip
    assert appended.status_code == 201, appended.text
    return [
        appended.json()["id"],
        client.remember(f"The lamp of {mark}.", title=f"Lamp {mark}", expires_at=end).id,
        client.remember(LONG + mark, session="harbour", expires_at=end).id,
    ]


def shown(owner: Owner, mark: str) -> list[str]:
    """Where a caller without the ids is shown the mark."""
    found = []
    for way in WAYS:
        answer = owner.post("/v1/recall", json={"cue": CUE, "explain": True, **way})
        assert answer.status_code == 200, answer.text
        trace = owner.get(f"/v1/traces/{answer.json()['trace_id']}").text
        found += [f"recall {way}"] if mark.lower() in (answer.text + trace).lower() else []
    lists = (
        "episodes", "episodes?order=newest", "episodes?session=harbour", "sessions", "dormancy",
        f"episodes?concept={mark}", "facts", "engrams", "context",
        f"context?session=harbour {mark}", "traces", "concepts?limit=1000", "timeline?by=session",
        "facts?sort=time", "facts?standing=held", "decisions", "merges",
        "graph?around=session:harbour&hops=2&limit=2000",
    )  # fmt: skip
    for path in lists:
        answer = owner.get(f"/v1/{path}")
        assert answer.status_code == 200, answer.text
        # The reasons repeat the name of a session that was asked for and is unknown.
        told = {name: value for name, value in answer.json().items() if name != "reasons"}
        found += [path] if mark.lower() in json.dumps(told).lower() else []
    return found


@pytest.fixture
def client(server: RunningService, owner: Owner) -> Iterator[Client]:
    with Client(server.url, owner.key) as made:
        for n in range(4):
            made.remember(f"Boat number {n} lies by the lamp.", session="harbour", speaker="Ana")
        yield made


async def test_what_has_expired_is_shown_nowhere(
    client: Client, owner: Owner, cypher: Cypher
) -> None:
    mark = f"Zq{secrets.token_hex(4)}x"
    end = later(600)
    ids = lived(client, mark)
    asleep, *others = lived(client, f"{mark}b")
    (fact,) = owner.get("/v1/facts", params={"concept": mark}).json()["items"]
    owner.post(f"/v1/facts/{fact['id']}/decisions", json={"ruling": "retract", "why": mark})
    owner.post("/v1/dormancy/sleep", json={"ids": [asleep]})
    kept = client.get(ids[0])
    assert kept.expires_at is not None
    assert abs(kept.expires_at - end) < timedelta(seconds=60)
    before = shown(owner, mark)
    assert "facts" in before
    assert "sessions" in before
    assert "recall {}" in before
    for path in ("traces", "facts?sort=time", "decisions", "timeline?by=session"):
        assert path in before
    assert "concepts?limit=1000" in before
    assert "graph?around=session:harbour&hops=2&limit=2000" in before
    trace = client.recall(CUE).trace_id
    await let_end(cypher, *ids, asleep, *others)
    assert shown(owner, mark) == []
    assert len(client.recall(CUE, k=4, strategy="dense").hits) == 4
    for one in (*ids, asleep):
        with pytest.raises(NotFound):
            client.get(one)
        with pytest.raises(NotFound):
            client.pin(one)
    labels = owner.get(f"/v1/traces/{trace}").json()["seeds"]
    assert not any("keeps the lighthouse" in seed["label"] for seed in labels)


async def test_the_same_words_can_be_said_again_after_their_end(
    client: Client, cypher: Cypher
) -> None:
    then = datetime(2024, 3, 1, tzinfo=UTC)
    first = client.remember("The kettle is red.", expires_at=later(600), occurred_at=then)
    again = client.remember("The kettle is red.", expires_at=later(900), occurred_at=then)
    assert (again.id, again.outcome) == (first.id, "existed")
    keyed = client.remember("The pot is blue.", idempotency_key="pot", expires_at=later(600))
    await let_end(cypher, first.id, keyed.id)
    with pytest.raises(NotFound):
        client.get(first.id)
    assert client.remember("The kettle is red.", occurred_at=then).outcome == "created"
    assert client.get(first.id).expires_at is None
    with pytest.raises(Erased):
        client.remember("The pot is blue.", idempotency_key="pot")
    with pytest.raises(NotFound):
        client.get(keyed.id)


def test_a_tenant_has_a_default_life(client: Client, owner: Owner, stranger: Owner) -> None:
    assert client.settings.get().expiry.days is None
    assert client.settings.change(expiry={"days": 30}).expiry.days == 30
    assert stranger.get("/v1/settings").json()["expiry"] == {"days": None}
    usual = client.get(client.remember("The kettle is red.").id)
    assert usual.expires_at == usual.recorded_at + timedelta(days=30)
    own = client.get(client.remember("The pot is blue.", expires_at=later(900)).id)
    assert own.expires_at is not None
    assert own.expires_at < later(901)
    client.settings.change(expiry=None)
    assert client.get(client.remember("The cup is white.").id).expires_at is None
    for wrong in (0, -1, 36_501, "30", True):
        problem(
            owner.patch("/v1/settings", json={"expiry": {"days": wrong}}), 422, "invalid-input"
        )


def test_a_life_that_cannot_be_is_refused(client: Client, owner: Owner) -> None:
    with pytest.raises(InvalidInput, match="must lie ahead"):
        client.remember("The kettle is red.", expires_at=later(-1))
    with pytest.raises(InvalidInput, match="must lie ahead"):
        client.remember("The kettle is red.", expires_at=datetime(9000, 1, 1, tzinfo=UTC))
    body = {"text": "The kettle is red.", "expires_at": "2030-01-01T00:00:00"}
    document = problem(owner.post("/v1/episodes", json=body), 422, "invalid-input")
    assert pointers(document) == ["#/expires_at"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module", params=[0.2, 3_600.0], ids=["scheduler", "cycle"])
def erasing(
    request: pytest.FixtureRequest, neo4j_server: Server, home: Path
) -> Iterator[tuple[Client, Owner, bool]]:
    """A service that erases by itself, or only in the cycles that it is asked for."""
    jobs = JobsSettings(workers=1, schedule_s=request.param)
    with (
        running(settings_for(neo4j_server, home, jobs=jobs)) as service,
        service.operator() as operator,
        new_owner(operator) as owner,
        Client(service.url, owner.key) as client,
    ):
        yield client, owner, request.param < 1


async def test_what_has_expired_is_erased_without_a_trace(
    erasing: tuple[Client, Owner, bool], graph: Graph, cypher: Cypher
) -> None:
    client, owner, by_itself = erasing
    mark = f"zq{secrets.token_hex(4)}x"
    client.remember("Boat number 1 lies by the lamp.", session="harbour", speaker="Ana")
    ids = lived(client, mark.capitalize(), metadata={"by": mark})
    owner.post("/v1/dormancy/sleep", json={"ids": [ids[1]]})
    assert owner.post("/v1/archive", json={"days": 0}).json() == {"archived": 1}
    assert client.get(ids[1]).expires_at is not None
    client.recall(CUE)
    assert await count_copies(graph, mark)
    await let_end(cypher, *ids)
    if not by_itself:
        steps = {"steps": ["expire"]}
        dry = owner.post("/v1/consolidation", json=steps | {"dry_run": True})
        report = ended(owner, dry.headers["Location"])["report"]
        assert report["steps"][0]["counts"] == {"erased": 3}
        done = ended(owner, owner.post("/v1/consolidation", json=steps).headers["Location"])
        assert done["report"]["steps"][0]["counts"] == {"erased": 3}
    deadline = time.monotonic() + 30
    while await count_copies(graph, mark):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.1)
    assert owner.post("/v1/archive/scrub").json() == {
        "records": 0, "damaged": [], "unreferenced": 0
    }  # fmt: skip
    assert owner.get("/v1/doctor").json()["findings"] == []
    left = await cypher(
        "MATCH (t:Tenant {name: $name}) RETURN t.expires_from AS at", name=owner.name
    )
    assert left == [{"at": None}]
    assert shown(owner, mark) == []
