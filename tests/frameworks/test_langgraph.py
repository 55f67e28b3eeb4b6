"""The store of LangGraph: what its SQLite and Postgres stores are tested for, and bad input."""

import asyncio
import time
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from ecphoria.client import Client
from ecphoria.errors import InvalidInput, TooLarge
from ecphoria.integrations.langgraph import EcphoriaStore


@pytest.fixture
def store(memory: Client) -> EcphoriaStore:
    return EcphoriaStore(memory)


def keys(found: list[Any]) -> list[str]:
    return [item.key for item in found]


def test_a_batch_reads_before_it_writes_and_answers_in_order(store: EcphoriaStore) -> None:
    store.put(("test", "foo"), "key1", {"data": "value1"})
    store.put(("test", "bar"), "key2", {"data": "value2"})
    results = store.batch([
        GetOp(namespace=("test", "foo"), key="key1"),
        PutOp(namespace=("test", "bar"), key="key2", value={"data": "new"}),
        SearchOp(namespace_prefix=("test",), filter={"data": "value1"}, limit=10, offset=0),
        ListNamespacesOp(match_conditions=None, max_depth=None, limit=10, offset=0),
        GetOp(namespace=("test",), key="key3"),
        GetOp(namespace=("test", "bar"), key="key2", refresh_ttl=False),
    ])  # fmt: skip
    assert isinstance(results[0], Item)
    assert results[0].value == {"data": "value1"}
    assert results[1] is None
    assert keys(results[2]) == ["key1"]  # type: ignore[arg-type]
    assert set(results[3]) == {("test", "foo"), ("test", "bar")}  # type: ignore[arg-type]
    assert results[4] is None
    assert results[5].value == {"data": "value2"}  # type: ignore[union-attr]
    assert store.get(("test", "bar"), "key2").value == {"data": "new"}  # type: ignore[union-attr]


def test_an_item_is_found_by_either_form_of_an_accent(store: EcphoriaStore) -> None:
    store.put(("users", "Zoe\u0308"), "cafe\u0301", {"n": 1})
    for name, key in (("Zoe\u0308", "cafe\u0301"), ("Zo\u00eb", "caf\u00e9")):
        found = store.get(("users", name), key)
        assert found is not None
        assert found.value == {"n": 1}


async def test_the_asynchronous_calls_do_the_same(store: EcphoriaStore) -> None:
    await asyncio.gather(*(store.aput(("n",), f"k{n}", {"n": n}) for n in range(20)))
    found = await store.asearch(("n",), filter={"n": {"$lt": 3}})
    assert sorted(keys(found)) == ["k0", "k1", "k2"]
    await store.adelete(("n",), "k0")
    assert await store.aget(("n",), "k0") is None
    assert await store.alist_namespaces() == [("n",)]


def test_of_a_key_written_twice_in_a_batch_the_last_counts(store: EcphoriaStore) -> None:
    store.batch([
        PutOp(namespace=("n",), key="k", value={"n": 1}),
        PutOp(namespace=("n",), key="k", value={"n": 2}),
        PutOp(namespace=("n",), key="gone", value={"n": 1}),
        PutOp(namespace=("n",), key="gone", value=None),
    ])  # fmt: skip
    assert store.get(("n",), "k").value == {"n": 2}  # type: ignore[union-attr]
    assert store.get(("n",), "gone") is None


def test_an_item_has_times_and_is_replaced(store: EcphoriaStore) -> None:
    store.put(("n",), "k", {"a": 1, "b": {"c": [1, None, "x"]}})
    first = store.get(("n",), "k")
    assert first is not None
    assert first.namespace == ("n",)
    store.put(("n",), "k", {"a": 2})
    second = store.get(("n",), "k")
    assert second is not None
    assert second.value == {"a": 2}
    assert second.created_at == first.created_at < second.updated_at


def test_namespaces_are_listed_by_prefix_suffix_and_depth(store: EcphoriaStore) -> None:
    places = [
        ("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "i"), ("a", "b", "f"),
        ("a", "c", "f"), ("b", "a", "f"), ("users", "123"), ("users", "456", "settings"),
    ]  # fmt: skip
    for place in places:
        store.put(place, "k", {"data": "value"})
    assert store.list_namespaces(prefix=("a", "b")) == places[:4]
    assert store.list_namespaces(suffix=("f",)) == [places[3], places[4], places[5]]
    assert store.list_namespaces(prefix=("a",), suffix=("f",)) == [places[3], places[4]]
    assert store.list_namespaces(prefix=("a", "*", "f")) == [places[3], places[4]]
    assert store.list_namespaces(suffix=("*", "f"), prefix=("b",)) == [places[5]]
    assert store.list_namespaces(prefix=("a", "b"), max_depth=3) == [
        ("a", "b", "c"), ("a", "b", "d"), ("a", "b", "f"),
    ]  # fmt: skip
    assert store.list_namespaces(prefix=("none",)) == []
    assert store.list_namespaces(limit=2, offset=6) == [("users", "123"), places[7]]


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ({"score": {"$gt": 4.0}}, ["doc2"]),
        ({"score": {"$gte": 4.0}}, ["doc1", "doc2"]),
        ({"score": {"$lt": 4.0}, "color": "red"}, ["doc3"]),
        ({"color": {"$ne": "red"}}, ["doc2"]),
        ({"color": "red"}, ["doc1", "doc3"]),
        ({"tags": {"kind": "x"}}, ["doc3"]),
        ({"color": "grey"}, []),
    ],
)
def test_a_search_filters(
    store: EcphoriaStore, condition: dict[str, Any], found: list[str]
) -> None:
    docs = {
        "doc1": {"text": "red apple", "color": "red", "score": 4.0},
        "doc2": {"text": "green apple", "color": "green", "score": 4.5},
        "doc3": {"text": "red car", "color": "red", "score": 3.5, "tags": {"kind": "x", "n": 1}},
    }
    for key, value in docs.items():
        store.put(("docs",), key, value)
    assert sorted(keys(store.search(("docs",), filter=condition))) == found
    assert sorted(keys(store.search(("docs",), filter=condition, query="apple"))) == found


def test_pages_of_a_search_do_not_overlap(store: EcphoriaStore) -> None:
    for n in range(12):
        store.put(("docs",), f"doc{n}", {"text": f"this is the apple number {n}"})
    for query in (None, "apple"):
        one = keys(store.search(("docs",), query=query, limit=5))
        two = keys(store.search(("docs",), query=query, limit=5, offset=5))
        rest = keys(store.search(("docs",), query=query, limit=5, offset=10))
        assert (len(one), len(two), len(rest)) == (5, 5, 2)
        assert len({*one, *two, *rest}) == 12


def test_a_search_ranks_by_meaning_and_scores(store: EcphoriaStore) -> None:
    store.put(("test",), "doc1", {"text": "a short text about bread and ovens"})
    store.put(("test",), "doc2", {"text": "the engine of a motorcycle"})
    store.put(("test",), "doc3", {"text": "bread", "hidden": True}, index=False)
    found = store.search(("test",), query="What does a baker work with?")
    assert keys(found)[0] == "doc1"
    assert "doc3" not in keys(found)
    scores = [item.score for item in found]
    assert scores == sorted(scores, reverse=True)
    assert keys(store.search(("test",), query="")) == ["doc3", "doc2", "doc1"]
    store.put(("test",), "doc2", {"text": "a baker's oven"})
    assert keys(store.search(("test",), query="a baker's oven"))[0] == "doc2"


def test_only_the_named_fields_are_searched(memory: Client) -> None:
    store = EcphoriaStore(memory, index=["title", "parts[*].text"])
    store.put(("d",), "one", {"title": "Sailing", "secret": "a recipe for walnut cake"})
    store.put(("d",), "two", {"title": "x", "parts": [{"text": "a recipe for walnut cake"}]})
    store.put(("d",), "three", {"title": "x", "body": "walnut cake recipe"}, index=["body"])
    found = store.search(("d",), query="walnut cake recipe")
    assert keys(found) == ["three", "two", "one"]
    assert (found[1].score or 0) > 0.5 > (found[2].score or 0)


def test_an_item_lives_as_long_as_it_is_read(memory: Client) -> None:
    store = EcphoriaStore(memory, ttl={"default_ttl": 10, "refresh_on_read": True})
    for key in ("read", "left"):
        store.put(("t",), key, {"n": 1})
    store.put(("t",), "kept", {"n": 1}, ttl=None)
    store.put(("t",), "over", {"n": 1}, ttl=0.005)
    found = {key: memory.items.get(("t",), key) for key in ("read", "left", "kept")}
    ends = {key: item and item.expires_at for key, item in found.items()}
    time.sleep(0.5)
    assert store.get(("t",), "over") is None
    assert store.get(("t",), "read") is not None
    assert sorted(keys(store.search(("t",), refresh_ttl=False))) == ["kept", "left", "read"]
    found = {key: memory.items.get(("t",), key) for key in ends}
    now = {key: item and item.expires_at for key, item in found.items()}
    assert now["left"] == ends["left"]
    assert now["kept"] is None
    assert now["read"] is not None
    assert now["read"] > ends["read"]


@pytest.mark.parametrize(
    "condition",
    [{"a' OR '1'='1": "x"}, {"a": "x'}) MATCH (n) DETACH DELETE n //"}, {"a`b": {"$eq": "x"}}],
)
def test_a_filter_is_never_a_query(store: EcphoriaStore, condition: dict[str, Any]) -> None:
    store.put(("n",), "k", {"a": "y"})
    assert store.search(("n",), filter=condition) == []
    assert store.get(("n",), "k") is not None


@pytest.mark.parametrize("place", [(), ("a.b",), ("",), ("langgraph", "x"), (1,)])
def test_a_namespace_that_langgraph_refuses_is_refused(store: EcphoriaStore, place: Any) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(place, "k", {})


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (PutOp(namespace=("n",), key=7, value={}), InvalidInput),  # type: ignore[arg-type]
        (PutOp(namespace=("n",), key="", value={}), InvalidInput),
        (PutOp(namespace=("n",), key="k", value={1: 2}), InvalidInput),  # type: ignore[dict-item]
        (PutOp(namespace=("n",), key="k", value={"x": object()}), InvalidInput),
        (PutOp(namespace=("n",), key="k", value={"x": "x" * 300_000}), TooLarge),
        (PutOp(namespace=("n",), key="k", value={}, ttl=-1), InvalidInput),
    ],
)
def test_bad_items_are_refused_and_the_batch_is_not_written(
    store: EcphoriaStore, bad: PutOp, error: type[Exception]
) -> None:
    with pytest.raises(error):
        store.batch([PutOp(namespace=("n",), key="good", value={"n": 1}), bad])
    assert store.get(("n",), "good") is None


def test_labels_with_dots_and_slashes_pass_a_batch(store: EcphoriaStore) -> None:
    place = ("https://example.org/a.b", "*")
    store.batch([PutOp(namespace=place, key="k/1", value={"n": 1})])
    (found,) = store.batch([GetOp(namespace=place, key="k/1")])
    assert isinstance(found, Item)
    assert found.namespace == place


def test_two_conditions_of_a_kind_are_refused(store: EcphoriaStore) -> None:
    twice = tuple(MatchCondition(match_type="prefix", path=(label,)) for label in "ab")
    with pytest.raises(InvalidInput, match="one of each"):
        store.batch([ListNamespacesOp(match_conditions=twice)])


class State(TypedDict):
    said: str
    known: str


def test_a_graph_keeps_and_finds_in_it(store: EcphoriaStore) -> None:
    def node(state: State, *, store: BaseStore) -> dict[str, str]:
        found = store.search(("users", "ana"), query=state["said"], limit=1)
        store.put(("users", "ana"), state["said"], {"said": state["said"]})
        return {"known": found[0].value["said"] if found else ""}

    builder = StateGraph(State)
    builder.add_node("remember", node)
    builder.add_edge(START, "remember")
    builder.add_edge("remember", END)
    graph = builder.compile(store=store)
    assert graph.invoke({"said": "I cannot eat walnuts.", "known": ""})["known"] == ""
    again = graph.invoke({"said": "Which nuts make me ill?", "known": ""})
    assert again["known"] == "I cannot eat walnuts."
