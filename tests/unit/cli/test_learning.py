"""The commands of learning, against a service that answers what a test tells it to."""

import pytest

from tests.unit.cli.conftest import Command, StubService

STATE = {"on": True, "recalls": 1204, "pending": 3}


def test_the_state_is_shown(command: Command, service: StubService) -> None:
    service.routes["GET /v1/learning"] = 200, STATE
    shown = command("learning", "show")
    assert shown.code == 0, shown.err
    assert shown.out.split() == [
        "learning", "on", "recalls", "1,204", "learned", "from,", "3", "waiting"
    ]  # fmt: skip


@pytest.mark.parametrize(("word", "on"), [("on", True), ("off", False)])
def test_the_switch_is_sent(
    command: Command, service: StubService, word: str, *, on: bool
) -> None:
    service.routes["PUT /v1/learning"] = 200, {**STATE, "on": on}
    done = command("learning", word)
    assert done.code == 0, done.err
    assert service.seen[-1][2] == {"on": on}
    assert f"learning  {word}" in done.out


def test_feedback_is_sent_and_what_it_made_is_shown(
    command: Command, service: StubService
) -> None:
    service.routes["POST /v1/traces/t1/feedback"] = (
        200,
        {
            "episodes": [
                {"episode": "e1", "useful": True, "reliability": 0.725, "salience": 0.55},
                {"episode": "e2", "useful": False, "reliability": 0.56, "salience": 0.45},
            ]
        },
    )
    done = command(
        "learning", "feedback", "t1", "--useful", "e1", "--useful", "e3", "--not-useful", "e2"
    )
    assert done.code == 0, done.err
    assert service.seen[-1][2] == {"useful": ["e1", "e3"], "not_useful": ["e2"]}
    assert done.out.split()[4:] == ["e1", "yes", "0.725", "0.550", "e2", "no", "0.560", "0.450"]
