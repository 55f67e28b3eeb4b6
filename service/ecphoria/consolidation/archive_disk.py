"""A folder on a disk that holds the files of the archive."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

_PARTIAL: Final = ".partial"
"""Ending of a file that is not complete yet."""


class Disk:
    """The archive in a folder, which only this user can read."""

    remedy = "Free space or set ECPHORIA_ARCHIVE__DIR"

    def __init__(self, root: Path) -> None:
        self._root = root

    def __str__(self) -> str:
        return str(self._root)

    def knows(self, folder: str) -> bool:
        """Tell whether this folder exists."""
        return (self._root / folder).is_dir()

    def create(self, folder: str, name: str, content: bytes) -> None:
        """Store a file, in place of one of this name: flushed to the disk, or not at all."""
        partial = self._root / folder / f"{name}{_PARTIAL}"
        try:
            _make_private(partial.parent)
            with partial.open("wb") as file:
                os.fchmod(file.fileno(), 0o600)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            partial.rename(partial.with_name(name))
            _flush_folder(partial.parent)
        except OSError:
            partial.unlink(missing_ok=True)
            raise

    def read(self, folder: str, name: str, start: int = 0, length: int = -1) -> bytes:
        """Read a part of a file, shorter at its end; by default all of it."""
        with (self._root / folder / name).open("rb") as file:
            file.seek(start)
            return file.read(length)

    def change(
        self, folder: str, name: str, change: Callable[[bytes], Mapping[int, bytes]]
    ) -> bytes:
        """Overwrite parts of a file in its place on the disk; return the content."""
        path = self._root / folder / name
        with path.open("r+b") as file:
            for offset, piece in change(path.read_bytes()).items():
                file.seek(offset)
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        return path.read_bytes()

    def files(self, folder: str, older_than_s: float | None = None) -> Sequence[str]:
        """Name the files, with an age only older ones; then old incomplete files are deleted."""
        found = []
        for path in sorted((self._root / folder).glob("*")):
            with suppress(FileNotFoundError):  # another process deletes it meanwhile
                if older_than_s is not None and path.stat().st_mtime > time.time() - older_than_s:
                    continue
                if path.suffix != _PARTIAL:
                    found.append(path.name)
                elif older_than_s is not None:
                    path.unlink()
        return found

    def delete(self, folder: str, name: str) -> None:
        """Delete a file; it may be gone already."""
        (self._root / folder / name).unlink(missing_ok=True)

    def drop(self, folder: str) -> None:
        """Delete a folder with all its files; it may be gone already."""
        path = self._root / folder
        for file in path.glob("*"):
            file.unlink(missing_ok=True)
        if path.exists():
            path.rmdir()


def _make_private(folder: Path) -> None:
    """Make a private folder; `mkdir` would make its parents readable for all."""
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.mkdir(exist_ok=True, mode=0o700)


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
