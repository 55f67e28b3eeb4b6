"""A misspelt word of a cue finds the memories that it means, and the answer says so."""

from typing import Any

import pytest

from tests.acceptance.conftest import Owner


def recall(owner: Owner, cue: str, **body: object) -> dict[str, Any]:
    answer = owner.post("/v1/recall", json={"cue": cue, "record": False, **body})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


@pytest.fixture
def told(owner: Owner) -> Owner:
    for number, text in enumerate((
        "Caroline went to a pottery workshop in Bremen.",
        "The release of Gullwing is planned for May.",
        "We had soup for lunch.",
        "The train was late again.",
    )):  # fmt: skip
        owner.remember(text, session="s", speaker=("Melanie", "Tom")[number % 2])
    return owner


@pytest.mark.parametrize(
    ("wrong", "right", "reason"),
    [
        ("Where was the potery workshop?", "Where was the pottery workshop?",
         "no memory has the word potery: read as pottery"),
        ("When is Gulwing released?", "When is Gullwing released?",
         "no memory has the word Gulwing: read as Gullwing"),
        ("What did Melnie say of a workshop?", "What did Melanie say of a workshop?",
         "no memory has the word Melnie: read as Melanie"),
    ],
)  # fmt: skip
def test_a_misspelt_cue_has_the_answer_of_the_right_one(
    told: Owner, wrong: str, right: str, reason: str
) -> None:
    meant, answer = recall(told, right), recall(told, wrong)
    for name in ("verdict", "confidence", "context", "evidence"):
        assert answer[name] == meant[name]
    assert [hit["score"] for hit in answer["hits"]] == [hit["score"] for hit in meant["hits"]]
    assert answer["reasons"] == [reason, *meant["reasons"]]


def test_the_trace_keeps_the_cue_as_sent_and_no_stored_word(told: Owner) -> None:
    answer = recall(told, "When is Gulwing released?", record=True)
    trace = told.get(f"/v1/traces/{answer['trace_id']}").json()
    assert trace["cue"] == "When is Gulwing released?"
    assert trace["reasons"][0] == "no memory has the word Gulwing"
    assert not any("Gullwing" in reason for reason in trace["reasons"])


@pytest.mark.parametrize("match", ["all", "phrase"])
def test_required_words_are_sought_as_written(told: Owner, match: str) -> None:
    assert recall(told, "potery", match=match)["hits"] == []


def test_a_word_that_no_memory_has_stays_as_it_is(told: Owner) -> None:
    answer = recall(told, "Where is the harbor of Qzzzxv?")
    assert not any("read as" in reason for reason in answer["reasons"])


@pytest.mark.parametrize(
    ("wrong", "right", "written", "meant"),
    [
        ("Where was the potery workshop?", "Where was the pottery workshop?",
         "potery", "pottery"),
        ("When is Gulwing released?", "When is Gullwing released?", "Gulwing", "Gullwing"),
    ],
)  # fmt: skip
def test_a_word_that_only_the_stored_question_has_is_misspelt_too(
    told: Owner, wrong: str, right: str, written: str, meant: str
) -> None:
    told.remember(wrong, session="later", role="user")
    told.remember("I don't know.", session="later", role="assistant")
    meant_answer, answer = recall(told, right), recall(told, wrong)
    assert f"no memory has the word {written}: read as {meant}" in answer["reasons"]
    for name in ("verdict", "confidence"):
        assert answer[name] == meant_answer[name]
    best, right_best = answer["hits"][0], meant_answer["hits"][0]
    assert (best["episode"]["id"], best["score"]) == (
        right_best["episode"]["id"],
        right_best["score"],
    )


def test_a_word_that_another_memory_has_stays_as_it_is(told: Owner) -> None:
    told.remember("Where was the potery workshop?", session="later", role="user")
    told.remember("The shop is called Potery.", session="later", speaker="Tom")
    answer = recall(told, "Where was the potery workshop?")
    assert not any("read as" in reason for reason in answer["reasons"])


def test_what_was_erased_is_no_longer_meant(told: Owner) -> None:
    for episode in told.get("/v1/episodes").json()["items"]:
        if "Gullwing" in episode["text"]:
            assert told.delete(f"/v1/episodes/{episode['id']}").status_code in {200, 204}
    answer = recall(told, "When is Gulwing released?")
    assert "Gullwing" not in str(answer)
