"""The mini set: the sample conversation and passages that ship with Ecphoria, with gold."""

from collections import Counter
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

from ecphoria.errors import BadFile
from ecphoria.evaluation.datasets.dataset import (
    ADVERSARIAL,
    Collection,
    Dataset,
    Question,
    Suite,
    gathered,
)
from ecphoria.evaluation.datasets.passages import load_passages
from ecphoria.evaluation.datasets.reading import digest, read_lines

__all__ = ["load_mini"]

_CATEGORIES = {
    "multi-hop": "1",
    "temporal": "2",
    "open": "3",
    "single-hop": "4",
    "unanswerable": ADVERSARIAL,
}


def load_mini() -> tuple[Dataset, Dataset]:
    """Read the conversation and the passages, in this order."""
    with as_file(files("ecphoria.demo") / "data") as folder:
        return _conversation(folder), load_passages(folder / "passage_questions.jsonl")


def _conversation(folder: Path) -> Dataset:
    turns, questions = folder / "conversation.jsonl", folder / "questions.jsonl"
    gathering = gathered(Counter())
    for record in read_lines(turns):
        fields = {name: value for name, value in record.fields.items() if name != "id"}
        gathering.add(record.text("id"), **fields)
    part = Collection(
        name="sample",
        memories=gathering.memories,
        questions=tuple(_questions(questions, set(gathering.memories))),
    )
    return Dataset(
        suite=Suite.LOCOMO,
        source=folder.name,
        sha256=digest([turns, questions]),
        collections=(part,),
        findings={},
    )


def _questions(file: Path, known: set[str]) -> Iterator[Question]:
    for record in read_lines(file):
        gold = record.fields.get("gold")
        if not isinstance(gold, list) or not known.issuperset(gold):
            raise BadFile(f"{record.where}: `gold` names turns that are not there.")
        yield Question(
            id=record.text("id"),
            text=record.text("question"),
            category=_CATEGORIES[record.text("category")],
            gold=tuple(gold),
            official=tuple(gold),
        )
