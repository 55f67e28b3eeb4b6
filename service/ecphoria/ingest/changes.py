"""The changes of one transaction, and the statements that write them.

Rows are sorted by key, so that transactions on the same nodes lock them in the same order.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any

from ecphoria.facts.store import EvidenceRow, FactRow
from ecphoria.ingest.prepare import Prepared
from ecphoria.neo4j_store.encoding import encoded
from ecphoria.neo4j_store.locks import UPDATE_TENANT, mark_around
from ecphoria.neo4j_store.passages import CREATE_PASSAGES, REMOVE_PASSAGES, passage_groups
from ecphoria.neo4j_store.session import Done, Statement, Work
from ecphoria.records.episode import Episode, Extracted
from ecphoria.records.ids import EpisodeId, TenantId, concept_id, derived_id
from ecphoria.text.concepts import Extraction, SynonymPair
from ecphoria.text.terms import Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPlace:
    """The place of a turn in its session.

    Attributes:
        position: The caller's order among turns of one time; None counts as 0.
        sequence: Its number among the tenant's appends.
        ordinal: Its place among the turns, from 0 on; None of a turn that is not stored yet.
    """

    session: str
    id: EpisodeId
    occurred_at: datetime
    position: int | None
    sequence: int
    ordinal: int | None = None


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
class StatedBy:
    """The names sent with an episode, and the number of its facts."""

    names: frozenset[str]
    facts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The names and facts that a language model found in a stored episode, or a caller.

    Attributes:
        found: The names and facts.
        extracted_by: The mark to store on the episode: the model and a hash of its prompt;
            None for a caller.
    """

    episode: EpisodeId
    found: Extracted
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

    id: EpisodeId
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
class NextRow:
    """A NEXT edge; weight `exp(-.01 * gap_days)` (SYNAPSE, rho per day)."""

    tail: EpisodeId
    head: EpisodeId
    gap_days: float
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionRow:
    """A MENTIONS or ABOUT edge between an episode and a concept.

    Attributes:
        concept: Its normalised name.
        stated: Whether the name was sent with the episode, or read from it by a model.
        by: The language model that read it.
        cognitive, description, importance: What the episode says of the name.
    """

    episode: EpisodeId
    concept: str
    weight: float
    stated: bool = False
    by: str | None = None
    cognitive: str | None = None
    description: str | None = None
    importance: int | None = None


@dataclass(slots=True, kw_only=True)
class Changes:
    """Everything that one transaction writes; each step of a write adds to it.

    Concepts are named by their normalised name. A concept's counts of mentions follow its edges,
    and a fact is deleted with its last evidence.

    Attributes:
        appended, items, titles, length, stated: Added to the tenant's totals; `stated` counts
            names and facts.
        episodes: New episodes.
        removed: Episodes to delete.
        left: Sessions that lose an episode.
        woken: Dormant episodes that become live.
        moved: New ordinals of stored turns.
        speakers, terms, words: Added to the numbers of items by speaker, stem and lower-case word.
        names: Added to the counts of names: `titles`, `candidates` and `stated` are differences.
    """

    appended: int = 0
    items: int = 0
    titles: int = 0
    length: int = 0
    stated: int = 0
    episodes: list[Prepared] = field(default_factory=list)
    removed: list[EpisodeId] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    woken: list[EpisodeId] = field(default_factory=list)
    moved: dict[EpisodeId, int] = field(default_factory=dict)
    next_removed: list[tuple[EpisodeId, EpisodeId]] = field(default_factory=list)
    next_added: list[NextRow] = field(default_factory=list)
    speakers: Counter[str] = field(default_factory=Counter)
    terms: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)
    names: list[NameState] = field(default_factory=list)
    concepts_made: list[str] = field(default_factory=list)
    concepts_unmade: list[str] = field(default_factory=list)
    mentions_added: list[MentionRow] = field(default_factory=list)
    mentions_removed: list[tuple[EpisodeId, str]] = field(default_factory=list)
    abouts_added: list[MentionRow] = field(default_factory=list)
    synonyms_added: list[SynonymPair] = field(default_factory=list)
    facts_made: list[FactRow] = field(default_factory=list)
    evidence_added: list[EvidenceRow] = field(default_factory=list)

    def add(self, new: Sequence[Prepared]) -> None:
        """Add new episodes, and count them, their speakers, stems and words."""
        self.episodes += new
        self.appended += len(new)
        self.items += len(new)
        self.titles += sum(one.new.title is not None for one in new)
        self.length += sum(one.length for one in new)
        self.stated += sum(len(one.extraction.stated) for one in new)
        self.speakers.update(one.new.speaker for one in new if one.new.speaker is not None)
        self.terms.update(chain.from_iterable(set(one.terms.split()) for one in new))
        self.words.update(chain.from_iterable(one.extraction.lower for one in new))

    def remove(self, gone: Episode, terms: Terms, found: Extraction) -> None:
        """Remove an episode from the store and from every count."""
        self.removed.append(gone.id)
        self.items -= 1
        self.titles -= gone.title is not None
        self.length -= len(terms.stems)
        self.terms.subtract(set(terms.every))
        self.words.subtract(found.lower)
        if gone.speaker is not None:
            self.speakers.subtract([gone.speaker])


_CREATE_EPISODES = Statement("ingest.create_episodes", Done)
RENEW_EXPIRY = Statement("ingest.renew_expiry", Done)
_MOVE_EPISODES = Statement("ingest.move_episodes", Done)
_REMOVE_EPISODES = Statement("ingest.remove_episodes", Done)
_ADD_NEXT = Statement("ingest.add_next", Done)
_REMOVE_NEXT = Statement("ingest.remove_next", Done)
_COUNT_SOURCES = Statement("ingest.count_sources", Done)
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

_SENT = (
    "text", "title", "role", "position", "source", "metadata", "importance", "kind",
    "idempotency_key",
)  # fmt: skip
_DERIVED = (
    "id", "sequence", "ordinal", "occurred_at", "utc_offset", "recorded_at", "expires_at",
    "body_hash", "terms", "words", "length", "vector",
)  # fmt: skip

_MENTION = ("episode", "weight", "stated", "by", "cognitive", "description", "importance")

_Write = tuple[Statement[Done], Mapping[str, list[Any]]]
"""A statement with its rows or columns by parameter; if all are empty, it is skipped."""


async def apply_changes(work: Work, tenant: TenantId, changes: Changes) -> None:
    """Write all changes: totals, removals, additions, and last the empty nodes."""
    await work.run(
        UPDATE_TENANT,
        tenant=tenant,
        kept=0,
        **encoded(changes, "appended", "items", "titles", "length", "stated"),
    )
    if changes.next_removed:
        pairs = _pairs("tail", "head", changes.next_removed)
        await work.run(_REMOVE_NEXT, tenant=tenant, rows=pairs)
    if changes.removed:
        await _remove(work, tenant, sorted(changes.removed))
    for statement, rows in chain(_places(tenant, changes), _names(tenant, changes)):
        if any(rows.values()):
            await work.run(statement, tenant=tenant, **rows)
    if any(one.expires_at for one in changes.episodes):
        await work.run(RENEW_EXPIRY, tenant=tenant)


async def _remove(work: Work, tenant: TenantId, ids: list[EpisodeId]) -> None:
    await mark_around(work, tenant, ids)
    await work.run(_REMOVE_ENGRAMS, tenant=tenant, ids=ids)
    await work.run(REMOVE_EVIDENCE, tenant=tenant, ids=ids, every=True)
    await work.run(REMOVE_PASSAGES, tenant=tenant, ids=ids)
    await work.run(_REMOVE_EPISODES, tenant=tenant, ids=ids)


def _places(tenant: TenantId, changes: Changes) -> Iterator[_Write]:
    """Write episodes in their sessions, and count their speakers and words."""
    names = sorted({one.new.session for one in changes.episodes if one.new.session})
    sessions = [_named(tenant, "session", name) for name in names]
    speakers = [
        {**_named(tenant, "speaker", name), "episodes": count}
        for name, count in sorted(changes.speakers.items())
    ]
    yield _COUNT_SOURCES, {"sessions": sessions, "speakers": speakers}
    yield _CREATE_EPISODES, {"groups": _groups(changes.episodes)}
    for groups in passage_groups({one.id: one.passages for one in changes.episodes}):
        yield CREATE_PASSAGES, {"groups": groups}
    moved = sorted(changes.moved.items())
    yield _MOVE_EPISODES, {"rows": [{"id": ident, "ordinal": place} for ident, place in moved]}
    yield _WAKE_EPISODES, {"ids": sorted(changes.woken)}
    yield _ADD_NEXT, {"rows": [encoded(row) for row in changes.next_added]}
    stems, stem_items = _counts(changes.terms)
    words, word_items = _counts(changes.words)
    yield (
        _COUNT_WORDS,
        {"stems": stems, "stem_items": stem_items, "words": words, "word_items": word_items},
    )


def _names(tenant: TenantId, changes: Changes) -> Iterator[_Write]:
    """Write names and concepts, then their edges, then facts; join concepts when all exist."""
    yield _COUNT_NAMES, _columns(sorted(changes.names, key=lambda name: name.normalised))
    yield _REMOVE_MENTIONS, {"rows": _pairs("episode", "concept", changes.mentions_removed)}
    yield _UNMAKE_CONCEPTS, {"names": sorted(changes.concepts_unmade)}
    made = [
        {"id": concept_id(tenant, name), "normalised": name}
        for name in sorted(changes.concepts_made)
    ]
    yield _MAKE_CONCEPTS, {"rows": made}
    yield _ADD_MENTIONS, {"groups": _by_concept(changes.mentions_added)}
    yield _ADD_ABOUTS, {"groups": _by_concept(changes.abouts_added)}
    yield _ADD_SYNONYMS, {"rows": [encoded(pair) for pair in changes.synonyms_added]}
    yield _CREATE_FACTS, {"rows": [encoded(row) for row in changes.facts_made]}
    yield _ADD_EVIDENCE, {"rows": [encoded(row) for row in changes.evidence_added]}
    yield _DROP_EMPTY, {**_counted_down(changes), "sessions": sorted(changes.left)}


def _groups(episodes: Iterable[Prepared]) -> list[dict[str, Any]]:
    """Group new episodes by session and speaker, so that each is looked up once a batch."""
    groups: dict[tuple[str, str], list[dict[str, object]]] = {}
    for one in sorted(episodes, key=lambda one: one.sequence):
        row = {**encoded(one.new, *_SENT), **encoded(one, *_DERIVED), **encoded(one.features)}
        groups.setdefault((one.new.session or "", one.new.speaker or ""), []).append(row)
    return [
        {"session": session, "speaker": speaker, "rows": rows}
        for (session, speaker), rows in sorted(groups.items())
    ]


def _named(tenant: TenantId, kind: str, name: str) -> dict[str, object]:
    return {"name": name, "id": derived_id(tenant, kind, name)}


def _pairs(one: str, other: str, pairs: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{one: first, other: second} for first, second in sorted(pairs)]


def _counts(counts: Mapping[str, int]) -> tuple[list[str], list[int]]:
    keys = sorted(counts)
    return keys, [counts[key] for key in keys]


def _columns(names: Sequence[NameState]) -> dict[str, list[Any]]:
    return {
        "names": [row.normalised for row in names],
        "surfaces": [row.surface for row in names],
        "kinds": [row.kind for row in names],
        "titles": [row.titles for row in names],
        "candidates": [row.candidates for row in names],
        "stated": [row.stated for row in names],
    }


def _by_concept(edges: Iterable[MentionRow]) -> list[dict[str, Any]]:
    groups: dict[str, list[dict[str, object]]] = {}
    for edge in sorted(edges, key=lambda edge: (edge.concept, edge.episode)):
        row = encoded(edge, *_MENTION)
        groups.setdefault(edge.concept, []).append(row)
    return [{"concept": concept, "rows": rows} for concept, rows in groups.items()]


def _counted_down(changes: Changes) -> dict[str, list[str]]:
    """List nodes whose counts fell; some of them may be empty now."""
    names = {
        row.normalised for row in changes.names if min(row.titles, row.candidates, row.stated) < 0
    }
    return {
        "names": sorted(names.union(changes.concepts_unmade)),
        "speakers": _fallen(changes.speakers),
        "stems": _fallen(changes.terms),
        "words": _fallen(changes.words),
    }


def _fallen(counts: Mapping[str, int]) -> list[str]:
    return sorted(key for key, count in counts.items() if count < 0)
