"""Titled passages with multi-hop questions: 2Wiki and HotpotQA pools, and MuSiQue."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ecphoria.errors import BadFile
from ecphoria.evaluation.datasets.dataset import Collection, Dataset, Question, Suite, gathered
from ecphoria.evaluation.datasets.reading import (
    Record,
    data_files,
    digest,
    read_lines,
    read_list,
)
from ecphoria.extraction.openie import OpenIECache
from ecphoria.language.passages import clean_chunk
from ecphoria.model.episode import Extracted
from ecphoria.wire.episodes import AppendRequest

__all__ = ["load_passages"]


@dataclass(slots=True, kw_only=True)
class _Corpus:
    """Distinct passages by title and text; an id is the place of the first appearance."""

    places: dict[tuple[str, str], str] = field(default_factory=dict)
    repeated: int = 0

    def add(self, title: str, text: str) -> str:
        """Take a passage, or find it again."""
        self.repeated += (title, text) in self.places
        return self.places.setdefault((title, text), str(len(self.places)))

    def memories(
        self, findings: Counter[str], openie: OpenIECache | None
    ) -> Mapping[str, AppendRequest]:
        """Turn passages into documents; one without text is counted and left out."""
        gathering = gathered(findings)
        for (title, text), ident in self.places.items():
            body = clean_chunk(title, text)
            if not body:
                findings["passages without text"] += 1
                continue
            fields: dict[str, object] = {"text": body, "title": title if title.strip() else None}
            if openie is not None:
                found = openie.find(title, text) or openie.find(title, body)
                findings["passages that the OpenIE cache lacks"] += found is None
                fields["extraction"] = found and _sent(found)
            gathering.add(ident, **fields)
        return gathering.memories


def _sent(found: Extracted) -> dict[str, object]:
    """Write what was found as it is sent: such files know no times."""
    parts = ("subject", "predicate", "object")
    facts = [{part: getattr(fact, part) for part in parts} for fact in found.facts]
    return {"names": found.names, "facts": facts}


def load_passages(path: Path, corpus: Path | None = None, openie: Path | None = None) -> Dataset:
    """Read a pool: JSON lines with chunks (2Wiki, HotpotQA), or a JSON list (MuSiQue).

    Args:
        path: A file, or a folder of them; each is a pool of its own.
        corpus: The passages, where they are not those of the questions (MuSiQue).
        openie: What a language model extracted from them, in HippoRAG's format.

    Raises:
        BadFile: A file or a record is not of these formats; names the record.
    """
    files = data_files(path, (".jsonl", ".json"))
    if corpus is not None and len(files) > 1:
        raise BadFile("One corpus cannot serve a folder of pools; give one file as the data.")
    findings: Counter[str] = Counter()
    cache = None if openie is None else OpenIECache.read(openie)
    if cache is not None:
        findings["entries of the OpenIE cache that cannot be used"] = cache.unusable
    parts = []
    for file in files:
        passages = _Corpus()
        if corpus is not None:
            for record in read_list(corpus):
                passages.add(record.text("title"), record.text("text"))
        lines = file.suffix == ".jsonl"
        asked = _pool(file, passages) if lines else _musique(file, passages, corpus)
        questions = tuple(_distinct(asked, findings))
        findings["passages that came up again"] += passages.repeated
        parts.append(
            Collection(
                name=file.stem, memories=passages.memories(findings, cache), questions=questions
            )
        )
    return Dataset(
        suite=Suite.PASSAGES,
        source=path.name,
        sha256=digest(files),
        collections=tuple(parts),
        findings=dict(sorted((+findings).items())),
        corpus_sha256=None if corpus is None else digest([corpus]),
        openie_sha256=None if openie is None else digest([openie]),
    )


def _pool(file: Path, passages: _Corpus) -> Iterator[Question]:
    """Read questions whose chunks make up the corpus; gold are the chunks of supported titles."""
    for record in read_lines(file):
        chunks = [
            (one.text("title"), passages.add(one.text("title"), one.text("chunk")))
            for one in record.records("chunks")
        ]
        supported = {one.text("title") for one in record.records("supporting_facts")}
        gold = (place for title, place in chunks if title in supported)
        yield _question(record, gold)


def _musique(file: Path, passages: _Corpus, corpus: Path | None) -> Iterator[Question]:
    """Read questions with marked paragraphs; without a corpus file they make up the corpus."""
    for record in read_list(file):
        gold = []
        for one in record.records("paragraphs"):
            key = one.text("title"), one.text("paragraph_text")
            place = passages.places.get(key) if corpus is not None else passages.add(*key)
            if one.fields.get("is_supporting") is True:
                # A passage that the corpus lacks stays gold: it is evidence nobody can find.
                gold.append(place or f"absent: {one.where}")
        yield _question(record, gold)


def _question(record: Record, gold: Iterable[str]) -> Question:
    return Question(
        id=record.text("id"),
        text=record.text("question"),
        category="",
        gold=tuple(dict.fromkeys(gold)),
    )


def _distinct(asked: Iterable[Question], findings: Counter[str]) -> Iterator[Question]:
    """Leave out what cannot be scored or was asked before, and count it."""
    seen: set[str] = set()
    for question in asked:
        if not question.gold:
            findings["questions without gold"] += 1
        elif question.id in seen:
            findings["questions whose id was used before"] += 1
        else:
            seen.add(question.id)
            findings["gold passages that the corpus lacks"] += sum(
                one.startswith("absent: ") for one in question.gold
            )
            yield question
