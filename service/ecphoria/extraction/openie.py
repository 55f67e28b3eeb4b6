"""Read names and facts that a language model extracted earlier, from HippoRAG's cache format."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from ecphoria.errors import BadFile
from ecphoria.extraction.records import Source
from ecphoria.language.characters import UNREADABLE
from ecphoria.model.episode import Extracted, Statement

__all__ = ["OpenIECache"]

_LONGEST, _MOST = 256, 1_000
"""Characters of a part, and parts of a kind, that an episode may come with."""

_UNREADABLE = re.compile(f"[{UNREADABLE}]")


class OpenIECache:
    """An `Extractor` that answers from a file, and has nothing to say of what is not in it.

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
        try:
            content: object = json.loads(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise BadFile(f"{path} cannot be read: {error.strerror}.") from error
        except (ValueError, RecursionError) as error:
            raise BadFile(f"{path.name} cannot be read as JSON: {error}") from error
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

    async def extract(self, sources: Sequence[Source]) -> Sequence[Extracted | None]:
        """Look each source up, word for word."""
        return [self.find(source.title, source.body) for source in sources]

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
