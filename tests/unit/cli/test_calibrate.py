"""The command that fits a gate, against a service that answers what a test tells it to."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ecphoria.calibration.fitting import calibrate
from ecphoria.errors import InvalidInput
from ecphoria.records.answered import to_json
from ecphoria.records.asked import read_as
from ecphoria.records.calibration import FitOptions, FitRequest, Sample
from ecphoria.records.tenant import EVIDENCE, STATED
from tests.unit.cli.conftest import SETTINGS, Answer, Command, StubService, job

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ANSWER: dict[str, object] = {
    "hits": [], "strategy": "ecphoria", "verdict": "answer", "answerable": True,
    "confidence": 0.5,
    "judged_by": {"gate": "shipped", "threshold": 0.25, "verify_below": 0.4}, "reasons": [],
    "misses": [], "context": "",
    "context_tokens": 0, "timings_ms": {}, "trace_id": "t", "degraded": [],
}  # fmt: skip


def evidence(share: float, number: int) -> dict[str, float]:
    return {
        "share": share + 0.004 * (number % 7), "coverage": 0.1, "unsaid": 0.0, "unheard": 0.0,
        "similarity": 0.5, "joint": 0.4, "top_similarity": 0.5, "gap": 0.3,
        "fact_contrast": 0.0, "reader": 0.0, "names_one": 1.0, "asks_when": 0.0, "unread": 0.0,
    }  # fmt: skip


@pytest.fixture
def questions(tmp_path: Path, service: StubService) -> Path:
    """Sixty questions, every third without an answer, told apart by their share."""

    def recall(body: dict[str, object]) -> Answer:
        number = int(str(body["cue"]).split()[-1])
        assert (body["record"], body["collapse"]) == (False, False)
        return 200, ANSWER | {"evidence": evidence(0.3 if number % 3 else -0.2, number)}

    def fit(body: dict[str, object]) -> Answer:
        asked = read_as(FitRequest, body)
        try:
            found = calibrate(asked.samples, asked, data_sha256=asked.data_sha256, fitted_at=NOW)
        except InvalidInput as error:
            problem = {"type": "/errors/invalid-input", "title": "t", "status": 422}
            return 422, {**problem, "detail": error.message}
        return 200, json.loads(to_json(found))

    service.routes["POST /v1/gate/fits"] = fit
    service.routes["POST /v1/recall"] = recall
    file = tmp_path / "questions.jsonl"
    lines = ({"question": f"number {n}", "answerable": n % 3 != 0} for n in range(60))
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def test_a_gate_is_fitted_written_and_applied(
    command: Command, service: StubService, questions: Path, tmp_path: Path
) -> None:
    service.routes["PATCH /v1/settings"] = 200, SETTINGS
    out, judged = tmp_path / "gate.json", tmp_path / "judged.jsonl"
    done = command(
        "calibrate", "--data", str(questions), "--server", service.url, "--apply",
        "--false-refusals", "0.1", "--out", str(out), "--judged", str(judged),
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "60 questions, 20 without an answer" in done.out
    assert "AUROC 1.000" in done.out
    assert "Few questions: 40 with an answer and 20 without." in done.out
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written["weights"]["share"] > 0
    assert set(written["weights"]) == {*EVIDENCE, STATED}
    assert written["fit"]["refused"] == 1.0
    assert len(judged.read_text(encoding="utf-8").splitlines()) == 60
    method, path, body = service.seen[-1]
    assert (method, path) == ("PATCH", "/v1/settings")
    assert body == {"gate": written}


def test_the_type_of_question_counts_only_if_wanted(
    command: Command, service: StubService, questions: Path, tmp_path: Path
) -> None:
    out = tmp_path / "gate.json"
    done = command(
        "calibrate", "--data", str(questions), "--server", service.url, "--question-type",
        "--out", str(out),
    )  # fmt: skip
    assert done.code == 0, done.err
    assert {"names_one", "asks_when"} < set(json.loads(out.read_text(encoding="utf-8"))["weights"])
    assert all(method != "PATCH" for method, _, _ in service.seen)


def test_a_dry_run_only_prints(
    command: Command, service: StubService, questions: Path, tmp_path: Path
) -> None:
    out = tmp_path / "gate.json"
    done = command(
        "calibrate", "--data", str(questions), "--server", service.url, "--apply", "--dry-run",
        "--out", str(out),
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "share right" in done.out
    assert "Expected calibration error" in done.out
    assert not out.exists()
    assert all(method != "PATCH" for method, _, _ in service.seen)


@pytest.fixture
def calibrations(service: StubService) -> None:
    """A service that has calibrated by the next look."""
    ident = "c" * 32
    queued = job(id=ident, kind="calibration")

    def done(_: dict[str, object]) -> Answer:
        samples = [
            Sample(evidence=evidence(0.3 if n % 2 else -0.2, n), answerable=n % 2 > 0)
            for n in range(60)
        ]
        found = calibrate(samples, FitOptions(judged=True), data_sha256="0" * 64, fitted_at=NOW)
        said = json.loads(to_json(found)) | {"findings": {"recalls that failed: too-large": 2}}
        return 200, queued | {"state": "done", "calibration": said}

    service.routes["POST /v1/gate/calibrations"] = 202, queued
    service.routes[f"GET /v1/jobs/{ident}"] = done


@pytest.mark.usefixtures("calibrations")
def test_without_labels_the_service_makes_the_questions(
    command: Command, service: StubService, tmp_path: Path
) -> None:
    service.routes["PATCH /v1/settings"] = 200, SETTINGS
    out, judged = tmp_path / "gate.json", tmp_path / "judged.jsonl"
    done = command(
        "calibrate", "--server", service.url, "--questions", "30", "--seed", "7",
        "--out", str(out), "--judged", str(judged), "--apply",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "60 questions, 30 without an answer" in done.out
    assert "AUROC 1.000" in done.out
    assert "2 recalls that failed: too-large" in done.out
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written["fit"]["unanswerable"] == 30
    assert len(judged.read_text(encoding="utf-8").splitlines()) == 60
    assert [(method, path) for method, path, _ in service.seen] == [
        ("POST", "/v1/gate/calibrations"), ("GET", f"/v1/jobs/{'c' * 32}"),
        ("PATCH", "/v1/settings"),
    ]  # fmt: skip
    assert service.seen[0][2] == {"memories": 30, "seed": 7, "judged": True}
    assert service.seen[-1][2] == {"gate": written}


@pytest.mark.usefixtures("calibrations")
def test_the_address_comes_from_the_environment_too(
    command: Command, service: StubService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ECPHORIA_URL", service.url)
    done = command("calibrate", "--questions", "20", "--dry-run", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["gate"]["fit"]["questions"] == 60
    assert service.seen[0][2]["memories"] == 20


def test_too_few_questions_are_wrong_use(
    command: Command, service: StubService, questions: Path
) -> None:
    few = questions.read_text(encoding="utf-8").splitlines()[:12]
    questions.write_text("\n".join(few), encoding="utf-8")
    done = command("calibrate", "--data", str(questions), "--server", service.url)
    assert done.code == 2
    assert "A gate needs at least 10 questions with an answer and 10 without" in done.err


def test_files_are_checked_before_anything_is_asked(command: Command, tmp_path: Path) -> None:
    done = command("calibrate", "--data", "x.jsonl", "--out", str(tmp_path / "no" / "g.json"))
    assert (done.code, "There is no folder" in done.err) == (2, True)
    missing = command("calibrate", "--data", str(tmp_path / "none.jsonl"))
    assert (missing.code, "none.jsonl cannot be read" in missing.err) == (2, True)
