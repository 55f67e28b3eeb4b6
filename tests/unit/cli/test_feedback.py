"""The command `feedback`, against a service that answers what a test tells it to."""

from tests.unit.cli.conftest import Command, StubService


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
    done = command("feedback", "t1", "--useful", "e1", "--useful", "e3", "--not-useful", "e2")
    assert done.code == 0, done.err
    assert service.seen[-1][2] == {"useful": ["e1", "e3"], "not_useful": ["e2"]}
    assert done.out.split()[4:] == ["e1", "yes", "0.725", "0.550", "e2", "no", "0.560", "0.450"]
