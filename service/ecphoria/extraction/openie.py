"""Read names and facts that a language model extracted earlier, from HippoRAG's cache format."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from ecphoria.errors import BadFile
from ecphoria.extraction.records import Candidate, Extraction, Source, Triple
from ecphoria.extraction.rules import extract
from ecphoria.language.names import is_name, name_kind, normalise

__all__ = ["OpenIEExtractor"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    candidates: tuple[Candidate, ...]
    triples: tuple[Triple, ...]


class OpenIEExtractor:
    """Answer from a cache file; an item the file does not hold is extracted by rules.

    Attributes:
        unusable: Number of documents, entities and triples of the file that are malformed.
    """

    def __init__(self, records: Mapping[str, _Record], unusable: int) -> None:
        self._records = records
        self.unusable = unusable

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read `{"docs": [{"passage" or "title" and "text", "extracted_entities": [...], ...}]}`.

        Raises:
            BadFile: It cannot be opened, is no JSON, or has no list `docs`.
        """
        try:
            content: object = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise BadFile(f"{path.name} cannot be read as JSON: {error}") from error
        docs = content.get("docs") if isinstance(content, dict) else None
        if not isinstance(docs, list):
            raise BadFile(f"{path.name} has no list `docs`; is it an OpenIE cache?")
        records: dict[str, _Record] = {}
        unusable = 0
        for doc in docs:
            passage = _passage(doc)
            if passage is None:
                unusable += 1
                continue
            entities, triples, skipped = _contents(doc)
            unusable += skipped
            records[_key(passage)] = _record(entities, triples)
        return cls(records, unusable)

    def mismatches(self, sources: Iterable[Source]) -> int:
        """Count the items that the file does not hold, word for word."""
        return sum(_source_key(source) not in self._records for source in sources)

    async def extract(self, sources: Sequence[Source]) -> Sequence[Extraction]:
        """Put the file's names and facts in the place of those found by rules."""
        return [self._one(source) for source in sources]

    def _one(self, source: Source) -> Extraction:
        found = extract(source.title, source.body, speaker=source.speaker, said_on=source.said_on)
        record = self._records.get(_source_key(source))
        if record is None:
            return found
        return replace(found, candidates=record.candidates, triples=record.triples)


def _key(passage: str) -> str:
    return " ".join(passage.split())


def _source_key(source: Source) -> str:
    return _key(f"{source.title or ''}\n{source.body}")


def _passage(doc: object) -> str | None:
    if not isinstance(doc, dict):
        return None
    title, text, passage = doc.get("title"), doc.get("text"), doc.get("passage")
    if isinstance(title, str) and isinstance(text, str):
        return f"{title}\n{text}"
    return passage if isinstance(passage, str) else None


def _contents(doc: Mapping[str, object]) -> tuple[list[str], list[tuple[str, str, str]], int]:
    """Sort out what is well formed; the last value counts the rest."""
    entities: list[str] = []
    triples: list[tuple[str, str, str]] = []
    skipped = 0
    for entity in _listed(doc.get("extracted_entities")):
        if isinstance(entity, str):
            entities.append(entity)
        else:
            skipped += 1
    for triple in _listed(doc.get("extracted_triples")):
        match triple:
            case [str(subject), str(predicate), str(object_)]:
                triples.append((subject, predicate, object_))
            case _:
                skipped += 1
    return entities, triples, skipped


def _listed(value: object) -> Iterator[object]:
    """Yield a list's entries; anything else that is not missing counts as one bad entry."""
    if isinstance(value, list):
        yield from value
    elif value is not None:
        yield None


def _record(entities: Sequence[str], triples: Sequence[tuple[str, str, str]]) -> _Record:
    ends = [end for subject, _, object_ in triples for end in (subject, object_)]
    candidates: dict[str, Candidate] = {}
    for surface in (*entities, *ends):
        name = normalise(surface)
        if is_name(name):
            entry = Candidate(name=name, surface=surface.strip(), kind=name_kind(surface))
            candidates.setdefault(name, entry)
    facts = (
        Triple(subject=normalise(subject), predicate=predicate.strip(), object=normalise(object_))
        for subject, predicate, object_ in triples
    )
    return _Record(
        candidates=tuple(candidates.values()),
        triples=tuple(
            dict.fromkeys(
                fact for fact in facts if fact.subject in candidates and fact.object in candidates
            )
        ),
    )
