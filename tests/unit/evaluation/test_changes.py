"""The generated talk about changes: repeatable, its splits disjoint, and read by the rules."""

from collections.abc import Iterator
from typing import Any

import pytest

from ecphoria.errors import InvalidInput
from ecphoria.text.change import replaces
from ecphoria.text.statements import read_statements
from ecphoria_eval.datasets.changes import LANGUAGES, ScriptedTalk, make_talks, sentences

STORES = 8
LEAST, MOST = 60, 300


def told(split: str, language: str) -> Iterator[str]:
    """List the sentences of a split, cues included."""
    found = sentences()[split][language]
    yield from found["talk"]
    for group in found["changes"].values():
        yield from (text for row in group["rows"] for text in row.values())
    for rows in found["same"].values():
        yield from (text for row in rows for text in (*row["said"], row["now"]))


def values(split: str) -> set[Any]:
    """List the values of both languages."""
    return {
        value
        for language in LANGUAGES
        for part in sentences()[split][language].values()
        if isinstance(part, dict)
        for groups in part.values()
        for group in (groups if isinstance(groups, list) else [groups])
        for value in group["values"]
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_splits_share_no_sentence_and_no_value(language: str) -> None:
    assert not set(told("tune", language)) & set(told("judge", language))
    assert not values("tune") & values("judge")


def test_the_same_seed_gives_the_same_talk() -> None:
    assert make_talks("judge", 4, seed=7) == make_talks("judge", 4, seed=7)
    assert make_talks("judge", 4, seed=7) != make_talks("judge", 4, seed=8)
    with pytest.raises(InvalidInput):
        make_talks("other", 1)


def test_a_store_has_all_kinds_in_the_order_of_time() -> None:
    for talk in make_talks("judge", STORES):
        assert LEAST <= len(talk.turns) <= MOST
        assert len({question.kind for question in talk.questions}) == len(talk.questions) == 22
        times = [turn.occurred_at for turn in talk.turns]
        assert times == sorted(times)
        place = {turn.name: at for at, turn in enumerate(talk.turns)}
        for question in talk.questions:
            assert all(place[older] < place[question.newer] for older in question.older)


def replaced(talk: ScriptedTalk, older: str, newer: str) -> bool:
    texts = {turn.name: turn.text for turn in talk.turns}
    return any(
        replaces(later, earlier)
        for later in read_statements(texts[newer])
        for earlier in read_statements(texts[older])
    )


def test_the_rules_find_most_changes_of_sentences_they_were_not_written_on() -> None:
    asked = [
        (talk, one) for talk in make_talks("judge", STORES) for one in talk.questions if one.older
    ]
    found = [all(replaced(talk, old, one.newer) for old in one.older) for talk, one in asked]
    assert sum(found) >= 0.85 * len(found)
