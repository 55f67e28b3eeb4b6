"""Files read as a stream: what was read of them and what was left out; folders and archives.

A file may be larger than the memory. A reader holds one item of it: a conversation, a message, a
memory or a document.
"""

import contextlib
import lzma
import os
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final, Protocol

from ecphoria.errors import BadFile
from ecphoria.imports.records import MARK, LongLine, Record, to_append
from ecphoria.imports.values import Fields, fitted, instant
from ecphoria.records.episode import NewEpisode

Found = Fields | NewEpisode | BadFile
"""An append or its fields, or the reason why something cannot be imported."""

# Exports of 1 GB are read with bounded memory, so a line must have a bound (decision 0038).
LARGEST_LINE: Final = 16_000_000
"""Bytes of a line; a longer one would not fit the body of a request, as services allow it."""
_START: Final = 1_000_000
_SKIPPED, _SHOWN = 1_000_000, 1_024
DAMAGED: Final = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError,
    NotImplementedError,
)  # fmt: skip
"""Faults of an archive's part or a file; `zipfile` raises RuntimeError for a password."""


def reason_of(error: Exception) -> object:
    """Give the reason of such a fault, for a message; an error of bzip2 has no `strerror`."""
    return getattr(error, "strerror", None) or error


class Peeking(Protocol):
    """A binary file of which the next bytes can be looked at."""

    def read(self, size: int = -1, /) -> bytes:
        """Read so many bytes."""
        ...

    def peek(self, size: int = 0, /) -> bytes:
        """Look at the next bytes."""
        ...

    def seekable(self) -> bool:
        """Tell whether it can go back."""
        ...

    def seek(self, place: int, /) -> int:
        """Go to a place."""
        ...

    def readline(self, size: int = -1, /) -> bytes:
        """Read a line, or so many bytes of it."""
        ...


@dataclass(slots=True, kw_only=True)
class Reading:
    """Progress of a reader, and the only place where it counts.

    What a reader finds, refuses and leaves out adds up to the messages, memories or documents that
    the source holds.

    Attributes:
        done: Bytes read so far, or episodes of a database.
        place: Where the last episode was found; empty where its number tells it.
        left_out: Messages, memories and documents left out on purpose, by the reason.
        parts: What was left out beside them, by its kind: images and thoughts of a message that
            is read, fields, files of other kinds.
    """

    done: int = 0
    place: str = ""
    left_out: Counter[str] = field(default_factory=Counter)
    parts: Counter[str] = field(default_factory=Counter)

    def leave(self, reason: str, times: int = 1) -> None:
        """Count messages, memories or documents that are left out on purpose."""
        if times:
            self.left_out[reason] += times

    def leave_parts(self, kind: str, times: int = 1) -> None:
        """Count what is left out of messages and documents that may be read, or beside them."""
        if times:
            self.parts[kind] += times

    def occurred(self, when: object) -> Fields:
        """Give the time of a message as a field; one that cannot be read is counted as a part."""
        found = instant(when)
        if found is None:
            self.leave_parts("times that cannot be read", when not in (None, ""))
            return {}
        return {"occurred_at": found}


class Counted:
    """A stream that counts what was read of it."""

    def __init__(self, stream: Peeking, reading: Reading) -> None:
        self._stream = stream
        self._file, self._begun = reading.place, False
        self.reading = reading

    def read(self, size: int = -1) -> bytes:
        """Read so many bytes."""
        found = self._stream.read(size)
        self.reading.done += len(found)
        begun, self._begun = self._begun, self._begun or bool(found)
        return found if begun else found.removeprefix(MARK)

    def at(self, place: str) -> None:
        """Note where in the file the next episode is."""
        self.reading.place = f"{self._file}, {place}" if self._file else place

    def start(self) -> bytes:
        """Look at the first bytes without reading them."""
        return start_of(self._stream)

    def within(self, most: int) -> bytes | BadFile:
        """Read the file as a whole; BadFile if it has more than `most` bytes."""
        found = self.read(most + 1)
        if len(found) > most:
            return BadFile(f"The file is larger than {most / 1e6:.0f} MB; split it.")
        return found

    def whole(self, size: int) -> bytes:
        """Look at the file up to a size without reading it; nothing if it cannot go back."""
        if not self._stream.seekable():
            return b""
        found = self._stream.read(size)
        self._stream.seek(0)
        return found

    def ahead(self) -> Iterator[bytes]:
        """Look at the lines without reading them; their first part if the stream cannot go back.

        To be taken to its end.
        """
        if not self._stream.seekable():
            yield from self.start().split(b"\n")
            return
        while line := self._stream.readline(_SKIPPED):
            yield line
        self._stream.seek(0)

    def lines(self) -> Iterator[bytes | LongLine]:
        """Read lines; of one that is too long only the length is told, and the next is read."""
        while line := self._stream.readline(LARGEST_LINE):
            size = len(line)
            if size == LARGEST_LINE and not line.endswith(b"\n"):
                more = line
                while more and not more.endswith(b"\n"):
                    more = self._stream.readline(_SKIPPED)
                    size += len(more)
            self.reading.done += size
            yield line if size == len(line) else LongLine(size=size)


def start_of(stream: Peeking, size: int = _START) -> bytes:
    """Look at the first bytes that are no blanks, without reading them; a long line as a whole.

    A stream that cannot go back shows what its buffer holds.
    """
    if not stream.seekable():
        return trimmed(stream.peek(size)[:size])
    found = stream.read(size)
    if len(found) == size and b"\n" not in found:
        # Whether each line is a value of its own is told by the end of the first one.
        more = stream.readline(LARGEST_LINE)
        found += more + stream.read(_SHOWN) if more.endswith(b"\n") else b""
    stream.seek(0)
    return trimmed(found)


def trimmed(start: bytes) -> bytes:
    """Cut off a byte order mark and blanks."""
    return start.removeprefix(MARK).lstrip()


def numbered(found: Iterable[Found], reading: Reading) -> Iterator[Record]:
    """Make records of what a reader finds."""
    told = 0
    for number, one in enumerate(found, start=1):
        content = to_append(fitted(one)) if isinstance(one, dict) else one
        size, told = reading.done - told, reading.done
        yield Record(number=number, size=size, content=content, place=reading.place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """The files of a folder or a ZIP archive.

    Attributes:
        name: The name of the folder, or of the archive without its suffix.
        sizes: Bytes of each file by its path in the tree, unpacked; hidden files are left out.
        hidden: Number of hidden files.
        outside: Links to files outside the folder, which are not read.
        open: Opens a file by its path.
    """

    name: str
    sizes: Mapping[str, int]
    hidden: int
    outside: Sequence[str]
    open: Callable[[str], contextlib.AbstractContextManager[Peeking]]

    def named(self, *patterns: str) -> list[str]:
        """List the files whose names match a pattern in any case, in order."""
        return sorted(path for path in self.sizes if matches(path, *patterns))

    def read(
        self, path: str, reading: Reading, reader: Callable[[Counted], Iterator[Found]]
    ) -> Iterator[Found]:
        """Read one file of the tree; damage of the file is told, and ends it only."""
        reading.place = shown(path)
        try:
            with self.open(path) as stream:
                yield from reader(Counted(stream, reading))
        except DAMAGED as error:
            reading.place = shown(path)
            yield BadFile(f"The file cannot be read: {reason_of(error)}.")


@contextmanager
def open_tree(path: Path) -> Iterator[Tree]:
    """Open a folder, or a ZIP archive; BadFile if the archive is damaged."""
    if path.is_dir():
        yield _folder(path.resolve())
        return
    try:
        packed = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise BadFile(
            f"{path} is a ZIP archive that is cut off or damaged ({error}); download it again.",
            path=str(path),
        ) from error
    with packed:
        files = [info for info in packed.infolist() if not info.is_dir()]
        shown_files = {info.filename: info for info in files if not _is_hidden(info.filename)}
        yield Tree(
            name=path.stem,
            sizes={name: info.file_size for name, info in shown_files.items()},
            hidden=len(files) - len(shown_files),
            outside=(),
            open=lambda name: _part(packed, shown_files[name]),
        )


def _part(packed: zipfile.ZipFile, info: zipfile.ZipInfo) -> zipfile.ZipExtFile:
    found = packed.open(info)
    assert isinstance(found, zipfile.ZipExtFile), "opened to read"
    return found


def _folder(root: Path) -> Tree:
    sizes: dict[str, int] = {}
    hidden, outside = 0, list[str]()
    for place, folders, files in os.walk(root):
        hidden += sum(_is_hidden(name) for name in files)
        folders[:] = sorted(name for name in folders if not _is_hidden(name))
        # Links to folders are not followed, so one that leads back makes no circle.
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        for name in [*links, *(name for name in files if not _is_hidden(name))]:
            file = Path(place) / name
            path = file.relative_to(root).as_posix()
            if not file.resolve().is_relative_to(root):
                outside.append(path)
            elif file.is_file():
                sizes[path] = file.stat().st_size
    return Tree(
        name=root.name,
        sizes=sizes,
        hidden=hidden,
        outside=sorted(outside),
        open=lambda name: (root / name).open("rb"),
    )


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(path).parts)


def matches(path: str, *patterns: str) -> bool:
    """Tell whether a path matches a pattern, in any case."""
    lower = PurePosixPath(path.lower())
    return any(lower.match(pattern.lower()) for pattern in patterns)


def shown(path: str) -> str:
    """Write a path so that it can be printed; names of files may be no UTF-8."""
    return path.encode(errors="surrogateescape").decode(errors="replace")
