"""Dormancy over HTTP."""

import httpx

from ecphoria.client import Client
from tests.acceptance.conftest import Owner, RunningService, problem


def test_a_memory_sleeps_is_listed_and_wakes(owner: Owner, stranger: Owner) -> None:
    bees = owner.remember("I keep bees behind the mill.", speaker="Ada", session="s")
    mill = owner.remember("The mill is old.", speaker="Ada", session="s")
    assert owner.put(f"/v1/episodes/{mill}/pin").status_code == 204
    both = {"ids": [bees, mill]}
    assert stranger.post("/v1/dormancy/sleep", json=both).json() == {"ids": []}
    assert owner.post("/v1/dormancy/sleep", json=both).json() == {"ids": [bees]}
    (listed,) = owner.get("/v1/dormancy").json()["items"]
    assert (listed["id"], listed["reason"]) == (bees, "by request")
    assert stranger.get("/v1/dormancy").json()["items"] == []
    assert owner.get(f"/v1/episodes/{bees}").json()["state"] == "dormant"
    assert owner.get("/v1/stats").json()["dormant"] == 1
    assert owner.recalled("Who keeps bees behind the mill?") == ["The mill is old."]
    assert stranger.post("/v1/dormancy/wake", json=both).json() == {"ids": []}
    assert owner.post("/v1/dormancy/wake", json=both).json() == {"ids": [bees]}
    assert owner.recalled("Who keeps bees behind the mill?")[0].startswith("I keep bees")
    assert owner.delete(f"/v1/episodes/{mill}/pin").status_code == 204
    problem(stranger.put(f"/v1/episodes/{mill}/pin"), 404, "not-found")


def test_a_dormant_memory_that_is_pinned_is_not_archived(owner: Owner) -> None:
    bees = owner.remember("I keep bees behind the mill.", speaker="Ada", session="s")
    assert owner.post("/v1/dormancy/sleep", json={"ids": [bees]}).json() == {"ids": [bees]}
    assert owner.put(f"/v1/episodes/{bees}/pin").status_code == 204
    assert owner.post("/v1/archive", json={"days": 0}).json() == {"archived": 0}
    assert owner.delete(f"/v1/episodes/{bees}/pin").status_code == 204
    assert owner.post("/v1/archive", json={"days": 0}).json() == {"archived": 1}


def test_the_policy_is_bounded_and_the_tenants_own(owner: Owner, stranger: Owner) -> None:
    wanted = {"mode": "threshold", "quiet_days": 0, "archive_days": "never"}
    put = owner.patch("/v1/settings", json={"dormancy": wanted})
    assert put.status_code == 200, put.text
    assert owner.get("/v1/settings").json() == put.json()
    assert {name: put.json()["dormancy"][name] for name in wanted} == wanted
    assert stranger.get("/v1/settings").json()["dormancy"]["mode"] == "budget"
    for wrong in ({"budget": 0}, {"quiet_days": -1}, {"mode": "never"}, {"archive_days": "soon"}):
        problem(owner.patch("/v1/settings", json={"dormancy": wrong}), 422, "invalid-input")


def test_a_preview_tells_what_a_policy_would_do_and_changes_nothing(
    owner: Owner, stranger: Owner, server: RunningService
) -> None:
    old = {"occurred_at": "2020-01-01T00:00:00Z", "speaker": "Ada", "session": "s"}
    bees, mill, oven, pinned = (
        owner.remember(text, **old, importance=importance)
        for text, importance in (("Bees.", 0.1), ("Mill.", 0.2), ("Oven.", 0.9), ("Pin.", 0.0))
    )
    owner.put(f"/v1/episodes/{pinned}/pin")
    before = owner.get("/v1/stats").json()
    asked = {"mode": "budget", "budget": 2, "quiet_days": 0.0}
    found = owner.post("/v1/dormancy/preview", json=asked).json()
    assert (found["live"], found["dormant"]) == (4, 2)
    assert [one["id"] for one in found["items"]] == [bees, mill]
    assert found["items"][0]["label"] == "Ada: Bees."
    assert found["items"][0]["reason"].startswith("least worth keeping over 2 live memories")
    first = owner.post("/v1/dormancy/preview", json={**asked, "limit": 1}).json()
    assert (first["dormant"], len(first["items"])) == (2, 1)
    with Client(server.url, owner.key) as client:
        faded = client.archive.preview(mode="threshold", quiet_days=0)
        assert {one.id for one in faded.items} == {bees, mill, oven}
        assert client.archive.preview(mode="off").items == ()
    assert owner.post("/v1/dormancy/preview").json() == {"live": 4, "dormant": 0, "items": []}
    assert owner.get("/v1/stats").json() == before
    assert owner.get("/v1/settings").json()["dormancy"]["budget"] == 10_000
    assert stranger.post("/v1/dormancy/preview", json=asked).json()["items"] == []
    for wrong in ({"budget": 0}, {"mode": "x"}, {"limit": 1_001}):
        problem(owner.post("/v1/dormancy/preview", json=wrong), 422, "invalid-input")


def test_too_many_ids_are_refused(owner: Owner) -> None:
    problem(owner.post("/v1/dormancy/wake", json={"ids": ["a"] * 1_001}), 413, "too-large")
    problem(owner.get("/v1/dormancy", params={"cursor": 2**63}), 422, "invalid-input")


def test_a_memory_goes_to_the_archive_and_back(
    owner: Owner, stranger: Owner, operator: httpx.Client
) -> None:
    bees = owner.remember("I keep bees behind the mill.", speaker="Ada", session="s")
    mill = owner.remember("The mill is old.", speaker="Ada", session="s")
    owner.post("/v1/dormancy/sleep", json={"ids": [bees, mill]})
    assert owner.post("/v1/archive", json={"days": 0}).json() == {"archived": 2}
    assert owner.get(f"/v1/episodes/{bees}").json()["state"] == "archived"
    assert owner.get("/v1/stats").json()["archived"] == 2
    scrubbed = owner.post("/v1/archive/scrub").json()
    assert scrubbed == {"records": 2, "damaged": [], "unreferenced": 0}
    assert owner.get("/v1/doctor").json()["findings"] == []
    ids = {"ids": [bees]}
    assert stranger.post("/v1/archive/restore", json=ids).json()["restored"] == []
    assert owner.post("/v1/archive/restore", json=ids).json()["restored"] == [bees]
    assert owner.get(f"/v1/episodes/{bees}").json()["text"] == "I keep bees behind the mill."
    found = {"cue": "Who keeps bees behind the mill?", "include_dormant": True}
    (hit,) = owner.post("/v1/recall", json=found).json()["hits"]
    assert hit["episode"]["state"] == "dormant"
    assert owner.post("/v1/recall", json={**found, "wake": True}).json()["woken"] == [bees]
    removed = operator.delete(f"/v1/tenants/{owner.name}").json()["removed"]
    assert (removed["episodes"], removed["archived"], removed["remaining"]) == (2, 1, 0)


def test_waking_by_a_cue_needs_the_scope_write(owner: Owner) -> None:
    issued = owner.post("/v1/keys", json={"name": "reader", "scopes": ["read"]}).json()
    headers = {"Authorization": f"Bearer {issued['secret']}"}
    asked = {"cue": "bees", "wake": True}
    problem(owner.post("/v1/recall", json=asked, headers=headers), 403, "forbidden")
