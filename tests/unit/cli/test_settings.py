"""The commands of settings and of strategies, against a service that a test makes answer."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import GATE, SETTINGS, Command, StubService

EMPTY = {"compared": 0, "dropped": 0, "failed": 0, "window": 0}
REPORT = {
    "compared": 1234, "dropped": 2, "failed": 3, "window": 1000, "overlap": 0.875,
    "rank_overlap": 0.8125, "rank_difference": 1.25, "same_first": 0.9, "same_verdict": 0.95,
    "live_p50_ms": 12.34, "live_p95_ms": 30.0, "shadow_p50_ms": 14.0, "shadow_p95_ms": 55.5,
    "live_tokens": 812.4, "shadow_tokens": 900.0,
}  # fmt: skip
LIVE = {"strategy": "ecphoria", "options": {}}
TRIED = {"strategy": "synapse", "options": {"preset": "paper"}}
OWN = {
    **SETTINGS, "dormancy": {**SETTINGS["dormancy"], "budget": 50},
    "schedule": {"every_episodes": 200, "daily_at": "03:30"}, "trial": {**TRIED, "share": 0.1},
    "own": ["dormancy.budget", "schedule.daily_at", "schedule.every_episodes", "trial"],
    "next_cycle_at": "2026-03-02T03:30:00Z",
}  # fmt: skip


def state(**changes: object) -> dict[str, object]:
    trial = {**TRIED, "share": 0.1}
    return {"live": LIVE, "promoted": [], "trial": trial, "report": REPORT, **changes}


def test_the_settings_are_listed_and_own_ones_told_apart(
    command: Command, service: StubService
) -> None:
    service.routes["GET /v1/settings"] = 200, OWN
    shown = command("config", "get")
    assert shown.code == 0, shown.err
    lines = {line.split()[0]: line.split()[1:] for line in shown.out.splitlines() if line.strip()}
    assert lines["dormancy.budget"] == ["50"]
    assert lines["dormancy.mode"] == ["budget", "default"]
    assert lines["schedule.daily_at"] == ["03:30"]
    assert lines["schedule.every_hours"] == ["-", "default"]
    assert lines["learning.on"] == ["false", "default"]
    assert lines["gate"] == [*["refuse", "below", "0.200,", "verify", "below", "0.400"], "default"]
    assert lines["trial"] == ["synapse", "on", "10.0%", "of", "cues"]
    assert "2026-03-02 03:30 UTC" in shown.out
    assert json.loads(command("config", "get", "--json").out)["own"] == OWN["own"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("dormancy.budget", 50), ("schedule.every_hours", None), ("learning.on", False),
        ("gate.threshold", 0.2), ("gate", GATE | {"fit": None}), ("expiry", {"days": None}),
        ("trial.strategy", "synapse"),
    ],
)  # fmt: skip
def test_one_setting_is_printed(
    command: Command, service: StubService, key: str, value: object
) -> None:
    service.routes["GET /v1/settings"] = 200, OWN
    shown = command("config", "get", key, "--json")
    assert shown.code == 0, shown.err
    assert json.loads(shown.out) == value
    assert command("config", "get", "schedule.daily_at").out == "03:30\n"


@pytest.mark.parametrize(
    ("key", "text", "sent"),
    [
        ("dormancy.budget", "50", {"dormancy": {"budget": 50}}),
        ("dormancy.archive_days", "never", {"dormancy": {"archive_days": "never"}}),
        ("dormancy.second_look", "true", {"dormancy": {"second_look": True}}),
        ("schedule.daily_at", "03:30", {"schedule": {"daily_at": "03:30"}}),
        ("schedule", "{}", {"schedule": {}}),
        ("expiry.days", "365", {"expiry": {"days": 365}}),
        ("learning.on", "true", {"learning": {"on": True}}),
    ],
)
def test_one_setting_is_set_and_unset(
    command: Command, service: StubService, key: str, text: str, sent: dict[str, object]
) -> None:
    service.routes["PATCH /v1/settings"] = 200, OWN
    done = command("config", "set", key, text)
    assert done.code == 0, done.err
    assert service.seen[-1] == ("PATCH", "/v1/settings", sent)
    assert command("config", "unset", key).code == 0
    section, _, name = key.partition(".")
    assert service.seen[-1][2] == {section: {name: None} if name else None}


@pytest.mark.parametrize("value", ["-5", "-.5"])
def test_a_negative_number_is_a_value_and_no_option(command: Command, value: str) -> None:
    done = command("config", "set", "dormancy.budget", value)
    assert done.code == 2
    assert "`dormancy/budget`: Input should be" in done.err
    assert "No such option: --hme" in command("config", "set", "dormancy.budget", "5", "--hme").err


def test_a_gate_is_set_from_a_file(command: Command, service: StubService, tmp_path: Path) -> None:
    service.routes["PATCH /v1/settings"] = 200, OWN
    file = tmp_path / "gate.json"
    file.write_text(json.dumps(GATE), encoding="utf-8")
    assert command("config", "set", "gate", str(file)).code == 0
    assert service.seen[-1][2] == {"gate": GATE}
    assert command("config", "unset", "gate").code == 0
    assert service.seen[-1][2] == {"gate": None}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{}", "weights This field is required."),
        ('{"weights": {"luck": 1}, "bias": 0, "threshold": 0, "verify_below": 1}', "luck"),
        ("nonsense", "is no gate"),
    ],
)
def test_a_file_that_is_no_gate_is_refused(
    command: Command, tmp_path: Path, text: str, told: str
) -> None:
    file = tmp_path / "gate.json"
    file.write_text(text, encoding="utf-8")
    done = command("config", "set", "gate", str(file))
    assert done.code == 2
    assert told in done.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("get", "dormancy.bugdet"), "did you mean `dormancy.budget`?"),
        (("set", "gate.threshold", "0.5"), "as a whole"),
        (("unset", "trial.share"), "as a whole"),
        (("set", "dormancy.budget", "none"), "dormancy/budget"),
        (("set", "dormancy.mode", "later"), "threshold"),
        (("set", "learning.on", "perhaps"), "learning/on"),
    ],
)
def test_a_wrong_key_or_value_is_refused_with_what_is_allowed(
    command: Command, service: StubService, words: tuple[str, ...], told: str
) -> None:
    done = command("config", *words)
    assert (done.code, told in " ".join(done.err.split())) == (2, True), done.err
    assert not service.seen


def test_the_report_of_a_trial_is_shown(command: Command, service: StubService) -> None:
    service.routes["GET /v1/strategies/trial"] = 200, state()
    shown = command("strategy", "report")
    assert shown.code == 0, shown.err
    for part in (
        "ecphoria", "the service's default", "synapse preset=paper", "on 10.0% of cues", "1,234",
        "87.5%", "0.812", "90.0%", "1.25", "12.3, 30.0 ms", "14.0, 55.5 ms", "812 tokens",
    ):  # fmt: skip
        assert part in shown.out, part
    service.routes["GET /v1/strategies/trial"] = 200, state(report=EMPTY)
    lines = command("strategy", "report").out.splitlines()
    assert ["places", "apart", "-"] in [line.split() for line in lines]
    ended = state(trial=None, report=EMPTY, promoted=[LIVE])
    service.routes["GET /v1/strategies/trial"] = 200, ended
    shown = command("strategy", "report")
    assert "promoted" in shown.out
    assert "compared" not in shown.out


def test_options_of_a_trial_keep_their_types(command: Command, service: StubService) -> None:
    service.routes |= {
        "PATCH /v1/settings": (200, OWN), "GET /v1/strategies/trial": (200, state()),
    }  # fmt: skip
    done = command(
        "strategy", "try", "synapse", "--share", "0.5", "--option", "preset=paper",
        "--option", "steps=3", "--option", "alpha=0.5", "--option", "row_guard=false",
        "--option", "odd=[1]",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert service.seen[0][2] == {
        "trial": {
            "strategy": "synapse", "share": 0.5,
            "options": {
                "preset": "paper", "steps": 3, "alpha": 0.5, "row_guard": False, "odd": "[1]"
            },
        }
    }  # fmt: skip
    assert command("strategy", "try", "synapse", "--option", "preset").code == 2


def test_a_strategy_is_promoted_and_rolled_back(command: Command, service: StubService) -> None:
    service.routes |= {
        "POST /v1/strategies/promotions": (200, state(live=TRIED, promoted=[TRIED], trial=None)),
        "DELETE /v1/strategies/promotions/latest": (200, state(trial=None)),
    }
    assert "synapse preset=paper  promoted" in command("strategy", "promote").out
    assert "the service's default" in command("strategy", "rollback").out
