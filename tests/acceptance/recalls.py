"""Recalls, and the report that compares two strategies."""

import json
import time
from typing import Any

from tests.acceptance.conftest import Owner


def answered(owner: Owner, cue: str, **asked: object) -> dict[str, Any]:
    answer = owner.post("/v1/recall", json={"cue": cue, "k": 3, **asked})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def lasting(body: dict[str, Any]) -> str:
    """What must not change from one recall to the same recall."""
    moving = {"timings_ms", "trace_id"}
    return json.dumps({name: value for name, value in body.items() if name not in moving})


def traced(owner: Owner, traces: int) -> None:
    """Wait until there are so many traces, a moment behind their answers, and no more."""
    until = time.monotonic() + 60
    while owner.get("/v1/stats").json()["traces"] < traces:
        assert time.monotonic() < until
        time.sleep(0.05)
    time.sleep(1.2)  # Traces are stored within half a second of an answer.
    assert owner.get("/v1/stats").json()["traces"] == traces


def report_of(owner: Owner, compared: int) -> dict[str, Any]:
    """Wait until so many were compared."""
    until = time.monotonic() + 60
    while True:
        found: dict[str, Any] = owner.get("/v1/strategies/trial").json()
        if found["report"]["compared"] >= compared or time.monotonic() > until:
            return found
        time.sleep(0.05)
