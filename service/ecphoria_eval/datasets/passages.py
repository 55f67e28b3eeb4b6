"""Read questions over passages: HotpotQA, MuSiQue, 2WikiMultihopQA."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from ecphoria.calibration.labelled import Record, digest, read_lines
from ecphoria.errors import BadFile
from ecphoria.records.episode import Extracted, NewEpisode, Statement
from ecphoria.text.tokens import UNREADABLE
from ecphoria_eval.datasets.dataset import (
    Collection,
    Dataset,
    Question,
    Suite,
    answers_of,
    data_files,
    gathered,
    read_json,
    read_list,
)

_LONGEST, _MOST = 256, 1_000
"""Characters of a part, and parts of a kind, that an episode may come with."""

_UNREADABLE = re.compile(f"[{UNREADABLE}]")


class OpenIECache:
    """Names and facts that a language model found in passages, read from a file.

    Attributes:
        unusable: Number of documents, entities and triples of the file that are malformed.
    """

    def __init__(self, records: Mapping[str, Extracted], unusable: int) -> None:
        self._records = records
        self.unusable = unusable

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read `{"docs": [{"passage" or "title" and "text", "extracted_entities": [...], ...}]}`.

        Raises:
            BadFile: It cannot be opened, is no JSON, or has no list `docs`.
        """
        content = read_json(path)
        docs = content.get("docs") if isinstance(content, dict) else None
        if not isinstance(docs, list):
            raise BadFile(f"{path.name} has no list `docs`; is it an OpenIE cache?")
        records: dict[str, Extracted] = {}
        unusable = 0
        for doc in docs:
            passage = _passage(doc)
            if passage is None:
                unusable += 1
                continue
            names, facts, skipped = _contents(doc)
            unusable += skipped
            records[_key(passage)] = Extracted(names=tuple(names), facts=tuple(facts))
        return cls(records, unusable)

    def find(self, title: str | None, body: str) -> Extracted | None:
        """Look one item up by its title and its text, white space aside."""
        return self._records.get(_key(f"{title or ''}\n{body}"))


def _key(passage: str) -> str:
    return " ".join(passage.split())


def _passage(doc: object) -> str | None:
    if not isinstance(doc, dict):
        return None
    title, text, passage = doc.get("title"), doc.get("text"), doc.get("passage")
    if isinstance(title, str) and isinstance(text, str):
        return f"{title}\n{text}"
    return passage if isinstance(passage, str) else None


def _contents(doc: Mapping[str, object]) -> tuple[list[str], list[Statement], int]:
    """Sort out what an episode can carry; the last value counts the rest."""
    names: list[str] = []
    facts: list[Statement] = []
    skipped = 0
    for entity in _listed(doc.get("extracted_entities")):
        if _is_usable(entity) and len(names) < _MOST:
            names.append(str(entity))
        else:
            skipped += 1
    for triple in _listed(doc.get("extracted_triples")):
        match triple:
            case [subject, predicate, object_] if (
                all(map(_is_usable, (subject, predicate, object_))) and len(facts) < _MOST
            ):
                facts.append(
                    Statement(subject=str(subject), predicate=str(predicate), object=str(object_))
                )
            case _:
                skipped += 1
    return names, facts, skipped


def _is_usable(part: object) -> bool:
    """Tell whether a part is text that can be stored: not blank, not endless, readable."""
    if not isinstance(part, str) or _UNREADABLE.search(part):
        return False
    return 0 < len(part.strip()) <= len(part) <= _LONGEST


def _listed(value: object) -> Iterator[object]:
    """Yield a list's entries; anything else that is not missing counts as one bad entry."""
    if isinstance(value, list):
        yield from value
    elif value is not None:
        yield None


_SENTENCE_NUMBER = re.compile(r"^\d+\. ", re.MULTILINE)


def clean_chunk(title: str, chunk: str) -> str:
    """Return a chunk's body: no leading `Title: T` line or `T:`, no sentence numbers, one line.

    Left in, the title counts twice and the numbers become words; numbered sentences are often cut
    in the middle, so that their lines are joined again.
    """
    body = chunk
    for head in (f"Title: {title}\n", f"{title}:"):
        if body.startswith(head):
            body = body[len(head) :]
            break
    return " ".join(_SENTENCE_NUMBER.sub("", body).split("\n")).strip()


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
    ) -> Mapping[str, NewEpisode]:
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
        answers=answers_of(record.fields.get("answer"), record.fields.get("answer_aliases")),
    )


def _distinct(asked: Iterable[Question], findings: Counter[str]) -> Iterator[Question]:
    """Leave out repeated questions and questions that cannot be scored, and count them."""
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
