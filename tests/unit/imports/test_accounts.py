"""What an import reads, leaves out and refuses adds up to what the source holds.

Exports of each format are generated, with branches, hidden and empty messages, thoughts,
attachments, and damage. The generator counts what it writes.
"""

import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ecphoria.errors import BadFile
from ecphoria.imports.exports import Opened, opened, opened_stream
from ecphoria.imports.formats import Format
from ecphoria.records.episode import NewEpisode


class Dice(random.Random):
    """Chooses among values of different types."""

    def choice(self, seq: Any) -> Any:
        return super().choice(seq)


Made = tuple[Any, int]
"""The content of a file, and the number of entries that it holds."""


def folder(root: Path, files: dict[str, object]) -> Opened:
    """Read a folder to its end."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
    with opened(root) as export:
        export.reading.parts["read"] = 0
        for record in export.records:
            refused = isinstance(record.content, BadFile)
            export.reading.parts["refused" if refused else "read"] += 1
    return export


def accounted(export: Opened) -> int:
    """Count the entries that were read, refused or left out."""
    reading = export.reading
    return reading.parts["read"] + reading.parts["refused"] + reading.left_out.total()


def account(raw: bytes, form: Format | None) -> tuple[list[NewEpisode], int, Opened]:
    stream = io.BufferedReader(io.BytesIO(raw))
    export = opened_stream(stream, form, name="folder/chat.txt")
    contents = [record.content for record in export.records]
    read = [one for one in contents if isinstance(one, NewEpisode)]
    return read, sum(isinstance(one, BadFile) for one in contents), export


THOUGHT = '<details type="reasoning">hm</details>'


def words(rng: Dice) -> str:
    return " ".join(rng.choice(["yes", "boat", "Porto", "größer", "no"]) for _ in range(3))


def chatgpt(rng: Dice) -> Made:
    talks: list[Any] = []
    held = 0
    for number in range(rng.randint(1, 4)):
        nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None}}
        for turn in range(rng.randint(1, 12)):
            role = rng.choice(["user", "assistant", "tool", "system", "critic"])
            parts = rng.choice(
                [[words(rng)], [""], [], [{"image": 1}], [words(rng), {"image": 1}]]
            )
            message: Any = {
                "id": f"{number}-{turn}", "author": {"role": role},
                "create_time": rng.choice([None, 1_700_000_000.0 + turn, "soon"]),
                "content": {"content_type": rng.choice(["text", "thoughts"]), "parts": parts},
                "metadata": {"is_visually_hidden_from_conversation": rng.random() < 0.2},
            }  # fmt: skip
            kind = rng.random()
            message = None if kind < 0.1 else "broken" if kind < 0.15 else message
            held += message is not None
            node = {"id": f"n{turn}", "message": message}
            if rng.random() < 0.9:
                node["parent"] = rng.choice([*nodes, "missing", f"n{turn}"])
            nodes[f"n{turn}"] = node
        talk = {"title": "T", "id": f"talk-{number}", "mapping": nodes}
        talk |= rng.choice([{}, {"current_node": None}, {"current_node": "gone"},
                            {"current_node": f"n{len(nodes) - 2}"}])  # fmt: skip
        talks.append(talk)
    if rng.random() < 0.3:
        talks.insert(0, rng.choice([5, {"title": "no mapping"}, None]))
        held += 1
    return talks, held


def claude(rng: Dice) -> Made:
    talks, held = [], 0
    for number in range(rng.randint(1, 4)):
        messages: list[Any] = []
        for turn in range(rng.randint(1, 10)):
            texts = [{"type": "text", "text": rng.choice([words(rng), ""])}]
            content = rng.choice([texts, [{"type": "thinking", "thinking": "hm"}], [], None,
                                  [*texts, {"type": "tool_use", "name": "look"}]])  # fmt: skip
            attachments = rng.choice(
                [
                    [],
                    [{"file_name": "a", "extracted_content": words(rng)}] * 2,
                    [{"file_name": "b"}],
                ]
            )
            message: Any = {
                "uuid": f"{number}-{turn}", "sender": rng.choice(["human", "assistant"]),
                "text": rng.choice(["", words(rng)]), "content": content,
                "attachments": attachments, "files": [{}],
            }  # fmt: skip
            if rng.random() < 0.7:
                parents = [f"{number}-{before}" for before in range(turn)]
                message["parent_message_uuid"] = rng.choice([*parents, "0000"])
            held += 1 + sum("extracted_content" in one for one in attachments)
            messages.append(message)
        if rng.random() < 0.2:
            messages.append(7)
            held += 1
        last = rng.choice(["gone", f"{number}-0", None])
        talks.append({"uuid": f"t{number}", "name": "", "chat_messages": messages,
                      "current_leaf_message_uuid": last})  # fmt: skip
    return talks, held


def open_webui(rng: Dice) -> Made:
    talks, held = [], 0
    for number in range(rng.randint(1, 3)):
        messages: dict[str, Any] = {}
        for turn in range(rng.randint(1, 8)):
            ident = f"{number}-{turn}"
            messages[ident] = {
                "id": ident, "parentId": rng.choice([None, *messages]),
                "role": rng.choice(["user", "assistant", "system"]), "timestamp": 1_700_000_000,
                "content": rng.choice(["", words(rng), THOUGHT]),
            }  # fmt: skip
        held += len(messages)
        history = {"messages": messages, "currentId": rng.choice([None, *messages])}
        talks.append({"id": f"c{number}", "title": "T", "chat": {"history": history}})
    return talks, held


def grok(rng: Dice) -> Made:
    talks, held = [], 0
    for number in range(rng.randint(1, 3)):
        responses = [
            {"response": {
                "_id": f"{number}-{turn}", "message": rng.choice(["", words(rng)]),
                "sender": rng.choice(["human", "ASSISTANT"]),
                "create_time": {"$date": {"$numberLong": "1700000000000"}}}}
            for turn in range(rng.randint(1, 6))
        ]  # fmt: skip
        held += len(responses)
        talks.append({"conversation": {"id": f"g{number}", "title": "T"}, "responses": responses})
    return {"conversations": talks, "projects": []}, held


def messages(rng: Dice, role: str, text: str, roles: list[str]) -> list[Any]:
    return [
        rng.choice([
            {role: rng.choice(roles),
             text: rng.choice([words(rng), "yes", "", [], [{"type": "x"}]])},
            {role: roles[0], text: words(rng)},
        ])
        for _ in range(rng.randint(1, 9))
    ]  # fmt: skip


def openai(rng: Dice) -> Made:
    talks = [messages(rng, "role", "content", ["user", "assistant", "system", "tool"])
             for _ in range(rng.randint(1, 4))]  # fmt: skip
    broken = rng.choice([[], [3]])
    return (
        [{"id": f"t{number}", "messages": [*talk, *broken]} for number, talk in enumerate(talks)],
        sum(map(len, talks)) + len(broken) * len(talks),
    )


def langchain(rng: Dice) -> Made:
    listed = messages(rng, "type", "content", ["human", "ai", "system", "tool", "remove"])
    state = {"values": {"messages": listed}, "next": [], "config": {
        "configurable": {"thread_id": "t1"}}}  # fmt: skip
    return rng.choice([listed, state, [state]]), len(listed)


def sharegpt(rng: Dice) -> Made:
    roles = ["human", "gpt", "system", "function_call", "observation"]
    talks = [messages(rng, "from", "value", roles) for _ in range(rng.randint(1, 4))]
    talks = [[{"from": "human", "value": "Hi."}, *talk] for talk in talks]
    return [{"id": f"s{number}", "conversations": talk} for number, talk in enumerate(talks)], sum(
        map(len, talks)
    )


def gemini(rng: Dice) -> Made:
    chunks = [
        rng.choice([
            {"role": "user", "text": words(rng)},
            {"role": "model", "text": "Hm", "isThought": True},
            {"role": "model", "parts": [{"text": "Hm", "thought": True}, {"text": words(rng)}]},
            {"role": "user", "driveImage": {"id": "x"}},
        ])
        for _ in range(rng.randint(1, 9))
    ]  # fmt: skip
    return {"runSettings": {}, "systemInstruction": {}, "chunkedPrompt": {"chunks": chunks}}, len(
        chunks
    )


def mem0(rng: Dice) -> Made:
    memories = [
        rng.choice([
            {"id": f"m{number}", "memory": words(rng), "expiration_date": "2001-01-01"},
            {"id": f"m{number}", "memory": words(rng), "categories": ["a", "b"]},
            {"id": f"m{number}", "content": words(rng), "state": "deleted"},
            {"id": f"m{number}", "memory": " "}, 3,
        ])
        for number in range(rng.randint(1, 9))
    ]  # fmt: skip
    whole = [{"id": "w", "memory": "Tea.", "user_id": "ana"}, *memories]
    return rng.choice([whole, {"results": whole}, {"memories": whole, "users": []}]), len(whole)


def telegram(rng: Dice) -> Made:
    listed = [
        rng.choice([
            {"id": number, "type": "message", "date": "2024-05-01T10:00:00", "from": "Ana",
             "from_id": "user1", "text": ["See ", {"type": "link", "text": "ex.org"}]},
            {"id": number, "type": "service", "action": "pin_message", "text": "", "from_id": "u"},
            {"id": number, "type": "message", "photo": "x.jpg", "text": "", "from_id": "u"}, 3,
        ])
        for number in range(rng.randint(1, 9))
    ]  # fmt: skip
    listed.insert(0, {"id": 99, "type": "message", "from_id": "u", "text": "Hi.", "date": "x"})
    chat = {"name": "Ana", "type": "personal_chat", "id": 7, "messages": listed}
    if rng.random() < 0.5:
        return chat, len(listed)
    return {"about": "x", "chats": {"about": "y", "list": [chat, {**chat, "id": 8}]}}, 2 * len(
        listed
    )


def slack_dump(rng: Dice) -> Made:
    reply = {"user": "U2", "ts": "1714550401.000200", "text": "Reply."}
    listed = [
        rng.choice([
            {"user": "U1", "ts": "1714550400.000100", "text": words(rng)},
            {"user": "U1", "ts": "1714550400.000100", "text": "Hm.",
             "slackdump_thread_replies": [reply, reply]},
            {"subtype": "channel_join", "user": "U1", "ts": "1714550400.000100", "text": "joined"},
            {"user": "U1", "text": "When?"},
        ])
        for _ in range(rng.randint(1, 9))
    ]  # fmt: skip
    listed.insert(0, {"user": "U1", "ts": "1714550400.000100", "text": "First."})
    held = sum(1 + len(one.get("slackdump_thread_replies", [])) for one in listed)
    return {"channel_id": "C1", "name": "general", "messages": listed}, held


def claude_code(rng: Dice) -> Made:
    lines = [
        rng.choice([
            {"type": "user", "message": {"role": "user", "content": words(rng)}},
            {"type": "user", "isMeta": True, "message": {"role": "user", "content": "x"}},
            {"type": "assistant", "isSidechain": True, "message": {"content": "x"}},
            {"type": "assistant", "message": {"content": [{"type": "thinking"}]}},
            {"type": "assistant", "message": {"content": [{"type": "text", "text": "Ok."}]}},
            {"type": "user", "message": {"content": [{"type": "tool_result", "content": "y"}]}},
            {"type": "file-history-snapshot", "snapshot": {}},
        ]) | {"uuid": f"u{number}", "parentUuid": None, "sessionId": "s1"}
        for number in range(rng.randint(2, 12))
    ]  # fmt: skip
    return "\n".join(map(json.dumps, lines)).encode(), len(lines)


def activities(rng: Dice) -> Made:
    made: list[tuple[dict[str, Any], int]] = [
        rng.choice([
            ({"title": "Prompted Where?", "safeHtmlItem": [{"html": "<p>In <b>X</b>.</p>"}]}, 2),
            ({"title": "Gave feedback"}, 1), ({"title": "Prompted Hm?"}, 1),
            ({"title": "Prompted Where?", "safeHtmlItem": [{"html": "<script>x</script>"}]}, 2),
        ])
        for _ in range(rng.randint(1, 9))
    ]  # fmt: skip
    common = {"header": "Gemini Apps", "time": "2025-05-01T10:00:00Z", "activityControls": ["x"]}
    return [one | common for one, _ in made], sum(held for _, held in made)


def whatsapp(rng: Dice) -> Made:
    lines: list[str] = []
    held = rng.randint(1, 12)
    for number in range(held):
        head = f"{number + 1:02}.05.24, 22:{number:02} - "
        lines.append(head + rng.choice([
            "Ana: Yes.", "Bo Lind: Two\nlines: of text", "Ana: <Media omitted>",
            "Messages are end-to-end encrypted.",
        ]))  # fmt: skip
    return "\n".join(lines).encode(), held


MAKERS: dict[str, tuple[Callable[[Dice], Made], Format]] = {
    "chatgpt": (chatgpt, Format.CHATGPT), "claude": (claude, Format.CLAUDE),
    "open-webui": (open_webui, Format.OPEN_WEBUI), "grok": (grok, Format.GROK),
    "openai": (openai, Format.OPENAI), "langchain": (langchain, Format.LANGCHAIN),
    "sharegpt": (sharegpt, Format.SHAREGPT), "ai studio": (gemini, Format.GEMINI),
    "takeout": (activities, Format.GEMINI), "mem0": (mem0, Format.MEM0),
    "telegram": (telegram, Format.TELEGRAM), "slackdump": (slack_dump, Format.SLACK),
    "claude-code": (claude_code, Format.CLAUDE_CODE), "whatsapp": (whatsapp, Format.WHATSAPP),
}  # fmt: skip


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("layout", ["as exported", "lines", "printed", "single"])
def test_what_is_read_left_out_and_refused_is_what_the_file_holds(maker: str, layout: str) -> None:
    make, form = MAKERS[maker]
    for seed in range(25):
        content, held = make(Dice(seed))
        if layout == "single" and isinstance(content, list) and len(content) == 1:
            content = content[0]
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        if layout == "lines" and isinstance(content, list) and isinstance(content[0], dict):
            raw = "\n".join(map(json.dumps, content)).encode()
        elif layout == "printed" and not isinstance(content, bytes):
            raw = json.dumps(content, indent=2).encode()
        read, refused, export = account(raw, form)
        told = (len(read), dict(export.reading.left_out), refused)
        assert len(read) + export.reading.left_out.total() + refused == held, (seed, told)
        assert len({one.idempotency_key for one in read}) == len(read) or maker in (
            "slackdump", "takeout",
        )  # fmt: skip


@pytest.mark.parametrize("maker", MAKERS)
def test_the_format_of_each_export_is_told_by_its_content(maker: str) -> None:
    make, form = MAKERS[maker]
    for seed in range(25):
        content, held = make(Dice(seed))
        if isinstance(content, list) and not isinstance(content[0], dict):
            continue
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        read, refused, export = account(raw, None)
        assert export.form is form, seed
        assert len(read) + refused + export.reading.left_out.total() == held


@pytest.mark.parametrize("seed", range(10))
def test_the_messages_of_a_slack_export_add_up(seed: int, tmp_path: Path) -> None:
    rng = Dice(seed)
    files: dict[str, object] = {
        "channels.json": [{"id": "C1", "name": "general"}],
        "users.json": [{"id": "U1", "name": "a"}], "canvases.json": [],
    }  # fmt: skip
    held = 0
    for day in range(1, rng.randint(2, 5)):
        messages = [
            rng.choice([
                {"user": "U1", "ts": f"17145504{number:02}.000100", "text": words(rng)},
                {"user": "U1", "ts": "1714550400.0", "text": "", "files": [{"id": "F"}]},
                {"subtype": "bot_message", "text": "Beep."},
                {"subtype": "channel_join", "text": "x"},
                {"user": "U1", "text": "When?"}, 7, None,
            ])
            for number in range(rng.randint(1, 9))
        ]  # fmt: skip
        files[f"general/2024-05-0{day}.json"] = messages
        held += len(messages)
    export = folder(tmp_path / "export", files)
    assert export.form is Format.SLACK
    assert accounted(export) == held
    assert export.reading.parts["files of other kinds (.json)"] == 1


@pytest.mark.parametrize("seed", range(10))
def test_the_files_of_a_vault_add_up(seed: int, tmp_path: Path) -> None:
    rng = Dice(seed)
    files: dict[str, object] = {"first.md": "Words."}
    for number in range(rng.randint(1, 12)):
        files[f"{rng.choice(['', 'sub/'])}{number}.{rng.choice(['md', 'markdown'])}"] = rng.choice(
            ["", "---\ntitle: a\n---\n", "---\ntitle: a: b\n---\nBody.", "Body.", "# H\n"]
        )
    more: dict[str, object] = {".obsidian/app.json": {}, "image.png": "x", "table.csv": "a,b"}
    export = folder(tmp_path / "vault", files | more)
    assert export.form is Format.MARKDOWN
    assert accounted(export) == len(files)
    others = ("files of other kinds (.png)", "files of other kinds (.csv)")
    assert [export.reading.parts[other] for other in others] == [1, 1]


def test_an_archive_of_several_exports_reads_one_kind_and_counts_the_others(
    tmp_path: Path,
) -> None:
    chat, held = telegram(Dice(1))
    talk = [{"id": "s", "conversations": [{"from": "human", "value": "a"}]}]
    export = folder(tmp_path / "mixed", {"result.json": chat, "talk.json": talk, "x.bin": "x"})
    assert export.form is Format.TELEGRAM
    assert accounted(export) == held
    assert export.reading.parts["files of other kinds (.json)"] == 1
