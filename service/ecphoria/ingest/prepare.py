"""Prepare episodes for the store: check them, read their names, cut long ones into passages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ecphoria.facts.store import EvidenceRow
from ecphoria.facts.timelines import relation
from ecphoria.ingest.validation import (
    body_hash,
    check_episode,
    checked_claims,
    checked_expiry,
    checked_time,
    content_key,
    with_one_form,
)
from ecphoria.maths.arrays import unit_vector
from ecphoria.neo4j_store.passages import PassageRow
from ecphoria.ports import Vector
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
from ecphoria.text.terms import terms as terms_of
from ecphoria.text.tokens import without_terminal_codes

_SILENT = TurnFeatures(
    is_question=False, has_time_expression=False, first_person=False, second_person=False
)
"""A document has no turn features."""

_PIECE = 50_000
"""Characters of texts that are prepared before other tasks get a turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A checked episode with everything that is stored of it.

    Attributes:
        new: As sent, in one form of Unicode, and without colours of a terminal.
        occurred_at: In UTC.
        utc_offset: Minutes from UTC to the time of day where it occurred; None for UTC.
        expires_at: End of its life; None for no end.
        terms: The terms that find it, joined by one blank; the text index reads them.
        words: The body's normalised words, joined by one blank; names are searched in them.
        length: Number of stems, repeats counted.
        features: Features of a turn; all false for a document.
        extraction: The names found in the text, and the names and facts sent with it.
        passages: Its passages, if it is too long for one vector.
        vector: At unit length; None before it is encoded.
        sequence: Its number among the tenant's appends; 0 before it is placed.
        ordinal: Its place in its session; None without a session, and before it is placed.
    """

    tenant: TenantId
    new: NewEpisode
    id: EpisodeId
    body_hash: str
    occurred_at: datetime
    utc_offset: int | None
    recorded_at: datetime
    expires_at: datetime | None
    terms: str
    words: str
    length: int
    features: TurnFeatures
    extraction: Extraction
    passages: tuple[PassageRow, ...]
    vector: Vector | None
    sequence: int = 0
    ordinal: int | None = None

    @property
    def opening(self) -> str:
        """The text that is encoded for the vector of the whole episode."""
        return opening(self.new.title, self.new.text)

    @property
    def passage_texts(self) -> list[str]:
        """The texts that are encoded for the vectors of its passages."""
        new = self.new
        return [indexed_text(new.title, new.text[one.start : one.end]) for one in self.passages]

    def with_vectors(self, made: Iterator[Vector]) -> "Prepared":
        """Take the vectors of the episode, unless it has one, and of its passages."""
        vector = next(made) if self.vector is None else self.vector
        passages = tuple(replace(one, vector=next(made)) for one in self.passages)
        return replace(self, vector=vector, passages=passages)

    @property
    def facts(self) -> Mapping[FactId, Triple]:
        """The facts sent with the episode; the id of a fact does not depend on the episode."""
        return facts_by_id(self.tenant, self.extraction.claims)

    @property
    def claims(self) -> tuple[EvidenceRow, ...]:
        """The claims of those facts."""
        return evidence_rows(self.tenant, self.id, self.extraction.claims, self.new.role)


def prepare(tenant: TenantId, new: NewEpisode, recorded_at: datetime, dimension: int) -> Prepared:
    """Check one episode and derive its id, terms, words and features.

    The id is derived from the idempotency key, or from the content if content tells repeats apart.
    So a repeated append always finds the same episode (decision 0002).

    Raises:
        InvalidInput: It cannot be stored as it is.
        TooLarge: A field is over its bound.
        BadVector: Its vector does not fit the store's model.
    """
    # The output of tools often has colours. A terminal shows none of their characters.
    new = replace(new, text=without_terminal_codes(new.text))
    check_episode(new)
    new = with_one_form(new)
    occurred_at = checked_time(new.occurred_at, recorded_at)
    checked_claims(new.extraction, occurred_at)
    terms = terms_of(indexed_text(new.title, new.text))
    words = tuple(normalised_words(new.text))
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
        occurred_at=occurred_at,
        utc_offset=offset_of(new.occurred_at),
        recorded_at=recorded_at,
        expires_at=checked_expiry(new.expires_at, recorded_at),
        terms=terms.joined,
        words=" ".join(words),
        length=len(terms.stems),
        features=turn_features(new.text) if new.session is not None else _SILENT,
        extraction=extract(new.title, new.text, words=words, given=new.extraction),
        passages=_passages(tenant, ident, new),
        vector=None if new.vector is None else unit_vector(new.vector, dimension),
    )


def _passages(tenant: TenantId, episode: EpisodeId, new: NewEpisode) -> tuple[PassageRow, ...]:
    """Cut a text into passages; none if it fits one vector. Equal texts give equal ids.

    The encoder ignores what follows its first 256 word pieces (docs/explanation/passages.md).
    """
    return tuple(
        _passage(derived_id(tenant, "passage", f"{episode}\n{ordinal}"), ordinal, span, new)
        for ordinal, span in enumerate(cut(new.text))
    )


def _passage(ident: str, ordinal: int, span: Span, new: NewEpisode) -> PassageRow:
    terms = terms_of(indexed_text(new.title, new.text[span.start : span.end]))
    return PassageRow(
        id=ident,
        ordinal=ordinal,
        start=span.start,
        end=span.end,
        terms=terms.joined,
        length=len(terms.stems),
    )


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
            weight=claim.weight,
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


def pieces(items: Sequence[NewEpisode]) -> Iterator[list[NewEpisode]]:
    """Split items into pieces of one long text or several short texts."""
    piece: list[NewEpisode] = []
    size = 0
    for new in items:
        if piece and size + len(new.text) > _PIECE:
            yield piece
            piece, size = [], 0
        piece.append(new)
        size += len(new.text)
    if piece:
        yield piece
