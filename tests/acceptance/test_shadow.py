"""A strategy on trial over HTTP: compared, promoted, rolled back, and never in the way."""

from typing import Any

import httpx
import pytest

from tests.acceptance.answers import figure
from tests.acceptance.conftest import Owner, RunningService, problem
from tests.acceptance.recalls import answered, lasting, report_of, traced

CUES = ("What do the bees make behind the mill?", "Who paints?", "What did the storm take?")
SYNAPSE = {"strategy": "synapse", "options": {"preset": "paper"}, "share": 1.0}


def tried(owner: Owner, trial: dict[str, Any] | None) -> httpx.Response:
    return owner.patch("/v1/settings", json={"trial": trial})


def ids(body: dict[str, Any]) -> list[str]:
    return [hit["episode"]["id"] for hit in body["hits"]]


def test_a_shadow_is_compared_and_changes_no_answer(chat: Owner) -> None:
    before = chat.get("/v1/strategies/trial").json()
    assert before == {
        "live": {"strategy": "ecphoria", "options": {}}, "promoted": [], "trial": None,
        "report": dict.fromkeys(before["report"])
        | dict.fromkeys(("compared", "dropped", "failed", "window"), 0),
    }  # fmt: skip
    alone = [answered(chat, cue) for cue in CUES]
    other = [answered(chat, cue, strategy="synapse", options=SYNAPSE["options"]) for cue in CUES]
    put = tried(chat, SYNAPSE)
    assert put.status_code == 200, put.text
    assert put.json()["trial"] == chat.get("/v1/strategies/trial").json()["trial"] == SYNAPSE
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
    traced(chat, 3 * len(CUES))  # live ones only


def test_a_report_begins_anew_and_a_trial_ends(chat: Owner) -> None:
    tried(chat, SYNAPSE)
    answered(chat, CUES[0])
    assert report_of(chat, 1)["report"]["compared"] == 1
    tried(chat, SYNAPSE)
    assert chat.get("/v1/strategies/trial").json()["report"]["compared"] == 0
    for _ in range(2):
        assert tried(chat, None).json()["trial"] is None
    answered(chat, CUES[0])
    found = chat.get("/v1/strategies/trial").json()
    assert (found["trial"], found["report"]["compared"]) == (None, 0)


def test_a_promotion_is_the_default_of_this_tenant_until_undone(
    chat: Owner, stranger: Owner
) -> None:
    tried(chat, SYNAPSE | {"share": 0.0})
    wanted = answered(chat, CUES[0], strategy="synapse", options=SYNAPSE["options"])
    promoted = chat.post("/v1/strategies/promotions").json()
    assert promoted["live"] == {"strategy": "synapse", "options": {"preset": "paper"}}
    assert promoted["promoted"] == [promoted["live"]]
    assert promoted["trial"] is None
    assert lasting(answered(chat, CUES[0])) == lasting(wanted)
    assert answered(chat, CUES[0], strategy="dense")["strategy"] == "dense"
    stranger.remember("I keep bees.")
    assert answered(stranger, "bees")["strategy"] == "ecphoria"
    problem(chat.post("/v1/strategies/promotions"), 409, "conflict")
    undone = chat.delete("/v1/strategies/promotions/latest").json()
    assert (undone["live"]["strategy"], undone["promoted"]) == ("ecphoria", [])
    assert answered(chat, CUES[0])["strategy"] == "ecphoria"
    problem(chat.delete("/v1/strategies/promotions/latest"), 409, "conflict")


def test_the_operator_sees_figures_without_names(chat: Owner, server: RunningService) -> None:
    before = httpx.get(f"{server.url}/metrics", timeout=60).text
    tried(chat, {"strategy": "lexical", "share": 1})
    answered(chat, CUES[1])
    report_of(chat, 1)
    after = httpx.get(f"{server.url}/metrics", timeout=60).text

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
    owner: Owner, change: dict[str, Any], code: str, told: str
) -> None:
    answer = tried(owner, {**SYNAPSE, **change})
    problem(answer, 422, code)
    assert told in answer.text
    assert owner.get("/v1/settings").json()["trial"] is None
