"""The commands of consolidation and jobs, against a service that answers as a test tells it."""

import json
from collections.abc import Iterator

from tests.unit.cli.conftest import MOMENT, Answer, Command, StubService, job

STEP = {
    "name": "prior", "status": "done", "seconds": 1.25, "counts": {"episodes": 1234},
    "changes": [{"kind": "link", "id": "e1", "detail": "Ana [to] Ben"}], "reason": "",
}  # fmt: skip
REPORT = {"cycle": "c1", "started_at": MOMENT, "seconds": 2.5, "steps": [STEP]}
SIZES = {
    "before": {"turn": 9, "nodes": {"Episode": 9}, "edges": {"NEXT": 8}, "faulty_edges": 0},
    "after": {
        "turn": 1234, "nodes": {"Episode": 9, "Engram": 2}, "edges": {"NEXT": 7},
        "faulty_edges": 3,
    },
    "degrees": {"SIMILAR": {"p50": 1, "p90": 4, "p99": 12, "most": 15}},
    "gaps": [{"refused": 4, "traces": ["t9", "t8"]}],
}  # fmt: skip
FAULT = {"code": "store-unavailable", "message": "Neo4j does not answer."}


def ending(service: StubService, **end: object) -> None:
    """Queue a job that runs when it is first asked for, and ends the next time."""
    running = job(state="running", progress={"place": "prior: begin", "done": 0, "total": 1})
    answers: Iterator[Answer] = iter([(200, running), (200, job(**end))])
    service.routes["POST /v1/consolidation"] = 202, job()
    service.routes["GET /v1/jobs/j1"] = lambda _: next(answers)


def test_a_cycle_is_waited_for_and_told(command: Command, service: StubService) -> None:
    ending(service, state="done", report=REPORT)
    done = command("consolidate", "--step", "prior")
    assert done.code == 0, done.err
    for part in ("prior", "1.2 s", "episodes 1,234", "cycle c1, 2.5 s"):
        assert part in done.out, part
    assert "would" not in done.out
    assert service.seen[0][2] == {"steps": ["prior"]}


def test_an_extraction_of_all_episodes_begins_with_a_reset(
    command: Command, service: StubService
) -> None:
    ending(service, state="done", report=REPORT)
    service.routes["POST /v1/extraction/reset"] = 204, None
    done = command("consolidate", "--step", "extract", "--again")
    assert done.code == 0, done.err
    assert [path for _, path, _ in service.seen[:2]] == [
        "/v1/extraction/reset", "/v1/consolidation",
    ]  # fmt: skip
    for words in ("--again", "--again --step prior", "--again --step extract --dry-run"):
        assert command("consolidate", *words.split()).code == 2


def test_what_became_of_the_graph_is_told(command: Command, service: StubService) -> None:
    lesser = {**STEP, "degraded": ["nobody to ask"]}
    ending(service, state="done", report={**REPORT, **SIZES, "steps": [lesser]})
    said = " ".join(command("consolidate").out.split())
    for part in (
        "episodes 1,234; nobody to ask",
        "graph at turn 1,234: Engram +2, NEXT -1",
        "faulty 3 edges",
        "SIMILAR: half 1, 90 % up to 4, 99 % up to 12, at most 15",
        "refused 4 times, the last as t9",
    ):
        assert part in said, part


def test_a_dry_run_prints_what_would_change(command: Command, service: StubService) -> None:
    ending(service, state="done", report=REPORT)
    done = command("consolidate", "--dry-run")
    assert done.code == 0, done.err
    (line,) = [line for line in done.out.splitlines() if "e1" in line]
    assert line.split() == ["prior", "link", "e1", "Ana", "[to]", "Ben"]
    assert "nothing was written" in done.out
    assert service.seen[0][2] == {"dry_run": True}


def test_the_answer_may_be_json(command: Command, service: StubService) -> None:
    ending(service, state="done", report=REPORT)
    told = json.loads(command("consolidate", "--json").out)
    assert (told["cycle"], told["steps"][0]["changes"][0]["id"]) == ("c1", "e1")


def test_nobody_need_wait(command: Command, service: StubService) -> None:
    service.routes["POST /v1/consolidation"] = 202, job()
    assert command("consolidate", "--no-wait").out == "j1\n"
    assert len(service.seen) == 1


def test_a_job_that_dies_is_told_with_its_fault(command: Command, service: StubService) -> None:
    ending(service, state="dead", attempts=5, fault=FAULT)
    done = command("consolidate")
    assert done.code == 1
    assert "Neo4j does not answer." in done.err


def test_a_cancelled_job_is_told(command: Command, service: StubService) -> None:
    ending(service, state="cancelled")
    done = command("consolidate")
    assert done.code == 1
    assert "was cancelled" in done.err


def test_who_waits_too_long_learns_that_no_worker_came(
    command: Command, service: StubService
) -> None:
    service.routes["POST /v1/consolidation"] = 202, job()
    service.routes["GET /v1/jobs/j1"] = 200, job()
    done = command("consolidate", "--timeout", "1")
    assert done.code == 1
    assert "ecphoria worker" in " ".join(done.err.split())


def test_jobs_are_listed_shown_cancelled_and_retried(
    command: Command, service: StubService
) -> None:
    running = job(state="running", progress={"place": "prior: begin", "done": 1, "total": 3})
    dead = job(id="j2", state="dead", attempts=5, fault=FAULT)
    service.routes["GET /v1/jobs"] = 200, {"items": [running, dead]}
    listed = command("jobs", "list", "--limit", "7").out
    assert "1 of 3 steps, prior: begin" in listed
    assert "Neo4j does not answer." in listed
    assert service.seen[-1][1] == "/v1/jobs?limit=7"
    command("jobs", "list", "--state", "dead")
    assert service.seen[-1][1] == "/v1/jobs?state=dead&limit=20"
    service.routes["GET /v1/jobs/j1"] = 200, job(state="done", report=REPORT)
    assert "episodes 1,234" in command("jobs", "show", "j1").out
    service.routes["POST /v1/jobs/j1/cancel"] = 200, job(state="running", cancelling=True)
    assert "ends at the next place" in command("jobs", "cancel", "j1").out
    service.routes["POST /v1/jobs/j2/retry"] = 202, job(id="j2")
    assert "queued" in command("jobs", "retry", "j2").out
