"""Notes with broken front matter, documents of other kinds, and files that hold no text."""

import contextlib
import io
import json
import tracemalloc
import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.errors import BadFile
from ecphoria.imports.exports import Opened, opened, opened_stream
from ecphoria.imports.formats import Format
from ecphoria.records.episode import NewEpisode

BROKEN = [
    "title: Foo: bar", "date: {{date}}", "date: sometime in May", "date: 2024-02-30",
    "rating: .nan", f"{'k' * 300}: 1", "a: .inf", "count: 99999999999999999999999", "title: @x",
    "x: *foo", "nested: {a: {b: 1}}", "title: [a, b]", "created: '0000-00-00'", 'when: "\\u0007"',
]  # fmt: skip


def read(raw: bytes, name: str) -> tuple[list[NewEpisode | BadFile], Opened]:
    export = opened_stream(io.BufferedReader(io.BytesIO(raw)), name=name)
    return [record.content for record in export.records], export


def page(raw: bytes, name: str = "notes/a.md") -> tuple[NewEpisode, Opened]:
    (found,), export = read(raw, name)
    assert isinstance(found, NewEpisode), found
    return found, export


@pytest.mark.parametrize("field", BROKEN)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_broken_field_of_front_matter_costs_the_field_only(
    field: str, end: str, mark: bytes
) -> None:
    text = end.join(["---", field, "tags:", "  - sea", "  - wood", "---", "The body.", ""])
    found, export = page(mark + text.encode())
    assert found.text == "The body."
    assert found.metadata == {"tags": "sea, wood"}
    assert export.reading.parts.total() == 1, export.reading.parts


@given(st.lists(st.sampled_from([*BROKEN, "tags: [a]", "\tx: 1", "- y", "", "plain words"])))
def test_a_note_with_any_front_matter_keeps_its_body(fields: list[str]) -> None:
    text = "\n".join(["---", *fields, "---", "The body."])
    found, _ = page(text.encode())
    assert found.text.endswith("The body.")


@pytest.mark.parametrize("front", ["\ttitle: a", "# A comment.\ntitle: a: b"])
def test_tabs_and_comments_of_front_matter_are_no_text(front: str) -> None:
    found, export = page(f"---\n{front}\n---\nThe body.".encode())
    assert found.text == "The body."
    assert export.reading.parts.total() == 1


@pytest.mark.parametrize("name", ["a.md", "a.txt"])
@pytest.mark.parametrize("before", ["", "x"])
def test_a_text_over_the_bound_is_refused_and_never_cut(name: str, before: str) -> None:
    """Each letter has two bytes; the bound lies between two letters, or inside of one."""
    contents, _ = read((before + "\u00e9" * 5_000_001).encode(), name)
    assert [str(one) for one in contents] == ["The file is larger than 10 MB; split it."]


@pytest.mark.parametrize("content", [b"%PDF-1.4 garbage", b"PK\x03\x04garbage"])
def test_a_damaged_document_is_refused(content: bytes) -> None:
    (found,), _ = read(content, "x/y.pdf")
    assert isinstance(found, BadFile), found


def test_front_matter_without_an_end_is_text() -> None:
    found, _ = page(b"---\ntitle: x\n\nThe body.")
    assert found.text == "---\ntitle: x\n\nThe body."


def test_the_key_of_a_note_is_the_same_in_both_forms_of_unicode() -> None:
    keys = {
        page(b"Text.", unicodedata.normalize(form, "notes/Auditor\u00eda.md"))[0].idempotency_key
        for form in ("NFC", "NFD")
    }
    assert keys == {"markdown-notes/Auditor\u00eda.md"}


def word_file() -> bytes:
    """A Word file with a heading and a paragraph."""
    name = "http://schemas.openxmlformats.org"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{name}/package/2006/content-types"><Default '
        'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-'
        'officedocument.wordprocessingml.document.main+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{name}/package/2006/relationships"><Relationship '
        f'Id="r1" Type="{name}/officeDocument/2006/relationships/officeDocument" '
        'Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{name}/wordprocessingml/2006/main"><w:body>'
        "<w:p><w:r><w:t>Sell the boat.</w:t></w:r></w:p></w:body></w:document>",
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for part, content in parts.items():
            archive.writestr(part, content)
    return packed.getvalue()


def pdf_file() -> bytes:
    """A PDF with one line of text."""
    stream = b"BT /F1 12 Tf 72 720 Td (Sell the boat.) Tj ET"
    page = (
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
        b"/Resources<</Font<</F1 5 0 R>>>>>>"
    )
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        page,
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]  # fmt: skip
    found, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, start=1):
        places.append(len(found))
        found += b"%d 0 obj%s\nendobj\n" % (number, one)
    begin = len(found)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return (
        found
        + b"xref\n0 6\n0000000000 65535 f \n%strailer<</Size 6/Root 1 0 R>>\n" % table
        + (b"startxref\n%d\n%%%%EOF" % begin)
    )


HTML = b"<!DOCTYPE html><html><head><title>Plan</title></head><body><p>Sell the boat.</p></body>"
DOCUMENTS = {
    "plan.txt": b"Sell the boat.", "plan.html": HTML, "plan.pdf": pdf_file(),
    "plan.docx": word_file(), "wrong.txt": HTML, "wrong.json": pdf_file(),
    "none": b"Sell the boat.", "utf16.txt": "Sell the boat.".encode("utf-16"),
    "wrong.pdf": b"Sell the boat.", "utf16.md": "Sell the boat.".encode("utf-16"),
}  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_told_by_its_content_and_read(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(DOCUMENTS[name])
    with opened(file) as export:
        assert export.form is (Format.MARKDOWN if name.endswith(".md") else Format.DOCUMENTS)
        (record,) = export.records
    assert isinstance(record.content, NewEpisode), record.content
    assert record.content.text == "Sell the boat."
    titles = ("Plan",) if DOCUMENTS[name] is HTML else (Path(name).stem,)
    assert record.content.title in titles


def test_a_folder_of_documents_is_read(tmp_path: Path) -> None:
    for name, content in DOCUMENTS.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "picture.txt").write_bytes(b"\x89PNG\r\n\x1a\n\x00")
    with opened(tmp_path, Format.DOCUMENTS) as export:
        contents = [record.content for record in export.records]
    read = [one for one in contents if isinstance(one, NewEpisode)]
    assert [one.text for one in read] == ["Sell the boat."] * 8
    assert [one.message[:19] for one in contents if isinstance(one, BadFile)] == [
        "This is a PNG image"
    ]
    assert export.reading.left_out == {"files without text": 1}
    assert export.reading.parts.total() == 2, "the two of other names"


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"\x89PNG\r\n\x1a\n\x00", "PNG image"), (b"\xff\xd8\xff\xe0\x00", "JPEG image"),
     (b"\x1f\x8b\x08\x00", "gzip archive"), (b"\x00\x01\x02" * 50, "binary data"),
     (b"\xd0\xcf\x11\xe0\xa1\xb1", "old Office file"), (b"SQLite format 3\x00", "SQLite"),
     (b"{\\rtf1 a}", "RTF document"),
     (b"", "is empty"), (b"\n\n", "is empty")],
)  # fmt: skip
@pytest.mark.parametrize("name", ["x.json", "x.md", "x.bin"])
def test_a_file_of_no_use_is_told_once(
    content: bytes, told: str, name: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadFile, match=told), opened(tmp_path / name):
        pass


def test_a_workbook_is_no_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.xlsx", "w") as packed:
        packed.writestr("xl/workbook.xml", "")
    with pytest.raises(BadFile, match="an Excel workbook"), opened(tmp_path / "x.xlsx"):
        pass


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_told(content: bytes) -> None:
    with contextlib.suppress(BadFile):
        contents, _ = read(content, "folder/x.dat")
        assert all(isinstance(one, NewEpisode) or one.message for one in contents)


@pytest.mark.parametrize("indent", [None, 1])
def test_an_object_of_an_unknown_format_is_told_once(indent: int | None) -> None:
    content = {"planets": [{"name": "Mars", "moons": ["Phobos"]}] * 50}
    with pytest.raises(BadFile, match=r"format is unknown.*planets"):
        read(json.dumps(content, indent=indent).encode(), "x/y.json")


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"mapping":'])
@pytest.mark.parametrize("closed", [False, True])
def test_deep_json_is_told_at_once(opening: bytes, closed: bool) -> None:
    raw = opening * 100_000 + (b"]" * 100_000 if closed else b"")
    with pytest.raises(BadFile, match="levels deep"):
        read(raw, "x/y.json")
    late = b'[{"mapping": {"a": {"message": {"content": {"parts": ["[[\\"[["]}}}}}, {"x": "' + (
        b" " * 70_000 + b'"}, ' + raw
    )
    contents, _ = read(late, "x/y.json")
    assert isinstance(contents[0], NewEpisode), contents[0]
    assert "levels deep" in str(contents[-1])


class _Long(io.RawIOBase):
    """A file with a line of 100 MB before or between short ones, made as it is read."""

    _LINE = (b'{"text": "', *[b"x" * 1_000_000] * 100, b'"}\n')
    _SHORT = (b'{"text": "One."}\n',)

    def __init__(self, *, first: bool, seekable: bool) -> None:
        self._all = (*(() if first else self._SHORT), *self._LINE, *self._SHORT)
        self._seekable = seekable
        self.seek(0)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._seekable

    def seek(self, place: int, whence: int = 0) -> int:
        """Go to the beginning, or tell the place, which is never asked for elsewhere."""
        if place == 0 and whence == 0:
            self._parts, self._rest = iter(self._all), b""
        return 0

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self._rest = self._rest or next(self._parts, b"")
        part, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("seekable", [False, True])
def test_a_line_that_is_too_long_is_refused_by_its_number_and_not_held(
    *, first: bool, seekable: bool
) -> None:
    file = io.BufferedReader(_Long(first=first, seekable=seekable))
    tracemalloc.start()
    records = list(opened_stream(file, name="x/y.jsonl").records)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    read = [isinstance(one.content, NewEpisode) for one in records]
    assert read == ([False, True] if first else [True, False, True])
    assert "100 MB" in str(records[0 if first else 1].content)
    assert peak < 80_000_000


def test_lines_are_told_also_if_the_first_is_long() -> None:
    talks = [{"messages": [{"role": "user", "content": "x" * 3_000_000}]}] * 2
    contents, export = read("\n".join(map(json.dumps, talks)).encode(), "x/y.jsonl")
    assert export.form is Format.OPENAI
    assert [isinstance(one, NewEpisode) for one in contents] == [True, True]


def test_a_word_file_that_unpacks_to_too_much_is_refused() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("word/document.xml", b" " * 210_000_000)
    contents, _ = read(packed.getvalue(), "x/y.docx")
    assert "too large" in str(contents[0])


_LONG = b"9" * 5_000
"""Python converts numbers of at most 4,300 digits."""


@pytest.mark.parametrize(
    "raw",
    [
        b'[{"role": "user", "content": "a", "n": ' + _LONG + b"}]",
        b'{"messages": [{"role": "user", "content": "a", "n": -' + _LONG + b"}]}",
        b'{"role": "user", "content": "a", "n": ' + _LONG + b"}",
        b'[{"role": "user", "content": "a", "n": 0.' + _LONG + b"}]",
    ],
)
def test_a_number_of_many_digits_is_told(raw: bytes) -> None:
    with pytest.raises(BadFile, match=r"a number has more than 1,000 digits"):
        read(raw, "x/y.json")


@pytest.mark.parametrize("blanks", [70_000, *range(60_000, 65_600, 700)])
def test_a_late_number_of_many_digits_costs_what_follows_it_only(blanks: int) -> None:
    """The digits stand in one part of the stream or in two."""
    digits = b'"' + b"1" * 9_000 + b'"'
    first = b'[{"role": "user", "content": ' + digits + b', "x": "' + b" " * blanks + b'"}, '
    contents, _ = read(
        first + b'{"role": "user", "content": "b", "n": ' + _LONG + b"}]", "x/y.json"
    )
    turn, fault = contents
    assert isinstance(turn, NewEpisode)
    assert "more than 1,000 digits" in str(fault)


@pytest.mark.parametrize("raw", [b"42", b"null", b'"hi"', b"true "])
def test_json_without_an_object_is_told(raw: bytes) -> None:
    with pytest.raises(BadFile, match=r"y\.json holds neither a list nor an object of JSON"):
        read(raw, "x/y.json")


def test_a_wrong_byte_is_told_without_the_text_around_it() -> None:
    chat = b'[{"role": "user", "content": "the secret of caf\xe9"}]'
    contents, _ = read(chat, "x/y.json")
    assert "invalid bytes in UTF8" in str(contents[-1])
    assert "secret" not in str(contents[-1])
    assert "b'" not in str(contents[-1])


def test_lines_with_a_time_are_episodes_whatever_else_they_hold() -> None:
    good = {"text": "a", "role": "user", "occurred_at": "2024-01-02T00:00:00Z"}
    raw = "\n".join(json.dumps(one) for one in ({**good, "speeker": "Ana"}, good)).encode()
    contents, _ = read(raw, "x/y.jsonl")
    fault, turn = contents
    assert "did you mean `speaker`" in str(fault)
    assert isinstance(turn, NewEpisode)
    assert turn.occurred_at is not None


def test_messages_of_people_without_roles_are_of_no_known_format() -> None:
    message = {"id": "1", "content": "Hi.", "author": {"id": "3", "name": "Ana"}}
    with pytest.raises(BadFile, match=r"format is unknown.*channel, guild, messages"):
        read(json.dumps({"guild": {}, "channel": {}, "messages": [message]}).encode(), "x/y.json")
