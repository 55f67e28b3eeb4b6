"""Labelled questions in a file, and how to read files of records with exact messages."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ecphoria.errors import BadFile


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
        """Report a field of the wrong type."""
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


def read_lines(path: Path) -> Iterator[Record]:
    """Read a file with an object a line; blank lines are passed over.

    Raises:
        BadFile: A line is no JSON object.
    """
    for number, line in enumerate(text_of(path).split("\n"), start=1):
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


def digest(files: Sequence[Path]) -> str:
    """Hash one file's bytes, or for several the list that `sha256sum` would print of them.

    Raises:
        BadFile: A file cannot be read.
    """
    each = [sha256(_bytes(file)).hexdigest() for file in files]
    if len(files) == 1:
        return each[0]
    listed = "".join(f"{of}  {file.name}\n" for of, file in zip(each, files, strict=True))
    return sha256(listed.encode()).hexdigest()


def text_of(path: Path) -> str:
    """Read a file of text.

    Raises:
        BadFile: It cannot be read, or is not UTF-8.
    """
    try:
        return _bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile(f"{path.name} is not UTF-8 at byte {error.start + 1}.") from error


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}.", path=str(path)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A question and whether the store can answer it.

    Attributes:
        group: Questions that are alike, such as those about one conversation, share one; empty
            where the file does not say.
    """

    text: str
    answerable: bool
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledFile:
    """The content of one file of labelled questions."""

    questions: tuple[Labelled, ...]
    sha256: str


def load_labelled(path: Path) -> LabelledFile:
    """Read `{"question": TEXT, "answerable": true or false, "group": TEXT if any}` a line.

    Raises:
        BadFile: A line is something else; says which, and what is wrong.
    """
    return LabelledFile(
        questions=tuple(_labelled(record) for record in read_lines(path)), sha256=digest([path])
    )


def _labelled(record: Record) -> Labelled:
    for name in record.fields:
        if name not in {"question", "answerable", "group"}:
            raise BadFile(
                f"{record.where}: there is no field `{name}`; write question, answerable, group."
            )
    answerable = record.fields.get("answerable")
    if not isinstance(answerable, bool):
        raise record.bad("answerable", "true or false")
    text = record.text("question")
    if not text.strip():
        raise record.bad("question", "text to ask")
    group = record.text("group") if "group" in record.fields else ""
    return Labelled(text=text, answerable=answerable, group=group)
