"""Open files of JSON and look into them; what is wrong is said with the record's name."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ecphoria.errors import BadFile

__all__ = ["Record", "data_files", "digest", "read_json", "read_lines", "read_list"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A JSON object, and where it stands in words that find it."""

    where: str
    fields: Mapping[str, object]

    def text(self, name: str) -> str:
        """Take a field that must be text; a number is as good as its digits.

        Raises:
            BadFile: It is absent or something else.
        """
        value = self.fields.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise self.bad(name, "text")
        return str(value)

    def records(self, name: str) -> Iterator["Record"]:
        """Go through a field that must be a list of objects.

        Raises:
            BadFile: It is not.
        """
        value = self.fields.get(name)
        if not isinstance(value, list):
            raise self.bad(name, "a list")
        return objects(value, f"{self.where}, {name}")

    def bad(self, name: str, wanted: str) -> BadFile:
        """Say that a field is not what it must be."""
        found = "is missing" if name not in self.fields else f"is not {wanted}"
        return BadFile(f"{self.where}: `{name}` {found}.", record=self.where)


def objects(values: Sequence[object], where: str) -> Iterator[Record]:
    """Number the objects of a list, from 1.

    Raises:
        BadFile: One of them is no object.
    """
    for number, value in enumerate(values, start=1):
        place = f"{where} {number}"
        if not isinstance(value, dict):
            raise BadFile(f"{place} is not a JSON object.", record=place)
        yield Record(where=place, fields=value)


def read_json(path: Path) -> object:
    """Read a file that is one JSON value.

    Raises:
        BadFile: It cannot be read; says where it stops being JSON.
    """
    try:
        return json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path.name} is not JSON: {error}.", path=str(path)) from error


def read_list(path: Path) -> Iterator[Record]:
    """Read a file that is a list of objects.

    Raises:
        BadFile: It is not.
    """
    content = read_json(path)
    if not isinstance(content, list):
        raise BadFile(f"{path.name} is not a list of records.", path=str(path))
    return objects(content, f"{path.name}, record")


def read_lines(path: Path) -> Iterator[Record]:
    """Read a file with an object a line; blank lines are passed over.

    Raises:
        BadFile: A line is no JSON object.
    """
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path.name}, line {number}"
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadFile(f"{where} is not JSON: {error}.", record=where) from error
        if not isinstance(value, dict):
            raise BadFile(f"{where} is not a JSON object.", record=where)
        yield Record(where=where, fields=value)


def data_files(path: Path, suffixes: Sequence[str]) -> tuple[Path, ...]:
    """List the file, or the files of a folder with these suffixes, by name.

    Raises:
        BadFile: There is nothing to read.
    """
    if not path.is_dir():
        return (path,)
    found = sorted(one for one in path.iterdir() if one.suffix in suffixes and one.is_file())
    if not found:
        wanted = " or ".join(f"*{suffix}" for suffix in suffixes)
        raise BadFile(f"{path} holds no {wanted} file.", path=str(path))
    return tuple(found)


def digest(files: Sequence[Path]) -> str:
    """Hash one file's bytes, or for several the list that `sha256sum` would print of them.

    Raises:
        BadFile: A file cannot be read.
    """
    each = [sha256(_bytes(one)).hexdigest() for one in files]
    if len(files) == 1:
        return each[0]
    listed = "".join(f"{of}  {one.name}\n" for of, one in zip(each, files, strict=True))
    return sha256(listed.encode()).hexdigest()


def _text(path: Path) -> str:
    try:
        return _bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile(f"{path.name} is not UTF-8 at byte {error.start + 1}.") from error


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}.", path=str(path)) from error
