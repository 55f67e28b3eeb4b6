"""Phrases, required words and nearness, asked of the real text index."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecphoria.client import Client
from ecphoria.errors import InvalidInput
from tests.acceptance.conftest import Owner, RunningService

SAID = (
    "The blue kiln stands in the yard.",
    "The kiln in the yard is blue.",
    "Ana fires two blue kilns every week.",
    "To be or not to be is what Ana asked.",
    "A blue cat sleeps beside the old kiln in the long grass of the yard.",
)


@contextmanager
def talked(server: RunningService, owner: Owner) -> Iterator[Client]:
    with Client(server.url, owner.key) as made:
        for n, text in enumerate(SAID):
            made.remember(text, session="talk", occurred_at=None, importance=n / 10)
        yield made


@pytest.fixture(scope="module")
def client(server: RunningService, reader: Owner) -> Iterator[Client]:
    with talked(server, reader) as made:
        yield made


def found(client: Client, cue: str, match: str, **options: str) -> set[int]:
    hits = client.recall(cue, match=match, **options).hits  # type: ignore[arg-type]
    return {SAID.index(hit.episode.text) for hit in hits}


@pytest.mark.parametrize(
    ("cue", "match", "expected"),
    [
        ('Where is the "blue kiln"?', "phrase", {0}),
        ('"kiln blue"~4', "phrase", {0, 1}),
        ('"blue kiln"~5', "phrase", {0, 1, 4}),
        ("blue kiln", "phrase", {0}),
        ("the blue kilns", "all", {0, 1, 2, 4}),
        ("the blue kilns +yard", "all", {0, 1, 4}),
        ('"to be or not to be"', "phrase", {3}),
        ('+ana "blue"', "phrase", {2}),
        ('"no such words"', "phrase", set()),
    ],
)
def test_every_hit_says_what_the_cue_requires(
    client: Client, cue: str, match: str, expected: set[int]
) -> None:
    for strategy in ("ecphoria", "lexical", "synapse", "cls"):
        assert found(client, cue, match, strategy=strategy) == expected, strategy


def test_without_the_option_marks_are_plain_text(client: Client) -> None:
    marked = client.recall('Where is the "blue kiln"?').hits
    plain = client.recall("Where is the blue kiln?").hits
    assert {hit.episode.id for hit in marked} == {hit.episode.id for hit in plain}
    assert len(marked) > 1


def test_what_was_erased_or_sleeps_no_longer_matches(server: RunningService, owner: Owner) -> None:
    with talked(server, owner) as client:
        (hit,) = client.recall('"blue kiln"', match="phrase").hits
        client.delete(hit.episode.id)
        assert found(client, '"blue kiln"', "phrase") == set()


def test_an_open_quote_is_refused(client: Client) -> None:
    with pytest.raises(InvalidInput, match="quote is not closed"):
        client.recall('the "blue kiln', match="phrase")
    with pytest.raises(InvalidInput, match="match"):
        client.recall("kiln", match="every")


@settings(max_examples=25, deadline=None)
@given(
    cue=st.text(alphabet=st.sampled_from('ab "~5+-!(){}[]^*?:\\/&|<>=ANDORTkiln'), max_size=30),
    match=st.sampled_from(["all", "phrase"]),
)
def test_no_cue_breaks_the_search_or_leaves_the_tenant(
    client: Client, cue: str, match: str
) -> None:
    try:
        hits = client.recall(f"{cue} kiln", match=match, record=False).hits
    except InvalidInput:
        return
    assert all(hit.episode.text in SAID for hit in hits)
