"""Files read as a stream: items of JSON, lines, the files of a folder or an archive.

A file may be larger than the memory. A reader holds one item of it: a conversation, a message, a
memory or a document.
"""

import os
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final, Protocol

from ecphoria.errors import BadFile, Misconfigured
from ecphoria.imports.records import MARK, Record, to_append

Fields = dict[str, object]
Found = Fields | BadFile
"""The fields of an append, or the reason why something cannot be imported."""

_START: Final = 8_192
_LONG_START: Final = 16_000_000
_DAMAGED: Final = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)
"""Faults of an archive's part or a file; `zipfile` raises RuntimeError for a password."""


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

    def __iter__(self) -> Iterator[bytes]:
        """Read lines."""
        ...


@dataclass(slots=True, kw_only=True)
class Reading:
    """Progress of a reader.

    Attributes:
        done: Bytes read so far, or episodes of a database.
        place: Where the last episode was found; empty where its number tells it.
        left_out: How often something was left out on purpose, by the reason.
    """

    done: int = 0
    place: str = ""
    left_out: Counter[str] = field(default_factory=Counter)


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

    def long_start(self) -> bytes:
        """Look at the first megabytes without reading them, if the stream can go back."""
        if not self._stream.seekable():
            return self.start()
        found = self._stream.read(_LONG_START)
        self._stream.seek(0)
        return trimmed(found)

    def lines(self) -> Iterator[bytes]:
        """Read lines."""
        for line in self._stream:
            self.reading.done += len(line)
            yield line


def start_of(stream: Peeking) -> bytes:
    """Look at the first bytes that are no blanks, without reading them."""
    return trimmed(stream.peek(_START)[:_START])


def trimmed(start: bytes) -> bytes:
    """Cut off a byte order mark and blanks."""
    return start.removeprefix(MARK).lstrip()


def items(stream: Counted, prefix: str = "item") -> Iterator[Any]:
    """Read the items of an array, one after the other; the last may be a fault."""
    try:
        import ijson  # type: ignore[import-untyped]  # noqa: PLC0415 (extra `import`)
    except ModuleNotFoundError as missing:
        raise Misconfigured(
            "Reading an export needs ijson: pip install 'ecphoria[import]'."
        ) from missing
    if prefix == "item" and not stream.start().startswith(b"["):
        yield BadFile("The file is no list in JSON, as this export is; check `--format`.")
        return
    before = stream.reading.done
    try:
        yield from ijson.items(stream, prefix, use_float=True)
    except ijson.JSONError as error:
        why, size = str(error).partition("\n")[0], stream.reading.done - before
        yield BadFile(
            f"The file is cut off or damaged after {size:,} bytes ({why}). "
            "What came before is imported; export it again and repeat the command."
        )


def numbered(found: Iterable[Found], reading: Reading) -> Iterator[Record]:
    """Make records of what a reader finds."""
    told = 0
    for number, one in enumerate(found, start=1):
        content = one if isinstance(one, BadFile) else to_append(one)
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
    open: Callable[[str], IO[bytes]]

    def named(self, *patterns: str) -> list[str]:
        """List the files whose names match a pattern, in order."""
        return sorted(
            path for path in self.sizes if any(PurePosixPath(path).match(one) for one in patterns)
        )

    def read(
        self, path: str, reading: Reading, reader: Callable[[Counted], Iterator[Found]]
    ) -> Iterator[Found]:
        """Read one file of the tree; damage of the file is told, and ends it only."""
        reading.place = shown(path)
        try:
            with self.open(path) as stream:
                assert hasattr(stream, "peek"), "files and archives give buffered streams"
                yield from reader(Counted(stream, reading))
        except (*_DAMAGED, NotImplementedError) as error:
            reading.place = shown(path)
            why = error.strerror if isinstance(error, OSError) else error
            yield BadFile(f"The file cannot be read: {why}.")


@contextmanager
def open_tree(path: Path) -> Iterator[Tree]:
    """Open a folder, or a ZIP archive.

    Raises:
        BadFile: The archive is damaged.
    """
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
            open=lambda name: packed.open(shown_files[name]),
        )


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


def shown(path: str) -> str:
    """Write a path so that it can be printed; names of files may be no UTF-8."""
    return path.encode(errors="surrogateescape").decode(errors="replace")


def as_object(value: object) -> Mapping[str, Any]:
    """Take an object of JSON; anything else counts as an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> Sequence[Any]:
    """Take a list of JSON; anything else counts as an empty one."""
    return value if isinstance(value, list) else ()


def occurred(when: object) -> Fields:
    """Read a time: seconds since 1970, a date, or text with or without an offset.

    Without an offset it is taken as UTC. A time that cannot be read is passed on, so that the
    check of the field tells its fault.
    """
    if isinstance(when, int | float):
        try:
            return {"occurred_at": datetime.fromtimestamp(when, UTC)}
        except (OverflowError, ValueError, OSError):
            return {"occurred_at": str(when)}
    if isinstance(when, str):
        try:
            when = datetime.fromisoformat(when)
        except ValueError:
            return {"occurred_at": when}
    if isinstance(when, datetime):
        return {"occurred_at": when if when.tzinfo else when.replace(tzinfo=UTC)}
    if isinstance(when, date):
        return {"occurred_at": datetime(when.year, when.month, when.day, tzinfo=UTC)}
    return {}
