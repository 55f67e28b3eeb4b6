"""Items: JSON objects by namespace and key, replaced, searched, expired, and never shared."""

import json
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from ecphoria.client import Client
from ecphoria.records.item import ItemKey, ItemWrite
from tests.acceptance.conftest import Owner, RunningService, new_owner, problem
from tests.conftest import Cypher

ANA = ("users", "ana")
FOOD = {"likes": ["sardines", "figs"], "allergy": "walnuts", "level": 2}


@pytest.fixture
def client(server: RunningService, owner: Owner) -> Iterator[Client]:
    with Client(server.url, owner.key) as made:
        yield made


def put(owner: Owner, *items: dict[str, Any]) -> httpx.Response:
    return owner.put("/v1/items", json={"items": list(items)})


def keys(client: Client, namespace: tuple[str, ...] = (), **wanted: Any) -> list[str]:
    return [item.key for item in client.items.search(namespace, **wanted)]


def test_an_item_is_stored_replaced_and_deleted(client: Client) -> None:
    assert client.items.get(ANA, "food") is None
    client.items.put(ANA, "food", FOOD)
    first = client.items.get(ANA, "food")
    assert first is not None
    assert (first.namespace, first.key, first.value) == (ANA, "food", FOOD)
    assert (first.expires_at, first.score) == (None, None)
    client.items.put(ANA, "food", {"likes": []})
    second = client.items.get(ANA, "food")
    assert second is not None
    assert second.value == {"likes": []}
    assert second.created_at == first.created_at < second.updated_at
    client.items.delete(ANA, "food")
    client.items.delete(ANA, "food")
    assert client.items.get(ANA, "food") is None
    assert keys(client) == []


def test_a_search_finds_by_meaning_under_a_namespace(client: Client) -> None:
    client.items.put((*ANA, "preferences"), "food", FOOD)
    client.items.put((*ANA, "work"), "place", {"office": "a bakery by the harbour"})
    client.items.put(("users", "anabel"), "food", FOOD)
    found = client.items.search(ANA, query="Which nuts make her ill?")
    assert [item.key for item in found] == ["food", "place"]
    assert 1 >= (found[0].score or 0) > (found[1].score or 0)
    assert keys(client, ("users",), query="allergy", limit=2) == ["food", "food"]
    assert keys(client, ("users", "an"), query="allergy") == []
    client.items.put((*ANA, "preferences"), "food", FOOD, text="She rides a horse.")
    assert keys(client, ANA, query="On which animal does she sit?")[0] == "food"
    client.items.put((*ANA, "preferences"), "food", FOOD, text="")
    assert keys(client, ANA, query="allergy to nuts") == ["place"]


def test_conditions_paging_and_order(client: Client) -> None:
    for n in range(7):
        client.items.put(("n",), f"k{n}", {"n": n, "even": n % 2 == 0, "text": f"number {n}"})
    assert keys(client, ("n",)) == [f"k{n}" for n in reversed(range(7))]
    assert keys(client, ("n",), limit=2, offset=3) == ["k3", "k2"]
    assert keys(client, ("n",), where={"even": True}) == ["k6", "k4", "k2", "k0"]
    assert keys(client, ("n",), where={"even": True}, limit=2, offset=1) == ["k4", "k2"]
    assert keys(client, ("n",), where={"n": {"$gte": 2, "$lt": 4}}) == ["k3", "k2"]
    near = keys(client, ("n",), query="number 5", where={"even": False}, limit=2)
    assert near[0] == "k5"
    assert len(near) == 2
    assert keys(client, ("n",), query="number 5", limit=3, offset=6) != []


def test_rare_conditions_are_met_far_from_the_query(client: Client) -> None:
    writes = [
        ItemWrite(namespace=("many",), key=f"k{n:03}", value={"text": f"cat {n}", "n": n})
        for n in range(400)
    ]
    client.items.write(writes)
    assert keys(client, ("many",), query="cat", where={"n": 399}) == ["k399"]
    assert keys(client, ("many",), where={"n": 0}) == ["k000"]


def test_namespaces_are_listed(client: Client) -> None:
    for place in (("a",), ("a", "b"), ("a", "b", "c"), ("a", "x", "c"), ("b", "b")):
        client.items.put(place, "key", {})
    assert [tuple(one) for one in client.items.namespaces()] == [
        ("a",), ("a", "b"), ("a", "b", "c"), ("a", "x", "c"), ("b", "b"),
    ]  # fmt: skip
    assert [tuple(one) for one in client.items.namespaces(("a", "*", "c"))] == [
        ("a", "b", "c"), ("a", "x", "c"),
    ]  # fmt: skip
    assert [tuple(one) for one in client.items.namespaces(suffix=("b",))] == [
        ("a", "b"),
        ("b", "b"),
    ]
    assert [tuple(one) for one in client.items.namespaces(("a",), max_depth=2)] == [
        ("a",), ("a", "b"), ("a", "x"),
    ]  # fmt: skip
    assert [tuple(one) for one in client.items.namespaces(limit=1, offset=4)] == [("b", "b")]


async def let_pass(cypher: Cypher, label: str, seconds: float) -> None:
    """Move the ends of these lives, as if so much time had passed: no test waits for it."""
    await cypher(
        "MATCH (n:Item {path: $path}) WHERE n.expires_at IS NOT NULL"
        " SET n.expires_at = n.expires_at - duration({seconds: $seconds})",
        path=f"{label}\x1f",
        seconds=seconds,
    )


async def test_an_item_expires_and_a_read_can_refresh_it(client: Client, cypher: Cypher) -> None:
    place = f"t-{secrets.token_hex(4)}"
    client.items.put((place,), "short", {"text": "gone soon"}, ttl_s=900)
    client.items.put((place,), "kept", {"text": "refreshed"}, ttl_s=900)
    await let_pass(cypher, place, 600)
    found = client.items.get((place,), "kept")
    assert found is not None
    assert found.expires_at is not None
    again = client.items.get((place,), "kept", refresh=True)
    assert again is not None
    assert again.expires_at is not None
    assert again.expires_at > found.expires_at
    await let_pass(cypher, place, 600)
    assert keys(client, (place,)) == keys(client, (place,), query="gone") == ["kept"]
    assert client.items.get((place,), "short") is None


async def test_items_whose_life_is_over_hide_none_that_lives(
    client: Client, cypher: Cypher
) -> None:
    place = f"t-{secrets.token_hex(4)}"
    over = [
        ItemWrite(namespace=(place,), key=f"{n}", value={"text": "the ferry"}, ttl_s=500)
        for n in range(60)
    ]
    client.items.write(over)
    client.items.put((place,), "lives", {"text": "a train to the harbour"})
    await let_pass(cypher, place, 600)
    assert keys(client, (place,), query="the ferry") == ["lives"]
    assert keys(client, (place,), query="the ferry", where={"text": {"$ne": "?"}}) == ["lives"]


async def test_an_item_in_place_of_one_whose_life_is_over_is_new(
    client: Client, cypher: Cypher
) -> None:
    place = f"t-{secrets.token_hex(4)}"
    client.items.put((place,), "k", {"n": 1}, ttl_s=500)
    first = client.items.get((place,), "k")
    await let_pass(cypher, place, 600)
    # A write deletes a thousand of those, the oldest ends first.
    await cypher(
        "MATCH (n:Item {path: $path}) UNWIND range(1, 1000) AS number"
        " CREATE (:Item {tenant: n.tenant, path: 'p', key: toString(number), value: '{}',"
        " namespace: ['p'], expires_at: n.expires_at - duration({days: 1})})",
        path=f"{place}\x1f",
    )
    client.items.put((place,), "k", {"n": 2})
    second = client.items.get((place,), "k")
    assert first is not None
    assert second is not None
    assert second.created_at == second.updated_at > first.created_at


async def test_items_whose_life_is_over_leave_the_store_with_the_next_write(
    client: Client, stranger: Owner, cypher: Cypher
) -> None:
    async def stored() -> list[str]:
        found = await cypher(
            "MATCH (n:Item) WHERE n.path STARTS WITH $path RETURN n.key AS key ORDER BY key",
            path="over\x1f",
        )
        return [one["key"] for one in found]

    with Client(str(stranger.base_url), stranger.key) as theirs:
        theirs.items.put(("over",), "their own", {"n": 1}, ttl_s=500)
        client.items.put(("over",), "lives", {"n": 1}, ttl_s=5_000)
        client.items.put(("over",), "for ever", {"n": 1})
        client.items.put(("over",), "ended", {"n": 1}, ttl_s=500)
        await let_pass(cypher, "over", 600)
        assert await stored() == ["ended", "for ever", "lives", "their own"]
        client.items.put(("elsewhere",), "new", {"n": 1})
        assert await stored() == ["for ever", "lives", "their own"]
        theirs.items.delete(("over",), "no such")
        assert await stored() == ["for ever", "lives"]


def test_writes_are_one_transaction_and_the_last_of_a_key_counts(
    client: Client, owner: Owner
) -> None:
    wanted = {"namespace": ["n"], "key": "k", "value": {"n": 1}}
    answer = put(owner, wanted, wanted | {"value": {"n": 2}}, wanted | {"key": "gone"},
                 wanted | {"key": "gone", "value": None})  # fmt: skip
    assert answer.status_code == 200
    assert [item.value for item in client.items.search(("n",))] == [{"n": 2}]
    bad = wanted | {"key": "bad", "value": {"text": "x" * 300_000}}
    problem(put(owner, wanted | {"value": {"n": 3}}, bad), 413, "too-large")
    assert [item.value for item in client.items.search(("n",))] == [{"n": 2}]


@pytest.mark.parametrize(
    "wrong",
    [
        {"namespace": []}, {"namespace": [""]}, {"namespace": "users"}, {"namespace": [1]},
        {"namespace": ["a\x1fb"]}, {"namespace": ["x" * 1_001]}, {"namespace": ["a"] * 33},
        {"key": ""}, {"key": "a\x00b"}, {"key": "x" * 513}, {"key": 7}, {"value": []},
        {"value": "text"}, {"ttl_s": 0}, {"ttl_s": -1}, {"ttl_s": 1e300}, {"other": 1},
        {"value": {"half": "\ud800"}}, {"value": {"deep": [["\udfff"]]}},
    ],
)  # fmt: skip
def test_bad_items_are_refused_and_nothing_is_written(
    client: Client, owner: Owner, wrong: dict[str, object]
) -> None:
    good = {"namespace": ["n"], "key": "k", "value": {}}
    # httpx itself refuses half of a surrogate pair.
    body = json.dumps({"items": [good, good | {"key": "other"} | wrong]})
    answer = owner.put("/v1/items", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in {413, 422}, answer.text
    assert answer.json()["errors"], answer.text
    assert keys(client) == []


def test_names_with_dots_slashes_and_signs_are_as_good_as_others(client: Client) -> None:
    for place in (("a.b",), ("a", "b"), ("a/b",), ("a*",), ("ä 漢",), ("%2F", "..")):
        client.items.put(place, "k/.. ?#*", {"at": list(place)})
        found = client.items.get(place, "k/.. ?#*")
        assert found is not None
        assert found.value == {"at": list(place)}
    assert len(client.items.namespaces()) == 6


def test_any_json_comes_back_as_it_was(client: Client) -> None:
    value: dict[str, Any] = {
        "": None,
        "n": -1.5e-9,
        "big": 2**70,
        "t": "line\nline \u0000 \u2028 😀",
        "l": [[], {}],
    }
    client.items.put(("json",), "k", value, text="json")
    found = client.items.get(("json",), "k")
    assert found is not None
    assert found.value == value


def test_concurrent_writes_leave_one_item(client: Client) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: client.items.put(("race",), "k", {"n": n}), range(40)))
    (left,) = client.items.search(("race",))
    assert left.value["n"] in range(40)


def test_two_tenants_never_meet_and_an_erased_one_leaves_nothing(
    operator: httpx.Client, server: RunningService, client: Client
) -> None:
    client.items.put(ANA, "food", FOOD)
    with new_owner(operator) as other, Client(server.url, other.key) as stranger:
        assert stranger.items.search(query="walnuts") == ()
        for wanted in ({}, {"where": {"level": 2}}, {"limit": 100, "refresh": True}):
            assert stranger.items.search(**wanted) == ()
            assert stranger.items.search(ANA, **wanted) == ()
        assert stranger.items.get(ANA, "food") is None
        assert stranger.items.namespaces() == ()
        stranger.items.put(ANA, "food", {"mine": True})
        stranger.items.delete(ANA, "other")
        erased = operator.delete(f"/v1/tenants/{other.name}").json()
        assert erased["removed"]["items"] == 1
    found = client.items.find([ItemKey(namespace=ANA, key="food")])
    assert [item.value for item in found] == [FOOD]
