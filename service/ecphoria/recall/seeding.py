"""Seeds: the text index, the vector index and the names, asked at the same time."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from ecphoria.maths.checks import unit_vector
from ecphoria.neo4j_store.passages import PassageSeed
from ecphoria.ports import Embedder, Vector
from ecphoria.recall.asking import Subject, subjects_of
from ecphoria.recall.naming import named, runs
from ecphoria.recall.ports import FoundConcept, Profile, RecallStore, SeedRow, TermCount
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Cue, Filters
from ecphoria.text.cue import CueAnalysis, analyse


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeding:
    """What the cue found before anything spread.

    Attributes:
        by_text: Best first, by the text index's own score.
        by_vector: Best first, by cosine.
        terms: Document frequencies of the cue's stems.
        by_passage: Parts of long memories, those found by words first.
        concepts: Concepts the cue names.
        subjects: Everybody whom the cue is about, whether or not they speak in what was found.
        encode_ms: Time of the encoder.
    """

    analysis: CueAnalysis
    profile: Profile
    vector: Vector | None
    by_text: Sequence[SeedRow]
    by_vector: Sequence[SeedRow]
    terms: Mapping[str, TermCount]
    concepts: tuple[FoundConcept, ...]
    encode_ms: float
    by_passage: Sequence[PassageSeed] = ()
    subjects: tuple[Subject, ...] = ()


class Participants:
    """Who speaks in the tenants asked lately, and whether they have passages.

    They are told apart from the other words of a cue before anything is looked up. Remembering
    them saves each recall a round trip; every recall reads them again beside its seeds, and
    seeks anew if they are others now.
    """

    def __init__(self, keep: int = 1_000) -> None:
        self._keep = keep
        self._known: OrderedDict[TenantId, _Expected] = OrderedDict()

    def forget(self, tenant: TenantId) -> None:
        """Drop what is remembered of a tenant."""
        self._known.pop(tenant, None)

    async def expected(self, store: RecallStore, tenant: TenantId) -> "_Expected":
        """Say what the last recall saw.

        Raises:
            NotFound: There is no such tenant.
        """
        if tenant not in self._known:
            return self.learn(tenant, (await store.lexicon(tenant, (), ())).profile)
        return self._known[tenant]

    def learn(self, tenant: TenantId, profile: Profile) -> "_Expected":
        """Remember what is so now."""
        found = _Expected(names=profile.participants, passages=profile.passages > 0)
        self._known[tenant] = found
        self._known.move_to_end(tenant)
        if len(self._known) > self._keep:
            self._known.popitem(last=False)
        return found


@dataclass(frozen=True, slots=True)
class _Expected:
    """What decides how a cue is read, and which indexes are asked."""

    names: tuple[str, ...]
    passages: bool


async def seed(
    store: RecallStore,
    embedder: Embedder,
    tenant: TenantId,
    cue: Cue,
    *,
    participants: Participants,
    filters: Filters,
    limit: int,
    asker: str | None = None,
) -> Seeding:
    """Ask every index at once for at most `limit` seeds each.

    Raises:
        InvalidInput: The asker is no role and never spoke.
        NotFound: There is no such tenant.
        BadVector: The cue's vector does not fit the store's model.
        EncoderUnavailable: The cue has words only and the encoder does not answer.
    """
    expected = await participants.expected(store, tenant)
    while True:
        found = await _seek(
            store, embedder, tenant, cue,
            expected=expected, filters=filters, limit=limit, asker=asker,
        )  # fmt: skip
        present = participants.learn(tenant, found.profile)
        if present == expected:
            return found
        expected = present


async def _seek(
    store: RecallStore,
    embedder: Embedder,
    tenant: TenantId,
    cue: Cue,
    *,
    expected: _Expected,
    filters: Filters,
    limit: int,
    asker: str | None,
) -> Seeding:
    text = cue.text or ""
    analysis = analyse(text, expected.names)
    subjects = subjects_of(analysis, expected.names, asker)
    encoding = asyncio.create_task(_encode(embedder, cue, analysis))
    stems = sorted(set(analysis.stems))
    by_vector, by_text, by_passage, known = await asyncio.gather(
        _seek_vector(store, tenant, encoding, limit, filters),
        store.seeds_by_text(tenant, stems, limit, filters),
        _seek_passages(
            store, tenant, encoding, stems, limit=limit, filters=filters, look=expected.passages
        ),
        store.lexicon(tenant, stems, runs(text)),
    )
    vector, encode_ms = encoding.result()
    return Seeding(
        analysis=analysis,
        profile=known.profile,
        vector=vector,
        by_text=by_text,
        by_vector=by_vector,
        terms={row.stem: row for row in known.terms},
        concepts=named(text, known.concepts),
        encode_ms=encode_ms,
        by_passage=by_passage,
        subjects=subjects,
    )


async def _encode(
    embedder: Embedder, cue: Cue, analysis: CueAnalysis
) -> tuple[Vector | None, float]:
    if cue.vector is not None:
        return unit_vector(cue.vector, embedder.dimension), 0.0
    if not analysis.stripped:
        return None, 0.0
    started = perf_counter()
    vector: Vector = (await embedder.embed([analysis.stripped]))[0]
    return vector, 1e3 * (perf_counter() - started)


async def _seek_vector(
    store: RecallStore,
    tenant: TenantId,
    encoding: asyncio.Task[tuple[Vector | None, float]],
    limit: int,
    filters: Filters,
) -> Sequence[SeedRow]:
    vector, _ = await encoding
    if vector is None:
        return ()
    return await store.seeds_by_vector(tenant, vector, limit, filters)


async def _seek_passages(
    store: RecallStore,
    tenant: TenantId,
    encoding: asyncio.Task[tuple[Vector | None, float]],
    stems: Sequence[str],
    *,
    limit: int,
    filters: Filters,
    look: bool,
) -> Sequence[PassageSeed]:
    """Search the parts of long memories; a store without any is not asked."""
    if not look:
        return ()

    async def by_vector() -> Sequence[PassageSeed]:
        vector, _ = await encoding
        return (
            ()
            if vector is None
            else await store.passages_by_vector(tenant, vector, limit, filters)
        )

    words, meaning = await asyncio.gather(
        store.passages_by_text(tenant, stems, limit, filters), by_vector()
    )
    return (*words, *meaning)
