"""Datasets: labelled questions about episodes, and how to read them."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from ecphoria.errors import BadFile
from ecphoria.wire.episodes import AppendRequest

ADVERSARIAL = "5"
"""The category of questions without an answer; they count for abstention only."""


class Suite(StrEnum):
    """The suite of a data set; it decides the measures of the report."""

    LOCOMO = "locomo"
    CHATS = "chats"
    PASSAGES = "passages"

    @property
    def talk(self) -> bool:
        """Tell whether its memories are turns of conversations."""
        return self is not Suite.PASSAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something to ask.

    Attributes:
        id: Unique in its collection.
        category: As the data numbers it; empty where it does not.
        gold: Ids of the memories that hold the evidence: distinct, and existing.
        official: Evidence as the data spells it, for the measure of its authors; None elsewhere.
        kind: As the data names it; empty where it does not.
        answers: The answer and its other spellings; none where the data has none.
    """

    id: str
    text: str
    category: str
    gold: tuple[str, ...]
    official: tuple[str, ...] | None = None
    kind: str = ""
    answers: tuple[str, ...] = ()

    @property
    def adversarial(self) -> bool:
        """Tell whether the right answer is that there is none."""
        return self.category == ADVERSARIAL

    @property
    def scored(self) -> bool:
        """Tell whether its evidence counts for recall."""
        return bool(self.gold) and not self.adversarial


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """One conversation or one pool of passages: a tenant of its own.

    Attributes:
        memories: What to append, by the data's id, in order.
    """

    name: str
    memories: Mapping[str, AppendRequest]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Collections of one suite.

    Attributes:
        source: Name of the file or folder.
        sha256: Of the data; of the corpus and the OpenIE cache where those are files of their own.
        findings: What was odd in the data, and how often.
    """

    suite: Suite
    source: str
    sha256: str
    collections: tuple[Collection, ...]
    findings: Mapping[str, int]
    corpus_sha256: str | None = None
    openie_sha256: str | None = None

    @property
    def questions(self) -> tuple[Question, ...]:
        """All questions, in order."""
        return tuple(question for part in self.collections for question in part.questions)


@dataclass(slots=True, kw_only=True)
class Gathering:
    """Memories on their way into a collection."""

    findings: Counter[str]
    memories: dict[str, AppendRequest] = field(default_factory=dict)

    def add(self, ident: str, **fields: object) -> None:
        """Add one memory; memories that no request can carry are counted and left out."""
        try:
            self.memories[ident] = AppendRequest.model_validate(
                {**fields, "idempotency_key": ident}
            )
        except ValidationError:
            self.findings["memories that are not well-formed text"] += 1


def answers_of(*given: object) -> tuple[str, ...]:
    """Read an answer and lists of its other spellings; numbers are written out."""
    spelt: list[object] = []
    for one in given:
        spelt += one if isinstance(one, list) else [one]
    texts = [str(one).strip() for one in spelt if isinstance(one, str | int | float)]
    return tuple(dict.fromkeys(text for text in texts if text))


def gathered(findings: Counter[str]) -> Gathering:
    """Begin a collection's memories."""
    return Gathering(findings=findings)


def sampled(dataset: Dataset, count: int) -> Dataset:
    """Keep `count` questions, spread evenly over the data; the memories stay all."""
    total = len(dataset.questions)
    if count >= total:
        return dataset
    kept = {place * total // count for place in range(count)}
    place = 0
    parts = []
    for part in dataset.collections:
        chosen = [question for at, question in enumerate(part.questions, place) if at in kept]
        place += len(part.questions)
        parts.append(replace(part, questions=tuple(chosen)))
    return replace(dataset, collections=tuple(parts))


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
    found = sorted(file for file in path.iterdir() if file.suffix in suffixes and file.is_file())
    if not found:
        wanted = " or ".join(f"*{suffix}" for suffix in suffixes)
        raise BadFile(f"{path} holds no {wanted} file.", path=str(path))
    return tuple(found)


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
    """The content of one data file."""

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
