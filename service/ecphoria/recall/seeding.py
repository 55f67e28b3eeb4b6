"""Seeds: the text index, the vector index and the names, asked at the same time."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from ecphoria.kernels.unit import unit_vector
from ecphoria.language.cue import CueAnalysis, analyse
from ecphoria.model.ids import TenantId
from ecphoria.model.recall import Cue, Filters
from ecphoria.ports.recall import FoundConcept, Profile, RecallStore, SeedRow, TermCount
from ecphoria.ports.world import Embedder, Vector
from ecphoria.recall.naming import named, runs

__all__ = ["Participants", "Seeding", "seed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeding:
    """What the cue found before anything spread.

    Attributes:
        by_text: Best first, by the text index's own score.
        by_vector: Best first, by cosine.
        terms: Document frequencies of the cue's stems.
        concepts: Concepts the cue names.
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


class Participants:
    """Who speaks in the tenants asked lately.

    They are told apart from the other words of a cue before anything is looked up. Remembering
    them saves each recall a round trip; every recall reads them again beside its seeds, and
    seeks anew if they are others now.
    """

    def __init__(self, keep: int = 1_000) -> None:
        self._keep = keep
        self._known: OrderedDict[TenantId, tuple[str, ...]] = OrderedDict()

    async def expected(self, store: RecallStore, tenant: TenantId) -> tuple[str, ...]:
        """Name whom the last recall saw.

        Raises:
            NotFound: There is no such tenant.
        """
        if tenant not in self._known:
            return self.learn(tenant, (await store.lexicon(tenant, (), ())).profile)
        return self._known[tenant]

    def learn(self, tenant: TenantId, profile: Profile) -> tuple[str, ...]:
        """Remember who they are now."""
        self._known[tenant] = profile.participants
        self._known.move_to_end(tenant)
        if len(self._known) > self._keep:
            self._known.popitem(last=False)
        return profile.participants


async def seed(
    store: RecallStore,
    embedder: Embedder,
    tenant: TenantId,
    cue: Cue,
    *,
    participants: Participants,
    filters: Filters,
    limit: int,
) -> Seeding:
    """Ask every index at once for at most `limit` seeds each.

    Raises:
        NotFound: There is no such tenant.
        BadVector: The cue's vector does not fit the store's model.
        EncoderUnavailable: The cue has words only and the encoder does not answer.
    """
    expected = await participants.expected(store, tenant)
    while True:
        found = await _seek(
            store, embedder, tenant, cue,
            participants=expected, filters=filters, limit=limit,
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
    participants: tuple[str, ...],
    filters: Filters,
    limit: int,
) -> Seeding:
    text = cue.text or ""
    analysis = analyse(text, participants)
    encoding = asyncio.create_task(_encode(embedder, cue, analysis))
    stems = sorted(set(analysis.stems))
    by_vector, by_text, known = await asyncio.gather(
        _seek_vector(store, tenant, encoding, limit, filters),
        store.seeds_by_text(tenant, stems, limit, filters),
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
