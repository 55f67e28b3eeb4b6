"""The settings of a tenant over HTTP: merged, reset, guarded, and at the new address."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from ecphoria.records.tenant import SHIPPED
from tests.acceptance.conftest import Owner, new_owner, problem

DEFAULTS = {
    "gate": {
        "weights": SHIPPED.weights, "bias": SHIPPED.bias, "threshold": SHIPPED.threshold,
        "verify_below": SHIPPED.verify_below, "fit": None,
    },
    "dormancy": {
        "mode": "budget", "budget": 10_000, "quiet_days": 7.0, "archive_days": 90.0,
        "second_look": False, "stability": "uniform",
    },
    "expiry": {"days": None},
    "learning": {"on": False},
    "schedule": dict.fromkeys(
        (
            "every_episodes", "every_hours", "daily_at", "idle_minutes", "light_episodes",
            "light_idle_minutes",
        )
    ),
    "trial": None,
    "own": [],
    "next_cycle_at": None,
}  # fmt: skip


def changed(owner: Owner, **sections: object) -> dict[str, Any]:
    answer = owner.patch("/v1/settings", json=sections)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    assert owner.get("/v1/settings").json() == found
    return found


def test_a_patch_changes_what_it_names_and_null_resets_it(owner: Owner, stranger: Owner) -> None:
    assert owner.get("/v1/settings").json() == DEFAULTS
    dormancy = {"budget": 50, "archive_days": "never"}
    found = changed(owner, dormancy=dormancy, learning={"on": True}, expiry={"days": 9.5})
    assert found["dormancy"] == DEFAULTS["dormancy"] | dormancy  # type: ignore[operator]  # a dict
    assert found["own"] == [
        "dormancy.archive_days", "dormancy.budget", "expiry.days", "learning.on"
    ]  # fmt: skip
    found = changed(owner, dormancy={"budget": None, "mode": "off"}, expiry=None)
    assert found["dormancy"]["budget"] == 10_000
    assert found["own"] == ["dormancy.archive_days", "dormancy.mode", "learning.on"]
    assert changed(owner)["own"] == found["own"]
    assert changed(owner, dormancy=None, learning=None) == DEFAULTS
    assert stranger.get("/v1/settings").json() == DEFAULTS


def test_an_own_schedule_may_be_empty(owner: Owner) -> None:
    assert changed(owner, schedule={})["own"] == ["schedule"]
    assert changed(owner, schedule={"every_episodes": 9})["own"] == ["schedule.every_episodes"]
    assert changed(owner, schedule={"every_episodes": None})["own"] == ["schedule"]
    assert changed(owner, schedule=None) == DEFAULTS


def test_patches_at_the_same_time_lose_nothing(owner: Owner) -> None:
    patches = [
        {"dormancy": {"budget": 5}}, {"dormancy": {"quiet_days": 1}}, {"expiry": {"days": 9}},
        {"learning": {"on": True}}, {"schedule": {"every_hours": 2}},
        {"schedule": {"every_episodes": 3}}, {"trial": {"strategy": "dense"}},
    ]  # fmt: skip
    with ThreadPoolExecutor(len(patches)) as callers:
        answers = callers.map(lambda patch: owner.patch("/v1/settings", json=patch), patches)
        assert {answer.status_code for answer in answers} == {200}
    assert owner.get("/v1/settings").json()["own"] == [
        "dormancy.budget", "dormancy.quiet_days", "expiry.days", "learning.on",
        "schedule.every_episodes", "schedule.every_hours", "trial",
    ]  # fmt: skip


def test_who_may_only_read_changes_nothing(operator: httpx.Client) -> None:
    with new_owner(operator, "read", "write") as reader:
        assert reader.get("/v1/settings").json() == DEFAULTS
        problem(reader.patch("/v1/settings", json={"expiry": {"days": 1}}), 403, "forbidden")
        problem(reader.get("/v1/strategies/trial"), 403, "forbidden")
        assert reader.get("/v1/settings").json() == DEFAULTS


@pytest.mark.parametrize(
    ("patch", "told"),
    [
        ({"dormacy": {"budget": 5}}, "dormancy"),
        ({"dormancy": {"bugdet": 5}}, "budget"),
        ({"dormancy": {"mode": "later"}}, "threshold"),
        ({"dormancy": 5}, "dormancy"),
        ({"expiry": {"days": "30"}}, "days"),
        ({"learning": {"on": "yes"}}, "on"),
        ({"promoted": []}, "promoted"),
        ({"dormancy": {"archive_days": "seldom"}}, '"#/dormancy/archive_days"'),
        ({"dormancy": {"archive_days": -1}}, "from 0 to 36,500, or `never`"),
        ({"schedule": {"daily_at": "25:00"}}, "from 00:00 to 23:59"),
        ({"trial": {"strategy": "dense", "options": {"nope": 1}}}, '"#/trial/options"'),
    ],
)
def test_what_is_no_setting_is_refused_as_a_whole(
    owner: Owner, patch: dict[str, object], told: str
) -> None:
    answer = owner.patch("/v1/settings", json={"schedule": {"every_hours": 2}, **patch})
    problem(answer, 422, "invalid-input")
    assert told in answer.text
    assert owner.get("/v1/settings").json() == DEFAULTS


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/v1/consolidation/schedule", "/v1/settings"),
        ("/v1/dormancy/policy", "/v1/settings"),
        ("/v1/expiry", "/v1/settings"),
        ("/v1/gate", "/v1/settings"),
        ("/v1/learning", "/v1/settings"),
        ("/v1/promotion", "/v1/strategies/promotions"),
        ("/v1/shadow", "/v1/strategies/trial"),
        ("/v1/shadow/report", "/v1/strategies/trial"),
    ],
)
def test_a_route_that_moved_tells_its_new_place(owner: Owner, path: str, place: str) -> None:
    for method in ("GET", "PUT", "DELETE"):
        answer = owner.request(method, path)
        problem(answer, 404, "not-found")
        assert "moved" in answer.json()["detail"]
        assert place in answer.json()["detail"]
