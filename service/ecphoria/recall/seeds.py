"""Seeds: the memories and concepts that the indexes find for a cue, and its subjects."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from itertools import chain
from time import perf_counter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ecphoria.errors import EncoderUnavailable, InvalidInput
from ecphoria.maths.arrays import unit_vector
from ecphoria.ports import Embedder, Vector
from ecphoria.recall.cue_reading import NO_READING, CueReading, is_unread, without_function_words
from ecphoria.recall.ports import (
    Columns,
    FoundConcept,
    PassageSeed,
    Profile,
    SeedRow,
    StatementSeed,
    TermCount,
)
from ecphoria.recall.scope import RecallStore
from ecphoria.records.asked import ROLES
from ecphoria.records.forms import lowered
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Cue, Filters, Match, RecallOptions
from ecphoria.runtime import Bounded, require_encodable
from ecphoria.text.cue import CueAnalysis, analyse
from ecphoria.text.dates import days_near, told_times
from ecphoria.text.dating import PartialDate
from ecphoria.text.english import STOP_WORDS
from ecphoria.text.names import normalised_words
from ecphoria.text.spelling import misspelt, respelt
from ecphoria.text.tokens import stems as stems_of

R = TypeVar("R", bound=SeedRow)
_VectorSearch = Callable[[TenantId, Vector, int, Filters], Awaitable[Sequence[R]]]

_SPOKEN_AS = {
    "user": frozenset(("user", "human")),
    "assistant": frozenset(("assistant", "ai", "bot", "model")),
    "tool": frozenset(("tool",)),
    "system": frozenset(("system",)),
}
"""Names of speakers that mean a role if an episode has no role."""

_MOST_DATES = 3
"""Dates of a cue whose days are searched, one search each."""
_DAY = timedelta(days=1)
_EASTMOST, _WESTMOST = timedelta(hours=14), timedelta(hours=12)
"""The largest offsets from UTC: in the east a day begins 14 hours earlier, in the west it ends 12
hours later. The search takes all of these hours; the frame then compares local days."""

_OTHER_ROLE = {"user": "assistant", "assistant": "user"}
_NAMED_IN_ERROR = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A speaker, or all speakers with a role; exactly one of the two is set."""

    speaker: str | None = None
    role: str | None = None

    def speaks(self, columns: Columns) -> NDArray[np.bool_]:
        """Flag the rows this subject said, bool [n]; a role counts before a speaker's name."""
        if self.role is None:
            found = [speaker == self.speaker for speaker in columns.speaker]
        else:
            said = list(zip(columns.role, columns.speaker, strict=True))
            alike = _SPOKEN_AS[self.role]
            # A store has few speakers and many rows.
            own = {
                (role, speaker)
                for role, speaker in set(said)
                if (role == self.role if role else (speaker or "").lower() in alike)
            }
            found = [one in own for one in said]
        return np.array(found, dtype=np.bool_)

    @property
    def label(self) -> str:
        """The speaker's or the role's name."""
        return self.speaker or self.role or ""

    @property
    def name(self) -> str:
        """The speaker's or the role's name, to read."""
        return self.speaker or f"the {self.role}"


def subjects_of(
    analysis: CueAnalysis, participants: Sequence[str], asker: str | None
) -> tuple[Subject, ...]:
    """List the subjects of a cue: named speakers, the asker for "I", the listener for "you".

    In a request for a summary, "I" is no subject, because words of others belong to it too. The
    `asker` is a speaker's name in any case, or a role; None means the role `user`.

    Raises:
        InvalidInput: The asker is no role and never spoke; the message lists speakers.
    """
    # Names of speakers say who, not what, so they are a signal of their own beside words and
    # meaning (docs/explanation/recall.md).
    found = [Subject(speaker=name) for name in analysis.names]
    self_ = _asker(participants, asker)
    # "I" and "my" stand in 350 of 395 questions to an assistant; without the asker R@10 is 5
    # points lower (decision 0029).
    # "What did you suggest for our trip?" is answered by the listener alone.
    # "We" alone means nobody; "what you recommended for our roof" means both.
    ours = analysis.first_person and analysis.asks_listener
    of_asker = analysis.means_asker or ours
    if of_asker and not (analysis.asks_summary or analysis.only_listener):
        found.append(self_)
    if analysis.asks_listener:
        other = _listener(self_, participants)
        found += [] if other is None else [other]
    return tuple(dict.fromkeys(found))


def find_subject(subjects: Sequence[Subject], columns: Columns) -> Subject | None:
    """Choose the one subject who speaks in these rows; None if none or several do.

    A cue about two people prefers no speaker. A subject must speak in some candidate: a store
    without roles has no `user`.
    """
    # With two subjects or none no speaker gets the bonus (decision 0029).
    present = [subject for subject in subjects if subject.speaks(columns).any()]
    return present[0] if len(present) == 1 else None


def _asker(participants: Sequence[str], asker: str | None) -> Subject:
    if asker is None:
        return Subject(role="user")
    wanted = lowered(asker.strip())
    for name in participants:
        if lowered(name) == wanted and wanted not in ROLES:
            return Subject(speaker=name)
    if wanted in ROLES:
        return Subject(role=wanted)
    spoke = ", ".join(f"`{name}`" for name in participants[:_NAMED_IN_ERROR])
    more = len(participants) - _NAMED_IN_ERROR
    spoke += f" and {more} more" if more > 0 else ""
    raise InvalidInput(
        f"the asker never spoke here; send one of {spoke or 'nobody: no episode has a speaker'}, "
        f"or a role ({', '.join(ROLES)})",
        field="asker",
    )


def _listener(asker: Subject, participants: Sequence[str]) -> Subject | None:
    """Find the listener: the other role, or the second of two speakers."""
    if asker.role is not None:
        other = _OTHER_ROLE.get(asker.role)
        return None if other is None else Subject(role=other)
    others = [name for name in participants if name != asker.speaker]
    return Subject(speaker=others[0]) if len(others) == 1 else None


_LONGEST = 16
"""Largest number of words of a name that is looked up."""
_LOOKED_AT = 128
"""Number of words at each end of a cue in which names are looked up."""
_NO_ENCODER = "the encoder does not answer: memories were searched by their words only"


def ngrams(cue: str) -> tuple[str, ...]:
    """List every run of up to sixteen words of a cue that could be a name.

    Only both ends of a long cue are read, where the question usually is: each word has sixteen
    runs, which are all sent to the store.
    """
    words = normalised_words(cue)
    if len(words) > 2 * _LOOKED_AT:
        words = [*words[:_LOOKED_AT], *words[-_LOOKED_AT:]]
    found = {
        " ".join(words[start : start + size])
        for size in range(1, _LONGEST + 1)
        for start in range(len(words) - size + 1)
    }
    return tuple(sorted(name for name in found if name not in STOP_WORDS))


def link_concepts(cue: str, found: Sequence[FoundConcept]) -> tuple[FoundConcept, ...]:
    """Choose from the concepts found: leftmost, then longest, not overlapping.

    A one-word name that is also an ordinary word of the store counts only if the cue writes it
    with a capital.
    """
    words = normalised_words(cue)
    capitals = {
        word for part in cue.split() if part[:1].isupper() for word in normalised_words(part)
    }
    by_name: Mapping[str, FoundConcept] = {
        concept.normalised: concept
        for concept in found
        if not concept.lower or " " in concept.normalised or concept.normalised in capitals
    }
    chosen: dict[str, FoundConcept] = {}
    start = 0
    while start < len(words):
        for size in range(min(_LONGEST, len(words) - start), 0, -1):
            name = " ".join(words[start : start + size])
            if name in by_name:
                chosen[name] = by_name[name]
                start += size
                break
        else:
            start += 1
    return tuple(chosen.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeding:
    """The seeds of a cue, before anything spreads.

    Attributes:
        cue: The text as it was read, without misspelt words.
        respelt: The words read for misspelt ones, by these.
        by_text: Best first, by the text index's own score.
        by_vector: Best first, by cosine.
        terms: Document frequencies of the cue's stems.
        by_passage: Parts of long memories, those found by words first.
        by_statement: Memories that state a fact near the cue, nearest first.
        by_date: Memories of the days that the cue names; of each date the nearest first.
        concepts: Concepts the cue names.
        subjects: Everybody whom the cue is about, whether or not they speak in what was found.
        reading: What a language model read in the cue, if one did.
        unread: Whether the embedding model does not read the language of the cue.
        encode_ms: Time of the encoder.
        degraded: Why the cue has no vector, if the encoder did not answer.
    """

    analysis: CueAnalysis
    profile: Profile
    vector: Vector | None
    by_text: Sequence[SeedRow]
    by_vector: Sequence[SeedRow]
    terms: Mapping[str, TermCount]
    concepts: tuple[FoundConcept, ...]
    encode_ms: float
    cue: str = ""
    respelt: Mapping[str, str] = field(default_factory=dict)
    by_passage: Sequence[PassageSeed] = ()
    by_statement: Sequence[StatementSeed] = ()
    by_date: Sequence[SeedRow] = ()
    subjects: tuple[Subject, ...] = ()
    reading: CueReading = NO_READING
    unread: bool = False
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Expected:
    """The properties of a tenant that decide how a cue is read and which indexes are searched."""

    names: tuple[str, ...]
    passages: bool
    stated: bool
    expired: bool = field(compare=False)


class Seeker:
    """Searches the indexes for cues.

    The speakers of a tenant, and whether it has passages, are needed before the search. They are
    cached, which saves each recall a round trip. Every recall reads them again together with its
    seeds, and repeats the search if they changed.
    """

    def __init__(self, embedder: Embedder, keep: int = 1_000) -> None:
        """Encode cues by `embedder`, and cache what is expected of `keep` tenants."""
        self._embedder = embedder
        self._known = Bounded[TenantId, _Expected](keep)

    def forget(self, tenant: TenantId) -> None:
        """Drop the cache of a tenant."""
        self._known.pop(tenant, None)

    async def expired(self, store: RecallStore, tenant: TenantId) -> bool:
        """Tell whether the last recall found expired episodes.

        Raises:
            NotFound: There is no such tenant.
        """
        return (await self._expected(store, tenant)).expired

    async def seed(
        self,
        store: RecallStore,
        tenant: TenantId,
        cue: Cue,
        options: RecallOptions,
        *,
        limit: int,
        reading: CueReading,
        now: datetime,
    ) -> Seeding:
        """Search all indexes at the same time for at most `limit` seeds each.

        Raises:
            InvalidInput: The asker is no role and never spoke.
            NotFound: There is no such tenant.
            BadVector: The cue's vector does not fit the store's model.
        """
        expected = await self._expected(store, tenant)
        read: Mapping[str, str] | None = None
        while True:
            text = respelt(cue.text or "", read) if read else cue.text or ""
            analysis = analyse(text, expected.names, told_times(text, now.date()))
            found = await self._seek(
                store, tenant, replace(cue, text=text), options, expected,
                limit=limit, reading=reading, analysis=analysis,
                then=tuple(_on_days(analysis.dates, options.filters, now)),
            )  # fmt: skip
            present = self._learn(tenant, found.profile)
            if present != expected:
                expected = present
                continue
            # Required words are sought as written.
            if read is None and options.match is Match.ANY:
                read = await read_for_misspelt(store, tenant, text, found)
                if read:
                    continue
            return replace(found, cue=text, respelt=read or {})

    async def _expected(self, store: RecallStore, tenant: TenantId) -> _Expected:
        if tenant not in self._known:
            return self._learn(tenant, (await store.lexicon(tenant, (), ())).profile)
        return self._known[tenant]

    def _learn(self, tenant: TenantId, profile: Profile) -> _Expected:
        found = _Expected(
            names=profile.participants,
            passages=profile.passages > 0,
            stated=profile.stated > 0,
            expired=profile.expired,
        )
        self._known[tenant] = found
        return found

    async def _seek(
        self,
        store: RecallStore,
        tenant: TenantId,
        cue: Cue,
        options: RecallOptions,
        expected: _Expected,
        *,
        limit: int,
        reading: CueReading,
        analysis: CueAnalysis,
        then: Sequence[Filters],
    ) -> Seeding:
        text, filters = cue.text or "", options.filters
        encoding = asyncio.create_task(_encode(self._embedder, cue, analysis))
        wider = searched_stems(analysis, reading)

        async def by_vector(search: _VectorSearch[R], filters: Filters = filters) -> Sequence[R]:
            vector = (await encoding).vector
            return () if vector is None else await search(tenant, vector, limit, filters)

        passages: list[Awaitable[Sequence[PassageSeed]]] = []
        if expected.passages:
            by_words = store.passages_by_text(tenant, wider, limit, filters)
            passages = [by_words, by_vector(store.passages_by_vector)]
        facts = [_stating(store, tenant, encoding, limit)] if expected.stated else []
        nearest, dated, worded, stated, parts, known = await asyncio.gather(
            by_vector(store.seeds_by_vector),
            asyncio.gather(*(by_vector(store.seeds_by_vector, days) for days in then)),
            store.seeds_by_text(tenant, wider, limit, filters),
            asyncio.gather(*facts),
            asyncio.gather(*passages),
            store.lexicon(
                tenant, analysis.sought, tuple(sorted({*ngrams(text), *reading.normalised}))
            ),
        )
        terms = {row.stem: row for row in known.terms}
        return Seeding(
            analysis=without_function_words(analysis, terms),
            profile=known.profile,
            vector=encoding.result().vector,
            by_text=worded, by_vector=nearest, by_passage=tuple(chain(*parts)),
            by_statement=tuple(chain(*stated)), by_date=tuple(chain(*dated)),
            terms=terms,
            concepts=_linked(text, known.concepts, reading.normalised),
            encode_ms=encoding.result().took_ms,
            degraded=(*reading.degraded, *encoding.result().degraded),
            subjects=subjects_of(analysis, expected.names, options.asker),
            reading=reading,
            unread=is_unread(text, self._embedder.model),
        )  # fmt: skip


async def read_for_misspelt(
    store: RecallStore,
    tenant: TenantId,
    cue: str,
    found: Seeding,
    echoes: Sequence[AbstractSet[str]] = (),
) -> Mapping[str, str]:
    """Find the stored words that misspelt words of a cue stand for.

    What only `echoes` have, each given by its stems, counts as absent.
    """
    # A speaker's name need not be in any text.
    names = {stem for name in found.profile.participants for stem in stems_of(name)}
    stored = names.union(stem for stem, count in found.terms.items() if count.items)
    if stored >= {*found.analysis.stems}:
        return {}
    unknown = await asyncio.to_thread(misspelt, cue, stored)
    if not unknown:
        return {}
    wanted = {stem for one in unknown for stem in one.meant.values()}
    known = await store.lexicon(tenant, sorted(wanted), ())
    counts = {
        row.stem: row.items - sum(row.stem in stems for stems in echoes) for row in known.terms
    }
    items = {stem: count for stem, count in counts.items() if count > 0}
    items |= dict.fromkeys(names, known.profile.items)
    read = {one.written: one.read(items) for one in unknown}
    return {written: word for written, word in read.items() if word is not None}


def _on_days(dates: Sequence[PartialDate], filters: Filters, now: datetime) -> Iterator[Filters]:
    """Narrow filters to the days of each date, on any clock of the world."""
    near = (days_near(stated, now.date()) for stated in dates[:_MOST_DATES])
    for days in filter(None, near):
        first = datetime.combine(days.first, time(), UTC) - _EASTMOST
        end = datetime.combine(days.last, time(), UTC) + _DAY + _WESTMOST
        first = max(first, filters.occurred_from or first)
        end = min(end, filters.occurred_before or end)
        if first < end:
            yield replace(filters, occurred_from=first, occurred_before=end)


async def _stating(
    store: RecallStore, tenant: TenantId, encoding: "asyncio.Task[_Encoded]", limit: int
) -> Sequence[StatementSeed]:
    """Search the facts as soon as the cue is encoded."""
    vector = (await encoding).vector
    return () if vector is None else await store.seeds_by_statement(tenant, vector, limit)


def searched_stems(analysis: CueAnalysis, reading: CueReading) -> list[str]:
    """List the stems that the text index is searched for.

    The expansions only add candidates: scores use the cue itself.
    """
    more = stems_of(" ".join(reading.expansions))
    return sorted({*analysis.sought, *more})


def _linked(
    text: str, found: Sequence[FoundConcept], named: frozenset[str]
) -> tuple[FoundConcept, ...]:
    """Join the concepts that the rules link to those that a model named."""
    linked = link_concepts(text, found)
    more = (concept for concept in found if concept.normalised in named)
    return tuple({concept.normalised: concept for concept in (*linked, *more)}.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Encoded:
    """The vector of a cue, None for a cue without words and if the encoder does not answer."""

    vector: Vector | None
    took_ms: float = 0.0
    degraded: tuple[str, ...] = ()


async def _encode(embedder: Embedder, cue: Cue, analysis: CueAnalysis) -> _Encoded:
    """Encode a cue; without the encoder a recall still finds memories by their words."""
    if cue.vector is not None:
        return _Encoded(vector=unit_vector(cue.vector, embedder.dimension))
    if not analysis.stripped:
        return _Encoded(vector=None)
    require_encodable([analysis.stripped])
    started = perf_counter()
    try:
        (vector,) = await embedder.embed([analysis.stripped])
    # A failure that belongs to one text costs that text only (decision 0046).
    except (EncoderUnavailable, InvalidInput):  # an endpoint may fail at this one cue
        return _Encoded(vector=None, degraded=(_NO_ENCODER,))
    return _Encoded(vector=vector, took_ms=1e3 * (perf_counter() - started))
