import secrets
from datetime import UTC, datetime, timedelta, timezone

import httpx
import pytest

from ecphoria import Client
from ecphoria.maths.retention import retrievability
from tests.acceptance.conftest import Owner, RunningService, pointers, problem
from tests.acceptance.lives import settled
from tests.conftest import Cypher

TURN = {
    "text": "We planted the lemon tree behind the shed.",
    "speaker": "Mara",
    "role": "user",
    "session": "garden",
    "position": 2,
    "occurred_at": "2025-04-02T08:15:00+02:00",
    "source": "chat",
    "metadata": {"mood": "glad", "count": 1, "warm": True, "share": 0.25},
    "importance": 0.75,
}


def test_an_episode_comes_back_as_it_was_sent(owner: Owner) -> None:
    made = owner.post("/v1/episodes", json=TURN)
    assert made.status_code == 201
    assert made.json()["outcome"] == "created"
    episode = owner.get(f"/v1/episodes/{made.json()['id']}").json()
    assert {name: episode[name] for name in TURN} == TURN
    assert episode["ordinal"] == 0
    assert episode["state"] == "live"
    age = datetime.now(UTC) - datetime.fromisoformat(episode["recorded_at"])
    assert timedelta() <= age < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("at", "day"),
    [
        ("2026-05-02T07:30:00+09:00", "2026-05-02"),
        ("2026-05-02T23:30:00-08:00", "2026-05-02"),
        ("2026-05-02T01:15:00+05:45", "2026-05-02"),
        ("2026-05-02T23:59:59Z", "2026-05-02"),
    ],
)
def test_days_are_those_of_the_offset_that_was_sent(owner: Owner, at: str, day: str) -> None:
    begin = f"2026-05-01T00:00:00{at[19:]}"
    lives = {"subject": "Yui Mori", "predicate": "lives in", "object": "Osaka"}
    told = {"facts": [lives | {"valid_from": begin}]}
    text = "I moved to Osaka yesterday."
    ident = owner.remember(text, speaker="Yui", session="s", occurred_at=at, extraction=told)
    same = owner.get("/v1/episodes", params={"session": "s"}).json()["items"][0]
    assert owner.get(f"/v1/episodes/{ident}").json()["occurred_at"] == same["occurred_at"] == at
    answer = owner.post("/v1/recall", json={"cue": "Who moved to Osaka?"})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["hits"][0]["episode"]["occurred_at"] == at
    assert f"[1] {day} Yui:" in found["context"]
    (fact,) = owner.get("/v1/facts").json()["items"]
    assert fact["intervals"][0]["valid_from"].startswith("2026-05-01T00:00:00")
    on_that_day = owner.post("/v1/recall", json={"cue": "What was on 2 May 2026?"}).json()
    assert on_that_day["hits"][0]["parts"]["date"] > 0
    other = datetime.fromisoformat(at).astimezone(timezone(timedelta(hours=3))).isoformat()
    again = {"text": text, "speaker": "Yui", "session": "s", "occurred_at": other,
             "extraction": told}  # fmt: skip
    assert owner.post("/v1/episodes", json=again).json()["id"] == ident


def test_the_next_recall_finds_what_was_acknowledged(owner: Owner) -> None:
    for number, text in enumerate(("The key is under the blue pot.", "Dinner is at eight.")):
        owner.remember(text, session="s", occurred_at=f"2025-01-0{number + 1}T10:00:00Z")
        assert text in owner.recalled(text)


def test_the_same_key_and_body_is_stored_once(owner: Owner) -> None:
    headers = {"Idempotency-Key": "order-7"}
    body = {"text": "The parcel arrived.", "session": "s"}
    first = owner.post("/v1/episodes", json=body, headers=headers)
    again = owner.post("/v1/episodes", json=body, headers=headers)
    in_body = owner.post("/v1/episodes", json={**body, "idempotency_key": "order-7"})
    assert (first.status_code, again.status_code, in_body.status_code) == (201, 200, 200)
    assert first.json()["id"] == again.json()["id"] == in_body.json()["id"]
    assert again.json()["outcome"] == "existed"
    assert owner.texts() == ["The parcel arrived."]


def test_the_same_key_with_another_body_is_a_conflict(owner: Owner) -> None:
    headers = {"Idempotency-Key": "order-7"}
    owner.post("/v1/episodes", json={"text": "The parcel arrived."}, headers=headers)
    other = owner.post("/v1/episodes", json={"text": "The parcel is late."}, headers=headers)
    problem(other, 409, "conflict")
    assert owner.texts() == ["The parcel arrived."]


def test_a_header_and_a_body_that_disagree_about_the_key_are_refused(owner: Owner) -> None:
    answer = owner.post(
        "/v1/episodes",
        json={"text": "x", "idempotency_key": "a"},
        headers={"Idempotency-Key": "b"},
    )
    assert pointers(problem(answer, 422, "invalid-input")) == ["#/idempotency_key"]
    assert owner.texts() == []


def test_late_turns_take_their_place_in_the_session(owner: Owner) -> None:
    for text, minute in (("third", 3), ("first", 1), ("fourth", 4), ("second", 2)):
        owner.remember(text, session="s", occurred_at=f"2025-01-01T10:0{minute}:00Z")
    listed = owner.get("/v1/episodes", params={"session": "s"}).json()["items"]
    by_place = sorted(listed, key=lambda episode: episode["ordinal"])
    assert [episode["text"] for episode in by_place] == ["first", "second", "third", "fourth"]
    assert [episode["ordinal"] for episode in by_place] == [0, 1, 2, 3]
    assert owner.get("/v1/stats").json()["next_edges"] == 3


def test_position_orders_turns_of_one_instant(owner: Owner) -> None:
    for text, position in (("b", 2), ("a", 1), ("c", 3)):
        owner.remember(text, session="s", position=position, occurred_at="2025-01-01T10:00:00Z")
    listed = owner.get("/v1/episodes", params={"session": "s"}).json()["items"]
    assert [e["text"] for e in sorted(listed, key=lambda e: e["ordinal"])] == ["a", "b", "c"]


def test_a_batch_stores_what_can_be_used_and_says_what_cannot(owner: Owner) -> None:
    items = [
        {"text": "good one", "session": "s"},
        {"text": ""},
        {"txt": "misspelt"},
        "no object",
        {"text": "good two", "session": "s", "idempotency_key": "k"},
        {"text": "good two", "session": "s", "idempotency_key": "k"},
        {"text": "other body", "session": "s", "idempotency_key": "k"},
        {"text": "x", "vector": [0.0, 1.0]},
        {"text": "x", "occurred_at": "2025-01-01T10:00:00"},
    ]
    answer = owner.post("/v1/episodes/batch", json={"episodes": items})
    assert answer.status_code == 200
    told = answer.json()
    assert (told["created"], told["existed"], told["refused"]) == (2, 1, 6)
    results = told["results"]
    assert [result["index"] for result in results] == list(range(len(items)))
    assert [result.get("outcome") for result in results] == [
        "created", None, None, None, "created", "existed", None, None, None,
    ]  # fmt: skip
    codes = [r["problem"]["type"].rpartition("/")[2] if "problem" in r else "" for r in results]
    assert codes == [
        "", "invalid-input", "invalid-input", "invalid-input", "", "",
        "conflict", "bad-vector", "invalid-input",
    ]  # fmt: skip
    assert pointers(results[1]["problem"]) == ["#/episodes/1/text"]
    assert pointers(results[2]["problem"]) == ["#/episodes/2/text", "#/episodes/2/txt"]
    assert pointers(results[3]["problem"]) == ["#/episodes/3"]
    assert pointers(results[8]["problem"]) == ["#/episodes/8/occurred_at"]
    assert owner.texts() == ["good one", "good two"]


def test_listing_pages_through_everything_once(owner: Owner) -> None:
    texts = [f"turn {number}" for number in range(7)]
    items = [{"text": text, "session": "s"} for text in texts]
    owner.post("/v1/episodes/batch", json={"episodes": items})
    seen: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(10):
        page = owner.get("/v1/episodes", params={"limit": 3, **cursor}).json()
        seen += [episode["text"] for episode in page["items"]]
        if page.get("next_cursor") is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert seen == texts


def test_listing_by_session_time_and_concept(owner: Owner) -> None:
    owner.remember("Rain all day.", session="a", occurred_at="2025-01-01T00:00:00Z")
    owner.remember("We met Ingrid by the sea.", session="b", occurred_at="2025-02-01T00:00:00Z")
    owner.remember(
        "Then I heard from Ingrid again.", session="b", occurred_at="2025-03-01T00:00:00Z"
    )
    assert owner.texts(session="a") == ["Rain all day."]
    assert owner.texts(occurred_from="2025-02-01T00:00:00Z") == [
        "We met Ingrid by the sea.",
        "Then I heard from Ingrid again.",
    ]
    assert owner.texts(occurred_before="2025-02-01T00:00:00Z") == ["Rain all day."]
    assert owner.texts(concept="ingrid") == [
        "We met Ingrid by the sea.",
        "Then I heard from Ingrid again.",
    ]
    assert owner.texts(session="nowhere") == []


def test_sessions_are_listed_by_name_with_their_span(owner: Owner) -> None:
    owner.remember("x", session="b", speaker="Ana", occurred_at="2025-02-01T00:00:00Z")
    owner.remember("y", session="b", speaker="Bo", occurred_at="2025-02-03T00:00:00Z")
    owner.remember("z", session="a", speaker="Ana", occurred_at="2025-01-01T00:00:00Z")
    first = owner.get("/v1/sessions", params={"limit": 1}).json()
    assert [session["name"] for session in first["items"]] == ["a"]
    rest = owner.get("/v1/sessions", params={"cursor": first["next_cursor"]}).json()
    assert rest.get("next_cursor") is None
    (second,) = rest["items"]
    assert second["episodes"] == 2
    assert sorted(second["speakers"]) == ["Ana", "Bo"]
    assert second["first_occurred_at"] == "2025-02-01T00:00:00Z"
    assert second["last_occurred_at"] == "2025-02-03T00:00:00Z"


def test_a_deleted_episode_is_gone_everywhere(owner: Owner) -> None:
    kept = owner.remember("The blue boat.", session="s", occurred_at="2025-01-01T00:00:00Z")
    gone = owner.remember(
        "Zanzibar was mentioned.", session="s", occurred_at="2025-01-02T00:00:00Z"
    )
    owner.remember("The red boat.", session="s", occurred_at="2025-01-03T00:00:00Z")
    assert owner.delete(f"/v1/episodes/{gone}").status_code == 204
    problem(owner.get(f"/v1/episodes/{gone}"), 404, "not-found")
    problem(owner.delete(f"/v1/episodes/{gone}"), 404, "not-found")
    assert owner.texts() == ["The blue boat.", "The red boat."]
    assert "Zanzibar was mentioned." not in owner.recalled("Zanzibar was mentioned.")
    assert owner.texts(concept="zanzibar") == []
    stats = owner.get("/v1/stats").json()
    assert (stats["episodes"], stats["next_edges"]) == (2, 1)
    assert owner.get(f"/v1/episodes/{kept}").json()["ordinal"] == 0


def test_a_callers_own_vector_is_what_is_searched(owner: Owner) -> None:
    vector = [0.0] * 384
    vector[secrets.randbelow(384)] = 1.0
    owner.remember("entirely unrelated", vector=vector)
    owner.remember("something else")
    hits = owner.post("/v1/recall", json={"vector": vector, "strategy": "dense", "k": 1}).json()
    assert [hit["episode"]["text"] for hit in hits["hits"]] == ["entirely unrelated"]


def test_two_writers_of_one_key_store_it_once(owner: Owner) -> None:
    import concurrent.futures  # noqa: PLC0415

    def append(_: int) -> httpx.Response:
        return owner.post("/v1/episodes", json={"text": "once", "idempotency_key": "race"})

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(append, range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert owner.texts() == ["once"]


def ids_of(owner: Owner, **params: str | list[str]) -> list[str]:
    answer = owner.get("/v1/episodes", params=params)
    assert answer.status_code == 200, answer.text
    return [one["id"] for one in answer.json()["items"]]


def test_episodes_are_listed_by_id_by_state_and_as_of_then(
    owner: Owner, stranger: Owner, server: RunningService
) -> None:
    live, dormant, archived = (
        owner.remember(
            f"Boat {n} of Pia Lund.", session=session, occurred_at=f"2024-05-0{n}T09:00:00Z",
            extraction={"names": ["Pia Lund"]},
        )
        for n, session in enumerate(("pier", "quay", "quay"), 1)
    )  # fmt: skip
    owner.post("/v1/dormancy/sleep", json={"ids": [archived]})
    assert owner.post("/v1/archive", json={"days": 0}).json() == {"archived": 1}
    owner.post("/v1/dormancy/sleep", json={"ids": [dormant]})
    every = [live, dormant, archived]
    assert ids_of(owner, ids=[archived, "f" * 32, live, live]) == [live, archived]
    assert ids_of(owner, ids=every, session="quay", order="newest") == [archived, dormant]
    assert ids_of(owner, ids=every, concept="pia lund", speaker="nobody") == []
    assert ids_of(owner, ids=[live], concept="pia lund") == [live]
    assert ids_of(owner, ids=[live], concept="mara holm") == []
    states = {"live": live, "dormant": dormant, "archived": archived}
    for state, one in states.items():
        assert ids_of(owner, state=state) == ids_of(owner, state=state, ids=every) == [one]
    assert ids_of(owner, as_of="2024-05-02T09:00:00Z") == [live, dormant]
    assert ids_of(owner, as_of="2024-05-02T08:59:59.999999Z") == [live]
    bounds = {"as_of": "9999-12-31T23:59:59.999999Z", "occurred_before": "2024-05-02T09:00:00Z"}
    assert ids_of(owner, **bounds) == [live]
    assert ids_of(stranger, ids=every) == []
    problem(owner.get("/v1/episodes", params={"ids": ["x"] * 101}), 413, "too-large")
    with Client(server.url, owner.key) as client:
        assert [one.id for one in client.list(ids=every, page_size=1)] == every
        assert list(client.list(ids=[])) == []


async def test_an_episode_tells_how_it_is_kept_and_used(owner: Owner, cypher: Cypher) -> None:
    owner.patch("/v1/settings", json={"learning": {"on": True}})
    now = datetime.now(UTC)
    old = owner.remember("The kettle is red.", occurred_at=str(now - timedelta(days=30)))
    coming = owner.remember("The lift is blue.", occurred_at=str(now + timedelta(days=30)))
    owner.put(f"/v1/episodes/{old}/pin")
    fresh = owner.get(f"/v1/episodes/{old}").json()
    assert (fresh["pinned"], fresh["uses"], fresh["last_used_at"]) == (True, 0, None)
    assert fresh["retrievability"] == pytest.approx(float(retrievability([30], [30])[0]), abs=1e-5)
    ahead = owner.get(f"/v1/episodes/{coming}").json()
    assert (ahead["pinned"], ahead["retrievability"]) == (False, 1.0)
    hit, *_ = owner.post("/v1/recall", json={"cue": "Is the kettle red?", "k": 1}).json()["hits"]
    assert hit["episode"]["id"] == old
    assert hit["episode"]["pinned"] is True
    settled(owner)
    used = owner.get("/v1/episodes", params={"ids": [old]}).json()["items"][0]
    (row,) = await cypher("MATCH (e:Episode {id: $id}) RETURN e.stability AS stability", id=old)
    assert used["uses"] == 1
    last = datetime.fromisoformat(used["last_used_at"])
    assert timedelta() <= datetime.now(UTC) - last < timedelta(minutes=1)
    assert row["stability"] > 30
    assert used["retrievability"] == pytest.approx(1.0, abs=1e-4)
    owner.delete(f"/v1/episodes/{old}/pin")
    owner.post("/v1/dormancy/sleep", json={"ids": [old]})
    assert owner.post("/v1/archive", json={"days": 0}).json() == {"archived": 1}
    kept = owner.get(f"/v1/episodes/{old}").json()
    assert [kept[name] for name in ("uses", "last_used_at", "retrievability")] == [None] * 3
