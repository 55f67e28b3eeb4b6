"""Open the sources of an import: files, ZIP archives, folders, standard input."""

import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from ecphoria.errors import BadFile
from ecphoria.imports.chats import (
    WRAPPED,
    read_chatgpt,
    read_claude,
    read_langchain,
    read_mem0,
    read_openai,
)
from ecphoria.imports.markdown import PAGES, read_pages
from ecphoria.imports.records import Record, read_records
from ecphoria.imports.slack import LISTS, days_of, read_slack
from ecphoria.imports.streams import (
    Counted,
    Found,
    Peeking,
    Reading,
    Tree,
    numbered,
    open_tree,
    start_of,
)


class Format(StrEnum):
    """A form of data that can be imported."""

    EPISODES = "episodes"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    OPENAI = "openai"
    LANGCHAIN = "langchain"
    MEM0 = "mem0"
    SLACK = "slack"
    MARKDOWN = "markdown"
    GRAPHITI = "graphiti"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """Something that is open to import.

    Attributes:
        records: Its episodes.
        form: Its format.
        size: Its bytes, unpacked, or the episodes of a database; None if that is unknown.
        left_out: What was left out on purpose so far, counted by the reason.
    """

    records: Iterator[Record]
    form: Format
    size: int | None
    left_out: Counter[str] = field(default_factory=Counter)


_READERS: Final[Mapping[Format, Callable[..., Iterator[Found]]]] = {
    Format.CHATGPT: read_chatgpt,
    Format.CLAUDE: read_claude,
    Format.OPENAI: read_openai,
    Format.LANGCHAIN: read_langchain,
    Format.MEM0: read_mem0,
}
_WHOLE: Final = frozenset({Format.CHATGPT, Format.CLAUDE})
_CONVERSATIONS: Final = "conversations*.json"
_ARCHIVE: Final = b"PK\x03\x04"


@contextmanager
def opened(path: Path, form: Format | None = None) -> Iterator[Opened]:
    """Open a file, a folder or a ZIP archive to import.

    Args:
        path: Where it is.
        form: Its format; if None, it is told by the content.

    Raises:
        BadFile: It cannot be read, or nothing in it is of this format.
        Misconfigured: Some formats need the extra `import`.
    """
    try:
        if path.is_dir() or _is_archive(path):
            with open_tree(path) as tree:
                yield _opened_tree(tree, path, form)
            return
        with path.open("rb") as stream:
            found = opened_stream(stream, form, name=path.stem, size=path.stat().st_size)
            yield found
    except (OSError, zipfile.BadZipFile) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise BadFile(f"{path} cannot be read: {why}.", path=str(path)) from error


def opened_stream(
    stream: Peeking, form: Format | None = None, *, name: str = "", size: int | None = None
) -> Opened:
    """Take a stream that is open, such as standard input; see `opened`.

    Args:
        stream: The file.
        form: Its format; if None, it is told by the content.
        name: Name of the conversation where the format has none.
        size: Its bytes, if that is known.

    Raises:
        BadFile: The format cannot be told, or is one of folders.
    """
    form = form or detect(start_of(stream))
    reading = Reading()
    if form is Format.EPISODES:
        records = read_records(stream)
    elif form in _READERS:
        records = numbered(_READERS[form](Counted(stream, reading), name), reading)
    else:
        raise BadFile(f"The format {form} is none of a single file; give {_NEEDED[form]}.")
    return Opened(records=records, form=form, size=size, left_out=reading.left_out)


_NEEDED: Final = {
    Format.SLACK: "the ZIP archive of the export, or the folder it was unpacked to",
    Format.MARKDOWN: "a folder",
    Format.GRAPHITI: "the address of its Neo4j, such as bolt://localhost:7687",
}
_MARKS: Final = (
    (Format.CHATGPT, rb'^\[.*"(mapping|current_node)"\s*:'),
    (Format.CLAUDE, rb'^\[.*"chat_messages"\s*:'),
    (Format.LANGCHAIN, rb'"type"\s*:\s*"(human|ai|AIMessageChunk|constructor)"'),
    (Format.OPENAI, rb'"role"\s*:\s*"(system|developer|user|assistant|tool)".*"content"\s*:'),
    (Format.OPENAI, rb'"content"\s*:.*"role"\s*:\s*"(system|developer|user|assistant|tool)"'),
    (Format.MEM0, rb'^\[.*"memory"\s*:'),
)
"""Patterns of the first bytes of each format, the surest first."""


def detect(start: bytes) -> Format:
    """Tell the format of a file by its first bytes: lines of episodes unless they say otherwise.

    Raises:
        BadFile: It is a list in JSON, but none that is known.
    """
    first = start.partition(b"\n")[0]
    if re.match(rb'\{\s*"(text|id|speaker|session|occurred_at|title)"', first):
        return Format.EPISODES
    for form, mark in _MARKS:
        if re.search(mark, start, re.DOTALL):
            return form
    if WRAPPED.search(start) and b'"memory"' in start:
        return Format.MEM0
    if start.startswith(b"["):
        raise BadFile("The format cannot be told by the beginning of the file; give --format.")
    return Format.EPISODES


def _opened_tree(tree: Tree, path: Path, form: Format | None) -> Opened:
    form = form or _detect_tree(tree)
    reading = Reading()
    reading.left_out.update({"hidden files": tree.hidden} if tree.hidden else {})
    if form is Format.SLACK:
        days, found = days_of(tree), read_slack(tree, reading)
        files = [*tree.named(*LISTS), *days] if days else []
    elif form is Format.MARKDOWN:
        files, found = tree.named(*PAGES), read_pages(tree, reading)
    elif form in _WHOLE:
        files = tree.named(_CONVERSATIONS)
        found = _read_parts(tree, reading, files, form)
    else:
        raise BadFile(f"{path} is a folder or a ZIP archive, and none of the format {form}.")
    if not files:
        raise BadFile(
            f"{path} holds nothing of the format {form}; give {_wanted(form)}.", path=str(path)
        )
    size = sum(tree.sizes[name] for name in files)
    records = numbered(found, reading)
    return Opened(records=records, form=form, size=size, left_out=reading.left_out)


def _wanted(form: Format) -> str:
    if form is Format.MARKDOWN:
        return f"a folder with files {' or '.join(PAGES)}"
    return _NEEDED.get(form, "the ZIP file of the export, which holds conversations.json")


def _read_parts(
    tree: Tree, reading: Reading, files: Sequence[str], form: Format
) -> Iterator[Found]:
    for file in files:
        yield from tree.read(file, reading, _READERS[form])


def _detect_tree(tree: Tree) -> Format:
    """Tell the format of a folder or an archive by the names of its files."""
    if tree.named(*LISTS) and days_of(tree):
        return Format.SLACK
    if parts := tree.named(_CONVERSATIONS):
        with tree.open(parts[0]) as stream:
            return detect(stream.read(8_192).lstrip())
    if tree.named(*PAGES):
        return Format.MARKDOWN
    raise BadFile(f"Nothing in {tree.name} tells its format; give --format.")


def _is_archive(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(_ARCHIVE)) == _ARCHIVE
