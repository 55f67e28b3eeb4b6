"""The command that shows engrams, against a service that answers as a test tells it."""

import json

from tests.unit.cli.conftest import Command, StubService

SESSION = {
    "id": "g1", "kind": "session", "session": "s [1]", "summary": "Ann: One.\nBen: [Two].",
    "members": 9, "evidence": ["e1", "e2"], "method": "extractive",
    "recorded_at": "2026-03-01T09:30:00Z",
}  # fmt: skip
CLUSTER = {**SESSION, "id": "g2", "kind": "cluster", "session": None, "summary": "Three."}


def paged(service: StubService) -> None:
    pages = iter([{"items": [SESSION], "next_cursor": "g1"}, {"items": [CLUSTER]}])
    service.routes["GET /v1/engrams"] = lambda _: (200, next(pages))


def test_engrams_are_shown_page_by_page(command: Command, service: StubService) -> None:
    paged(service)
    done = command("engrams")
    assert done.code == 0, done.err
    lines = [line.strip() for line in done.out.splitlines()]
    assert lines[0] == "session s [1]  9 memories, extractive, 2026-03-01 09:30"
    assert lines[1:3] == ["Ann: One.", "Ben: [Two]."]
    assert lines[3].startswith("cluster  9 memories")
    assert service.seen[1][1] == "/v1/engrams?cursor=g1&limit=100"


def test_they_may_be_json_and_of_a_kind(command: Command, service: StubService) -> None:
    paged(service)
    done = command("engrams", "--kind", "cluster", "--json")
    assert [json.loads(line)["id"] for line in done.out.splitlines()] == ["g1", "g2"]
    assert service.seen[0][1] == "/v1/engrams?kind=cluster&limit=100"
