"""Open the sources of an import: files, ZIP archives, folders, standard input."""

import json
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

from ecphoria.errors import BadFile
from ecphoria.imports.documents import DOCUMENTS, packed_kind, read_documents, refusal
from ecphoria.imports.formats import KNOWN, Format, detect, reader_of
from ecphoria.imports.items import FileItem, read_items
from ecphoria.imports.markdown import PAGES
from ecphoria.imports.records import Record, RecordKeys, read_fields, read_records
from ecphoria.imports.shapes import Layout, shape_of
from ecphoria.imports.slack import LISTS, days_of, read_slack
from ecphoria.imports.streams import (
    DAMAGED,
    Counted,
    Found,
    Peeking,
    Reading,
    Tree,
    numbered,
    open_tree,
    reason_of,
    shown,
    start_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """Something that is open to import.

    Attributes:
        records: Its episodes.
        form: Its format.
        size: Its bytes, unpacked, or the episodes of a database; None if that is unknown.
        reading: What was read and left out so far.
    """

    records: Iterator[Record]
    form: Format
    size: int | None
    reading: Reading


_CONVERSATIONS: Final = "conversations*.json"
_JSON: Final = ("*.json", "*.jsonl", "*.ndjson")
_CHATS: Final = ("result.json", "_chat.txt", "WhatsApp*.txt", "*grok*.json", "MyActivity.json")
_ARCHIVE: Final = b"PK\x03\x04"
_EMPTY_ARCHIVE: Final = b"PK\x05\x06"
_NEEDED: Final = {
    Format.SLACK: "the ZIP archive of the export, or the folder it was unpacked to",
    Format.MARKDOWN: f"a folder with files {' or '.join(PAGES)}",
    Format.DOCUMENTS: f"a folder with files {', '.join(DOCUMENTS)}",
    Format.GRAPHITI: "the address of its Neo4j, such as bolt://localhost:7687",
}


@contextmanager
def opened(path: Path, form: Format | None = None) -> Iterator[Opened]:
    """Open a file, a folder or a ZIP archive; without `form`, the content tells the format.

    Raises:
        BadFile: It cannot be read, or nothing in it is of this format.
        Misconfigured: Some formats need the extra `import` or `documents`.
    """
    try:
        if path.is_dir() or (_is_archive(path) and not _is_office(path)):
            with open_tree(path) as tree:
                yield _opened_tree(tree, path, form)
            return
        with path.open("rb") as stream:
            name = f"{path.resolve().parent.name}/{path.name}"
            yield opened_stream(stream, form, name=name, size=path.stat().st_size)
    except DAMAGED as error:
        raise BadFile(f"{path} cannot be read: {reason_of(error)}.", path=str(path)) from error


def opened_stream(
    stream: Peeking, form: Format | None = None, *, name: str = "", size: int | None = None
) -> Opened:
    """Take a stream that is open, such as standard input; see `opened`.

    The stem of `name` names a conversation where the format has no name.

    Raises:
        BadFile: The file is empty, its format cannot be told, or is one of folders.
    """
    start = start_of(stream)
    form = form or detect(start, name)
    if not start:
        raise BadFile("The file is empty.")
    reading = Reading()
    if form is Format.EPISODES:
        records = _episodes(stream, start, reading)
    elif reader := reader_of(form, start):
        named = name if form in (Format.MARKDOWN, Format.DOCUMENTS) else _stem(name, "")
        records = numbered(reader(Counted(stream, reading), name=named), reading)
    else:
        raise BadFile(f"The format {form} is none of a single file; give {_NEEDED[form]}.")
    return Opened(records=records, form=form, size=size, reading=reading)


def _episodes(stream: Peeking, start: bytes, reading: Reading) -> Iterator[Record]:
    """Read episodes, a line each or in a list."""
    counted = Counted(stream, reading)
    layout = shape_of(start).layout
    printed = layout is Layout.OBJECT and b"\n" in start
    if layout is not Layout.LIST and not printed:
        return read_records(counted.lines())
    keys = RecordKeys()

    def take(item: FileItem, _: Reading) -> Iterator[Found]:
        written = json.dumps(item.value, sort_keys=True, default=float)
        yield read_fields(json.loads(written), keys.of(written.encode()))

    return numbered(read_items(counted, "", take), reading)


def _opened_tree(tree: Tree, path: Path, form: Format | None) -> Opened:
    form = form or _detect_tree(tree)
    reading = Reading()
    reading.leave_parts("hidden files", tree.hidden)
    if form is Format.SLACK and (days := days_of(tree)):
        files, found = [*tree.named(*LISTS), *days], read_slack(tree, reading)
    elif form in (Format.MARKDOWN, Format.DOCUMENTS):
        names = PAGES if form is Format.MARKDOWN else DOCUMENTS
        files, found = tree.named(*names), read_documents(tree, reading, names)
    elif form in KNOWN or form is Format.WHATSAPP:
        files = _files_of(tree, form)
        found = _read_files(tree, reading, files, form)
    else:
        raise BadFile(
            f"{path} is a folder or a ZIP archive, and none of the format {form}; give "
            f"{_NEEDED.get(form, 'a file')}."
        )
    if not files:
        wanted = _NEEDED.get(form, "the ZIP file or the folder of the export")
        raise BadFile(f"{path} holds nothing of the format {form}; give {wanted}.", path=str(path))
    for other in sorted(set(tree.sizes).difference(files)):
        kind = PurePosixPath(other).suffix.lower()[:10] or "no suffix"
        reading.leave_parts(f"files of other kinds ({shown(kind)})")
    size = sum(tree.sizes[name] for name in files)
    return Opened(records=numbered(found, reading), form=form, size=size, reading=reading)


def _files_of(tree: Tree, form: Format) -> list[str]:
    """List the files of a format: its usual names, else all that are told to be of it."""
    if form in (Format.CHATGPT, Format.CLAUDE) and (usual := tree.named(_CONVERSATIONS)):
        return usual
    candidates = [*tree.named(*_JSON, "*.txt"), *(one for one in tree.sizes if "." not in one)]
    return sorted(one for one in candidates if _told(tree, one) is form)


def _stem(file: str, around: str) -> str:
    """Name a conversation by its file; WhatsApp calls each `_chat.txt`, so there by the folder."""
    path = PurePosixPath(file)
    return path.parent.name or around or path.stem if path.stem == "_chat" else path.stem


def _told(tree: Tree, file: str) -> Format | None:
    try:
        with tree.open(file) as stream:
            return detect(start_of(stream), file)
    except (BadFile, *DAMAGED):
        return None


def _read_files(
    tree: Tree, reading: Reading, files: Sequence[str], form: Format
) -> Iterator[Found]:
    for file in files:
        name = _stem(file, tree.name)
        yield from tree.read(file, reading, partial(_read_file, form=form, name=name))


def _read_file(stream: Counted, form: Format, name: str) -> Iterator[Found]:
    reader = reader_of(form, stream.start())
    assert reader is not None, "formats of files have a reader"
    return reader(stream, name=name)


def _detect_tree(tree: Tree) -> Format:
    """Tell the format of a folder or an archive by the names and the content of its files."""
    if tree.named(*LISTS) and days_of(tree):
        return Format.SLACK
    if parts := tree.named(_CONVERSATIONS):
        with tree.open(parts[0]) as stream:
            return detect(start_of(stream), parts[0])
    for file in tree.named(*_CHATS):
        if told := _told(tree, file):
            return told
    if tree.named(*PAGES):
        return Format.MARKDOWN
    for file in [*tree.named(*_JSON), *(one for one in sorted(tree.sizes) if "." not in one)]:
        told = _told(tree, file)
        if told and told in KNOWN:
            return told
    if tree.named(*DOCUMENTS):
        return Format.DOCUMENTS
    if not tree.sizes:
        raise BadFile(f"{tree.name} holds no files.")
    kinds = sorted({PurePosixPath(one).suffix for one in tree.sizes if "." in one})[:8]
    raise BadFile(
        f"Nothing in {tree.name} tells its format; give --format. "
        f"It holds {len(tree.sizes):,} files{' ' if kinds else ''}{', '.join(map(shown, kinds))}."
    )


def _is_archive(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(_ARCHIVE)) in (_ARCHIVE, _EMPTY_ARCHIVE)


def _is_office(path: Path) -> bool:
    """Tell whether an archive is a Word file; refuse other files that are archives inside."""
    try:
        with zipfile.ZipFile(path) as packed:
            kind = packed_kind(packed.namelist())
    except zipfile.BadZipFile:
        return False
    if kind not in (None, "Word"):
        raise refusal(kind, path.name)
    return kind == "Word"
