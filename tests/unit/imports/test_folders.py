"""Slack exports and folders of markdown, unpacked or as a ZIP archive."""

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.errors import BadFile
from ecphoria.imports.exports import Opened, opened
from ecphoria.imports.formats import Format
from ecphoria.imports.records import Record
from ecphoria.records.episode import NewEpisode

SLACK: dict[str, Any] = {
    "users.json": [
        {"id": "U1", "name": "ana", "profile": {"display_name": "Ana Kos", "real_name": "A"}},
        {"id": "U2", "name": "bo", "real_name": "Bo Lind", "profile": {"display_name": ""}},
    ],
    "channels.json": [{"id": "C1", "name": "general", "members": ["U1", "U2"]}],
    "groups.json": [{"id": "G1", "name": "board"}],
    "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
    "mpims.json": [{"id": "M1", "name": "mpdm-ana--bo-1", "members": ["U1", "U2", "U9"]}],
    "integration_logs.json": [{"user_id": "U1"}],
    "general/2024-05-01.json": [
        {"user": "U1", "ts": "1714550400.000100", "thread_ts": "1714550400.000100",
         "text": "Ask <@U2> or <@U9> about <#C1> &amp; <https://ex.org|the page>, <!here>"},
        {"user": "U2", "ts": "1714550401.000200", "text": "In <#C1|general>: <https://ex.org>"},
        {"subtype": "channel_join", "user": "U2", "ts": "1714550402.000000", "text": "joined"},
        {"subtype": "bot_message", "bot_id": "B1", "ts": "1714550403.000000", "text": "Beep."},
        {"user": "U1", "ts": "1714550404.000000", "text": "", "files": [{"id": "F1"}]},
        {"user": "U1", "text": "When?"},
        7,
    ],
    "general/2024-05-02.json": [
        {"user": "U9", "user_profile": {"real_name": "Cy Dee"}, "ts": "1714636800.000300",
         "thread_ts": "1714550400.000100", "text": "Here."},
    ],
    "board/2024-05-01.json": [{"user": "U1", "ts": "1714550400.000100", "text": "Secret."}],
    "D1/2024-05-01.json": [{"user": "U2", "ts": "1714550500.000000", "text": "Psst."}],
    "mpdm-ana--bo-1/2024-05-01.json": [{"user": "U1", "ts": "1714550600.0", "text": "All."}],
}  # fmt: skip


def unpacked(folder: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return folder


def packed(file: Path, files: dict[str, Any], root: str = "") -> Path:
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in files.items():
            archive.writestr(root + name, json.dumps(content))
    return file


def read(path: Path, form: Format | None = None) -> tuple[list[Record], Opened]:
    with opened(path, form) as export:
        return list(export.records), export


def turns(records: list[Record]) -> list[NewEpisode]:
    return [one.content for one in records if isinstance(one.content, NewEpisode)]


def faults(records: list[Record]) -> list[tuple[str, str]]:
    return [
        (one.place, one.content.message) for one in records if isinstance(one.content, BadFile)
    ]


@pytest.mark.parametrize("kind", ["folder", "archive", "archive of a folder"])
def test_a_slack_export_is_read_with_names_threads_and_talks(kind: str, tmp_path: Path) -> None:
    path = {
        "folder": lambda: unpacked(tmp_path / "export", SLACK),
        "archive": lambda: packed(tmp_path / "export.zip", SLACK),
        "archive of a folder": lambda: packed(tmp_path / "export.zip", SLACK, "acme/"),
    }[kind]()
    records, export = read(path)
    assert export.form is Format.SLACK
    found = {turn.idempotency_key: turn for turn in turns(records)}
    assert len(found) == 6
    first, second, reply = (found[f"slack-C1-{ts}"] for ts in (
        "1714550400.000100", "1714550401.000200", "1714636800.000300"))  # fmt: skip
    assert first.text == "Ask Bo Lind or U9 about #general & the page (https://ex.org), @here"
    assert second.text == "In #general: https://ex.org"
    assert [turn.speaker for turn in (first, second, reply)] == ["Ana Kos", "Bo Lind", "Cy Dee"]
    assert first.session == reply.session == "#general thread 1714550400.000100"
    assert second.session == "#general 2024-05-01"
    assert first.occurred_at is not None
    assert first.occurred_at.isoformat() == "2024-05-01T08:00:00.000100+00:00"
    assert {turn.session for turn in turns(records)} >= {
        "#board 2024-05-01", "Ana Kos, Bo Lind 2024-05-01", "Ana Kos, Bo Lind, U9 2024-05-01",
    }  # fmt: skip
    assert export.reading.left_out == {
        "notices (channel_join)": 1, "messages of bots": 1, "messages without text": 1,
    }  # fmt: skip
    assert [(place.split("general/")[1], why.split(";")[0]) for place, why in faults(records)] == [
        ("2024-05-01.json, message 6", "The message has no time `ts` that can be read"),
        ("2024-05-01.json, message 7", "The message is no object"),
    ]
    assert sum(record.size for record in records) <= (export.size or 0)


def test_damage_of_a_slack_export_is_told_with_its_file(tmp_path: Path) -> None:
    day = json.dumps(SLACK["general/2024-05-01.json"]).partition("In <")[0].encode()
    damaged = SLACK | {"users.json": b'{"a": 1}', "general/2024-05-01.json": day}
    records, _ = read(unpacked(tmp_path / "export", damaged), Format.SLACK)
    assert [place for place, _ in faults(records)] == [
        "users.json", "general/2024-05-01.json, message 2",
    ]  # fmt: skip
    assert {turn.speaker for turn in turns(records)} == {"U1", "U2", "Cy Dee"}
    assert len(turns(records)) == 5


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([
        "id", "name", "profile", "display_name", "real_name", "members", "user", "ts", "text",
        "thread_ts", "subtype", "bot_id", "user_profile",
    ]), inner, max_size=6),
    max_leaves=20,
)  # fmt: skip


@given(st.lists(JSON, max_size=3), st.lists(JSON, max_size=3), st.lists(JSON, max_size=4))
def test_whatever_a_slack_export_holds_each_fault_is_told(
    tmp_path_factory: pytest.TempPathFactory, people: Any, channels: Any, day: Any
) -> None:
    said = [*day, {"user": "U1", "ts": "1714550400.000100", "text": "Good <@U2|x> <@> <!>."}]
    files = {"users.json": people, "dms.json": channels, "general/2024-05-01.json": said}
    records, _ = read(packed(tmp_path_factory.mktemp("slack") / "x.zip", files), Format.SLACK)
    assert all(one.content.message for one in records if isinstance(one.content, BadFile))
    assert turns(records)[-1].text.startswith("Good ")


PAGES = {
    "plans/boat.md": "---\ntitle: The boat\ndate: 2024-05-01\ntags: [sea, wood]\nrating: 4\n"
                     "author:\n  name: Ana\n---\n# Plan\n\nSell the boat.\n",
    "plain.md": "Some words.\r\n\r\n## Heading of two\r\n# The first heading #\r\n",
    "bare.markdown": "---\nA ruler, and no front matter.\n---\nMore.",
    "dated.md": "---\ndate: 2024-05-01 10:00:00 +02:00\n---\nText.",
    "empty.md": "---\ntitle: Nothing\n---\n",
    "broken.md": "---\ntitle: [a\n---\nText.",
    "wrong date.md": "---\ndate: last week\n---\nText.",
    ".hidden.md": "No.",
    ".obsidian/app.md": "No.",
    "picture.png": "No.",
}  # fmt: skip


def pages(folder: Path) -> Path:
    root = unpacked(folder, {name: text.encode() for name, text in PAGES.items()})
    (root / "latin.md").write_bytes("Größe".encode("latin-1"))
    return root


def test_a_folder_of_markdown_becomes_documents(tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("Secret.", encoding="utf-8")
    root = pages(tmp_path / "notes")
    (root / "link.md").symlink_to(tmp_path / "outside.md")
    (root / "loop").symlink_to(root)
    records, export = read(root)
    assert export.form is Format.MARKDOWN
    found = {turn.source: turn for turn in turns(records)}
    assert set(found) == {
        "notes/plans/boat.md", "notes/plain.md", "notes/bare.markdown", "notes/dated.md",
        "notes/broken.md", "notes/wrong date.md",
    }  # fmt: skip
    boat = found["notes/plans/boat.md"]
    assert (boat.title, boat.text) == ("The boat", "# Plan\n\nSell the boat.")
    assert boat.metadata == {"tags": "sea, wood", "rating": 4}
    assert boat.idempotency_key == "markdown-notes/plans/boat.md"
    assert boat.occurred_at is not None
    assert boat.occurred_at.isoformat() == "2024-05-01T00:00:00+00:00"
    assert found["notes/plain.md"].title == "The first heading"
    assert found["notes/bare.markdown"].text == PAGES["bare.markdown"]
    dated = found["notes/dated.md"]
    assert (dated.title, str(dated.occurred_at)) == ("dated", "2024-05-01 10:00:00+02:00")
    assert [(place, why.split()[0]) for place, why in faults(records)] == [
        ("link.md", "It"), ("latin.md", "Not"),
    ]  # fmt: skip
    assert export.reading.left_out == {"files without text": 1}
    assert export.reading.parts == {
        "hidden files": 1, "fields that cannot be stored": 1,
        "fields of front matter that cannot be read": 2, "files of other kinds (.png)": 1,
    }  # fmt: skip
    assert [turn.idempotency_key for turn in turns(read(root)[0])] == [
        turn.idempotency_key for turn in found.values()
    ]


def test_a_file_that_is_too_large_or_not_readable_is_told(tmp_path: Path) -> None:
    root = unpacked(tmp_path / "notes", {"large.md": b"x" * 10_000_001, "fine.md": b"Fine."})
    (root / "gone.md").write_text("x", encoding="utf-8")
    (root / os.fsdecode(b"na\xefve.md")).write_text("Named in Latin-1.", encoding="utf-8")
    with opened(root) as export:
        (root / "gone.md").unlink()
        records = list(export.records)
    assert [turn.text for turn in turns(records)] == ["Fine.", "Named in Latin-1."]
    assert "\ufffd" in str(turns(records)[1].source)
    told = dict(faults(records))
    assert "cannot be read" in told["gone.md"]
    assert "split it" in told["large.md"]


@given(st.binary(max_size=200) | st.text(max_size=100).map(
    lambda text: f"---\n{text}\n---\nBody.".encode(errors="replace")))  # fmt: skip
def test_whatever_a_markdown_file_holds_is_read_or_told(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    root = unpacked(tmp_path_factory.mktemp("notes"), {"a.md": content, "b.md": b"Fine."})
    records, _ = read(root)
    assert turns(records)[-1].text == "Fine."
    assert all(one.content.message for one in records if isinstance(one.content, BadFile))


def test_a_folder_with_nothing_to_import_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="holds no files"), opened(tmp_path):
        pass
    (tmp_path / "a.bin").write_bytes(b"\0")
    with pytest.raises(BadFile, match="give --format"), opened(tmp_path):
        pass
    with (
        pytest.raises(BadFile, match="nothing of the format slack"),
        opened(tmp_path, Format.SLACK),
    ):
        pass
    with (
        pytest.raises(BadFile, match="nothing of the format openai"),
        opened(tmp_path, Format.OPENAI),
    ):
        pass
    with (
        pytest.raises(BadFile, match="none of the format graphiti; give the address"),
        opened(tmp_path, Format.GRAPHITI),
    ):
        pass


def test_names_of_files_count_in_any_case(tmp_path: Path) -> None:
    for name in ("a.md", "B.MD", "c.Markdown"):
        (tmp_path / name).write_text(f"# {name}\nText.")
    with opened(tmp_path) as export:
        texts = [record.content.text for record in export.records
                 if isinstance(record.content, NewEpisode)]  # fmt: skip
        assert sorted(texts) == ["# B.MD\nText.", "# a.md\nText.", "# c.Markdown\nText."]
        assert not export.reading.parts


def test_an_archive_without_files_is_told(tmp_path: Path) -> None:
    file = tmp_path / "empty.zip"
    zipfile.ZipFile(file, "w").close()
    with pytest.raises(BadFile, match="empty holds no files"), opened(file):
        pass
