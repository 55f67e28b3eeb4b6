"""Facts over HTTP: listed with their times, decided about, undone, and never another tenant's."""

from typing import Any

from ecphoria.client import Client
from ecphoria.records.fact import PredicateClass
from tests.acceptance.conftest import Owner, RunningService, problem

OSLO = {"subject": "Ana Reyes", "predicate": "lives in", "object": "Oslo", "reliability": 0.8}
BERGEN = OSLO | {"object": "Bergen", "qualifier": "", "polarity": "positive"}


def tell(owner: Owner, text: str, at: str, *facts: dict[str, Any]) -> None:
    body = {"text": text, "occurred_at": at, "extraction": {"facts": list(facts)}}
    answer = owner.post("/v1/episodes", json=body)
    assert answer.status_code == 201, answer.text


def places(owner: Owner, **asked: str) -> dict[str, Any]:
    page = owner.get("/v1/facts", params={"concept": "Ana Reyes", **asked}).json()
    return {fact["object"]: fact for fact in page["items"]}


def moved(owner: Owner) -> None:
    tell(owner, "Ana lives in Oslo.", "2021-03-01T00:00:00Z", OSLO)
    tell(owner, "Ana has moved to Bergen.", "2023-06-01T00:00:00Z", BERGEN)


def test_facts_are_listed_with_their_times_and_as_of_any(owner: Owner) -> None:
    moved(owner)
    found = places(owner)
    assert found["oslo"]["intervals"] == [
        {"valid_from": "2021-03-01T00:00:00Z", "valid_to": "2023-06-01T00:00:00Z",
         "superseded_by": found["bergen"]["id"]}
    ]  # fmt: skip
    assert (found["oslo"]["valid"], found["bergen"]["valid"]) == (False, True)
    assert found["oslo"]["predicate_class"] == "functional"
    assert found["oslo"]["evidence"] == 0.8
    then = places(owner, as_of="2022-01-01T00:00:00Z")
    assert (then["oslo"]["valid"], then["bergen"]["valid"]) == (True, False)
    assert places(owner, known_at="2020-01-01T00:00:00Z") == {}


def test_a_decision_is_taken_shown_and_undone(owner: Owner, server: RunningService) -> None:
    moved(owner)
    with Client(server.url, owner.key) as client:
        bergen = next(one for one in client.facts.list("Bergen"))
        made = client.facts.decide(bergen.id, "retract", why="It was a visit.")
        history = client.facts.history(bergen.id)
        assert [(one.object, one.standing) for one in history.facts] == [
            ("oslo", "held"),
            ("bergen", "retracted"),
        ]
        assert [(one.ruling, one.why) for one in history.decisions] == [
            ("retract", "It was a visit.")
        ]
        assert made.by is not None
        client.facts.undo(made.id)
        assert next(client.facts.list("Bergen")).standing == "held"
    answer = owner.post(f"/v1/facts/{bergen.id}/decisions", json={"ruling": "set_interval"})
    assert problem(answer, 422, "invalid-input")["errors"][0]["pointer"] == "#/valid_from"
    assert owner.post("/v1/facts/none/decisions", json={"ruling": "retract"}).status_code == 404
    assert owner.post("/v1/decisions/none/undo", json={}).status_code == 404


def objects(owner: Owner, **params: str) -> list[str]:
    """List the objects of the facts of a list, page by page."""
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        answer = owner.get("/v1/facts", params={"limit": 1, **cursor, **params})
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found += [fact["object"] for fact in page["items"]]
        if page["next_cursor"] is None:
            return found
        cursor = {"cursor": page["next_cursor"]}


def test_a_memory_whose_fact_is_retracted_gives_way_to_what_holds(owner: Owner) -> None:
    moved(owner)

    def asked(**body: object) -> list[tuple[str, bool]]:
        cue = {"cue": "Where does Ana live?", "record": False, **body}
        hits = owner.post("/v1/recall", json=cue).json()["hits"]
        return [(hit["episode"]["text"], bool(hit["superseded_at"])) for hit in hits]

    oslo, bergen = "Ana lives in Oslo.", "Ana has moved to Bergen."
    assert asked() == [(bergen, False), (oslo, True)]
    fact = places(owner)["bergen"]["id"]
    made = owner.post(f"/v1/facts/{fact}/decisions", json={"ruling": "retract"}).json()
    assert asked() == asked(as_of="2100-01-01T00:00:00Z") == [(oslo, False), (bergen, True)]
    owner.post(f"/v1/decisions/{made['id']}/undo", json={}).raise_for_status()
    assert asked() == [(bergen, False), (oslo, True)]


def test_facts_are_listed_by_standing_and_the_last_stated_first(
    owner: Owner, stranger: Owner
) -> None:
    moved(owner)
    turku = OSLO | {"object": "Turku", "reliability": 0.6}
    tell(owner, "Ana lives in Turku.", "2023-06-01T00:00:00Z", turku)
    doubted = {"subject": "Ana Reyes", "predicate": "likes", "object": "chess", "reliability": 0.2}
    tell(owner, "Ana may like chess.", "2020-01-01T00:00:00Z", doubted)
    assert sorted(objects(owner)) == ["bergen", "chess", "oslo", "turku"]
    newest = objects(owner, sort="time")
    assert set(newest[:2]) == {"bergen", "turku"}
    assert newest[2:] == ["oslo", "chess"]
    assert objects(owner, standing="contested", sort="time") == ["turku"]
    assert objects(owner, standing="held", sort="time") == ["bergen", "oslo"]
    assert objects(owner, standing="candidate") == ["chess"]
    assert objects(owner, standing="retracted") == []
    assert objects(owner, standing="contested", known_at="2020-01-01T00:00:00Z") == []
    assert objects(owner, standing="contested", known_at="2100-01-01T00:00:00Z") == ["turku"]
    owner.post(f"/v1/facts/{places(owner)['bergen']['id']}/decisions", json={"ruling": "retract"})
    assert objects(owner, standing="contested") == []
    assert objects(owner, standing="retracted") == ["bergen"]
    assert objects(stranger, standing="held") == []
    for bad in ("standing=x", "sort=x", "cursor=x"):
        problem(owner.get(f"/v1/facts?{bad}"), 422, "invalid-input")


def test_a_fact_has_the_names_as_written_and_the_concepts(owner: Owner) -> None:
    moved(owner)
    said = {"subject": "Ana Reyes", "predicate": "has", "object": "42"}
    tell(owner, "Ana has two children.", "2023-06-01T00:00:00Z", said)
    (listed,) = owner.get("/v1/facts", params={"predicate": "has"}).json()["items"]
    concepts = {one["name"]: one["id"] for one in owner.get("/v1/concepts").json()["items"]}
    assert (listed["subject_name"], listed["object_name"]) == ("Ana Reyes", "42")
    assert (listed["subject_concept"], listed["object_concept"]) == (concepts["Ana Reyes"], None)
    oslo = places(owner)["oslo"]
    assert (oslo["object_name"], oslo["object_concept"]) == ("Oslo", concepts["Oslo"])
    for name in ("42", "oslo"):  # at the end, also where it is no concept
        about = owner.get("/v1/facts", params={"concept": name}).json()["items"]
        assert [fact["object"] for fact in about] == [name]
    history = owner.get(f"/v1/facts/{oslo['id']}/history").json()
    assert {fact["object_name"] for fact in history["facts"]} == {"Oslo", "Bergen"}


def test_decisions_are_listed_the_latest_first(
    owner: Owner, stranger: Owner, server: RunningService
) -> None:
    moved(owner)
    found = places(owner)
    with Client(server.url, owner.key) as client:
        open_too = client.facts.decide(
            found["oslo"]["id"], "keep_open", other=found["bergen"]["id"], why="Both."
        )
        kind = client.facts.set_predicate_class("lives in", PredicateClass.MULTI)
        undone = client.facts.undo(open_too.id)
        for page_size in (1, 100):
            listed = list(client.facts.decisions(page_size=page_size))
            assert [(one.id, one.undone) for one in listed] == [
                (undone.id, False), (kind.id, False), (open_too.id, True)
            ]  # fmt: skip
        assert (listed[1].relation, listed[1].statement) == ("lives in", None)
        assert (listed[2].statement, listed[2].other_statement) == (
            "ana reyes lives in oslo",
            "ana reyes lives in bergen",
        )
        assert (listed[2].why, listed[0].undoes) == ("Both.", open_too.id)
        again = client.facts.undo(undone.id)
        told = {one.id: one.undone for one in client.facts.decisions()}
        assert told == {
            again.id: False, undone.id: True, kind.id: False, open_too.id: False,
        }  # fmt: skip
        (first, *_) = client.list(concept="bergen")
        client.delete(first.id)
        assert [one.id for one in client.facts.decisions()] == [kind.id]
    assert stranger.get("/v1/decisions").json()["items"] == []
    problem(owner.get("/v1/decisions?cursor=x"), 422, "invalid-input")


def test_a_predicate_gets_a_class(owner: Owner) -> None:
    moved(owner)
    made = owner.request("PUT", "/v1/predicates/lives%20in", json={"predicate_class": "multi"})
    assert made.status_code == 200, made.text
    assert all(fact["valid"] for fact in places(owner).values())
    own = [one for one in owner.get("/v1/predicates").json()["items"] if one["own"]]
    assert own == [{"relation": "lives in", "predicate_class": "multi", "own": True}]
    again = owner.request("PUT", "/v1/predicates/lives%20in", json={"predicate_class": "multi"})
    assert again.json() == made.json(), "the same class is no second decision"
    other = owner.request(
        "PUT", "/v1/predicates/lives%20in", json={"predicate_class": "functional"}
    )
    assert other.json()["id"] != made.json()["id"]


def test_a_predicate_is_no_longer_than_those_of_facts(owner: Owner) -> None:
    for name, status in (("x" * 256, 200), ("x" * 257, 422), ("%20", 422)):
        answer = owner.request(
            "PUT", f"/v1/predicates/{name}", json={"predicate_class": "functional"}
        )
        assert answer.status_code == status, answer.text
    assert "256" in answer.text


def test_a_recall_marks_what_is_over_and_can_be_asked_as_of_then(owner: Owner) -> None:
    moved(owner)
    now = owner.post("/v1/recall", json={"cue": "Where does Ana live, in Oslo?"}).json()
    assert [hit["episode"]["text"] for hit in now["hits"]] == [
        "Ana has moved to Bergen.",
        "Ana lives in Oslo.",
    ]
    assert now["hits"][1]["superseded_at"] == "2023-06-01T00:00:00Z"
    assert now["hits"][1]["superseded_by"] == [places(owner)["bergen"]["id"]]
    asked = {"cue": "Where does Ana live?", "as_of": "2022-01-01T00:00:00Z"}
    then = owner.post("/v1/recall", json=asked).json()
    assert [hit["episode"]["text"] for hit in then["hits"]] == ["Ana lives in Oslo."]


def test_no_tenant_reads_or_decides_about_the_facts_of_another(
    owner: Owner, stranger: Owner
) -> None:
    moved(owner)
    fact = places(owner)["oslo"]["id"]
    assert stranger.get("/v1/facts").json()["items"] == []
    assert stranger.get(f"/v1/facts/{fact}/history").status_code == 404
    refused = stranger.post(f"/v1/facts/{fact}/decisions", json={"ruling": "retract"})
    assert refused.status_code == 404
    made = owner.post(f"/v1/facts/{fact}/decisions", json={"ruling": "retract"}).json()
    assert stranger.post(f"/v1/decisions/{made['id']}/undo", json={}).status_code == 404


def test_what_cannot_be_of_a_time_is_refused(owner: Owner) -> None:
    wrong = OSLO | {"valid_from": "2021-01-01T00:00:00Z", "valid_to": "2020-01-01T00:00:00Z"}
    body = {"text": "It was.", "extraction": {"facts": [wrong]}}
    answer = owner.post("/v1/episodes", json=body)
    assert "must lie after" in problem(answer, 422, "invalid-input")["detail"]
    body["extraction"] = {"facts": [OSLO | {"reliability": 2.0}]}
    assert (
        "less than or equal to 1"
        in problem(owner.post("/v1/episodes", json=body), 422, "invalid-input")["detail"]
    )


def test_a_predicate_may_have_a_slash(owner: Owner, server: RunningService) -> None:
    with Client(server.url, owner.key) as client:
        chosen = client.facts.set_predicate_class("works at/for", PredicateClass.FUNCTIONAL)
        assert chosen.relation == "works at/for"
        own = {one.relation for one in client.facts.predicates() if one.own}
        assert own == {"works at/for"}
