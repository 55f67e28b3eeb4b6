"""SYNAPSE's bridge: two turns without a common word meet over a concept of their windows."""

from collections.abc import Iterator

import pytest

from ecphoria.client import Client
from tests.acceptance.conftest import Owner, RunningService

TALKS = {
    "first": (
        "The kettle boils dry every evening.",
        "Anything else?",
        "Felix came to Lindenhof with his sister.",
    ),
    "second": (
        "A notary signed the sale of Lindenhof.",
        "Fine.",
        "The price was nine thousand crowns.",
    ),
}
GOAL = "The price was nine thousand crowns."


@pytest.fixture
def client(server: RunningService, owner: Owner) -> Iterator[Client]:
    with Client(server.url, owner.key) as made:
        for session, turns in TALKS.items():
            for text in turns:
                made.remember(text, session=session)
        yield made


def woken(client: Client, **options: float) -> list[str]:
    answer = client.recall(
        "Why does the kettle boil dry?",
        strategy="synapse",
        options={"w_base": 0.0, "steps": 2, "similar": 0.0, "mention_back": 1.0, **options},
    )
    return [hit.episode.text for hit in answer.hits if hit.score > 0.0]


def test_a_window_bridges_two_talks_over_a_third_turn(client: Client) -> None:
    assert GOAL not in woken(client)
    assert GOAL not in woken(client, window=1)
    assert GOAL in woken(client, window=5)


def test_the_path_of_a_bridged_hit_names_the_concept(client: Client) -> None:
    answer = client.recall(
        "Why does the kettle boil dry?",
        strategy="synapse",
        options={"w_base": 0.0, "steps": 2, "mention_back": 1.0, "window": 5},
    )
    (hit,) = [hit for hit in answer.hits if hit.episode.text == GOAL]
    assert [step.label for step in hit.path if step.kind == "concept"] == ["Lindenhof"]
