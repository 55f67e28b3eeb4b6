"""A folder of markdown files, each with front matter or without: a document a file.

The service cuts long documents into passages by itself, so no file is cut here.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import partial
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any, Final

from ecphoria.errors import BadFile, Misconfigured
from ecphoria.imports.streams import Counted, Fields, Found, Reading, Tree, occurred, shown

PAGES: Final = ("*.md", "*.markdown")
_LARGEST: Final = 10_000_000
"""Bytes of a file; a larger one would not fit the body of a request."""
_LONGEST_KEY, _LONGEST_TITLE = 400, 256
_HEADING: Final = re.compile(r"^#\s+(.+?)\s*#*\s*$", re.MULTILINE)


def read_pages(tree: Tree, reading: Reading) -> Iterator[Found]:
    """Read the files in the order of their names; a file that cannot be used is told."""
    for path in tree.outside:
        reading.place = shown(path)
        yield BadFile("It is a link that leads out of the folder; copy the file into it.")
    for path in tree.named(*PAGES):
        if tree.sizes[path] > _LARGEST:
            reading.place = shown(path)
            reading.done += tree.sizes[path]
            yield BadFile(f"The file is larger than {_LARGEST / 1e6:.0f} MB; split it.")
        else:
            yield from tree.read(path, reading, partial(_page, f"{tree.name}/{path}"))


def _page(path: str, stream: Counted) -> Iterator[Found]:
    try:
        text = stream.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        yield BadFile(f"Not UTF-8 at byte {error.start + 1}; save it as UTF-8.")
        return
    try:
        front, body = _parted(text.replace("\r\n", "\n"))
    except BadFile as error:
        yield error
        return
    if not body.strip():
        stream.reading.left_out["files without text"] += 1
        return
    title, when = front.get("title"), front.get("date", front.get("created"))
    heading = _HEADING.search(body)
    name = heading[1] if heading else PurePosixPath(path).stem
    fields: Fields = {
        "text": body.strip(),
        "title": str(title) if title else name[:_LONGEST_TITLE],
        "source": path,
        "metadata": _flat(front, stream.reading),
        "idempotency_key": f"markdown-{_short(path)}",
        **occurred(when),
    }
    yield fields


def _parted(text: str) -> tuple[Mapping[str, Any], str]:
    """Part the front matter from the text.

    Raises:
        BadFile: There is some, and it cannot be read.
    """
    try:
        from frontmatter.default_handlers import YAMLHandler  # noqa: PLC0415 (extra `import`)
        from yaml import YAMLError  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise Misconfigured(
            "Reading front matter needs python-frontmatter: pip install 'ecphoria[import]'."
        ) from missing
    handler = YAMLHandler()
    if not handler.detect(text):
        return {}, text
    try:
        front, body = handler.split(text)
    except ValueError:  # a ruler that only begins the text
        return {}, text
    try:
        found = handler.load(front)
    except (YAMLError, ValueError, RecursionError) as error:
        why = " ".join(str(error).split())[:200]
        raise BadFile(f"Its front matter cannot be read: {why}") from error
    if found is None:
        return {}, body
    return (found, body) if isinstance(found, dict) else ({}, text)


def _flat(front: Mapping[str, Any], reading: Reading) -> Fields:
    """Take the values without parts as metadata, and lists of such as one text."""
    metadata: Fields = {}
    for name, value in front.items():
        if name in ("title", "date", "created") or value is None:
            continue
        one = value
        if isinstance(value, list) and all(map(_is_flat, value)):
            one = ", ".join(str(part) for part in value)
        if not _is_flat(one):
            reading.left_out["fields of front matter with parts"] += 1
            continue
        metadata[str(name)] = one.isoformat() if isinstance(one, date) else one
    return metadata


def _is_flat(value: object) -> bool:
    return isinstance(value, str | int | float | bool | date)


def _short(path: str) -> str:
    if len(path) <= _LONGEST_KEY:
        return path
    return f"{path[:_LONGEST_KEY]}-{sha256(path.encode(errors='replace')).hexdigest()[:16]}"
