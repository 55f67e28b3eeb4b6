"""Erasing episodes over HTTP: no copy of what they said is left, wherever it was copied to."""

import gzip
import secrets
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from ecphoria.client import Client
from ecphoria.consolidation.archive_disk import Disk
from ecphoria.consolidation.archive_files import ColdFiles
from ecphoria.consolidation.doctor import count_copies
from ecphoria.errors import Erased
from ecphoria.neo4j_store.session import Graph
from ecphoria.portability.service import Portability
from ecphoria.portability.store import Copies
from ecphoria.records.asked import read_as
from ecphoria.records.episode import NewEpisode
from ecphoria.settings import JobsSettings
from ecphoria.tenancy.store import Tenants
from tests.acceptance.answers import ended
from tests.acceptance.conftest import Owner, new_owner, pointers, problem, running, settings_for
from tests.conftest import Cypher, Server

CUES = ("Who keeps the lighthouse lamp?", "What did I say about the harbour inn and the lamp?")
LONG = "The harbour inn has a lamp. It stands by the sea and the keeper sleeps there. " * 60


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def operator(neo4j_server: Server, home: Path) -> Iterator[httpx.Client]:
    """The operator of a service with a worker and an archive of its own."""
    jobs = JobsSettings(workers=1, schedule_s=60)
    settings = settings_for(neo4j_server, home, jobs=jobs)
    with running(settings) as service, service.operator() as client:
        yield client


@pytest.fixture
def owner(operator: httpx.Client) -> Iterator[Owner]:
    with new_owner(operator) as made:
        yield made


def marked(mark: str) -> Iterator[dict[str, Any]]:
    """Episodes with the mark wherever a caller may put a word."""
    name = mark.capitalize()
    everywhere = {
        "speaker": f"{name} Tamsin", "role": "user", "source": f"chat/{mark}",
        "metadata": {"note": f"by {mark}", mark: 1}, "idempotency_key": f"key-{mark}",
    }  # fmt: skip
    inn, lamp = f"{name} Anchor Inn", f"Anchor Inn {name}"
    yield {
        **everywhere, "session": "harbour",
        "text": f"{mark} keeps the lighthouse lamp, says {name} Tamsin.",
        "extraction": {"names": [
            {"name": inn, "description": f"an inn of {mark}", "cognitive": "event"},
            {"name": "Harbour Inn", "description": f"where {mark} drinks", "importance": 5},
            f"{name} Tamsin",
        ], "facts": [
            {"subject": name, "predicate": f"keeps {mark}", "object": f"lamp of {mark}"},
            {"subject": name, "predicate": "lives in", "object": f"Port {name}"},
        ]},
    }  # fmt: skip
    yield {
        "session": f"harbour of {mark}", "speaker": f"{name} Tamsin", "role": "user",
        "text": f"I said that the harbour inn lamp burns, {mark}.",
        "extraction": {"names": [lamp], "facts": [
            {"subject": name, "predicate": "lives in", "object": f"Bay {name}"},
        ]},
    }  # fmt: skip
    yield {"title": f"The harbour inn of {name}", "text": LONG + mark, "source": mark}
    yield {"session": "harbour", "text": f"The inn at the harbour has a lamp too, {name}."}


def remember(owner: Owner, mark: str) -> list[str]:
    for number, text in enumerate(("The sea is calm.", "The keeper sleeps.", "The lamp is lit.")):
        owner.remember(
            text, session="harbour", speaker="Orla", occurred_at=f"2024-03-01T0{number}:00:00Z"
        )
    return [
        owner.remember(**episode, occurred_at=f"2024-03-01T0{number}:30:00Z")
        for number, episode in enumerate(marked(mark))
    ]


def recall_by_all(owner: Owner, mark: str, **how: object) -> list[str]:
    traces = []
    for strategy in owner.get("/v1/strategies").json()["items"]:
        for cue in CUES:
            body = {"cue": cue, "strategy": strategy["name"], "explain": True, **how}
            answer = owner.post("/v1/recall", json=body | {"asker": f"{mark.capitalize()} Tamsin"})
            assert answer.status_code == 200, answer.text
            traces.append(str(answer.json()["trace_id"]))
    return traces


def decide(owner: Owner, mark: str) -> None:
    found = owner.get("/v1/facts", params={"concept": mark}).json()["items"]
    homes = [fact["id"] for fact in found if fact["predicate"] == "lives in"]
    body = {"ruling": "keep_open", "other": homes[1], "why": f"{mark} has two homes"}
    kept = owner.post(f"/v1/facts/{homes[0]}/decisions", json=body)
    assert kept.status_code == 201, kept.text
    undone = owner.post(f"/v1/decisions/{kept.json()['id']}/undo", json={"why": mark})
    assert undone.status_code == 201, undone.text


def consolidate(owner: Owner, **how: object) -> dict[str, Any]:
    done = ended(owner, owner.post("/v1/consolidation", json=how).headers["Location"])
    assert done["state"] == "done", done
    return done


def archive_one(owner: Owner, episode: str) -> None:
    assert owner.post("/v1/dormancy/sleep", json={"ids": [episode]}).status_code == 200
    assert owner.post("/v1/archive", json={"days": 0}).json() == {"archived": 1}


def on_disk(home: Path) -> bytes:
    """Everything in the archive, whatever is compressed unpacked too."""
    files = [path.read_bytes() for path in (home / "archive").rglob("*") if path.is_file()]
    unpacked = []
    for content in files:
        for start in range(len(content)):
            if content[start] == 0x78:  # the first byte of what zlib packs
                try:
                    unpacked.append(zlib.decompressobj().decompress(content[start:]))
                except zlib.error:
                    continue
    return b"".join(files + unpacked)


async def exported(graph: Graph, home: Path, owner: Owner, file: Path) -> bytes:
    """Export the tenant as the command line does, and give the text of the copy."""
    copies = Portability(Copies(graph), Tenants(graph), ColdFiles(Disk(home / "archive")))
    await copies.export(owner.name, file, lambda _what, _done, _total: None)
    return gzip.decompress(file.read_bytes()).lower()  # noqa: ASYNC240 (a small file)


LISTS = ("/v1/jobs", "/v1/consolidation", "/v1/merges", "/v1/traces", "/v1/concepts")


async def test_no_copy_of_an_erased_episode_is_left(
    owner: Owner, graph: Graph, home: Path, tmp_path: Path
) -> None:
    mark = f"zq{secrets.token_hex(4)}x"
    assert owner.patch("/v1/settings", json={"learning": {"on": True}}).status_code == 200
    ids = remember(owner, mark)
    traces = recall_by_all(owner, mark)
    dry = consolidate(owner, dry_run=True)
    assert mark in str(dry["report"]), "a reader of a report is told the names"
    consolidate(owner)
    decide(owner, mark)
    archive_one(owner, ids[3])
    traces += recall_by_all(owner, mark, include_dormant=True)
    assert any(mark in owner.get(f"/v1/traces/{trace}").text for trace in traces)
    assert mark.encode() in on_disk(home)
    before = await count_copies(graph, mark)
    assert {
        "Episode.text",
        "Concept.normalised",
        "Fact.subject",
        "Engram.summary",
    } <= before.keys()
    assert mark.encode() in await exported(graph, home, owner, tmp_path / "before")

    for one in ids:
        assert owner.delete(f"/v1/episodes/{one}").status_code == 204

    assert await count_copies(graph, mark) == {}
    assert mark.encode() not in on_disk(home)
    assert mark.encode() not in await exported(graph, home, owner, tmp_path / "after")
    told = [owner.get(f"/v1/traces/{trace}") for trace in traces]
    assert {answer.status_code for answer in told} == {200}
    told += [owner.get(path) for path in LISTS]
    assert [answer.request.url.path for answer in told if mark in answer.text.lower()] == []
    assert owner.get("/v1/doctor").json()["findings"] == []


KEYED = {"text": "I keep bees.", "idempotency_key": "bees-1"}


async def test_a_late_retry_does_not_bring_back_what_was_erased(
    owner: Owner, cypher: Cypher
) -> None:
    bees = owner.remember(**KEYED)
    assert owner.delete(f"/v1/episodes/{bees}").status_code == 204
    for body in (KEYED, KEYED | {"text": "Something else."}):
        told = problem(owner.post("/v1/episodes", json=body), 410, "erased")
        assert pointers(told) == ["#/idempotency_key"]
        assert "new key" in told["detail"]
    with Client(str(owner.base_url), owner.key) as client, pytest.raises(Erased):
        client.append(read_as(NewEpisode, KEYED))
    items = [KEYED, {"text": "It rains."}]
    batch = owner.post("/v1/episodes/batch", json={"episodes": items}).json()
    assert (batch["created"], batch["refused"]) == (1, 1)
    assert batch["results"][0]["problem"]["status"] == 410
    assert owner.texts() == ["It rains."]
    assert owner.get("/v1/doctor").json()["findings"] == []
    assert await marks(cypher, bees) == [{"id", "tenant", "erased_at"}]
    assert owner.remember("I keep bees.", idempotency_key="bees-2") != bees


def test_the_marks_of_erasures_go_with_the_tenant(owner: Owner, operator: httpx.Client) -> None:
    owner.delete(f"/v1/episodes/{owner.remember(**KEYED)}")
    removed = operator.delete(f"/v1/tenants/{owner.name}").json()["removed"]
    assert (removed["tombstones"], removed["remaining"]) == (1, 0)


async def test_an_erasure_is_forgotten_in_time(owner: Owner, cypher: Cypher) -> None:
    ids = [owner.remember("I keep bees.", idempotency_key=f"bees-{name}") for name in "ab"]
    for one in ids:
        owner.delete(f"/v1/episodes/{one}")
    await cypher(
        "MATCH (b:Tombstone) WHERE b.id IN $ids SET b.erased_at = datetime() - duration('P31D')",
        ids=ids,
    )
    assert owner.remember("I keep wasps.", idempotency_key="bees-a") == ids[0]
    assert await marks(cypher, ids[0]) == []
    owner.delete(f"/v1/episodes/{ids[0]}")
    assert (len(await marks(cypher, ids[0])), await marks(cypher, ids[1])) == (1, [])


async def test_without_a_key_the_same_is_stored_again(owner: Owner, cypher: Cypher) -> None:
    note = {"title": "Bees", "text": "They live in hives."}
    first = owner.remember(**note)
    owner.delete(f"/v1/episodes/{first}")
    assert owner.remember(**note) == first
    assert await marks(cypher, first) == []


async def marks(cypher: Cypher, episode: str) -> list[set[str]]:
    """Give the properties of what an erasure left."""
    rows = await cypher("MATCH (b:Tombstone {id: $id}) RETURN keys(b) AS names", id=episode)
    return [set(row["names"]) for row in rows]


def erase(owner: Owner, filters: dict[str, Any], **how: object) -> dict[str, Any]:
    answer = owner.post("/v1/episodes/erase", json={"filters": filters, **how})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def counts(owner: Owner) -> dict[str, int]:
    """Count what an erasure takes away."""
    stats = owner.get("/v1/stats").json()
    lists = {
        kind: len(owner.get(f"/v1/{kind}").json()["items"])
        for kind in ("facts", "decisions", "engrams")
    }
    return lists | {kind: stats[kind] for kind in ("passages", "sessions", "speakers", "concepts")}


def test_a_preview_counts_by_kind_what_the_erasure_takes(
    owner: Owner, operator: httpx.Client
) -> None:
    lives = {"subject": "Ana", "predicate": "lives in", "object": "Lisbon"}
    works = {"subject": "Ana", "predicate": "works at", "object": "the Otter House"}
    ids = [
        owner.remember("I live in Lisbon.", speaker="Ana", session="pier",
                       extraction={"names": ["Lisbon"], "facts": [lives, works]}),
        owner.remember("The Otter House is by the sea. " * 80, speaker="Bo", session="pier"),
        *(owner.remember(f"Shall we meet at pier {n}?", speaker="Ana", session="pier")
          for n in range(4)),
    ]  # fmt: skip
    owner.remember("She lives in Lisbon.", speaker="Bo", session="harbour",
                   extraction={"names": ["Lisbon"], "facts": [lives]})  # fmt: skip
    facts = {fact["predicate"]: fact["id"] for fact in owner.get("/v1/facts").json()["items"]}
    ruled = owner.post(f"/v1/facts/{facts['works at']}/decisions", json={"ruling": "retract"})
    assert ruled.status_code == 201, ruled.text
    consolidate(owner)
    shown = owner.post("/v1/recall", json={"cue": "Where does Ana live?"}).json()
    assert {hit["episode"]["id"] for hit in shown["hits"]} & {*ids}
    assert owner.get(f"/v1/traces/{shown['trace_id']}").status_code == 200  # it is stored now
    before = counts(owner)
    preview = erase(owner, {"session": "pier"}, dry_run=True)
    assert (preview["matched"], preview["erased"]) == (6, 0)
    assert erase(owner, {}, ids=ids, dry_run=True) == preview
    with Client(str(owner.base_url), owner.key) as client:
        assert client.preview_erasure(ids=ids).matched == 6
        assert client.preview_erasure(ids=ids[:1], session="pier").removes.sessions == 0  # type: ignore[union-attr]  # a preview has them
    assert counts(owner) == before
    with new_owner(operator) as stranger:
        assert erase(stranger, {}, ids=ids, dry_run=True)["matched"] == 0
        assert erase(stranger, {}, ids=ids) == {"matched": 0, "erased": 0}
    assert erase(owner, {}, ids=ids) == {"matched": 6, "erased": 6}
    after = counts(owner)
    removes = preview["removes"]
    assert removes.pop("traces") == 1
    assert removes == {kind: before[kind] - after[kind] for kind in before}
    assert all(removes.values()), removes
    assert owner.get("/v1/stats").json()["traces"] == 1


async def test_erasing_a_session_leaves_no_copy_of_it_and_nothing_else_goes(
    owner: Owner, operator: httpx.Client, graph: Graph, home: Path
) -> None:
    mark = f"zq{secrets.token_hex(4)}x"
    ids = [
        owner.remember(**episode | {"session": "pier"}, occurred_at=f"2024-03-01T0{n}:30:00Z")
        for n, episode in enumerate(marked(mark))
        if "title" not in episode
    ]
    kept = owner.remember("The sea is calm.", session="harbour", speaker="Orla")
    consolidate(owner)
    archive_one(owner, ids[2])
    assert owner.post("/v1/dormancy/sleep", json={"ids": [ids[1]]}).status_code == 200
    with new_owner(operator) as other:
        theirs = other.remember("The sea is calm.", session="pier")
        preview = erase(owner, {"session": "pier"}, dry_run=True)
        assert (preview["matched"], preview["erased"]) == (3, 0)
        assert await count_copies(graph, mark)
        assert erase(owner, {"session": "pier"}, limit=2) == {"matched": 3, "erased": 2}
        assert erase(owner, {"session": "pier"}) == {"matched": 1, "erased": 1}
        assert erase(owner, {"session": "pier"}) == {"matched": 0, "erased": 0}
        assert other.get(f"/v1/episodes/{theirs}").status_code == 200
    assert await count_copies(graph, mark) == {}
    assert mark.encode() not in on_disk(home)
    assert [one["id"] for one in owner.get("/v1/episodes").json()["items"]] == [kept]
    assert owner.get("/v1/doctor").json()["findings"] == []


def test_an_episode_must_pass_every_filter_to_be_erased(owner: Owner) -> None:
    for day, speaker in ((1, "Ana"), (2, "Ana"), (3, "Ana"), (2, "Bo")):
        owner.remember(f"{speaker}, day {day}.", speaker=speaker, session=f"day {day}",
                       occurred_at=f"2024-03-0{day}T12:00:00Z")  # fmt: skip
    with Client(str(owner.base_url), owner.key) as client:
        since, before = ("2024-03-02T00:00:00Z", "2024-03-03T00:00:00Z")
        wanted = {"speaker": "Ana", "occurred_from": since, "occurred_before": before}
        assert erase(owner, wanted) == {"matched": 1, "erased": 1}
        assert owner.texts() == ["Ana, day 1.", "Ana, day 3.", "Bo, day 2."]
        (last,) = (one.id for one in client.list(session="day 3"))
        told: list[tuple[int, int]] = []
        assert client.preview_erasure(speaker="Ana", exclude=[last]).matched == 1
        erased = client.erase(
            speaker="Ana", exclude=[last], watch=lambda done, total: told.append((done, total))
        )
        assert (erased, told) == (1, [(1, 1)])
        assert owner.texts() == ["Ana, day 3.", "Bo, day 2."]
        assert client.erase(session="nowhere") == 0


def test_the_bounds_of_time_take_the_first_instant_and_not_the_last(owner: Owner) -> None:
    since, before = "2024-03-02T00:00:00.000001Z", "2024-03-03T00:00:00.000001Z"
    moments = {
        "just before": "2024-03-02T00:00:00Z", "first": since, "last": "2024-03-03T01:00:00+01:00",
        "bound": before, "bound elsewhere": "2024-03-02T22:00:00.000001-02:00",
    }  # fmt: skip
    for name, moment in moments.items():
        owner.remember(f"This is {name}.", session=name, occurred_at=moment)
    wanted = {"occurred_from": since, "occurred_before": before}
    assert erase(owner, wanted) == {"matched": 2, "erased": 2}
    assert owner.texts() == ["This is just before.", "This is bound.", "This is bound elsewhere."]
    assert erase(owner, {"occurred_before": since}) == {"matched": 1, "erased": 1}
    assert erase(owner, {"occurred_from": before}) == {"matched": 2, "erased": 2}


@pytest.mark.parametrize(
    ("filters", "remedy"),
    [
        ({}, "delete the tenant"),
        ({"exclude": ["0" * 32]}, "delete the tenant"),
        ({"session": ""}, "send a name"),
    ],
)
def test_filters_that_name_nothing_erase_nothing(
    owner: Owner, filters: dict[str, Any], remedy: str
) -> None:
    owner.remember("It rains.")
    refused = problem(
        owner.post("/v1/episodes/erase", json={"filters": filters}), 422, "invalid-input"
    )
    assert remedy in refused["detail"]
    assert owner.texts() == ["It rains."]
