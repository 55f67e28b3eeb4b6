"""A recall with `lists`: a question for a list gets more hits."""

from collections.abc import Iterator

import pytest

from ecphoria.client import Client
from tests.acceptance.conftest import Owner, RunningService


@pytest.fixture(scope="module")
def client(server: RunningService, reader: Owner) -> Iterator[Client]:
    with Client(server.url, reader.key) as made:
        for number in range(24):
            made.remember(f"Book number {number} that Ana read was about ships.", session="books")
        yield made


@pytest.mark.parametrize(
    ("cue", "how", "hits"),
    [
        ("Which books has Ana read?", {"lists": True}, 20),
        ("Welche Bücher hat Ana gelesen?", {"lists": True, "k": 5}, 20),
        ("Which books has Ana read?", {"lists": True, "k": 22}, 22),
        ("Which book has Ana read?", {"lists": True}, 10),
        ("Which books has Ana read?", {}, 10),
    ],
)
def test_only_a_question_for_a_list_gets_more(
    client: Client, cue: str, how: dict[str, int], hits: int
) -> None:
    assert len(client.recall(cue, **how).hits) == hits  # type: ignore[arg-type]  # by name
