"""Datasets: labelled questions about episodes, and how to read them."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from pydantic import ValidationError

from ecphoria.calibration.labelled import Record, objects, text_of
from ecphoria.errors import BadFile
from ecphoria.records.asked import read_as
from ecphoria.records.episode import NewEpisode

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
    memories: Mapping[str, NewEpisode]
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
    memories: dict[str, NewEpisode] = field(default_factory=dict)

    def add(self, ident: str, **fields: object) -> None:
        """Add one memory; memories that no request can carry are counted and left out."""
        try:
            self.memories[ident] = read_as(NewEpisode, {**fields, "idempotency_key": ident})
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


def read_json(path: Path) -> object:
    """Read a file that is one JSON value.

    Raises:
        BadFile: It cannot be read; says where it stops being JSON.
    """
    try:
        return json.loads(text_of(path))
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
