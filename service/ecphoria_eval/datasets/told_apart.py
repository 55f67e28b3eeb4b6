"""Recognise the suite of a file by its content."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from ecphoria.errors import BadFile, InvalidInput
from ecphoria_eval.datasets.dataset import Dataset, Suite, data_files, read_list
from ecphoria_eval.datasets.locomo import load_locomo
from ecphoria_eval.datasets.passages import load_passages
from ecphoria_eval.datasets.smrcs import is_smrcs, load_smrcs

_LINES: Final = ".jsonl"


def load_each(
    paths: Sequence[Path], corpus: Path | None = None, openie: Path | None = None
) -> dict[str, Dataset]:
    """Read data sets of any known format; give them by name.

    Args:
        paths: A file or folder for each.
        corpus: The passages of questions with `paragraphs`.
        openie: What a model extracted from those passages.

    Raises:
        BadFile: A file is of no known format.
        InvalidInput: No data set has such questions, so the corpus or the extract is of no use.
    """
    found = {name: load_any(path, corpus, openie) for name, path in named(paths).items()}
    for option, given, used in (
        ("corpus", corpus, [one.corpus_sha256 for one in found.values()]),
        ("openie", openie, [one.openie_sha256 for one in found.values()]),
    ):
        if given is not None and not any(used):
            raise InvalidInput(
                f"No data set here takes --{option}; only questions with `paragraphs` do.",
                field=option,
            )
    return found


def load_any(path: Path, corpus: Path | None = None, openie: Path | None = None) -> Dataset:
    """Read a file, or a folder of files of one kind: conversations, chats, or passages.

    JSON lines are pools. A JSON list holds conversations if its first record has `conversation`,
    and questions with passages if it has `paragraphs`; SMRCs if it has `recalls`. Conversations
    in which only `user` and `assistant` speak are chats.

    Args:
        path: The file or folder.
        corpus: The passages of questions with `paragraphs`.
        openie: What a model extracted from those passages.

    Raises:
        BadFile: It is of none of these formats; says what it should be.
    """
    first = data_files(path, (".json", _LINES))[0]
    if first.suffix == _LINES:
        return load_passages(path)
    record = next(read_list(first), None)
    if record is not None and is_smrcs(record):
        return load_smrcs(path)
    if record is not None and "conversation" in record.fields:
        return _talk(path)
    if record is not None and "paragraphs" in record.fields:
        return load_passages(path, corpus, openie)
    raise BadFile(
        f"{first.name} is no data set: its first record has neither `conversation` (LoCoMo and"
        " chats) nor `paragraphs` (MuSiQue); pools of chunks are JSON lines in a .jsonl file.",
        path=str(first),
    )


def named(paths: Sequence[Path]) -> dict[str, Path]:
    """Name each file by its stem; a stem that comes again gets a number."""
    found: dict[str, Path] = {}
    for path in paths:
        name, number = path.stem, 1
        while name in found:
            number += 1
            name = f"{path.stem}-{number}"
        found[name] = path
    return found


def _talk(path: Path) -> Dataset:
    dataset = load_locomo(path)
    turns = [item for part in dataset.collections for item in part.memories.values()]
    chats = bool(turns) and all(item.role is not None for item in turns)
    return replace(dataset, suite=Suite.CHATS) if chats else dataset
