"""What a model says of a name is brought into the values that a caller may send."""

import json
from datetime import UTC, datetime

import pytest

from ecphoria.extraction.reading import PromptTurns, Said, Unread, checked
from ecphoria.models.structure import read_answer
from ecphoria.records.episode import StatedName
from ecphoria.records.ids import EpisodeId

SHOWN = PromptTurns(
    turns=(
        Unread(
            id=EpisodeId("0" * 32), turn=1, title=None, text="The widget is here.", speaker="Ann",
            role=None, session="s", occurred_at=datetime(2026, 3, 1, tzinfo=UTC),
        ),
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "read", "clipped"),
    [("Person", "person", 0), ("product", "topic", 1), ("organization", "organisation", 0),
     (3, "topic", 1), (None, "topic", 0), (["place"], "topic", 1), ("place", "place", 0)],
)  # fmt: skip
def test_an_unknown_kind_is_a_topic(kind: object, read: str, clipped: int) -> None:
    names = [{"turn": 1, "name": "Widget", "kind": kind}]
    found, counts = checked(read_answer(json.dumps({"names": names}), Said), SHOWN, frozenset())
    (one,) = found[SHOWN.turns[0].id].extracted().names
    assert isinstance(one, StatedName)
    assert one.kind == read
    assert (counts["names"], counts["dropped"], counts["clipped"]) == (1, 0, clipped)
