"""Lists on a terminal of 80 columns: an id is whole there too, because commands take it whole."""

import re

import pytest

from tests.unit.cli.answers import episode
from tests.unit.cli.conftest import MOMENT, Command, StubService, job

ID = "0123456789abcdef" * 2
LONG = "A very long name of something that the user told the assistant at length"
LISTS: dict[str, tuple[str, dict[str, object]]] = {
    "trace": ("/v1/traces", {
        "id": ID, "cue": LONG, "strategy": "dense", "created_at": MOMENT, "verdict": "answer",
        "confidence": 0.5, "first_label": f"Ana: {LONG}",
    }),
    "concepts": ("/v1/concepts", {
        "id": ID, "name": LONG, "normalised": LONG.lower(), "mentions": 1_000_000,
        "first_occurred_at": MOMENT, "last_occurred_at": MOMENT,
    }),
    "jobs list": ("/v1/jobs", job(id=ID)),
    "tenants list": ("/v1/tenants", {"id": ID, "name": LONG, "created_at": MOMENT}),
    "keys list": ("/v1/keys", {
        "id": ID, "name": LONG, "prefix": "2a9531eb", "scopes": ["read", "write", "admin"],
        "created_at": MOMENT,
    }),
    "list": ("/v1/episodes", episode("a", LONG) | {"id": ID}),
}  # fmt: skip


BELOW: dict[str, tuple[dict[str, object], str, str]] = {
    "jobs list": (
        {"state": "dead", "attempts": 3, "fault": {"code": "x", "message": LONG * 2}},
        f"{ID}  consolidation  dead  2026-03-01 09:30",
        f"  asked by request, attempts 3, {LONG[:20]}",
    ),
    "keys list": (
        {}, f"{ID}  2a9531eb  2026-03-01  {LONG[:20]}", "  scopes read write admin",
    ),
}  # fmt: skip
"""Further fields of an entry, and the starts of its two lines."""


@pytest.mark.parametrize("words", LISTS)
def test_ids_are_whole_on_a_narrow_terminal(
    command: Command, service: StubService, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    path, item = LISTS[words]
    service.routes[f"GET {path}"] = 200, {"items": [item]}
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    done = command(*words.split())
    lines = re.sub(r"\x1b\[[0-9;]*m", "", done.out).splitlines()
    assert done.code == 0, done.err
    assert any(ID in line for line in lines), lines
    assert max(map(len, lines)) <= 80


def test_a_trace_on_a_terminal_has_its_question_and_its_first_hit_below(
    command: Command, service: StubService, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, item = LISTS["trace"]
    service.routes[f"GET {path}"] = 200, {"items": [item | {"cue": "Who?"}]}
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    lines = re.sub(r"\x1b\[[0-9;]*m", "", command("trace").out).splitlines()
    assert lines[0] == f"{ID}  2026-03-01 09:30  answer 0.50"
    assert lines[1] == "  Who?"
    assert lines[2].startswith("  → Ana: A very long name")
    assert lines[2].endswith("…")


@pytest.mark.parametrize("words", BELOW)
def test_an_entry_on_a_terminal_has_its_further_values_below(
    command: Command, service: StubService, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    path, item = LISTS[words]
    service.routes[f"GET {path}"] = 200, {"items": [item | BELOW[words][0]]}
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    lines = re.sub(r"\x1b\[[0-9;]*m", "", command(*words.split()).out).splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(BELOW[words][1])
    assert lines[1].startswith(BELOW[words][2])


@pytest.mark.parametrize("words", ["list", "trace", "concepts", "jobs list"])
def test_a_limit_has_one_name(command: Command, service: StubService, words: str) -> None:
    path, item = LISTS[words]
    service.routes[f"GET {path}"] = 200, {"items": [item]}
    for name in ("--limit", "-n"):
        assert command(*words.split(), name, "7").code == 0
        assert "limit=7" in service.seen[-1][1]
