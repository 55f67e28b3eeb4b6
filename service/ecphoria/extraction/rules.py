"""Extract by rules: no model, no network, the same result every time."""

from datetime import date

from ecphoria.extraction.records import Candidate, Extraction
from ecphoria.extraction.stated import read_stated
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
from ecphoria.model.episode import Extracted

__all__ = ["extract"]


def extract(
    title: str | None,
    body: str,
    *,
    words: tuple[str, ...] | None = None,
    speaker: str | None = None,
    said_on: date | None = None,
    given: Extracted | None = None,
) -> Extraction:
    """Extract from one item without looking at any other; dates need `said_on`.

    What came with the item is added to what the rules find, and takes nothing away. Who has the
    body's normalised `words` gives them.
    """
    own = _whole(title, NameKind.TITLE)
    stated = read_stated(given, own.name if own else "")
    return Extraction(
        title=own,
        candidates=_candidates(body),
        words=tuple(normalised_words(body)) if words is None else words,
        lower=lower_words(body),
        speaker=_whole(speaker, NameKind.PERSON),
        dates=resolve_dates(body, said_on) if said_on else (),
        stated=stated.names,
        claims=stated.claims,
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
