"""A tenant's own gate over HTTP."""

import pytest

from ecphoria.records.tenant import LEAST_RECALLS, SHIPPED
from tests.acceptance.conftest import Owner, problem
from tests.acceptance.recalls import traced

STRICT = {"weights": {"share": 0.0}, "bias": -3.0, "threshold": 0.9, "verify_below": 0.9}


def test_a_gate_is_put_used_shown_and_dropped(owner: Owner) -> None:
    owner.remember("I keep bees behind the mill.", speaker="Ada", session="s")
    shipped = owner.get("/v1/settings").json()
    assert "gate" not in shipped["own"]
    assert shipped["gate"] == {
        "weights": SHIPPED.weights, "bias": SHIPPED.bias, "fit": None,
        "threshold": SHIPPED.threshold, "verify_below": SHIPPED.verify_below,
    }  # fmt: skip
    cue = {"cue": "What does Ada keep behind the mill?"}
    before = owner.post("/v1/recall", json=cue).json()
    assert before["answerable"] is True
    assert before["judged_by"] == {
        "gate": "shipped", "threshold": SHIPPED.threshold, "verify_below": SHIPPED.verify_below,
    }  # fmt: skip
    fit = {
        "questions": 30, "unanswerable": 10, "auroc": 0.8, "refused": 0.4, "false_refusals": 0.02,
        "data_sha256": "0" * 64, "fitted_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    put = owner.patch("/v1/settings", json={"gate": {**STRICT, "fit": fit}})
    assert put.status_code == 200, put.text
    assert owner.get("/v1/settings").json() == put.json()
    assert (put.json()["gate"], put.json()["own"]) == ({**STRICT, "fit": fit}, ["gate"])
    judged = owner.post("/v1/recall", json=cue).json()
    assert (judged["verdict"], judged["judged_by"]["gate"]) == ("refuse", "own")
    assert judged["evidence"] == before["evidence"]
    for _ in range(2):
        reset = owner.patch("/v1/settings", json={"gate": None}).json()
        assert (reset["gate"], reset["own"]) == (shipped["gate"], [])
    after = owner.post("/v1/recall", json=cue).json()
    assert after["confidence"] == before["confidence"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"weights": {"luck": 1.0}}, "There is no evidence `luck`"),
        ({"weights": {}}, "weights"),
        ({"weights": {"share": "much"}}, "number"),
        ({"weights": {"share": 1e9}}, "1000000"),
        ({"threshold": 0.95}, "verify_below"),
        ({"threshold": -0.1}, "threshold"),
        ({"bias": None}, "bias"),
        ({"surprise": 1}, "There is no such field"),
    ],
)
def test_what_is_no_gate_is_refused(owner: Owner, change: dict[str, object], told: str) -> None:
    answer = owner.patch("/v1/settings", json={"gate": {**STRICT, **change}})
    problem(answer, 422, "invalid-input")
    assert told in answer.text
    assert owner.get("/v1/settings").json()["own"] == []


def test_among_two_memories_the_word_of_another_speaker_refuses_nothing(owner: Owner) -> None:
    owner.remember("I moved to Lisbon in March.", speaker="Ana", session="s")
    owner.remember("I still live in Ghent.", speaker="Ben", session="s")
    near = owner.post("/v1/recall", json={"cue": "Where does Ana live now?"}).json()
    assert near["verdict"] == "verify", near["evidence"]
    assert -0.1 <= near["evidence"]["coverage"] <= 0.0 <= near["evidence"]["unsaid"] <= 0.1
    far = owner.post("/v1/recall", json={"cue": "What does Ana eat?"}).json()
    assert far["verdict"] == "refuse", far["evidence"]


def test_a_confidence_has_four_decimal_places(owner: Owner) -> None:
    owner.remember("I moved to Lisbon in March.", speaker="Ana", session="s")
    for cue in ("Where does Ana live now?", "Where did Ana move?", "Who moved to Lisbon?"):
        sure = owner.post("/v1/recall", json={"cue": cue}).json()["confidence"]
        assert sure == round(sure, 4)


def test_the_scale_learns_from_questions_and_not_from_chatter(owner: Owner) -> None:
    for number, text in enumerate(("Ada keeps bees behind the mill.", "The mill has a red door.")):
        owner.remember(
            text, speaker="Ada", session="s", occurred_at=f"2026-01-0{number + 1}T00:00Z"
        )
    chatter = ("go on", "x", "ok, thanks", "yes please", "perfect", "hmm")
    for cue in 3 * chatter:
        owner.recalled(cue)
    traced(owner, 3 * len(chatter))
    assert owner.get("/v1/stats").json()["scale"] is None
    for _ in range(LEAST_RECALLS):
        owner.recalled("What does Ada keep behind the mill?")
    traced(owner, 3 * len(chatter) + LEAST_RECALLS)
    assert owner.get("/v1/stats").json()["scale"]["recalls"] == LEAST_RECALLS
