"""Learning over HTTP: a switch of the tenant, behind answers that it does not change."""

import time

import pytest

from tests.acceptance.conftest import Owner, problem
from tests.acceptance.recalls import answered, lasting, report_of, traced

CUES = ("What do the bees make behind the mill?", "Who paints?", "What did the storm take?")


def state(owner: Owner) -> tuple[bool, int, int]:
    """Whether the tenant learns, and the numbers of recalls learned from and waiting."""
    settings, stats = owner.get("/v1/settings").json(), owner.get("/v1/stats").json()
    return settings["learning"]["on"], stats["recalls_learned"], stats["recalls_pending"]


def switch(owner: Owner, *, on: bool) -> None:
    answer = owner.patch("/v1/settings", json={"learning": {"on": on}})
    assert answer.json()["learning"] == {"on": on}, answer.text


def learned(owner: Owner, recalls: int) -> None:
    """Wait until so many recalls were learned from."""
    until = time.monotonic() + 60
    while (found := state(owner)[1:]) != (recalls, 0):
        assert time.monotonic() < until, found
        time.sleep(0.05)


def test_a_tenant_learns_when_it_is_told_to(chat: Owner, stranger: Owner) -> None:
    assert state(chat) == (False, 0, 0)
    alone = [answered(chat, cue) for cue in CUES]
    switch(chat, on=True)
    beside = [answered(chat, cue) for cue in CUES]
    assert [lasting(body) for body in beside] == [lasting(body) for body in alone]
    learned(chat, len(CUES))
    answered(chat, CUES[0], record=False)
    switch(chat, on=False)
    answered(chat, CUES[0])
    time.sleep(1.2)  # Traces are stored within half a second of an answer.
    assert state(chat) == (False, len(CUES), 0)
    assert state(stranger) == (False, 0, 0)


def test_the_shadow_is_not_learned_from(chat: Owner) -> None:
    chat.patch("/v1/settings", json={"trial": {"strategy": "synaptic", "share": 1.0}})
    switch(chat, on=True)
    for cue in CUES:
        answered(chat, cue)
        answered(chat, cue, record=False)
    assert report_of(chat, len(CUES))["report"]["compared"] == len(CUES)
    learned(chat, len(CUES))
    time.sleep(1.2)
    learned(chat, len(CUES))


def test_a_recall_that_only_looks_leaves_no_trace(chat: Owner) -> None:
    looked = answered(chat, CUES[0], record=False)
    assert lasting(looked) == lasting(answered(chat, CUES[0]))
    problem(chat.get(f"/v1/traces/{looked['trace_id']}"), 404, "not-found")
    traced(chat, 1)


@pytest.mark.parametrize("body", [{"on": 1}, {"on": "yes"}, {"on": True, "more": 1}])
def test_anything_but_on_and_off_is_refused(owner: Owner, body: dict[str, object]) -> None:
    problem(owner.patch("/v1/settings", json={"learning": body}), 422, "invalid-input")
    assert state(owner) == (False, 0, 0)


def test_feedback_is_taken_right_after_the_answer(chat: Owner) -> None:
    answer = answered(chat, CUES[0])
    first, second, _ = (hit["episode"]["id"] for hit in answer["hits"])
    path = f"/v1/traces/{answer['trace_id']}/feedback"
    asked = {"useful": [first], "not_useful": [second]}
    given = chat.post(path, json=asked)
    assert given.status_code == 200, given.text
    assert [(one["episode"], one["useful"]) for one in given.json()["episodes"]] == [
        (first, True), (second, False)
    ]  # fmt: skip
    assert given.json()["episodes"][0]["reliability"] == pytest.approx((4 * 0.7 + 1) / 5)
    assert given.json()["episodes"][0]["salience"] == pytest.approx(0.55)
    assert chat.post(path, json=asked).json() == given.json()
    trust = {hit["episode"]["id"]: hit["trust"] for hit in answered(chat, CUES[0])["hits"]}
    assert trust[first] == pytest.approx((4 * 0.7 + 1) / 5)
    assert trust[second] == pytest.approx(4 * 0.7 / 5)
    assert [trust[ident] for ident in trust if ident not in (first, second)] == [0.7]
    asked_so = {"cue": CUES[0], "strategy": "actr", "options": {"w_reliability": 1.0}}
    weighed = chat.post("/v1/recall", json={**asked_so, "record": False}).json()["hits"]
    changed = {hit["episode"]["id"]: hit["parts"]["reliability"] for hit in weighed}
    assert changed[first] == pytest.approx(0.06)
    assert changed[second] == pytest.approx(-0.14)
    assert {changed[ident] for ident in changed if ident not in (first, second)} == {0.0}
    shown = chat.get(f"/v1/episodes/{first}").json()
    assert shown["reliability"] == pytest.approx(trust[first])
    problem(chat.post(path, json={"useful": [second]}), 409, "conflict")
    problem(chat.post(path, json={}), 422, "invalid-input")
    problem(chat.post("/v1/traces/none/feedback", json=asked), 404, "not-found")
    assert state(chat) == (False, 0, 0)
