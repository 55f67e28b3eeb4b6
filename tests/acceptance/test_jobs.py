"""Consolidation as a job: asked for, followed, reported, cancelled, retried."""

import time
from collections.abc import Iterator

import httpx
import pytest

from ecphoria.settings import JobsSettings
from tests.acceptance.answers import ended, figure
from tests.acceptance.conftest import (
    Owner,
    RunningService,
    new_owner,
    problem,
    running,
    settings_for,
)
from tests.conftest import Server


# First what needs a job that nobody takes: later there is a worker.
def test_an_unknown_step_is_refused_with_the_known(owner: Owner) -> None:
    told = problem(
        owner.post("/v1/consolidation", json={"steps": ["prior", "magic"]}), 422, "invalid-input"
    )
    assert "no step magic" in told["detail"]
    assert "prior" in told["detail"]
    assert owner.get("/v1/jobs").json()["items"] == []


def test_a_job_nobody_took_is_joined_cancelled_and_retried(owner: Owner) -> None:
    first = owner.post("/v1/consolidation").json()
    assert owner.post("/v1/consolidation").json()["id"] == first["id"]
    place = f"/v1/jobs/{first['id']}"
    assert owner.post(f"{place}/cancel").json()["state"] == "cancelled"
    again = owner.post(f"{place}/retry")
    assert (again.status_code, again.headers["Location"]) == (202, place)
    assert again.json()["state"] == "queued"


@pytest.fixture(scope="module")
def working(
    neo4j_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service with a worker."""
    home = tmp_path_factory.mktemp("home")
    jobs = JobsSettings(workers=1, poll_s=0.1, schedule_s=0.1)
    with running(settings_for(neo4j_server, home, jobs=jobs)) as service:
        yield service


@pytest.fixture
def served(working: RunningService) -> Iterator[Owner]:
    """The owner of a fresh tenant there."""
    with working.operator() as operator, new_owner(operator) as made:
        yield made


def test_a_cycle_is_queued_done_and_reported(served: Owner, working: RunningService) -> None:
    problem(served.get("/v1/consolidation"), 404, "not-found")
    for text in ("The ferry leaves at eight.", "It comes back at nine."):
        served.remember(text, session="harbour")
    accepted = served.post("/v1/consolidation", json={"steps": ["prior"]})
    assert accepted.status_code == 202
    assert accepted.headers["Location"] == f"/v1/jobs/{accepted.json()['id']}"
    done = ended(served, accepted.headers["Location"])
    assert (done["state"], done["attempts"], done["trigger"]) == ("done", 1, "request")
    assert done["progress"] == {"place": "survey: after", "done": 1, "total": 1}
    (step,) = done["report"]["steps"]
    assert (step["name"], step["status"], step["counts"]["episodes"]) == ("prior", "done", 2)
    assert (done["report"]["before"]["turn"], done["report"]["after"]["nodes"]) == (2, {})
    assert served.get("/v1/consolidation").json() == done["report"]
    assert [job["id"] for job in served.get("/v1/jobs").json()["items"]] == [done["id"]]
    assert served.get("/v1/jobs", params={"state": "dead"}).json()["items"] == []
    told = httpx.get(f"{working.url}/metrics", timeout=60).text
    assert figure(told, "ecphoria_jobs_total", kind="consolidation", state="done") >= 1
    assert figure(told, "ecphoria_step_seconds_count", step="prior") >= 1
    problem(served.post(f"/v1/jobs/{done['id']}/cancel"), 409, "conflict")
    problem(served.post(f"/v1/jobs/{done['id']}/retry"), 409, "conflict")


def test_a_dry_run_reports_and_is_no_cycle(served: Owner) -> None:
    for text in ("One.", "Two."):
        served.remember(text, session="s")
    accepted = served.post("/v1/consolidation", json={"dry_run": True})
    done = ended(served, accepted.headers["Location"])
    assert (done["kind"], done["state"]) == ("dry-run", "done")
    assert {step["name"]: step for step in done["report"]["steps"]}["prior"]["counts"]
    problem(served.get("/v1/consolidation"), 404, "not-found")


def test_a_cycle_by_request_leaves_nothing_unconsolidated(served: Owner) -> None:
    for text in ("The ferry leaves at eight.", "It comes back at nine."):
        served.remember(text, session="harbour")
    assert served.get("/v1/stats").json()["unconsolidated"] == 2
    ended(served, served.post("/v1/consolidation").headers["Location"])
    assert served.get("/v1/stats").json()["unconsolidated"] == 0
    served.remember("There is fog today.", session="harbour")
    assert served.get("/v1/stats").json()["unconsolidated"] == 1


def test_a_schedule_runs_cycles_unasked(served: Owner) -> None:
    before = served.get("/v1/settings").json()
    assert (before["own"], before["next_cycle_at"]) == ([], None)
    given = {"every_episodes": 2, "daily_at": "03:30"}
    kept = served.patch("/v1/settings", json={"schedule": given}).json()
    assert kept["own"] == ["schedule.daily_at", "schedule.every_episodes"]
    assert kept["schedule"] == dict.fromkeys(before["schedule"]) | given
    assert "T03:30:00" in kept["next_cycle_at"]
    for text in ("One.", "Two."):
        served.remember(text, session="s")
    deadline = time.monotonic() + 60
    while not (listed := served.get("/v1/jobs").json()["items"]):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    done = ended(served, f"/v1/jobs/{listed[0]['id']}")
    assert (done["trigger"], done["state"]) == ("schedule", "done")
    assert served.get("/v1/stats").json()["unconsolidated"] == 0
    assert served.patch("/v1/settings", json={"schedule": None}).json() == before


@pytest.mark.parametrize(
    "body", [{"every_episodes": 0}, {"daily_at": "24:00"}, {"daily_at": "3:30"}, {"hourly": True}]
)
def test_an_unusable_schedule_is_refused(owner: Owner, body: dict[str, object]) -> None:
    problem(owner.patch("/v1/settings", json={"schedule": body}), 422, "invalid-input")
