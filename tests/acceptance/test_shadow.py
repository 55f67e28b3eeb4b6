"""A strategy in the shadow over HTTP: compared, promoted, undone, and never in the way."""

import time
from typing import Any

import httpx
import pytest

from tests.acceptance.answers import figure
from tests.acceptance.conftest import Owner, RunningService, problem
from tests.acceptance.recalls import CHAT, answered, lasting, report_of

CUES = ("What do the bees make behind the mill?", "Who paints?", "What did the storm take?")
SYNAPSE = {"strategy": "synapse", "options": {"preset": "paper"}, "share": 1.0}


@pytest.fixture
def chat(owner: Owner) -> Owner:
    """An owner with a short conversation."""
    for place, text in enumerate(CHAT):
        owner.remember(text, speaker=("Ada", "Bo")[place % 2], session="s", position=place)
    return owner


def ids(body: dict[str, Any]) -> list[str]:
    return [hit["episode"]["id"] for hit in body["hits"]]


def test_a_shadow_is_compared_and_changes_no_answer(chat: Owner) -> None:
    assert chat.get("/v1/shadow").json() == {
        "live": {"strategy": "ecphoria", "options": {}}, "promoted": [], "shadow": None,
        "share": 0.0, "report": dict.fromkeys(chat.get("/v1/shadow").json()["report"])
        | dict.fromkeys(("compared", "dropped", "failed", "window"), 0),
    }  # fmt: skip
    alone = [answered(chat, cue) for cue in CUES]
    other = [answered(chat, cue, strategy="synapse", options=SYNAPSE["options"]) for cue in CUES]
    put = chat.put("/v1/shadow", json=SYNAPSE)
    assert put.status_code == 200, put.text
    assert put.json()["shadow"] == {"strategy": "synapse", "options": {"preset": "paper"}}
    beside = [answered(chat, cue) for cue in CUES]
    assert [lasting(body) for body in beside] == [lasting(body) for body in alone]
    report = report_of(chat, len(CUES))["report"]
    assert (report["compared"], report["dropped"], report["failed"]) == (len(CUES), 0, 0)
    pairs = [(ids(one), ids(two)) for one, two in zip(beside, other, strict=True)]
    overlaps = [len(set(a) & set(b)) / 3 for a, b in pairs]
    assert report["overlap"] == pytest.approx(sum(overlaps) / len(pairs))
    assert report["same_first"] == pytest.approx(sum(a[0] == b[0] for a, b in pairs) / 3)
    assert 0 < report["shadow_p50_ms"] <= report["shadow_p95_ms"]
    assert 0 < report["live_p50_ms"] <= report["live_p95_ms"]
    time.sleep(1.2)  # Traces are stored within half a second of an answer.
    assert chat.get("/v1/stats").json()["traces"] == 3 * len(CUES), "live ones only"


def test_a_report_begins_anew_and_a_shadow_ends(chat: Owner) -> None:
    chat.put("/v1/shadow", json=SYNAPSE)
    answered(chat, CUES[0])
    assert report_of(chat, 1)["report"]["compared"] == 1
    assert chat.delete("/v1/shadow/report").status_code == 204
    assert chat.get("/v1/shadow").json()["report"]["compared"] == 0
    for _ in range(2):
        assert chat.delete("/v1/shadow").status_code == 204
    answered(chat, CUES[0])
    found = chat.get("/v1/shadow").json()
    assert (found["shadow"], found["report"]["compared"]) == (None, 0)


def test_a_promotion_is_the_default_of_this_tenant_until_undone(
    chat: Owner, stranger: Owner
) -> None:
    chat.put("/v1/shadow", json=SYNAPSE | {"share": 0.0})
    wanted = answered(chat, CUES[0], strategy="synapse", options=SYNAPSE["options"])
    promoted = chat.post("/v1/promotion").json()
    assert promoted["live"] == {"strategy": "synapse", "options": {"preset": "paper"}}
    assert promoted["promoted"] == [promoted["live"]]
    assert promoted["shadow"] is None
    assert lasting(answered(chat, CUES[0])) == lasting(wanted)
    assert answered(chat, CUES[0], strategy="dense")["strategy"] == "dense"
    stranger.remember("I keep bees.")
    assert answered(stranger, "bees")["strategy"] == "ecphoria"
    problem(chat.post("/v1/promotion"), 409, "conflict")
    undone = chat.delete("/v1/promotion").json()
    assert (undone["live"]["strategy"], undone["promoted"]) == ("ecphoria", [])
    assert answered(chat, CUES[0])["strategy"] == "ecphoria"
    problem(chat.delete("/v1/promotion"), 409, "conflict")


def test_the_operator_sees_figures_without_names(chat: Owner, server: RunningService) -> None:
    before = httpx.get(f"{server.url}/metrics").text
    chat.put("/v1/shadow", json={"strategy": "lexical", "share": 1})
    answered(chat, CUES[1])
    report_of(chat, 1)
    after = httpx.get(f"{server.url}/metrics").text

    def grown(name: str, **labels: str) -> float:
        return figure(after, name, **labels) - figure(before, name, **labels)

    assert grown("ecphoria_shadows_total", strategy="lexical", outcome="compared") == 1
    assert grown("ecphoria_shadow_overlap_count", strategy="lexical") == 1
    for side in ("live", "shadow"):
        assert grown("ecphoria_shadow_seconds_count", strategy="lexical", side=side) == 1
    assert grown("ecphoria_recalls_total", strategy="lexical") == 0
    assert chat.name not in after


@pytest.mark.parametrize(
    ("change", "code", "told"),
    [
        ({"strategy": "luck"}, "unknown-strategy", "choose from"),
        ({"options": {"preset": "lucky"}}, "invalid-input", "no preset"),
        ({"options": {"alpha": 99.0}}, "invalid-input", "alpha"),
        ({"options": {"luck": 1}}, "invalid-input", "no option"),
        ({"share": 1.5}, "invalid-input", "share"),
        ({"surprise": 1}, "invalid-input", "no such field"),
    ],
)
def test_what_cannot_run_is_refused(
    owner: Owner, change: dict[str, object], code: str, told: str
) -> None:
    answer = owner.put("/v1/shadow", json={**SYNAPSE, **change})
    problem(answer, 422, code)
    assert told in answer.text
    assert owner.get("/v1/shadow").json()["shadow"] is None
