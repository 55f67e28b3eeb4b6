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
