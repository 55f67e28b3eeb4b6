"""Put several data sets into one store, as a real agent's memory holds many kinds of text."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ecphoria.calibration.labelled import digest
from ecphoria_eval.datasets.dataset import Collection, Dataset, Question, Suite, data_files
from ecphoria_eval.datasets.told_apart import load_each


def load_mixed(
    paths: Sequence[Path], corpus: Path | None = None, memories: int | None = None
) -> Dataset:
    """Read data sets of any known format into one collection.

    The `kind` of a question is the name of its data set.

    Args:
        paths: A file or folder for each data set.
        corpus: The passages of questions with `paragraphs`.
        memories: Memories to take of each conversation or pool, the first ones; None for all.
            Questions whose evidence is not among them are left out.

    Raises:
        BadFile: A file is of no known format.
        InvalidInput: There is a corpus, and no data set has such questions.
    """
    datasets = load_each(paths, corpus)
    parts = [
        _first(name, part, memories) for name, one in datasets.items() for part in one.collections
    ]
    files = [file for path in paths for file in data_files(path, (".json", ".jsonl"))]
    whole = Collection(
        name="mixed",
        memories={ident: item for part in parts for ident, item in part.memories.items()},
        questions=_in_turn(parts),
    )
    return Dataset(
        suite=Suite.LOCOMO,
        source=" ".join(datasets),
        sha256=digest(files),
        collections=(whole,),
        findings=_added([one.findings for one in datasets.values()]),
        corpus_sha256=None if corpus is None else digest([corpus]),
    )


def _first(kind: str, part: Collection, count: int | None) -> Collection:
    """Keep the first memories, with ids and sessions that no other part has."""
    kept = dict(list(part.memories.items())[:count])
    place = f"{kind}/{part.name}"

    def moved(ident: str) -> str:
        return f"{place}/{ident}"

    return Collection(
        name=place,
        memories={
            moved(ident): replace(
                item,
                idempotency_key=moved(ident),
                session=None if item.session is None else moved(item.session),
            )
            for ident, item in kept.items()
        },
        questions=tuple(
            replace(one, id=moved(one.id), kind=kind, gold=gold, official=gold)
            for one in part.questions
            for gold in (tuple(map(moved, one.gold)),)
            if kept.keys() >= set(one.gold)
        ),
    )


def _in_turn(parts: Sequence[Collection]) -> tuple[Question, ...]:
    """Take the questions of all parts in turn, so that any stretch of them is a mixture too."""
    placed = [
        (number / len(part.questions), question)
        for part in parts
        for number, question in enumerate(part.questions)
    ]
    return tuple(question for _, question in sorted(placed, key=lambda pair: pair[0]))


def _added(findings: Sequence[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in findings:
        total.update(one)
    return dict(sorted(total.items()))
