"""SMRCs: a turn of the present brings back turns of the past."""

import json
from pathlib import Path

import pytest

from ecphoria.errors import BadFile
from ecphoria_eval.datasets.dataset import Suite
from ecphoria_eval.datasets.locomo import load_chats
from ecphoria_eval.datasets.told_apart import load_any

TALK = {
    "past": [{"user": "I bought a kiln."}, {"assistant": "How hot does it get?"}],
    "present": [
        {"user": "My pots cracked again."}, {"assistant": "Oh no."}, {"user": "I try once more."},
    ],
    "recalls": [
        {"trigger": "My pots cracked again.",
         "related_memories": ["I bought a kiln.", "How hot does it get?", "Nobody said this."]},
        {"trigger": "I try once more.", "related_memories": ["My pots cracked again."]},
    ],
}  # fmt: skip


def written(folder: Path, *talks: object) -> Path:
    file = folder / "dataset_EN.json"
    file.write_text(json.dumps(talks))
    return file


@pytest.mark.parametrize("load", [load_chats, load_any])
def test_a_trigger_is_a_question_and_no_memory(tmp_path: Path, load: object) -> None:
    dataset = load(written(tmp_path, TALK, TALK))  # type: ignore[operator]  # two functions alike
    assert dataset.suite is Suite.CHATS
    assert [part.name for part in dataset.collections] == ["0", "1"]
    part = dataset.collections[0]
    assert {ident: (item.text, item.role) for ident, item in part.memories.items()} == {
        "past:1": ("I bought a kiln.", "user"),
        "past:2": ("How hot does it get?", "assistant"),
        "present:2": ("Oh no.", "assistant"),
    }
    first, second = part.questions
    assert (first.text, first.gold) == ("My pots cracked again.", ("past:1", "past:2"))
    # What it brings back is a question itself.
    assert second.gold == ()
    assert dataset.findings == {
        "questions without evidence": 2, "related memories that are no turn's text": 4,
    }  # fmt: skip


def test_a_record_of_another_form_is_named(tmp_path: Path) -> None:
    broken = {**TALK, "recalls": [{"trigger": "Oh no.", "related_memories": "past"}]}
    with pytest.raises(BadFile, match=r"record 2, recalls 1: `related_memories` is not a list"):
        load_chats(written(tmp_path, TALK, broken))


def test_a_turn_of_two_speakers_is_refused_as_one_id_cannot_name_both(tmp_path: Path) -> None:
    both = {**TALK, "past": [{"user": "I bought a kiln.", "assistant": "How hot does it get?"}]}
    with pytest.raises(BadFile, match="record 1, past 1 is not one text of one speaker"):
        load_chats(written(tmp_path, both))


def test_a_turn_that_cannot_be_stored_is_no_evidence(tmp_path: Path) -> None:
    empty = {**TALK, "past": [{"user": "\ud800"}]}
    empty["recalls"] = [{"trigger": "I try once more.", "related_memories": ["\ud800", "Oh no."]}]
    dataset = load_chats(written(tmp_path, empty))
    assert dataset.questions[0].gold == ("present:2",)
    assert dataset.findings["related memories that are no turn's text"] == 1
