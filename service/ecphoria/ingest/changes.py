"""Collect the changes of one transaction: sessions, terms and concepts."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from itertools import chain

from ecphoria.ingest.concepts import ConceptChanges, FactChanges
from ecphoria.ingest.prepare import Prepared
from ecphoria.ingest.rows import IngestChanges, SegmentStart, TermDelta
from ecphoria.ingest.sequence import MARGIN, Arrival, Resequenced, resequence
from ecphoria.ingest.store import IngestTransaction
from ecphoria.neo4j_store.rows import EpisodeRow
from ecphoria.ports import Vector, Vectors
from ecphoria.records.episode import Episode, indexed_text
from ecphoria.records.ids import EpisodeId
from ecphoria.runtime import run_off_loop
from ecphoria.text.concepts import Extraction
from ecphoria.text.tokens import stems

_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """The vectors of new episodes.

    Attributes:
        whole: The vector of each episode.
        parts: The vectors of the passages of long episodes, in their order.
    """

    whole: Mapping[EpisodeId, Vector]
    parts: Mapping[EpisodeId, Vectors] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SequencedBatch:
    """New episodes with their positions, and the changed sessions."""

    rows: tuple[EpisodeRow, ...]
    sessions: Sequence[Resequenced]


async def sequence_batch(
    transaction: IngestTransaction, new: Sequence[Prepared], vectors: Encoded
) -> SequencedBatch:
    """Place new episodes in their sessions."""
    turns = {prepared.id: transaction.turn + place for place, prepared in enumerate(new, 1)}
    sessions = await _sessions(transaction, new, turns)
    places = {turn: place for part in sessions for turn, place in part.places.items()}
    return SequencedBatch(
        rows=tuple(
            prepared.row(
                turns[prepared.id],
                places.get(prepared.id),
                vectors.whole[prepared.id],
                vectors.parts.get(prepared.id),
                transaction.life,
            )
            for prepared in new
        ),
        sessions=sessions,
    )


async def addition(
    new: Sequence[Prepared],
    into: SequencedBatch,
    facts: FactChanges,
    name: Callable[[], Coroutine[None, None, ConceptChanges]],
) -> AsyncGenerator[IngestChanges, None]:
    """Sequence new episodes, then collect their counts and edges.

    Overlap Python's work with the store's: while the store writes one part, the next part is
    computed (decision 0027).
    """
    told = [prepared for prepared in new if prepared.new.extraction is not None]
    places = _places(into.sessions)
    yield replace(
        places,
        moved=(),
        next_added=(),
        turns=len(new),
        items=len(new),
        titles=sum(prepared.new.title is not None for prepared in new),
        length=sum(row.length for row in into.rows),
        stated=sum(len(prepared.extraction.stated) for prepared in told) + len(facts.evidence),
        speakers=_speakers((prepared.new.speaker for prepared in new), 1),
        episodes=into.rows,
    )
    size = sum(len(prepared.text) for prepared in new)
    terms = partial(_terms, [one.terms for one in new], 1)
    yield IngestChanges(terms=await run_off_loop(terms, size))
    words = await run_off_loop(lambda: _words((prepared.extraction for prepared in new), 1), size)
    naming = asyncio.create_task(name())
    try:
        yield IngestChanges(moved=places.moved, next_added=places.next_added, words=words)
        yield replace(_names(await naming), facts_made=facts.made, evidence_added=facts.evidence)
    finally:
        naming.cancel()
        await asyncio.gather(naming, return_exceptions=True)


async def removal(
    transaction: IngestTransaction, gone: Episode, concepts: ConceptChanges
) -> AsyncGenerator[IngestChanges, None]:
    """Take an episode out of its session, which closes the gap, and out of every count."""
    text = indexed_text(gone.title, gone.text)
    terms = await run_off_loop(partial(stems, text), len(text))
    sessions: list[Resequenced] = []
    if gone.session is not None:
        start = SegmentStart(
            session=gone.session, occurred_at=gone.occurred_at - _TICK, position=0
        )
        before = (await transaction.segments([start], MARGIN))[gone.session]
        sessions.append(resequence(before, (), frozenset([gone.id])))
    places = _places(sessions)
    yield replace(
        _names(concepts),
        items=-1,
        titles=-(gone.title is not None),
        length=-len(terms),
        stated=-concepts.unstated,
        removed=(gone.id,),
        moved=places.moved,
        next_removed=places.next_removed,
        next_added=places.next_added,
        speakers=_speakers((gone.speaker,), -1),
        terms=_terms([terms], -1),
        words=_words(concepts.items, -1),
    )


async def waking(
    woken: tuple[EpisodeId, ...], concepts: ConceptChanges
) -> AsyncGenerator[IngestChanges, None]:
    """Make dormant episodes live, and bring their mentions up to date."""
    yield replace(_names(concepts), woken=woken)


async def only(changes: IngestChanges) -> AsyncGenerator[IngestChanges, None]:
    """Yield changes that have only one part."""
    yield changes


async def _sessions(
    transaction: IngestTransaction, new: Sequence[Prepared], turns: Mapping[EpisodeId, int]
) -> list[Resequenced]:
    arrivals: dict[str, list[Arrival]] = {}
    for prepared in new:
        if prepared.new.session is not None:
            arrival = prepared.arrival(turns[prepared.id])
            arrivals.setdefault(prepared.new.session, []).append(arrival)
    if not arrivals:
        return []
    starts = [_start(session, arriving) for session, arriving in sorted(arrivals.items())]
    stored = await transaction.segments(starts, MARGIN)
    return [
        resequence(stored.get(session, ()), arriving, frozenset())
        for session, arriving in sorted(arrivals.items())
    ]


def _start(session: str, arrivals: Sequence[Arrival]) -> SegmentStart:
    occurred_at, position = min(
        (arrival.occurred_at, arrival.position or 0) for arrival in arrivals
    )
    return SegmentStart(session=session, occurred_at=occurred_at, position=position)


def _places(sessions: Sequence[Resequenced]) -> IngestChanges:
    return IngestChanges(
        moved=tuple(row for part in sessions for row in part.moved),
        next_removed=tuple(pair for part in sessions for pair in part.next_removed),
        next_added=tuple(row for part in sessions for row in part.next_added),
    )


def _names(concepts: ConceptChanges) -> IngestChanges:
    return IngestChanges(
        names=concepts.names,
        concepts_made=concepts.made,
        concepts_unmade=concepts.unmade,
        mentions_added=concepts.mentions_added,
        mentions_removed=concepts.mentions_removed,
        abouts_added=concepts.abouts_added,
        synonyms_added=concepts.synonyms_added,
    )


def _speakers(names: Iterable[str | None], sign: int) -> tuple[tuple[str, int], ...]:
    counts = Counter(name for name in names if name is not None)
    return tuple((name, sign * count) for name, count in sorted(counts.items()))


def _words(items: Iterable[Extraction], sign: int) -> Mapping[str, int]:
    counts = Counter(chain.from_iterable(item.lower for item in items))
    return counts if sign > 0 else {word: -count for word, count in counts.items()}


def _terms(items: Iterable[Sequence[str]], sign: int) -> tuple[TermDelta, ...]:
    found = Counter(chain.from_iterable(map(set, items)))
    return tuple(TermDelta(stem=stem, items=sign * found[stem]) for stem in sorted(found))
