"""The doctor's command, against a stub service."""

import json

from tests.unit.cli.conftest import Command, StubService

HEALTHY: dict[str, object] = {
    "is_healthy": True,
    "episodes": 1234,
    "settled": True,
    "seconds": 1.25,
    "findings": [],
    "warnings": [],
}
SICK = HEALTHY | {
    "is_healthy": False,
    "settled": False,
    "findings": [
        {
            "rule": "counts",
            "found": 3,
            "symptoms": [
                {"id": "items", "detail": "6 stored, 5 found"},
                {"id": "river", "detail": "near: 2 stored, 1 found"},
            ],
        }
    ],
}


def test_a_healthy_graph(command: Command, service: StubService) -> None:
    service.routes["GET /v1/doctor"] = 200, HEALTHY
    done = command("doctor")
    assert (done.code, done.out) == (0, "Healthy. 1,234 episodes looked at in 1.2 s\n")


def test_a_warning_is_no_fault(command: Command, service: StubService) -> None:
    warned = HEALTHY | {"warnings": ["9 of 9 texts are in languages that no [model] reads"]}
    service.routes["GET /v1/doctor"] = 200, warned
    done = command("doctor")
    assert done.code == 0
    assert done.out.startswith("Warning: 9 of 9 texts are in languages that no [model] reads\n")


def test_what_is_wrong_is_listed_and_ends_with_one(command: Command, service: StubService) -> None:
    service.routes["GET /v1/doctor"] = 200, SICK
    done = command("doctor")
    assert done.code == 1
    lines = [line.split() for line in done.out.splitlines()]
    assert ["counts", "items", "6", "stored,", "5", "found"] in lines
    assert ["and", "1", "more"] in lines
    assert "The memory was written to meanwhile; ask again." in done.out


def test_json_ends_with_one_too(command: Command, service: StubService) -> None:
    service.routes["GET /v1/doctor"] = 200, SICK
    done = command("doctor", "--json")
    assert done.code == 1
    assert json.loads(done.out) == SICK
