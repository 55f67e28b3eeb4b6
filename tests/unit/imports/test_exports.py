"""Exports of other products become episodes; what is damaged is told, and the rest is read."""

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.errors import BadFile
from ecphoria.imports.exports import opened, opened_stream
from ecphoria.imports.formats import Format
from ecphoria.records.episode import NewEpisode


def read(content: object, form: Format) -> list[NewEpisode | BadFile]:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    stream = io.BufferedReader(io.BytesIO(raw))
    return [record.content for record in opened_stream(stream, form, name="chat").records]


def good(content: object, form: Format) -> list[NewEpisode]:
    found = [one for one in read(content, form) if isinstance(one, NewEpisode)]
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
    assert len(read(talks, Format.CHATGPT)) == 5
    assert ["mapping" in fault for fault in faults(talks, Format.CHATGPT)] == [True]
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
    assert [fault.split()[:2] for fault in told] == [
        ["Not", "JSON"], ["The", "message"], ["There", "are"],
    ]  # fmt: skip


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
@pytest.mark.parametrize("content", [b"PK\x03\x04", b'{"title": "x"}', b"Hello."])
def test_a_file_of_another_format_is_told(form: Format, content: bytes) -> None:
    (fault,) = faults(content, form)
    assert "--format" in fault or "is missing" in fault


@pytest.mark.parametrize("form", [None, *sorted(set(Format) - {Format.GRAPHITI})])
@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf \n"])
def test_an_empty_file_is_told(form: Format | None, content: bytes) -> None:
    with pytest.raises(BadFile, match="is empty"):
        opened_stream(io.BufferedReader(io.BytesIO(content)), form, name="x/empty.json")


SINGLE = set(Format) - {Format.DOCUMENTS, Format.MARKDOWN, Format.GRAPHITI}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([
        "mapping", "current_node", "a", "parent", "message", "author", "role", "content", "parts",
        "text", "create_time", "metadata", "chat_messages", "sender", "attachments", "memory",
        "extracted_content", "file_name", "messages", "created_at", "title", "id", "uuid", "type",
        "data", "kwargs", "tool_calls",
    ]), inner, max_size=6),
    max_leaves=30,
)  # fmt: skip


@given(st.lists(JSON, max_size=4), st.sampled_from(sorted(SINGLE)))
def test_whatever_a_file_holds_each_fault_is_told(items: list[Any], form: Format) -> None:
    raw = (
        "\n".join(map(json.dumps, items)).encode() if form in {Format.OPENAI, Format.LANGCHAIN}
        else json.dumps(items).encode()
    )  # fmt: skip
    if raw:
        for one in read(raw, form):
            assert isinstance(one, NewEpisode) or one.message


@given(JSON, JSON)
def test_a_chatgpt_message_of_any_shape_is_read_or_told(message: Any, when: Any) -> None:
    talk = {"mapping": {"a": {"message": message, "parent": None}}, "current_node": "a",
            "create_time": when, "title": message}  # fmt: skip
    for one in read([talk], Format.CHATGPT):
        assert isinstance(one, NewEpisode) or one.message


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
    with pytest.raises(BadFile, match="nothing of the format claude"), opened(file, Format.CLAUDE):
        pass
    missing = tmp_path / "missing"
    with pytest.raises(BadFile, match="cannot be read"), opened(missing, Format.CHATGPT):
        pass


MESSAGES: list[dict[str, Any]] = [
    {"type": "system", "content": "Be kind."},
    {"type": "human", "content": "Where is the boat?", "name": "Ana", "id": "h1"},
    {"type": "ai", "content": [{"type": "reasoning", "reasoning": "Hm."},
                               {"type": "text", "text": "In Porto."}, "It is red."]},
    {"type": "ai", "content": "", "tool_calls": [{"name": "look", "args": {}, "id": "c1"}]},
    {"type": "tool", "content": "Found it.", "tool_call_id": "c1"},
    {"type": "chat", "role": "user", "content": "Thanks."},
    {"type": "AIMessageChunk", "content": "Good bye."},
]  # fmt: skip
CLASSES = {"human": "HumanMessage", "ai": "AIMessage", "system": "SystemMessage",
           "tool": "ToolMessage", "chat": "ChatMessage"}  # fmt: skip
FORMS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "dumped": lambda message: message,
    "in data": lambda message: {"type": message["type"], "data": message},
    "constructor": lambda message: {
        "lc": 1, "type": "constructor", "kwargs": message,
        "id": ["langchain", "schema", "messages", CLASSES.get(message["type"], message["type"])],
    },
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", ["list", "printed list", "object", "lines", "messages a line"])
def test_langchain_messages_are_read_in_each_form_and_layout(form: str, layout: str) -> None:
    messages = [FORMS[form](message) for message in MESSAGES]
    content = {
        "list": json.dumps(messages),
        "printed list": json.dumps(messages, indent=2),
        "object": json.dumps({"messages": messages}, indent=2),
        "lines": "\n".join(map(json.dumps, [messages, {"id": "t2", "messages": messages}])),
        "messages a line": "\n".join(map(json.dumps, messages)) + "\n",
    }[layout].encode()
    stream = io.BufferedReader(io.BytesIO(content))
    export = opened_stream(stream, name="chat")
    assert export.form is Format.LANGCHAIN, "told by the content"
    found = [record.content for record in export.records]
    turns = [one for one in found if isinstance(one, NewEpisode)]
    assert len(turns) == len(found)
    assert [(turn.role, turn.text, turn.speaker) for turn in turns[:5]] == [
        ("user", "Where is the boat?", "Ana"), ("assistant", "In Porto.\nIt is red.", None),
        ("tool", "Found it.", None), ("user", "Thanks.", None), ("assistant", "Good bye.", None),
    ]  # fmt: skip
    times = 2 if layout == "lines" else 1
    sessions = ["chat 1", "t2"][:times]
    assert [turn.session for turn in turns] == [name for name in sessions for _ in range(5)]
    assert [turn.position for turn in turns[:5]] == [1, 2, 4, 5, 6]
    assert export.reading.left_out == {"system messages": times, "messages without text": times}
    assert len({turn.idempotency_key for turn in turns}) == 5 * times


def test_openai_messages_with_tools_parts_and_times_are_read() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "created_at": "2025-01-12T10:04:00Z", "content": [
            {"type": "image_url", "image_url": {"url": "data:x"}},
            {"type": "text", "text": "Which boat is this?"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "The Marlin."},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "I may not say."}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:x"}}]},
        {"role": "assistant", "content": [{"type": "text", "text": {"value": "It is blue."}}]},
        {"role": "pirate", "content": "Arr."},
    ]  # fmt: skip
    raw = json.dumps({"messages": messages}).encode()
    export = opened_stream(io.BufferedReader(io.BytesIO(raw)), name="chat")
    assert export.form is Format.OPENAI
    records = list(export.records)
    turns = [one.content for one in records if isinstance(one.content, NewEpisode)]
    assert [(turn.role, turn.text) for turn in turns[:4]] == [
        ("user", "Which boat is this?"), ("tool", "The Marlin."), ("assistant", "I may not say."),
        ("assistant", "It is blue."),
    ]  # fmt: skip
    assert turns[0].occurred_at is not None
    assert export.reading.left_out == {"system messages": 1, "messages without text": 2}
    assert records[1].place == "line 1, message 4"


def test_a_long_first_line_of_lists_is_still_a_line() -> None:
    talk = [{"role": "user", "content": "x" * 20_000}]
    raw = b"\n".join(json.dumps(talk).encode() for _ in range(2))
    assert [turn.session for turn in good(raw, Format.OPENAI)] == ["chat 1", "chat 2"]
    (turn,) = good(json.dumps(talk).encode(), Format.OPENAI)
    assert turn.session == "chat 1"


DETECTED = {
    Format.EPISODES: b'{"text": "Note.", "metadata": {"role": "user", "content": "x"}}\n',
    Format.CHATGPT: json.dumps([chatgpt_talk()], indent=1).encode(),
    Format.CLAUDE: b'[{"uuid": "u", "chat_messages": [{"sender": "human", "text": "Hello."}]}]',
    Format.OPENAI: b'\xef\xbb\xbf[\n  {"role": "user", "content": "Hello."}\n]',
    Format.LANGCHAIN: b'[[{"type": "human", "data": {"content": "Hello."}}]]',
    Format.MEM0: b'{"results": [{"id": "m", "memory": "Ana likes tea."}]}',
}


@pytest.mark.parametrize("form", DETECTED)
def test_a_format_is_told_by_the_content(form: Format) -> None:
    export = opened_stream(io.BufferedReader(io.BytesIO(DETECTED[form])))
    assert export.form is form
    contents = [record.content for record in export.records]
    assert contents
    assert all(isinstance(one, NewEpisode) for one in contents), contents


def test_a_list_of_something_else_is_refused_at_once() -> None:
    with pytest.raises(BadFile, match="give --format"):
        opened_stream(io.BufferedReader(io.BytesIO(b'[{"name": "Ana"}]')))
    with pytest.raises(BadFile, match="the address of its Neo4j"):
        opened_stream(io.BufferedReader(io.BytesIO(b"[]")), Format.GRAPHITI)


def test_an_archive_that_is_cut_off_is_told(tmp_path: Path) -> None:
    file = tmp_path / "export.zip"
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("conversations.json", json.dumps([chatgpt_talk()]))
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(BadFile, match="cut off or damaged"), opened(file):
        pass


@pytest.mark.parametrize(
    "packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_damage_of_one_part_of_an_archive_leaves_the_others(tmp_path: Path, packing: int) -> None:
    file = tmp_path / "export.zip"
    with zipfile.ZipFile(file, "w", packing) as packed:
        for number in range(3):
            packed.writestr(f"conversations-{number}.json", json.dumps([chatgpt_talk()]))
        hit = packed.infolist()[1]
    raw = bytearray(file.read_bytes())
    middle = hit.header_offset + 30 + len(hit.filename) + hit.compress_size // 2
    raw[middle : middle + 8] = bytes(8)
    file.write_bytes(raw)
    with opened(file) as export:
        assert export.form is Format.CHATGPT
        records = list(export.records)
    (fault,) = (one for one in records if isinstance(one.content, BadFile))
    assert fault.place == "conversations-1.json"
    assert re.search("CRC|[Cc]orrupt|[Ii]nvalid", str(fault.content))
    assert len(records) >= 5
