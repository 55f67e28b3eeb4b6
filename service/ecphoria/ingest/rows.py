"""Rows of an append, and the statements that write and erase them.

Rows are sorted by key, so that transactions on the same nodes lock them in the same order.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

from ecphoria.facts.store import EvidenceRow, FactRow
from ecphoria.neo4j_store.locks import UPDATE_TENANT, mark_around
from ecphoria.neo4j_store.passages import CREATE_PASSAGES, REMOVE_PASSAGES, passage_groups
from ecphoria.neo4j_store.rows import EpisodeRow, to_groups
from ecphoria.neo4j_store.session import Done, Statement, Work, to_map
from ecphoria.records.episode import Extracted
from ecphoria.records.ids import ConceptId, EpisodeId, TenantId, derived_id
from ecphoria.text.names import NameKind


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTurn:
    """A turn already in a session, as ordering needs it."""

    session: str
    id: EpisodeId
    ordinal: int
    occurred_at: datetime
    position: int | None
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentStart:
    """The start of a range of turns of a session, exclusive: (occurred_at, position)."""

    session: str
    occurred_at: datetime
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBody:
    """The text of a stored episode, for a repeated extraction.

    Attributes:
        mentions: The concepts (normalised) it mentions so far.
    """

    id: EpisodeId
    title: str | None
    text: str
    mentions: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NameState:
    """The stored state of a name, which is a concept or may become one.

    Attributes:
        normalised: Lower case letters and digits, single spaces.
        surface: How it was written when first seen.
        titles: Number of documents with this title.
        candidates: Number of items that contain it as a candidate in their body.
        live: Whether it is a concept node.
        stated: Number of items that state it.
    """

    normalised: str
    surface: str
    kind: str
    titles: int
    candidates: int
    live: bool
    stated: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedRow:
    """The new place of a stored turn."""

    id: EpisodeId
    ordinal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NextRow:
    """A NEXT edge; weight `exp(-.01 * gap_days)` (SYNAPSE, rho per day)."""

    tail: EpisodeId
    head: EpisodeId
    gap_days: float
    weight: float


class TermDelta(NamedTuple):
    """Change of the number of items with a stem."""

    stem: str
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptRow:
    """A name that becomes a concept node."""

    id: ConceptId
    normalised: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionRow:
    """A MENTIONS edge, episode to concept.

    Attributes:
        stated: Whether the name was sent with the episode, or read from it by a model.
        by: The language model that read it.
    """

    episode: EpisodeId
    concept: str
    weight: float
    stated: bool = False
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutRow:
    """An ABOUT edge, concept to the episode whose title it is."""

    episode: EpisodeId
    concept: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SynonymRow:
    """A SYNONYM edge between two concepts; weight is the cosine of their words."""

    one: str
    other: str
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedBy:
    """The names sent with an episode, and the number of its facts."""

    names: frozenset[str]
    facts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The names and facts that a language model found in a stored episode, or a caller.

    Attributes:
        found: The names and facts.
        kinds: Kind by name as found; only names whose kind the model gave.
        extracted_by: The mark to store on the episode: the model and a hash of its prompt;
            None for a caller.
    """

    episode: EpisodeId
    found: Extracted
    kinds: Mapping[str, NameKind]
    extracted_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadEpisode:
    """A stored live episode, with the names and facts it has so far.

    Attributes:
        mentions: All concepts it mentions, normalised.
        sent, read: Those of them that were sent with it, and that a model read.
        sent_facts: Ids of the facts that were sent with it.
        read_facts: Number of facts that a model read.
    """

    id: str
    title: str | None
    text: str
    role: str | None
    occurred_at: datetime
    mentions: list[str]
    sent: list[str]
    read: list[str]
    sent_facts: list[str]
    read_facts: int

    def replaceable(self) -> "ReadEpisode":
        """Mark sent names and facts as read by a model, so that all are replaced."""
        return replace(
            self,
            sent=[],
            read=sorted({*self.sent, *self.read}),
            sent_facts=[],
            read_facts=self.read_facts + len(self.sent_facts),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestChanges:
    """Everything one transaction writes; concepts are named by their normalised name.

    `turns`, `items`, `titles` and `length` are added to the tenant's totals.
    Names carry deltas: `names[i].titles` and `.candidates` are added to the stored counts. `words`
    is the change of the number of items, by word in lower case. Concept counts (`mentions`,
    `abouts`) follow the added and removed edges. A fact is deleted with its last evidence.
    `stated` is added to the tenant's number of stated names and facts.
    """

    turns: int = 0
    items: int = 0
    titles: int = 0
    length: int = 0
    episodes: tuple[EpisodeRow, ...] = ()
    removed: tuple[EpisodeId, ...] = ()
    moved: tuple[MovedRow, ...] = ()
    next_removed: tuple[tuple[EpisodeId, EpisodeId], ...] = ()
    next_added: tuple[NextRow, ...] = ()
    speakers: tuple[tuple[str, int], ...] = ()
    terms: tuple[TermDelta, ...] = ()
    words: Mapping[str, int] = field(default_factory=dict)
    names: tuple[NameState, ...] = ()
    concepts_made: tuple[ConceptRow, ...] = ()
    concepts_unmade: tuple[str, ...] = ()
    mentions_added: tuple[MentionRow, ...] = ()
    mentions_removed: tuple[tuple[EpisodeId, str], ...] = ()
    abouts_added: tuple[AboutRow, ...] = ()
    synonyms_added: tuple[SynonymRow, ...] = ()
    stated: int = 0
    facts_made: tuple[FactRow, ...] = ()
    evidence_added: tuple[EvidenceRow, ...] = ()
    woken: tuple[EpisodeId, ...] = ()


_Write = tuple[Statement[Done], Mapping[str, list[Any]]]
"""A statement with its rows or columns by parameter; if all are empty, it is skipped."""


_CREATE_SESSIONS = Statement("ingest.create_sessions", Done)
_CREATE_EPISODES = Statement("ingest.create_episodes", Done)
UPDATE_EXPIRY = Statement("ingest.update_expiry", Done)
_MOVE_EPISODES = Statement("ingest.move_episodes", Done)
_REMOVE_EPISODES = Statement("ingest.remove_episodes", str)
_ADD_NEXT = Statement("ingest.add_next", Done)
_REMOVE_NEXT = Statement("ingest.remove_next", Done)
_COUNT_SPEAKERS = Statement("ingest.count_speakers", Done)
_COUNT_WORDS = Statement("ingest.count_words", Done)
_COUNT_NAMES = Statement("ingest.count_names", Done)
_DROP_EMPTY = Statement("ingest.drop_empty", Done)
_MAKE_CONCEPTS = Statement("ingest.make_concepts", Done)
_UNMAKE_CONCEPTS = Statement("ingest.unmake_concepts", Done)
_ADD_MENTIONS = Statement("ingest.add_mentions", Done)
_REMOVE_MENTIONS = Statement("ingest.remove_mentions", Done)
_ADD_ABOUTS = Statement("ingest.add_abouts", Done)
_ADD_SYNONYMS = Statement("ingest.add_synonyms", Done)
_CREATE_FACTS = Statement("ingest.create_facts", Done)
_ADD_EVIDENCE = Statement("ingest.add_evidence", Done)
_REMOVE_ENGRAMS = Statement("ingest.remove_engrams", Done)
REMOVE_EVIDENCE = Statement("ingest.remove_evidence", Done)
_WAKE_EPISODES = Statement("ingest.wake_episodes", Done)


async def apply_changes(
    work: Work, tenant: TenantId, parts: AsyncGenerator[IngestChanges, None]
) -> None:
    """Write all changes: removals first, then additions, then empty nodes."""
    async with aclosing(parts):
        await _apply(work, tenant, parts)


async def _apply(work: Work, tenant: TenantId, parts: AsyncIterator[IngestChanges]) -> None:
    first = await anext(parts)
    await work.run(
        UPDATE_TENANT,
        tenant=tenant,
        turns=first.turns,
        items=first.items,
        titles=first.titles,
        length=first.length,
        stated=first.stated,
    )
    sessions = await _remove(work, tenant, first)
    await _run_ahead(work, tenant, _writes(tenant, first, sessions, parts))


async def _writes(
    tenant: TenantId,
    first: IngestChanges,
    sessions: Sequence[str],
    others: AsyncIterator[IngestChanges],
) -> AsyncIterator[_Write]:
    for write in _additions(tenant, first, sessions):
        yield write
    async for part in others:
        for write in _additions(tenant, part):
            yield write


def _additions(
    tenant: TenantId, part: IngestChanges, sessions: Sequence[str] = ()
) -> Iterator[_Write]:
    yield from chain(_places(tenant, part), _counts(part), _names(part), _edges(part))
    yield _DROP_EMPTY, {**_counted_down(part), "sessions": sorted(sessions)}


async def _remove(work: Work, tenant: TenantId, changes: IngestChanges) -> list[str]:
    """Apply removals, and return the sessions that lost an episode."""
    if changes.next_removed:
        pairs = [{"tail": tail, "head": head} for tail, head in sorted(changes.next_removed)]
        await work.run(_REMOVE_NEXT, tenant=tenant, rows=pairs)
    if not changes.removed:
        return []
    await mark_around(work, tenant, sorted(changes.removed))
    await work.run(_REMOVE_ENGRAMS, tenant=tenant, ids=sorted(changes.removed))
    await work.run(REMOVE_EVIDENCE, tenant=tenant, ids=sorted(changes.removed), every=True)
    await work.run(REMOVE_PASSAGES, tenant=tenant, ids=sorted(changes.removed))
    touched = await work.run(_REMOVE_EPISODES, tenant=tenant, ids=sorted(changes.removed))
    return [session for session in touched if session]


def _places(tenant: TenantId, changes: IngestChanges) -> Iterator[_Write]:
    names = sorted({row.session for row in changes.episodes if row.session})
    sessions = [{"name": name, "id": derived_id(tenant, "session", name)} for name in names]
    yield _CREATE_SESSIONS, {"rows": sessions}
    speakers = [
        {"name": name, "id": derived_id(tenant, "speaker", name), "episodes": delta}
        for name, delta in sorted(changes.speakers)
    ]
    yield _COUNT_SPEAKERS, {"rows": speakers}
    yield _CREATE_EPISODES, {"groups": to_groups(changes.episodes)}
    ends = [row.expires_at for row in changes.episodes if row.expires_at is not None]
    yield UPDATE_EXPIRY, {"ends": [min(ends)] if ends else []}
    for groups in passage_groups({row.id: row.passages for row in changes.episodes}):
        yield CREATE_PASSAGES, {"groups": groups}
    yield _MOVE_EPISODES, {"rows": [to_map(row) for row in _by_id(changes.moved)]}
    yield _WAKE_EPISODES, {"ids": sorted(changes.woken)}
    yield _ADD_NEXT, {"rows": [to_map(row) for row in changes.next_added]}


def _counts(changes: IngestChanges) -> Iterator[_Write]:
    terms = sorted(changes.terms)
    words = sorted(changes.words)
    yield (
        _COUNT_WORDS,
        {
            "stems": [term.stem for term in terms],
            "stem_items": [term.items for term in terms],
            "words": words,
            "word_items": [changes.words[word] for word in words],
        },
    )


def _names(changes: IngestChanges) -> Iterator[_Write]:
    names = sorted(changes.names, key=lambda name: name.normalised)
    yield _COUNT_NAMES, _columns(names)
    mentions = [
        {"episode": episode, "concept": concept}
        for episode, concept in sorted(changes.mentions_removed)
    ]
    yield _REMOVE_MENTIONS, {"rows": mentions}
    yield _UNMAKE_CONCEPTS, {"names": sorted(changes.concepts_unmade)}
    made = sorted(changes.concepts_made, key=lambda concept: concept.normalised)
    yield _MAKE_CONCEPTS, {"rows": [to_map(concept) for concept in made]}


def _edges(changes: IngestChanges) -> Iterator[_Write]:
    """Join concepts to episodes; join concepts to each other after all of them exist."""
    mentions = _by_concept(
        (row.concept, row.episode, row.weight, row.stated, row.by)
        for row in changes.mentions_added
    )
    yield _ADD_MENTIONS, {"groups": mentions}
    abouts = _by_concept(
        (row.concept, row.episode, 1.0, False, None) for row in changes.abouts_added
    )
    yield _ADD_ABOUTS, {"groups": abouts}
    yield _ADD_SYNONYMS, {"rows": [to_map(row) for row in changes.synonyms_added]}
    yield _CREATE_FACTS, {"rows": [to_map(row) for row in changes.facts_made]}
    yield _ADD_EVIDENCE, {"rows": [to_map(row) for row in changes.evidence_added]}


def _counted_down(changes: IngestChanges) -> dict[str, list[str]]:
    """List nodes whose counts fell; some of them may be empty now."""
    names = {
        row.normalised for row in changes.names if min(row.titles, row.candidates, row.stated) < 0
    }
    return {
        "names": sorted(names.union(changes.concepts_unmade)),
        "speakers": sorted(name for name, delta in changes.speakers if delta < 0),
        "stems": sorted(term.stem for term in changes.terms if term.items < 0),
        "words": sorted(word for word, delta in changes.words.items() if delta < 0),
    }


async def _run_ahead(work: Work, tenant: TenantId, writes: AsyncIterator[_Write]) -> None:
    """Run statements in order; build the rows of the next statement while one runs."""
    running: asyncio.Task[list[Done]] | None = None
    try:
        async for statement, rows in writes:
            if not any(rows.values()):
                continue
            if running is not None:
                await running
            running = asyncio.create_task(work.run(statement, tenant=tenant, **rows))
            await asyncio.sleep(0)  # let the statement be sent before the next rows are built
    finally:
        if running is not None:
            await running


def _by_id(rows: Iterable[MovedRow]) -> list[MovedRow]:
    return sorted(rows, key=lambda row: row.id)


def _columns(names: Sequence[NameState]) -> dict[str, list[Any]]:
    return {
        "names": [row.normalised for row in names],
        "surfaces": [row.surface for row in names],
        "kinds": [row.kind for row in names],
        "titles": [row.titles for row in names],
        "candidates": [row.candidates for row in names],
        "stated": [row.stated for row in names],
    }


def _by_concept(
    edges: Iterable[tuple[str, EpisodeId, float, bool, str | None]],
) -> list[dict[str, Any]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for concept, episode, weight, stated, by in sorted(edges):
        row = {"episode": episode, "weight": weight, "stated": stated, "by": by}
        groups.setdefault(concept, []).append(row)
    return [{"concept": concept, "rows": rows} for concept, rows in groups.items()]
