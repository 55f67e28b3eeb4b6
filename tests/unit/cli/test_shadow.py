"""The commands of the shadow, against a service that answers what a test tells it to."""

from tests.unit.cli.conftest import Command, StubService

EMPTY = {"compared": 0, "dropped": 0, "failed": 0, "window": 0}
REPORT = {
    "compared": 1234, "dropped": 2, "failed": 3, "window": 1000, "overlap": 0.875,
    "rank_overlap": 0.8125, "rank_difference": 1.25, "same_first": 0.9, "same_verdict": 0.95,
    "live_p50_ms": 12.34, "live_p95_ms": 30.0, "shadow_p50_ms": 14.0, "shadow_p95_ms": 55.5,
    "live_tokens": 812.4, "shadow_tokens": 900.0,
}  # fmt: skip
LIVE = {"strategy": "ecphoria", "options": {}}
TRIED = {"strategy": "synapse", "options": {"preset": "paper"}}


def state(**changes: object) -> dict[str, object]:
    return {
        "live": LIVE, "promoted": [], "shadow": TRIED, "share": 0.1, "report": REPORT, **changes
    }  # fmt: skip


def test_the_report_is_shown(command: Command, service: StubService) -> None:
    service.routes["GET /v1/shadow"] = 200, state()
    shown = command("shadow", "show")
    assert shown.code == 0, shown.err
    for part in (
        "ecphoria", "the service's default", "synapse preset=paper", "on 10.0% of cues", "1,234",
        "87.5%", "0.812", "90.0%", "1.25", "12.3, 30.0 ms", "14.0, 55.5 ms", "812 tokens",
    ):  # fmt: skip
        assert part in shown.out, part
    service.routes["GET /v1/shadow"] = 200, state(report=EMPTY)
    lines = command("shadow", "show").out.splitlines()
    assert ["places", "apart", "-"] in [line.split() for line in lines]


def test_nothing_in_the_shadow_has_no_report(command: Command, service: StubService) -> None:
    service.routes["GET /v1/shadow"] = 200, state(shadow=None, report=EMPTY, promoted=[LIVE])
    shown = command("shadow", "show").out
    assert "promoted" in shown
    assert "compared" not in shown


def test_options_keep_their_types(command: Command, service: StubService) -> None:
    service.routes["PUT /v1/shadow"] = 200, state()
    done = command(
        "shadow", "set", "synapse", "--share", "0.5", "--option", "preset=paper",
        "--option", "steps=3", "--option", "alpha=0.5", "--option", "row_guard=false",
        "--option", "odd=[1]",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert service.seen[-1][2] == {
        "strategy": "synapse", "share": 0.5,
        "options": {
            "preset": "paper", "steps": 3, "alpha": 0.5, "row_guard": False, "odd": "[1]"
        },
    }  # fmt: skip
    assert command("shadow", "set", "synapse", "--option", "preset").code == 2


def test_promote_undo_reset_and_end(command: Command, service: StubService) -> None:
    service.routes |= {
        "POST /v1/promotion": (200, state(live=TRIED, promoted=[TRIED], shadow=None)),
        "DELETE /v1/promotion": (200, state(shadow=None)),
        "DELETE /v1/shadow": (204, None),
        "DELETE /v1/shadow/report": (204, None),
    }
    assert "synapse preset=paper  promoted" in command("shadow", "promote").out
    assert "the service's default" in command("shadow", "undo").out
    assert command("shadow", "reset").code == command("shadow", "end").code == 0
    assert [(method, path) for method, path, _ in service.seen] == [
        ("POST", "/v1/promotion"), ("DELETE", "/v1/promotion"), ("DELETE", "/v1/shadow/report"),
        ("DELETE", "/v1/shadow"),
    ]  # fmt: skip
