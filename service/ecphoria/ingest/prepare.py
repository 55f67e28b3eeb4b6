"""Prepare episodes for the store: check them, cut long ones into passages, build their rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from ecphoria.facts.store import EvidenceRow
from ecphoria.facts.timelines import relation
from ecphoria.ingest.sequence import Arrival
from ecphoria.ingest.validation import (
    body_hash,
    check_episode,
    checked_claims,
    checked_expiry,
    checked_time,
    content_key,
    with_one_form,
)
from ecphoria.maths.checks import unit_vector
from ecphoria.neo4j_store.passages import PassageRow
from ecphoria.neo4j_store.rows import EpisodeRow
from ecphoria.ports import Vector, Vectors
from ecphoria.records.episode import (
    NewEpisode,
    indexed_text,
    offset_of,
    opening,
    usual_reliability,
)
from ecphoria.records.fact import FactKey
from ecphoria.records.ids import EpisodeId, FactId, TenantId, derived_id, fresh_id
from ecphoria.text.concepts import Claim, Extraction, Triple, extract
from ecphoria.text.cue import TurnFeatures, turn_features
from ecphoria.text.cutting import Span, cut
from ecphoria.text.names import normalised_words
from ecphoria.text.tokens import stems

_SILENT = TurnFeatures(
    is_question=False, has_time_expression=False, first_person=False, second_person=False
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
        """Build the row to store from the passage and its vector."""
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
    """A checked episode, before it has a position in its session.

    Attributes:
        text: What is embedded and indexed.
        vector: The vector that the caller sent, at unit length.
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
        """The text that is encoded for the vector of the whole episode."""
        return opening(self.new.title, self.new.text)

    @cached_property
    def extraction(self) -> Extraction:
        """The names found in the text and the names sent with it; extracted on first use."""
        return extract(self.new.title, self.new.text, words=self.words, given=self.new.extraction)

    @cached_property
    def facts(self) -> Mapping[FactId, Triple]:
        """The facts sent with the episode; the id of a fact does not depend on the episode."""
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
        """Give its place in the order of its session."""
        return Arrival(
            id=self.id, occurred_at=self.occurred_at, position=self.new.position, turn=turn
        )

    def row(
        self,
        turn: int,
        ordinal: int | None,
        vector: Vector,
        parts: Vectors | None = None,
        life: timedelta | None = None,
    ) -> EpisodeRow:
        """Build the row from text, position and vectors; `life` is the tenant's default."""
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
            ordinal=ordinal,
            position=new.position,
            occurred_at=self.occurred_at,
            utc_offset=offset_of(new.occurred_at),
            recorded_at=self.recorded_at,
            source=new.source,
            metadata=new.metadata,
            importance=new.importance,
            body_hash=self.body_hash,
            idempotency_key=new.idempotency_key,
            terms=" ".join(self.terms),
            words=" ".join(self.words),
            length=len(self.terms),
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

    The id is derived from the idempotency key, or from the content if content tells repeats apart.
    So a repeated append always finds the same episode (decision 0002).

    Raises:
        InvalidInput: It cannot be stored as it is.
        TooLarge: A field is over its bound.
        BadVector: Its vector does not fit the store's model.
    """
    check_episode(new)
    new = with_one_form(new)
    occurred_at = checked_time(new.occurred_at, recorded_at)
    checked_claims(new.extraction, occurred_at)
    text = indexed_text(new.title, new.text)
    terms = stems(text)
    body = body_hash(new)
    key = content_key(new, body)
    # The uniqueness of the id is the whole mechanism; a table of keys would have to be kept in
    # step and erased (decision 0002).
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
        features=turn_features(new.text) if new.session is not None else _SILENT,
        vector=None if new.vector is None else unit_vector(new.vector, dimension),
        # The encoder ignores what follows its first 256 word pieces
        # (docs/explanation/passages.md).
        parts=parts_of(tenant, ident, new.title, new.text),
    )


def parts_of(
    tenant: TenantId, episode: EpisodeId, title: str | None, text: str
) -> tuple[Part, ...]:
    """Cut a text into passages; none if it fits one vector. Equal texts give equal ids."""
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
    """Build the key of a fact: only facts with the same key can contradict each other."""
    return FactKey(
        subject=triple.subject, relation=relation(triple.predicate), qualifier=triple.qualifier
    )


def facts_by_id(tenant: TenantId, claims: Sequence[Claim]) -> dict[FactId, Triple]:
    """Index the claimed facts by id, each once."""
    return {_fact_id(tenant, claim.fact): claim.fact for claim in claims}


def evidence_rows(
    tenant: TenantId,
    episode: EpisodeId,
    claims: Sequence[Claim],
    role: str | None,
    by: str | None = None,
) -> tuple[EvidenceRow, ...]:
    """Build the evidence of claims; the speaker's role gives the default reliability."""
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
