"""The reader orders the first turns: with `rerank` always, by itself where scores are close."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ecphoria.recall import default
from ecphoria.settings import RecallSettings
from tests.acceptance.conftest import Owner, new_owner, running, settings_for
from tests.conftest import Server

CUE = "Where did Anna put the key of the shed?"
TOLD = (
    ("Bob", "The key of the shed and the shed of Anna are old."),
    ("Bob", "Anna has the key of the car."),
    ("Bob", "We had pasta with Anna."),
    ("Bob", "On the hook behind the door hangs the key."),
)


def tell(owner: Owner, **more: Any) -> list[str]:
    return [
        owner.remember(text, speaker=speaker, session="garden", **more) for speaker, text in TOLD
    ]


def recall(owner: Owner, **body: object) -> dict[str, Any]:
    answer = owner.post("/v1/recall", json={"cue": CUE, **body})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def scores(told: dict[str, Any]) -> list[float]:
    return [hit["score"] for hit in told["hits"]]


def test_the_turn_that_holds_the_answer_moves_up_and_the_places_keep_their_scores(
    owner: Owner,
) -> None:
    ids = tell(owner)
    plain, read = recall(owner, rerank=False), recall(owner, rerank=True)

    def place(told: dict[str, Any]) -> int:
        return [hit["episode"]["id"] for hit in told["hits"]].index(ids[3])

    assert place(read) < place(plain)
    assert scores(read) == pytest.approx(scores(plain), abs=1e-9)
    for hit in read["hits"]:
        assert sum(hit["parts"].values()) == pytest.approx(hit["score"], abs=1e-9)
    assert "reader" not in plain["hits"][0]["parts"]
    assert "rerank" not in plain["timings_ms"]
    assert read["timings_ms"]["rerank"] > 0.0


def test_an_answer_is_surer(owner: Owner) -> None:
    owner.remember("The shed needs a new key, Anna.", speaker="Bob", session="garden")
    owner.remember(
        "I hid it on the hook behind the door, the key of the shed.",
        speaker="Anna",
        session="garden",
    )
    plain, read = recall(owner, rerank=False), recall(owner, rerank=True)
    assert plain["evidence"]["reader"] == 0.0
    assert read["evidence"]["reader"] > 1.0
    assert read["confidence"] > plain["confidence"]


def test_a_question_whose_detail_is_missing_is_less_sure(owner: Owner) -> None:
    tell(owner)
    cue = "What did Anna pay for the shed?"
    plain, read = recall(owner, cue=cue, rerank=False), recall(owner, cue=cue, rerank=True)
    assert read["evidence"]["reader"] < 0.0
    assert read["confidence"] < plain["confidence"]


def test_documents_keep_their_order(owner: Owner) -> None:
    tell(owner, title="The shed")
    plain, read = recall(owner, rerank=False), recall(owner, rerank=True)
    assert [hit["episode"]["id"] for hit in read["hits"]] == [
        hit["episode"]["id"] for hit in plain["hits"]
    ]
    assert read["evidence"]["reader"] == 0.0
    assert read["confidence"] == plain["confidence"]


def test_an_outdated_turn_stays_below_the_newer_one(owner: Owner) -> None:
    old = owner.remember(
        "My rent is 800 euros.", speaker="Ana", session="a", occurred_at="2025-01-10T10:00Z"
    )
    new = owner.remember(
        "The landlord raised my rent to 950 euros.",
        speaker="Ana",
        session="b",
        occurred_at="2025-06-10T10:00Z",
    )
    read = recall(owner, cue="How much is my rent?", asker="Ana", rerank=True)
    assert [hit["episode"]["id"] for hit in read["hits"]] == [new, old]


def test_a_cue_without_words_is_recalled_without_the_reader(owner: Owner) -> None:
    tell(owner)
    vector = [1.0, *[0.0] * 383]
    answer = owner.post("/v1/recall", json={"vector": vector, "rerank": True})
    assert answer.status_code == 200, answer.text
    assert answer.json()["evidence"]["reader"] == 0.0


CLOSE = "Which bus goes to the harbour?"
LIKE = ("The bus to the harbour goes and goes.", "Take number nine, that bus goes to the harbour.")


OTHERS = (
    "On a hook hangs the brass key.",
    "Where is the ladder? Carla left the ladder.",
    "The ladder is in the barn, Carla says.",
    "The fence must be repaired.",
    "Carla repaired all, the fence too.",
    "Tom only has tea to drink.",
)


def tell_alike(owner: Owner) -> None:
    for text in (*LIKE, *OTHERS):
        owner.remember(text, speaker="Bob", session="town")


def test_the_reader_decides_between_close_scores_and_the_gate_does_not_change(
    owner: Owner,
) -> None:
    tell_alike(owner)
    plain, own = recall(owner, cue=CLOSE, rerank=False), recall(owner, cue=CLOSE)
    first, second = scores(plain)[:2]
    assert first - second < 0.1 * first
    assert [hit["episode"]["text"] for hit in plain["hits"][:2]] == list(LIKE)
    assert [hit["episode"]["text"] for hit in own["hits"][:2]] == list(reversed(LIKE))
    assert own["hits"] == recall(owner, cue=CLOSE, rerank=True)["hits"]
    assert own["evidence"] == plain["evidence"]
    assert own["confidence"] == plain["confidence"]
    trace = owner.get(f"/v1/traces/{own['trace_id']}").json()
    assert trace["rerank"] is None
    assert trace["hits"][0]["parts"]["reader"] == own["hits"][0]["parts"]["reader"]


@pytest.mark.parametrize(
    "body", [{"options": {"reader_gap": 0.0}}, {"strategy": "fusion"}, {"strategy": "synapse"}]
)
def test_without_the_option_nothing_is_read(owner: Owner, body: dict[str, object]) -> None:
    tell_alike(owner)
    assert "rerank" not in recall(owner, cue=CLOSE, **body)["timings_ms"]


def test_in_a_larger_store_nothing_is_read(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    tell_alike(owner)
    assert "rerank" in recall(owner, cue=CLOSE)["timings_ms"]
    monkeypatch.setattr(default, "_SMALL", 1)
    assert "rerank" not in recall(owner, cue=CLOSE)["timings_ms"]


@contextmanager
def owner_of(store: Server, home: Path, *, rerank: bool) -> Iterator[Owner]:
    """Be the owner of a tenant of a service with this setting."""
    settings = settings_for(store, home, recall=RecallSettings(rerank=rerank))
    with (
        running(settings) as service,
        service.operator() as operator,
        new_owner(operator) as owner,
    ):
        yield owner


def test_a_service_may_read_every_recall_that_does_not_say(
    neo4j_server: Server, tmp_path: Path
) -> None:
    with owner_of(neo4j_server, tmp_path, rerank=True) as owner:
        tell(owner)
        assert recall(owner)["evidence"]["reader"] != 0.0
        trace = recall(owner)["trace_id"]
        assert owner.get(f"/v1/traces/{trace}").json()["rerank"]
        assert recall(owner, rerank=False)["evidence"]["reader"] == 0.0


def test_a_service_may_read_nothing(neo4j_server: Server, tmp_path: Path) -> None:
    with owner_of(neo4j_server, tmp_path, rerank=False) as owner:
        tell_alike(owner)
        assert "rerank" not in recall(owner, cue=CLOSE)["timings_ms"]
