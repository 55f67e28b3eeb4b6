"""The file format of a copy: JSON lines in gzip, see docs/reference/copies.md.

A first line says what the file is. Each tenant is a section: a line that names it, a line a node,
a line an edge, lines with the files of its archive, and a line with counts and the SHA-256 of the
section. The last line counts the sections. A file without its last line is not whole.
"""

import base64
import gzip
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from ecphoria.errors import BadFile
from ecphoria.records.upkeep import (
    FORMAT,
    ArchiveBytes,
    CopiedEdge,
    CopiedNode,
    Manifest,
    Record,
    SectionEnd,
    SectionStart,
    StoredInstant,
    Value,
)

_KINDS: Final[Mapping[str, type[Record]]] = {
    "tenant": SectionStart,
    "node": CopiedNode,
    "edge": CopiedEdge,
    "archive": ArchiveBytes,
    "end": SectionEnd,
}
_NAMES: Final = {kind: name for name, kind in _KINDS.items()}
LINE_LIMIT: Final = 64 << 20
"""Largest line in bytes; a reader holds one line in memory. A line has the text of a memory with
its words and stems, so this is four times the largest default body of a request."""


@dataclass(slots=True)
class _Sums:
    """Counts and the checksum of the lines between a section's first and last line."""

    nodes: int = 0
    edges: int = 0
    size: int = 0
    digest: Any = field(default_factory=sha256)

    def add(self, record: Record, line: bytes) -> None:
        self.nodes += isinstance(record, CopiedNode)
        self.edges += isinstance(record, CopiedEdge)
        self.size += len(record.content) if isinstance(record, ArchiveBytes) else 0
        self.digest.update(line)

    def end(self) -> SectionEnd:
        return SectionEnd(
            nodes=self.nodes, edges=self.edges, bytes=self.size, sha256=self.digest.hexdigest()
        )


class Writer:
    """Writes a copy; without `close` the file stays incomplete and is refused when read."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        """Begin a file; BadFile if it exists, or cannot be written."""
        try:
            self._raw = path.open("xb")
        except OSError as error:
            raise BadFile(f"{path} cannot be written: {error.strerror}.") from error
        path.chmod(0o600)
        self._file = gzip.GzipFile(
            filename="", fileobj=self._raw, mode="wb", compresslevel=3, mtime=0
        )
        self._section: _Sums | None = None
        self._sections = 0
        self._put(_line("ecphoria", asdict(manifest)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        with _writing(), self._raw, self._file:
            if kind is None:
                self._file.write(_line("done", {"sections": self._sections}))

    def begin(self, tenant: str, name: str) -> None:
        """Begin a tenant."""
        self._section = _Sums()
        self.add(SectionStart(tenant=tenant, name=name))

    def add(self, record: Record) -> None:
        """Write one record of the tenant."""
        assert self._section is not None
        line = encoded(record)
        if len(line) > LINE_LIMIT:
            raise BadFile(
                f"A memory needs a line of {len(line):,} bytes in a copy, and {LINE_LIMIT:,} are "
                "the most; erase it, or copy the files of the store instead."
            )
        self._section.add(record, line)
        self._put(line)

    def end(self) -> SectionEnd:
        """End the tenant."""
        assert self._section is not None
        end = self._section.end()
        self._put(encoded(end))
        self._section = None
        self._sections += 1
        return end

    def _put(self, line: bytes) -> None:
        with _writing():
            self._file.write(line)


@contextmanager
def _writing() -> Iterator[None]:
    """Tell a full disk and the like in words."""
    try:
        yield
    except OSError as error:
        raise BadFile(f"The copy cannot be written: {error.strerror}.") from error


def read_file(path: Path) -> Iterator[Manifest | Record]:
    """Read a copy line by line; a fault is raised at its line.

    Raises:
        BadFile: It is no copy, is damaged or cut off, or was written by a newer release.
    """
    try:
        with gzip.open(path, "rb") as file:
            yield from _records(file, path)
    except (OSError, EOFError, zlib.error) as error:
        if isinstance(error, gzip.BadGzipFile):
            why = "it is no copy, or is damaged"
        else:
            why = getattr(error, "strerror", None) or "it is damaged or cut off"
        raise BadFile(f"{path} cannot be read: {why}.") from error


def _records(file: gzip.GzipFile, path: Path) -> Iterator[Manifest | Record]:
    section: _Sums | None = None
    sections, done, number = 0, False, 0
    for number, line in enumerate(iter(partial(file.readline, LINE_LIMIT + 1), b""), start=1):
        if len(line) > LINE_LIMIT:
            raise BadFile(
                f"Line {number:,} of {path} is longer than {LINE_LIMIT:,} bytes, which no line of "
                "a copy is; use another copy.",
                line=number,
            )
        kind, content = _read(line, number, path)
        if number == 1:
            yield _manifest(kind, content, path)
            continue
        if kind == "done":
            _require(not done and section is None, path, number)
            done = content == {"sections": sections}
            _require(done, path, number)
            continue
        record = _record(kind, content, number, path)
        _require(not done and (section is None) == isinstance(record, SectionStart), path, number)
        section = section or _Sums()
        if isinstance(record, SectionEnd):
            _require(record == section.end(), path, number)
            section, sections = None, sections + 1
        else:
            section.add(record, line)
        yield record
    if not done:
        raise BadFile(
            f"{path} ends after line {number:,}, before its last line; make the copy again."
        )


def _require(holds: bool, path: Path, number: int) -> None:
    if not holds:
        raise _broken(path, number)


def _manifest(kind: str, content: Mapping[str, Any], path: Path) -> Manifest:
    if kind != "ecphoria" or not isinstance(content.get("format"), int):
        raise BadFile(f"{path} is no copy made by `ecphoria backup` or `ecphoria tenants export`.")
    if content["format"] > FORMAT:
        raise BadFile(
            f"{path} was written by Ecphoria {content.get('release')}, in a newer format; "
            "use that release or a newer one."
        )
    try:
        return Manifest(**content)
    except TypeError:
        raise _broken(path, 1) from None


def _record(kind: str, content: Mapping[str, Any], number: int, path: Path) -> Record:
    if kind not in _KINDS:
        raise _broken(path, number)
    try:
        given = dict(content)
        if "properties" in given:
            given["properties"] = {k: _value(v) for k, v in given["properties"].items()}
        if "labels" in given:
            given["labels"] = tuple(given["labels"])
        if kind == "archive":
            given["content"] = base64.b64decode(given["content"])
        return _KINDS[kind](**given)
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
        raise _broken(path, number) from None


def _read(line: bytes, number: int, path: Path) -> tuple[str, dict[str, Any]]:
    try:
        ((kind, content),) = json.loads(line).items()
        content = dict(content)
    except (ValueError, TypeError, AttributeError, RecursionError):
        if number == 1:
            raise BadFile(
                f"{path} is no copy made by `ecphoria backup` or `ecphoria tenants export`."
            ) from None
        raise _broken(path, number) from None
    return kind, content


def _broken(path: Path, number: int) -> BadFile:
    return BadFile(f"{path} is damaged at line {number:,}; use another copy.", line=number)


def encoded(record: Record) -> bytes:
    """Write a record as a line."""
    content: dict[str, Any] = {
        name: getattr(record, name) for name in type(record).__dataclass_fields__
    }
    if "properties" in content:
        content["properties"] = {k: _told(v) for k, v in content["properties"].items()}
    if isinstance(record, ArchiveBytes):
        content["content"] = base64.b64encode(record.content).decode()
    return _line(_NAMES[type(record)], content)


def _line(kind: str, content: Mapping[str, Any]) -> bytes:
    text = json.dumps({kind: content}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode() + b"\n"


def _told(value: Value) -> Value:
    """Write a value with its type, because JSON has no bytes, instants and infinities."""
    match value:
        case float() if not math.isfinite(value):
            return {"float": repr(value)}
        case None | bool() | int() | float() | str():
            return value
        case list() | tuple():
            plain = set(map(type, value)) == {float} and all(map(math.isfinite, value))
            return value if plain else [_told(each) for each in value]
        case bytes():
            return {"bytes": base64.b64encode(value).decode()}
        case StoredInstant():
            return {"instant": value.text}
    raise BadFile(f"A value of the type {type(value).__name__} cannot be copied; report it.")


def _value(told: Value) -> Value:
    match told:
        case list():
            return told if set(map(type, told)) == {float} else [_value(each) for each in told]
        case {"float": str(text)}:
            return float(text)
        case {"bytes": str(text)}:
            return base64.b64decode(text)
        case {"instant": str(text)}:
            return StoredInstant(text)
        case dict():
            raise ValueError
    return told
