"""Exports of other products become episodes; what is damaged is told, and the rest is read."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.errors import BadFile
from ecphoria.imports.exports import Format, opened, read_export
from ecphoria.wire.episodes import AppendRequest


def read(content: object, form: Format) -> list[AppendRequest | BadFile]:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    stream = io.BufferedReader(io.BytesIO(raw))
    return [record.content for record in read_export(stream, form, name="chat")]


def good(content: object, form: Format) -> list[AppendRequest]:
    found = [one for one in read(content, form) if isinstance(one, AppendRequest)]
    assert len(found) == len(read(content, form)), read(content, form)
    return found


def faults(content: object, form: Format) -> list[str]:
    return [one.message for one in read(content, form) if isinstance(one, BadFile)]


def chatgpt_talk(**changes: Any) -> dict[str, Any]:
    """A conversation with an answer that was written anew: a2 took the place of a1."""

    def node(ident: str, parent: str | None, role: str, parts: list[Any], at: float | None) -> Any:
        content = {"content_type": "text", "parts": parts}
        message = {"id": ident, "author": {"role": role}, "create_time": at, "content": content}
        return {"id": ident, "parent": parent, "message": message}

    nodes = [
        {"id": "root", "parent": None, "message": None},
        node("s", "root", "system", ["Be kind."], None),
        node("u1", "s", "user", ["Where is the boat?"], 1_700_000_000.5),
        node("a1", "u1", "assistant", ["In Rome."], 1_700_000_001.0),
        node("a2", "u1", "assistant", ["In", {"image": "x"}, "Porto."], None),
    ]
    return {
        "title": "The boat", "conversation_id": "0123456789", "create_time": 1_700_000_000.0,
        "current_node": "a2", "mapping": {one["id"]: one for one in nodes}, **changes,
    }  # fmt: skip


def test_a_chatgpt_conversation_is_read_along_its_last_branch() -> None:
    asked, answered = good([chatgpt_talk()], Format.CHATGPT)
    assert (asked.text, asked.role, asked.session) == (
        "Where is the boat?", "user", "The boat (01234567)",
    )  # fmt: skip
    assert asked.idempotency_key == "chatgpt-u1"
    assert answered.text == "In\nPorto."
    assert answered.occurred_at == asked.occurred_at, "without a time of its own"
    assert asked.occurred_at is not None
    assert asked.occurred_at.isoformat() == "2023-11-14T22:13:20.500000+00:00"


def test_a_chatgpt_conversation_that_cannot_be_walked_is_told() -> None:
    talks = [chatgpt_talk(current_node=None), {"title": "x"}, chatgpt_talk()]
    assert len(read(talks, Format.CHATGPT)) == 4
    assert ["current_node" in faults(talks, Format.CHATGPT)[0],
            "mapping" in faults(talks, Format.CHATGPT)[1]] == [True, True]  # fmt: skip
    circle = chatgpt_talk()
    circle["mapping"]["root"]["parent"] = "a2"
    assert len(good([circle], Format.CHATGPT)) == 2


def test_a_claude_export_has_messages_and_attachments() -> None:
    talk = {
        "uuid": "abcdefgh-1", "name": "", "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "Read this.",
             "created_at": "2025-01-12T10:04:00.123456Z",
             "attachments": [{"file_name": "plan.txt", "extracted_content": "Sell the boat."}]},
            {"uuid": "m2", "sender": "assistant", "text": "",
             "content": [{"type": "text", "text": "Done."}], "created_at": "2025-01-12T10:05:00Z"},
        ],
    }  # fmt: skip
    said, document, answer = good([talk], Format.CLAUDE)
    assert (said.role, said.session, said.position) == ("user", "Conversation (abcdefgh)", 0)
    assert (document.title, document.text, document.session) == (
        "plan.txt", "Sell the boat.", None,
    )  # fmt: skip
    assert (answer.text, answer.role) == ("Done.", "assistant")


def test_openai_messages_are_read_a_list_a_line() -> None:
    lines = [
        {"messages": [
            {"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello."},
            {"role": "assistant", "content": [{"type": "text", "text": "Good day."}]},
        ]},
        [{"role": "user", "content": "Hello.", "name": "Ana"}],
    ]  # fmt: skip
    raw = "\n\n".join(map(json.dumps, lines)).encode()
    first, second, third = good(raw, Format.OPENAI)
    assert [one.session for one in (first, second, third)] == ["chat 1", "chat 1", "chat 3"]
    assert (second.text, third.speaker) == ("Good day.", "Ana")
    keys = [one.idempotency_key for one in good(raw, Format.OPENAI)]
    assert len(set(keys)) == 3
    assert keys == [one.idempotency_key for one in good(raw, Format.OPENAI)]
    told = faults(raw + b'\n{broken\n{"messages": [{"role": "user", "content": null}]}\n5\n',
                  Format.OPENAI)  # fmt: skip
    assert [fault.split()[0] for fault in told] == ["Not", "A", "Line"]


@pytest.mark.parametrize("wrapper", ["results", "memories", "items", None])
def test_mem0_memories_come_in_a_list_or_an_object(wrapper: str | None) -> None:
    memory = {
        "id": "m1", "memory": "Ana likes tea.", "user_id": "ana", "run_id": "r", "agent_id": "bot",
        "created_at": "2025-01-12T10:04:00", "metadata": {"topic": "food", "nested": {}},
    }  # fmt: skip
    content: object = [memory] if wrapper is None else {"page": 1, wrapper: [memory]}
    (found,) = good(content, Format.MEM0)
    assert (found.text, found.speaker, found.session) == ("Ana likes tea.", "ana", "r")
    assert found.metadata == {"topic": "food", "agent_id": "bot"}
    assert found.idempotency_key == "mem0-m1"


@pytest.mark.parametrize("form", [Format.CHATGPT, Format.CLAUDE, Format.MEM0])
def test_a_file_that_is_cut_off_gives_what_came_before(form: Format) -> None:
    item = {
        Format.CHATGPT: chatgpt_talk(),
        Format.CLAUDE: {"uuid": "u", "chat_messages": [{"sender": "human", "text": "Hello."}]},
        Format.MEM0: {"id": "m", "memory": "Ana likes tea."},
    }[form]
    whole = good([item], form)
    cut = json.dumps([item, item]).encode()[:-10]
    found = read(cut, form)
    assert found[: len(whole)] == whole
    assert isinstance(found[-1], BadFile)
    assert "cut off" in found[-1].message


@pytest.mark.parametrize("form", [Format.CHATGPT, Format.CLAUDE, Format.MEM0])
@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b'{"title": "x"}', b"Hello."])
def test_a_file_that_is_no_list_is_told(form: Format, content: bytes) -> None:
    (fault,) = faults(content, form)
    assert "--format" in fault


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([
        "mapping", "current_node", "a", "parent", "message", "author", "role", "content", "parts",
        "text", "create_time", "metadata", "chat_messages", "sender", "attachments", "memory",
        "extracted_content", "file_name", "messages", "created_at", "title", "id", "uuid",
    ]), inner, max_size=6),
    max_leaves=30,
)  # fmt: skip


@given(st.lists(JSON, max_size=4), st.sampled_from(sorted(set(Format) - {Format.EPISODES})))
def test_whatever_a_file_holds_each_fault_is_told(items: list[Any], form: Format) -> None:
    raw = (
        "\n".join(map(json.dumps, items)).encode() if form is Format.OPENAI
        else json.dumps(items).encode()
    )  # fmt: skip
    for one in read(raw, form):
        assert isinstance(one, AppendRequest) or one.message


@given(JSON, JSON)
def test_a_chatgpt_message_of_any_shape_is_read_or_told(message: Any, when: Any) -> None:
    talk = {"mapping": {"a": {"message": message, "parent": None}}, "current_node": "a",
            "create_time": when, "title": message}  # fmt: skip
    for one in read([talk], Format.CHATGPT):
        assert isinstance(one, AppendRequest) or one.message


def test_an_archive_is_read_as_it_was_downloaded(tmp_path: Path) -> None:
    file = tmp_path / "export.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("conversations-000.json", json.dumps([chatgpt_talk()]))
        packed.writestr("conversations-001.json", json.dumps([chatgpt_talk()]))
        packed.writestr("user.json", "{}")
    with opened(file, Format.CHATGPT) as export:
        records = list(export.records)
        assert [record.number for record in records] == [1, 2, 3, 4]
        assert sum(record.size for record in records) == export.size
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("user.json", "{}")
    with pytest.raises(BadFile, match=r"no conversations\.json"), opened(file, Format.CLAUDE):
        pass
    with pytest.raises(BadFile, match="cannot be read"), opened(tmp_path, Format.CHATGPT):
        pass
