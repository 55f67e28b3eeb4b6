"""Chats with an assistant, and data sets told apart by their content."""

from pathlib import Path
from typing import Any

import pytest

from ecphoria.errors import BadFile
from ecphoria_eval.datasets.dataset import Suite
from ecphoria_eval.datasets.locomo import load_chats, load_locomo
from ecphoria_eval.datasets.told_apart import load_any, named
from tests.unit.evaluation.chats import CHAT, saved


@pytest.mark.parametrize("load", [load_chats, load_locomo])
def test_the_role_is_sent_beside_the_speaker(tmp_path: Path, load: Any) -> None:
    (part,) = load(saved(tmp_path, [CHAT])).collections
    told = [(one.speaker, one.role) for one in part.memories.values()]
    assert told == [("user", "user"), ("assistant", "assistant")]
    assert all(one.occurred_at is not None for one in part.memories.values())
    first, second = part.questions
    assert (first.kind, first.gold, first.scored) == ("fact", ("D1:0",), True)
    assert (second.kind, second.adversarial) == ("abstention", True)


def test_a_chat_in_which_somebody_else_speaks_is_refused(tmp_path: Path) -> None:
    turns = [*CHAT["conversation"]["session_1"], {"speaker": "Ada", "dia_id": "D1:2", "text": "!"}]
    other = CHAT | {"conversation": CHAT["conversation"] | {"session_1": turns}}
    file = saved(tmp_path, [other])
    with pytest.raises(BadFile, match=r"chat-1: `Ada` speaks.*ecphoria eval locomo"):
        load_chats(file)
    assert [one.role for one in load_locomo(file).collections[0].memories.values()] == [
        "user", "assistant", None,
    ]  # fmt: skip
    assert load_any(file).suite is Suite.LOCOMO


def test_a_file_is_told_by_its_content(tmp_path: Path) -> None:
    assert load_any(saved(tmp_path, [CHAT])).suite is Suite.CHATS
    paragraph = {"title": "Mill", "paragraph_text": "A mill.", "is_supporting": True}
    asked = {"id": "1", "question": "Where?", "paragraphs": [paragraph]}
    assert load_any(saved(tmp_path, [asked], "m.json")).suite is Suite.PASSAGES
    chunk = {"id": 1, "title": "Mill", "chunk": "A mill."}
    line = {"id": "1", "question": "Where?", "chunks": [chunk], "supporting_facts": [chunk]}
    assert load_any(saved(tmp_path, line, "pool.jsonl")).suite is Suite.PASSAGES


@pytest.mark.parametrize("content", [[], [{"title": "x", "text": "y"}]])
def test_what_is_no_data_set_is_refused(tmp_path: Path, content: object) -> None:
    with pytest.raises(BadFile, match="neither `conversation`"):
        load_any(saved(tmp_path, content))


def test_files_of_the_same_name_get_numbers() -> None:
    paths = [Path("a/x.json"), Path("b/x.json"), Path("y.jsonl")]
    assert named(paths) == {"x": paths[0], "x-2": paths[1], "y": paths[2]}
