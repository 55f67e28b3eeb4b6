"""Commands of facts and merges, against a stub service."""

import json

from tests.unit.cli.conftest import Command, StubService


def fact(ident: str, city: str, *, valid: bool) -> dict[str, object]:
    return {
        "id": ident * 32, "subject": "ana", "predicate": "lives in", "object": city,
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


def test_the_predicates_are_listed(command: Command, service: StubService) -> None:
    found = {"relation": "lives in", "predicate_class": "functional", "own": False}
    service.routes["GET /v1/predicates"] = 200, {"items": [found]}
    assert command("facts", "predicates").out.splitlines()[1].split() == [
        "lives", "in", "functional", "default",
    ]  # fmt: skip
    assert json.loads(command("facts", "predicates", "--json").out) == found
