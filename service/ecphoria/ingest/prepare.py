"""Prepare episodes for the store: embed, cut, link."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

import structlog

from ecphoria.facts.store import EvidenceRow
from ecphoria.facts.timelines import relation
from ecphoria.ingest.sequence import Arrival, Place
from ecphoria.ingest.store import CuttingStore, Uncut
from ecphoria.ingest.validation import (
    body_hash,
    check,
    checked_claims,
    checked_expiry,
    checked_time,
    content_key,
)
from ecphoria.maths.checks import unit_vector
from ecphoria.neo4j_store.passages import PassageRow
from ecphoria.neo4j_store.rows import EpisodeRow
from ecphoria.ports import Embedder, Vector, Vectors
from ecphoria.records.episode import NewEpisode, indexed_text, opening, usual_reliability
from ecphoria.records.fact import FactKey
from ecphoria.records.ids import EpisodeId, FactId, TenantId, derived_id, fresh_id
from ecphoria.records.job import Claimed, ConsolidationReport, Progress, StepReport, StepStatus
from ecphoria.text.concepts import Claim, Extraction, Triple, extract
from ecphoria.text.cue import TurnFeatures, turn_features
from ecphoria.text.cutting import Span, cut
from ecphoria.text.names import normalised_words
from ecphoria.text.tokens import stems

_SILENT = TurnFeatures(
    length=0.0,
    is_question=False,
    has_time_expression=False,
    first_person=False,
    second_person=False,
)
"""A document has no turn features."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A passage of an episode, ready to be encoded.

    Attributes:
        ordinal: Its place among the passages of the episode.
        text: What is embedded and indexed.
        terms: Stems with repeats.
    """

    id: str
    ordinal: int
    span: Span
    text: str
    terms: tuple[str, ...]

    def row(self, vector: Vector) -> PassageRow:
        """Join it with its vector to what is stored."""
        return PassageRow(
            id=self.id,
            ordinal=self.ordinal,
            start=self.span.start,
            end=self.span.end,
            terms=" ".join(self.terms),
            length=len(self.terms),
            vector=vector,
        )


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A checked episode, ready to be placed.

    Attributes:
        text: What is embedded and indexed.
        vector: The caller's own, at unit length.
        terms: Stems with repeats.
        words: The body's normalised words.
        parts: Its passages, if it is too long for one vector.
    """

    tenant: TenantId
    new: NewEpisode
    id: EpisodeId
    body_hash: str
    text: str
    occurred_at: datetime
    recorded_at: datetime
    expires_at: datetime | None
    terms: tuple[str, ...]
    words: tuple[str, ...]
    features: TurnFeatures
    vector: Vector | None
    parts: tuple[Part, ...] = ()

    @property
    def opening(self) -> str:
        """The text that the vector of the whole episode is made of."""
        return opening(self.new.title, self.new.text)

    @cached_property
    def extraction(self) -> Extraction:
        """The names in the text and those it came with; extracted on first use."""
        return extract(self.new.title, self.new.text, words=self.words, given=self.new.extraction)

    @cached_property
    def facts(self) -> Mapping[FactId, Triple]:
        """The facts it came with; the id of a fact does not depend on the episode."""
        if self.new.extraction is None:
            return {}
        return facts_by_id(self.tenant, self.extraction.claims)

    @property
    def claims(self) -> tuple[EvidenceRow, ...]:
        """The claims of those facts."""
        if not self.facts:
            return ()
        return evidence_rows(self.tenant, self.id, self.extraction.claims, self.new.role)

    def arrival(self, turn: int) -> Arrival:
        """Tell where in its session it belongs."""
        return Arrival(
            id=self.id,
            occurred_at=self.occurred_at,
            position=self.new.position,
            turn=turn,
            terms=self.terms,
        )

    def row(
        self,
        turn: int,
        place: Place | None,
        vector: Vector,
        parts: Vectors | None = None,
        life: timedelta | None = None,
    ) -> EpisodeRow:
        """Join text, place and vectors to what is stored; `life` is the tenant's default."""
        new = self.new
        usual_end = None if life is None else self.recorded_at + life
        return EpisodeRow(
            id=self.id,
            turn=turn,
            text=new.text,
            title=new.title,
            speaker=new.speaker,
            role=new.role,
            session=new.session,
            ordinal=place.ordinal if place else None,
            position=new.position,
            occurred_at=self.occurred_at,
            recorded_at=self.recorded_at,
            source=new.source,
            metadata=new.metadata,
            importance=new.importance,
            body_hash=self.body_hash,
            idempotency_key=new.idempotency_key,
            terms=" ".join(self.terms),
            words=" ".join(self.words),
            length=len(self.terms),
            near_length=place.near_length if place else float(len(self.terms)),
            context_norm=place.context_norm if place else 1.0,
            length_prior=self.features.length,
            is_question=self.features.is_question,
            time_expression=self.features.has_time_expression,
            first_person=self.features.first_person,
            second_person=self.features.second_person,
            vector=vector,
            passages=_rows(self.parts, parts),
            expires_at=self.expires_at or usual_end,
        )


def prepare(tenant: TenantId, new: NewEpisode, recorded_at: datetime, dimension: int) -> Prepared:
    """Check one episode and derive its id, terms, words and features.

    The id follows from the idempotency key, else from the content where content tells
    repeats apart, so that the same append finds the same episode whatever happens in between.

    Raises:
        InvalidInput: It cannot be stored as it is.
        TooLarge: A field is over its bound.
        BadVector: Its vector does not fit the store's model.
    """
    check(new)
    occurred_at = checked_time(new.occurred_at, recorded_at)
    checked_claims(new.extraction, occurred_at)
    text = indexed_text(new.title, new.text)
    terms = stems(text)
    body = body_hash(new)
    key = content_key(new, body)
    ident = EpisodeId(derived_id(tenant, "episode", key) if key else fresh_id())
    return Prepared(
        tenant=tenant,
        new=new,
        id=ident,
        body_hash=body,
        text=text,
        occurred_at=occurred_at,
        recorded_at=recorded_at,
        expires_at=checked_expiry(new.expires_at, recorded_at),
        terms=terms,
        words=tuple(normalised_words(new.text)),
        features=turn_features(new.text, len(terms)) if new.session is not None else _SILENT,
        vector=None if new.vector is None else unit_vector(new.vector, dimension),
        parts=parts_of(tenant, ident, new.title, new.text),
    )


def parts_of(
    tenant: TenantId, episode: EpisodeId, title: str | None, text: str
) -> tuple[Part, ...]:
    """Cut a text into passages; none if it fits one vector. The same text has the same ids."""
    return tuple(
        _part(derived_id(tenant, "passage", f"{episode}\n{ordinal}"), ordinal, span, title, text)
        for ordinal, span in enumerate(cut(text))
    )


def _part(ident: str, ordinal: int, span: Span, title: str | None, text: str) -> Part:
    told = indexed_text(title, text[span.start : span.end])
    return Part(id=ident, ordinal=ordinal, span=span, text=told, terms=stems(told))


def _rows(parts: tuple[Part, ...], vectors: Vectors | None) -> tuple[PassageRow, ...]:
    if vectors is None:
        return ()
    return tuple(part.row(vector) for part, vector in zip(parts, vectors, strict=True))


def key_of(triple: Triple) -> FactKey:
    """Tell among which facts a contradiction to this one is sought."""
    return FactKey(
        subject=triple.subject, relation=relation(triple.predicate), qualifier=triple.qualifier
    )


def facts_by_id(tenant: TenantId, claims: Sequence[Claim]) -> dict[FactId, Triple]:
    """Give each claimed fact once, by its id."""
    return {_fact_id(tenant, claim.fact): claim.fact for claim in claims}


def evidence_rows(
    tenant: TenantId,
    episode: EpisodeId,
    claims: Sequence[Claim],
    role: str | None,
    by: str | None = None,
) -> tuple[EvidenceRow, ...]:
    """Give the evidence of an episode's claims, stated by its speaker's role."""
    usual = usual_reliability(role)
    return tuple(
        EvidenceRow(
            fact=_fact_id(tenant, claim.fact),
            episode=episode,
            valid_from=claim.valid_from,
            valid_to=claim.valid_to,
            reliability=usual if claim.reliability is None else claim.reliability,
            by=by,
            start=claim.span and claim.span[0],
            end=claim.span and claim.span[1],
        )
        for claim in claims
    )


def _fact_id(tenant: TenantId, triple: Triple) -> FactId:
    parts = [triple.subject, triple.predicate, triple.object]
    if triple.qualifier or triple.negated:
        parts += [triple.qualifier, "no longer" if triple.negated else ""]
    return FactId(derived_id(tenant, "fact", "\n".join(parts)))


_NAME = "passages"
_PAGE = 100
"""Episodes looked at before the job says how far it is."""
_ENCODED_AT_ONCE = 256
"""Passages of one call and one transaction, unless a single episode has more."""

log = structlog.get_logger(__name__)


class OlderEpisodes:
    """Job that cuts and encodes the tenant's episodes from before passages existed.

    It goes by turn and keeps after each transaction how far it has come, so an attempt goes on
    where the last one ended. Episodes that have passages are left alone: appends may go on.
    """

    def __init__(
        self, store: CuttingStore, embedder: Embedder, monotonic: Callable[[], float]
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._monotonic = monotonic

    async def run(
        self, claimed: Claimed, watch: Callable[[Progress], Awaitable[None]]
    ) -> ConsolidationReport:
        """Cut the remaining episodes; the report counts the work of this attempt.

        Args:
            claimed: The job, and the lease every write is checked against.
            watch: Told each place that is reached; ends the job by raising.

        Raises:
            LeaseLost: Another worker has the job; nothing more was written.
            NotFound: The tenant is gone.
            Unavailable: The store or the encoder does not answer; what was done stays.
        """
        job, begun = claimed.job, self._monotonic()
        assert job.started_at is not None, "a claimed job was begun"
        start = await self._store.begin(job.tenant, claimed.lease)
        counts = {"episodes": 0, "passages": 0}
        after = start.after
        while True:
            total = max(start.turn, after)
            place = f"{_NAME}: after turn {after}"
            await watch(Progress(place=place, done=after, total=total, may_rest=True))
            page = await self._store.page(job.tenant, after, _PAGE)
            if page.last_turn is None:
                break
            cut = await asyncio.to_thread(_cut, job.tenant, page.found)
            for batch in _batches(cut):
                rows = await self._encoded(batch)
                await self._store.save(job.tenant, claimed.lease, rows, after)
                counts["episodes"] += len(rows)
                counts["passages"] += sum(map(len, rows.values()))
                await watch(Progress(place=place, done=after, total=total))
            after = page.last_turn
            await self._store.save(job.tenant, claimed.lease, {}, after)
        await self._store.save(job.tenant, claimed.lease, {}, None)
        log.info("older_episodes_cut", **counts)
        seconds = self._monotonic() - begun
        step = StepReport(name=_NAME, status=StepStatus.DONE, seconds=seconds, counts=counts)
        return ConsolidationReport(
            cycle=fresh_id(), started_at=job.started_at, seconds=seconds, steps=(step,)
        )

    async def _encoded(
        self, batch: Mapping[EpisodeId, Sequence[Part]]
    ) -> dict[EpisodeId, list[PassageRow]]:
        texts = [part.text for parts in batch.values() for part in parts]
        vectors = iter(await self._embedder.embed(texts))
        return {
            episode: [part.row(next(vectors)) for part in parts]
            for episode, parts in batch.items()
        }


def _cut(tenant: TenantId, found: Sequence[Uncut]) -> dict[EpisodeId, Sequence[Part]]:
    cut = {uncut.id: parts_of(tenant, uncut.id, uncut.title, uncut.text) for uncut in found}
    return {episode: parts for episode, parts in cut.items() if parts}


def _batches(cut: Mapping[EpisodeId, Sequence[Part]]) -> list[dict[EpisodeId, Sequence[Part]]]:
    """Gather episodes until they have enough passages for one call."""
    batches: list[dict[EpisodeId, Sequence[Part]]] = []
    size = _ENCODED_AT_ONCE
    for episode, parts in cut.items():
        if size + len(parts) > _ENCODED_AT_ONCE:
            batches.append({})
            size = 0
        batches[-1][episode] = parts
        size += len(parts)
    return batches
