"""Commands of facts and merges, against a stub service."""

import json

import pytest

from tests.unit.cli.conftest import Command, StubService


def fact(ident: str, city: str, *, valid: bool) -> dict[str, object]:
    return {
        "id": ident * 32, "subject": "ana", "predicate": "lives in", "object": city,
        "subject_name": "Ana", "object_name": city.title(),
        "qualifier": "", "polarity": "positive", "predicate_class": "functional",
        "standing": "held", "valid": valid, "evidence": 0.9, "confidence": 0.9, "episodes": ["e"],
        "intervals": [{"valid_from": "2025-09-01T00:00:00Z", "valid_to": None}],
    }  # fmt: skip


def test_facts_of_a_time_are_those_that_held(command: Command, service: StubService) -> None:
    found = [fact("a", "bristol", valid=True), fact("b", "bath", valid=False)]
    service.routes["GET /v1/facts"] = 200, {"items": found}
    at = ("--as-of", "2025-03-01T00:00:00Z")
    listed = command("facts", "list", *at, "--json").out.splitlines()
    assert [json.loads(line)["object"] for line in listed] == ["bristol"]
    for words in ((), (*at, "--all")):
        told = command("facts", "list", *words).out.splitlines()
        assert [line.split()[-1] for line in told] == ["a" * 32, "b" * 32], "ids are whole"
    service.routes["GET /v1/facts"] = 200, {"items": []}
    assert command("facts", "list").out == "There are no such facts.\n"
    service.routes["GET /v1/merges"] = 200, {"items": []}
    assert command("facts", "merges").out == "There are no such merges.\n"


MERGE = {
    "one": "ana", "other": "ana berg", "kind": "name", "cosine": 0.9, "status": "accepted",
    "reason": "one ends the other",
}  # fmt: skip


@pytest.mark.parametrize(
    ("option", "status"),
    [((), "accepted"), (("--reject",), "rejected"), (("--undo",), "proposed")],
)
def test_a_merge_is_decided_by_its_names(
    command: Command, service: StubService, option: tuple[str, ...], status: str
) -> None:
    service.routes["PUT /v1/merges"] = 200, MERGE
    done = command("facts", "merges", "ana", "ana berg", *option)
    assert (done.code, done.out.split()[0]) == (0, "accepted"), done.err
    assert service.seen[-1][2] == {"one": "ana", "other": "ana berg", "status": status}


@pytest.mark.parametrize(
    "words",
    [
        ("--undo",),
        ("ana",),
        ("ana", "bo", "--undo", "--reject"),
        ("a", "b", "c"),
        ("ana", "bo", "--status", "rejected"),
    ],
)
def test_a_merge_has_two_names_and_one_verdict(command: Command, words: tuple[str, ...]) -> None:
    assert command("facts", "merges", *words).code == 2


def test_without_an_id_the_newest_traces_are_listed(
    command: Command, service: StubService
) -> None:
    found = {
        "id": "t" * 32, "cue": "Who?", "strategy": "dense", "created_at": "2026-01-01T00:00:00Z",
        "verdict": "answer", "confidence": 0.5, "first_label": "Ana: I",
    }  # fmt: skip
    service.routes["GET /v1/traces"] = 200, {"items": [found]}
    done = command("trace", "--verdict", "answer", "-n", "7")
    assert done.out.splitlines()[0].split() == [
        "t" * 32, "2026-01-01", "00:00", "answer", "0.50", "Who?", "Ana:", "I",
    ]  # fmt: skip
    assert service.seen[-1][1] == "/v1/traces?verdict=answer&limit=7"
    assert command("trace", "t1", "--verdict", "answer").code == 2


def test_the_predicates_are_listed(command: Command, service: StubService) -> None:
    found = {"relation": "lives in", "predicate_class": "functional", "own": False}
    service.routes["GET /v1/predicates"] = 200, {"items": [found]}
    assert command("facts", "predicates").out.splitlines()[1].split() == [
        "lives", "in", "functional", "default",
    ]  # fmt: skip
    assert json.loads(command("facts", "predicates", "--json").out) == found
