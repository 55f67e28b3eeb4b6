"""Looking at the graph: traces, concepts, what is around a node, and who the caller is."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from ecphoria import Client
from ecphoria.errors import NotFound
from ecphoria.records.episode import BucketKind
from ecphoria.records.graph import ConceptSort, Neighbourhood
from ecphoria.records.recall import Verdict
from ecphoria.records.traced import NodeKind
from tests.acceptance.conftest import Owner, RunningService, problem

DAY = "2024-05-0{}T09:00:00Z"


def tell(owner: Owner) -> dict[str, str]:
    """Store turns about two people who know each other, and one about a third."""
    told = {
        "first": ("Mara Holm feeds the otters.", "pier", ["Mara Holm"], []),
        "second": (
            "Mara Holm met Jonas Vik.",
            "pier",
            ["Mara Holm", "Jonas Vik"],
            [{"subject": "Mara Holm", "predicate": "knows", "object": "Jonas Vik"}],
        ),
        "third": ("Pia Lund sails.", "quay", ["Pia Lund"], []),
    }
    return {
        name: owner.remember(
            text,
            session=session,
            speaker="Davor",
            occurred_at=DAY.format(day),
            extraction={"names": names, "facts": facts},
        )
        for day, (name, (text, session, names, facts)) in enumerate(told.items(), 1)
    }


@pytest.fixture
def client(server: RunningService, owner: Owner) -> Iterator[Client]:
    with Client(server.url, owner.key, timeout=300) as made:
        yield made


def drawn(found: Neighbourhood) -> set[tuple[str, str, str]]:
    """List the edges by the labels of their ends."""
    label, edges = found.nodes.label, found.edges
    return {
        (label[tail], kind, label[head])
        for tail, head, kind in zip(edges.tail, edges.head, edges.type, strict=True)
    }


def test_code_and_logs_give_no_concepts_but_names_of_talk_are_found_in_them(
    owner: Owner, client: Client
) -> None:
    for number in range(2):
        owner.remember(
            f"It gave None, not True, and Error {number} for Admin at Db{number}.internal:5432.\n"
            f"2026-01-0{number + 1} 10:00:00 ERROR Broker Kafka is gone\n"
            "```python\nclass Shelf(Model):\n    return Lantern(x)\n```\n"
            f"Look at /srv/Main/App.py, and call Start() with Mode=Fast.",
            session="pier",
        )
    assert list(client.graph.concepts()) == []
    owner.remember("We renamed the Lantern today.", session="pier")
    assert list(client.graph.concepts()) == []
    owner.remember("Bo likes the Lantern, and True North.", session="pier")
    found = {one.name: one.mentions for one in client.graph.concepts()}
    assert found == {"Lantern": 4, "True North": 1}


def test_concepts_are_listed_in_three_orders_page_by_page(owner: Owner, client: Client) -> None:
    tell(owner)
    orders = {
        ConceptSort.MENTIONS: ["Mara Holm", "Jonas Vik", "Pia Lund"],
        ConceptSort.NAME: ["Jonas Vik", "Mara Holm", "Pia Lund"],
        ConceptSort.LAST: ["Pia Lund", "Jonas Vik", "Mara Holm"],
    }
    for sort, names in orders.items():
        for size in (1, 100):
            found = list(client.graph.concepts(sort=sort, page_size=size))
            assert [one.name for one in found] == names, (sort, size)
    (mara,) = client.graph.concepts("MARA")
    assert (mara.normalised, mara.mentions) == ("mara holm", 2)
    assert (mara.first_occurred_at.day, mara.last_occurred_at.day) == (1, 2)
    assert list(client.graph.concepts("nobody")) == []
    problem(owner.get("/v1/concepts", params={"cursor": "x"}), 422, "invalid-input")
    problem(owner.get("/v1/concepts", params={"sort": "x"}), 422, "invalid-input")


def test_a_concept_has_its_neighbours_and_a_stranger_has_none(
    owner: Owner, client: Client, stranger: Owner
) -> None:
    tell(owner)
    (mara,) = client.graph.concepts("mara")
    view = client.graph.concept(mara.id)
    assert view.concept == mara
    assert [(one.name, one.edge) for one in view.neighbours] == [("Jonas Vik", "RELATED")]
    assert view.merges == ()
    for path in (f"/v1/concepts/{mara.id}", f"/v1/graph?around={mara.id}"):
        problem(stranger.get(path), 404, "not-found")
    assert stranger.get("/v1/concepts").json()["items"] == []
    with pytest.raises(NotFound):
        client.graph.concept("x")


def test_a_neighbourhood_has_the_nodes_and_edges_around_its_centre(
    owner: Owner, client: Client
) -> None:
    ids = tell(owner)
    first, second = "Davor: Mara Holm feeds the otters.", "Davor: Mara Holm met Jonas Vik."
    about = {
        (first, "MENTIONS", "Mara Holm"),
        (second, "MENTIONS", "Mara Holm"),
        ("Mara Holm", "RELATED", "Jonas Vik"),
    }
    around = client.graph.around("concept:mara  HOLM")
    assert drawn(around) == about
    assert (around.nodes.label[0], around.nodes.hop) == ("Mara Holm", (0, 1, 1, 1))
    place = around.nodes.id.index(ids["second"])
    assert around.nodes.kind[place] is NodeKind.EPISODE
    assert (around.nodes.session[place], around.nodes.ordinal[place]) == ("pier", 1)
    assert around.left_out == 0
    wide = client.graph.around(ids["first"], hops=2)
    assert drawn(wide) == {
        *about, (first, "NEXT", second), (second, "MENTIONS", "Jonas Vik")
    }  # fmt: skip
    assert "Pia Lund" not in wide.nodes.label
    only = client.graph.around(ids["first"], kinds=[NodeKind.CONCEPT])
    assert only.nodes.label == (first, "Mara Holm")
    session = client.graph.around("session:pier")
    assert session.nodes.id[:2] == (ids["first"], ids["second"])
    narrow = client.graph.around("concept:Mara Holm", limit=2)
    assert (len(narrow.nodes.id), narrow.left_out) == (2, 2)
    for unknown in ("x", "concept:", "concept:nobody", "session:none", "f" * 32):
        problem(owner.get("/v1/graph", params={"around": unknown}), 404, "not-found")
    for bad in ("", "?around=x&hops=3", "?around=x&limit=2001", "?around=x&kinds=session"):
        problem(owner.get(f"/v1/graph{bad}"), 422, "invalid-input")


def test_nothing_that_is_gone_or_not_yet_there_is_around_a_node(
    owner: Owner, client: Client
) -> None:
    ids = tell(owner)
    then = client.get(ids["first"]).occurred_at
    early = client.graph.around("concept:Mara Holm", as_of=then, hops=2)
    assert early.nodes.label == ("Mara Holm", "Davor: Mara Holm feeds the otters.")
    for around in ("concept:Jonas Vik", ids["second"], "session:quay"):
        with pytest.raises(NotFound):
            client.graph.around(around, as_of=then)
    owner.post("/v1/dormancy/sleep", json={"ids": [ids["first"]]})
    asleep = client.graph.around("concept:Mara Holm")
    assert "dormant" in asleep.nodes.state
    assert owner.post("/v1/archive", json={"days": 0}).json() == {"archived": 1}
    assert ids["first"] not in client.graph.around("concept:Mara Holm", hops=2).nodes.id
    with pytest.raises(NotFound):
        client.graph.around(ids["first"])
    client.delete(ids["second"])
    with pytest.raises(NotFound):
        client.graph.around("concept:Jonas Vik")
    assert [one.name for one in client.graph.concepts("jonas")] == []


def test_traces_are_listed_with_their_verdict_and_first_hit(
    owner: Owner, client: Client, stranger: Owner
) -> None:
    ids = tell(owner)
    found = client.recall("Who feeds the otters?")
    lost = client.recall("Which colour has the zeppelin?", strategy="lexical")
    client.recall("Who sails?", record=False)
    listed = list(client.graph.traces(page_size=1))
    assert [one.id for one in listed] == [lost.trace_id, found.trace_id]
    newest, oldest = listed
    assert (oldest.cue, oldest.strategy) == ("Who feeds the otters?", "ecphoria")
    assert (oldest.verdict, oldest.confidence) == (found.verdict, found.confidence)
    assert oldest.first == ids["first"]
    assert oldest.first_label == "Davor: Mara Holm feeds the otters."
    assert newest.verdict in {Verdict.REFUSE, Verdict.EMPTY}
    assert [one.id for one in client.graph.traces(strategy="lexical")] == [lost.trace_id]
    assert [one.id for one in client.graph.traces(verdict=newest.verdict)] == [lost.trace_id]
    assert stranger.get("/v1/traces").json()["items"] == []
    client.delete(ids["first"])
    (erased,) = client.graph.traces(strategy="ecphoria")
    assert (erased.first, erased.first_label) == (None, None)


def counted(client: Client, by: BucketKind, **more: Any) -> list[tuple[str | None, int, int, int]]:
    found = client.graph.timeline(by, **more)
    return [(one.bucket, one.live, one.dormant, one.archived) for one in found]


def test_episodes_are_counted_by_session_day_and_month(
    owner: Owner, client: Client, stranger: Owner
) -> None:
    ids = tell(owner)
    late = {"occurred_at": "2024-06-30T22:30:00-03:00"}
    noted, other = (owner.remember(text, **late) for text in ("A note.", "Another note."))
    owner.post("/v1/dormancy/sleep", json={"ids": [ids["first"]]})
    assert owner.post("/v1/archive", json={"days": 0}).json() == {"archived": 1}
    owner.post("/v1/dormancy/sleep", json={"ids": [noted]})
    sessions = [("pier", 1, 0, 1), ("quay", 1, 0, 0), (None, 1, 1, 0)]
    for size in (1, 1_000):
        assert counted(client, BucketKind.SESSION, page_size=size) == sessions
    assert counted(client, BucketKind.DAY, page_size=1) == [
        ("2024-05-01", 0, 0, 1),
        ("2024-05-02", 1, 0, 0),
        ("2024-05-03", 1, 0, 0),
        ("2024-06-30", 1, 1, 0),
    ]
    assert counted(client, BucketKind.MONTH) == [("2024-05", 2, 0, 1), ("2024-06", 1, 1, 0)]
    stats = client.stats()
    told = counted(client, BucketKind.DAY)
    assert [sum(column) for column in list(zip(*told, strict=True))[1:]] == [
        stats.episodes - stats.dormant - stats.archived, stats.dormant, stats.archived
    ]  # fmt: skip
    assert counted(client, BucketKind.MONTH, speaker="davor") == [("2024-05", 2, 0, 1)]
    assert counted(client, BucketKind.MONTH, speaker="nobody") == []
    first, *_ = client.graph.timeline("session")
    assert (first.first_occurred_at.day, first.last_occurred_at.day) == (1, 2)
    client.delete(other)
    assert counted(client, BucketKind.DAY)[-1] == ("2024-06-30", 0, 1, 0)
    assert stranger.get("/v1/timeline").json()["items"] == []
    for bad in ("by=year", "cursor=x", "limit=10001"):
        problem(owner.get(f"/v1/timeline?{bad}"), 422, "invalid-input")


def test_a_caller_learns_what_it_may_do(
    owner: Owner, operator: httpx.Client, server: RunningService
) -> None:
    me = owner.get("/v1/me").json()
    assert (me["tenant"], me["key_name"], me["operator"]) == (owner.name, "test", False)
    assert me["scopes"] == ["read", "write", "admin"]
    assert me["ask"] is False
    (key,) = owner.get("/v1/keys").json()["items"]
    assert me["key"] == key["id"]
    assert operator.get("/v1/me").json()["tenant"] is None
    named = operator.get("/v1/me", headers={"Ecphoria-Tenant": owner.name}).json()
    assert (named["tenant"], named["operator"]) == (owner.name, True)
    with Client(server.url, owner.key) as client:
        assert client.admin.me().tenant == owner.name
    problem(httpx.get(f"{server.url}/v1/me", timeout=60), 401, "unauthenticated")
