"""Extract by rules alone: no model, no network, the same result every time."""

from collections.abc import Sequence
from datetime import date

from ecphoria.extraction.records import Candidate, Extraction, Source
from ecphoria.language.dates import resolve_dates
from ecphoria.language.names import (
    NameKind,
    candidate_spans,
    is_indexable,
    is_name,
    lower_words,
    name_kind,
    normalise,
    normalised_words,
)

__all__ = ["RuleExtractor", "extract"]


class RuleExtractor:
    """The default `Extractor`: capitals make candidates, patterns make dates."""

    async def extract(self, sources: Sequence[Source]) -> Sequence[Extraction]:
        """Extract each source on its own."""
        return [
            extract(source.title, source.body, speaker=source.speaker, said_on=source.said_on)
            for source in sources
        ]


def extract(
    title: str | None,
    body: str,
    *,
    speaker: str | None = None,
    said_on: date | None = None,
) -> Extraction:
    """Extract from one item without looking at any other; dates need `said_on`."""
    return Extraction(
        title=_whole(title, NameKind.TITLE),
        candidates=_candidates(body),
        words=tuple(normalised_words(body)),
        lower=lower_words(body),
        speaker=_whole(speaker, NameKind.PERSON),
        dates=resolve_dates(body, said_on) if said_on else (),
    )


def _whole(text: str | None, kind: NameKind) -> Candidate | None:
    """Take a title or speaker as the name it is."""
    name = normalise(text) if text else ""
    if not is_indexable(name):
        return None
    guess = name_kind(text or "")
    if kind is NameKind.TITLE and guess is not NameKind.TOPIC:
        kind = guess
    return Candidate(name=name, surface=(text or "").strip(), kind=kind)


def _candidates(body: str) -> tuple[Candidate, ...]:
    found: dict[str, Candidate] = {}
    for span in candidate_spans(body):
        name = normalise(span)
        if name not in found and is_name(name):
            found[name] = Candidate(name=name, surface=span, kind=name_kind(span))
    return tuple(found.values())
