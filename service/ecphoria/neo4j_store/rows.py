"""Rows that several features read.

One line of JSON (keys sorted, floats as their shortest text), then the vectors as raw
little-endian 32-bit floats: the episode's, then those of its passages in their order, of which
the line has the sizes. An instant is `{"$instant": ISO 8601}`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from neo4j.time import DateTime
from neo4j.vector import Vector as DriverVector
from neo4j.vector import VectorDType

from ecphoria.errors import EcphoriaError
from ecphoria.neo4j_store.filters import metadata_text
from ecphoria.neo4j_store.passages import PassageRow
from ecphoria.neo4j_store.session import packed
from ecphoria.ports import Vector
from ecphoria.records.episode import Episode, MetadataValue, State
from ecphoria.records.ids import EpisodeId
from ecphoria.records.tenant import Gate, GateFit
from ecphoria.records.upkeep import StoredInstant, StoredVector, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRow:
    """One episode to create, with the columns derived from its text and its place.

    Attributes:
        terms: Stems with repeats, joined by one blank; what the text index holds.
        words: The body's normalised words, joined by one blank; names are looked up in them.
        length: Number of stems, repeats counted.
        near_length: Stems that reach it over NEXT, weighted (`L_i` of BM25).
        context_norm: Norm of `e_i + .6 e_(i-1) + .3 e_(i+1)`; 1 for a document.
        length_prior, is_question, time_expression: Turn priors, 0 for a document.
        first_person, second_person: Pronouns the text has.
        passages: Its parts, if the text is too long for one vector.
        expires_at: End of its life; None for no end.
    """

    id: EpisodeId
    turn: int
    text: str
    title: str | None
    speaker: str | None
    role: str | None
    session: str | None
    ordinal: int | None
    position: int | None
    occurred_at: datetime
    recorded_at: datetime
    source: str | None
    metadata: Mapping[str, MetadataValue]
    importance: float
    body_hash: str
    idempotency_key: str | None
    terms: str
    words: str
    length: int
    near_length: float
    context_norm: float
    length_prior: float
    is_question: bool
    time_expression: bool
    first_person: bool
    second_person: bool
    vector: Vector
    passages: tuple[PassageRow, ...] = ()
    expires_at: datetime | None = None


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEpisode:
    """An episode's columns; no session or speaker is the empty string, so that ranges see it."""

    id: str
    tenant: str
    turn: int
    text: str
    title: str | None
    speaker: str
    role: str | None
    session: str
    ordinal: int | None
    position: int | None
    occurred_at: datetime
    recorded_at: datetime
    source: str | None
    metadata: str
    importance: float
    expires_at: datetime | None
    state: str


def to_episode(stored: StoredEpisode) -> Episode:
    """Build the episode a row describes."""
    return Episode(
        id=EpisodeId(stored.id),
        turn=stored.turn,
        text=stored.text,
        title=stored.title,
        speaker=stored.speaker or None,
        role=stored.role,
        session=stored.session or None,
        ordinal=stored.ordinal,
        position=stored.position,
        occurred_at=stored.occurred_at,
        recorded_at=stored.recorded_at,
        source=stored.source,
        metadata=json.loads(stored.metadata),
        importance=stored.importance,
        expires_at=stored.expires_at,
        state=State(stored.state),
    )


def to_groups(rows: Sequence[EpisodeRow]) -> list[dict[str, Any]]:
    """Gather new episodes by session and speaker, so that each is looked up once a batch."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: row.turn):
        groups.setdefault((row.session or "", row.speaker or ""), []).append(_to_map(row))
    return [
        {"session": session, "speaker": speaker, "rows": members}
        for (session, speaker), members in sorted(groups.items())
    ]


def _to_map(row: EpisodeRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "turn": row.turn,
        "text": row.text,
        "title": row.title,
        "role": row.role,
        "ordinal": row.ordinal,
        "position": row.position,
        **_instant("occurred", row.occurred_at),
        **_instant("recorded", row.recorded_at),
        **({} if row.expires_at is None else _instant("expires", row.expires_at)),
        "source": row.source,
        "metadata": metadata_text(row.metadata),
        "importance": row.importance,
        "body_hash": row.body_hash,
        "idempotency_key": row.idempotency_key,
        "terms": row.terms,
        "words": row.words,
        "length": row.length,
        "near_length": row.near_length,
        "context_norm": row.context_norm,
        "length_prior": row.length_prior,
        "is_question": row.is_question,
        "time_expression": row.time_expression,
        "first_person": row.first_person,
        "second_person": row.second_person,
        "vector": packed(row.vector),
    }


def _instant(name: str, at: datetime) -> dict[str, int]:
    """Send an instant as numbers, which the driver packs a hundred times faster."""
    since = at - _EPOCH
    return {
        f"{name}_s": since.days * 86_400 + since.seconds,
        f"{name}_ns": since.microseconds * 1_000,
    }


STAYS = frozenset((
    "id", "tenant", "turn", "session", "speaker", "role", "ordinal", "position", "occurred_at",
    "recorded_at", "importance", "title", "length", "near_length", "context_norm", "body_hash",
    "idempotency_key", "expires_at", "pinned", "touched", "dormant_at", "state_reason",
))  # fmt: skip
"""Properties of a stub: its identity, its position, and values that other writes change."""

_VECTOR = "embedding"


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """The content of an episode that leaves the graph.

    Attributes:
        properties: Without those that stay, and without the vector.
        edges: Maps of `type`, `other`, `out` and `properties`.
        passages: The properties of its passages in their order, with their vectors.
        encoder: The model of its vectors; None if they are of the first one of its store.
    """

    id: str
    properties: Mapping[str, Any]
    vector: Vector
    edges: Sequence[Mapping[str, Any]]
    passages: Sequence[Mapping[str, Any]] = ()
    encoder: str | None = None


def to_bytes(
    ident: str,
    properties: Mapping[str, Any],
    edges: Sequence[Mapping[str, Any]],
    passages: Sequence[Mapping[str, Any]] = (),
    encoder: str | None = None,
) -> bytes:
    """Serialise a node with these properties and edges."""
    leaving = {
        name: value for name, value in properties.items() if name not in STAYS and name != _VECTOR
    }
    head: dict[str, Any] = {"id": ident, "properties": leaving, "edges": list(edges)}
    vectors = [np.asarray(one.get(_VECTOR, ()), "<f4") for one in (properties, *passages)]
    if passages:  # without any the bytes are those of before there were passages
        head["passages"] = [
            {**one, _VECTOR: vector.size}
            for one, vector in zip(passages, vectors[1:], strict=True)
        ]
    if encoder is not None:
        head["encoder"] = encoder
    line = json.dumps(
        head,
        default=_told,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
    )
    return line.encode() + b"\n" + b"".join(vector.tobytes() for vector in vectors)


def from_bytes(content: bytes) -> Payload:
    """Parse a serialised node."""
    line, _, raw = content.partition(b"\n")
    head = json.loads(line, object_hook=_to_instant)
    numbers = np.frombuffer(raw, "<f4").astype(np.float32)
    passages = head.get("passages", [])
    first = numbers.size - sum(one[_VECTOR] for one in passages)
    own = numbers[:first]
    for one in passages:
        size = one[_VECTOR]
        one[_VECTOR] = numbers[first : first + size]
        first += size
    return Payload(
        id=head["id"],
        properties=head["properties"],
        vector=own,
        edges=head["edges"],
        passages=passages,
        encoder=head.get("encoder"),
    )


def _told(value: object) -> object:
    if isinstance(value, DateTime):
        return {"$instant": value.iso_format()}
    raise TypeError(f"{type(value).__name__} has no place in the archive")


def _to_instant(value: dict[str, Any]) -> object:
    return DateTime.from_iso_format(value["$instant"]) if value.keys() == {"$instant"} else value


def gate_text(gate: Gate) -> str:
    """Write a gate down."""
    return json.dumps(asdict(gate), default=datetime.isoformat, sort_keys=True)


def gate_of(text: str) -> Gate:
    """Parse the text of `gate_text`."""
    stored = json.loads(text)
    fit = stored.pop("fit")
    if fit is not None:
        fit = GateFit(**{**fit, "fitted_at": datetime.fromisoformat(fit["fitted_at"])})
    return Gate(**stored, fit=fit)


def from_driver(value: Any) -> Value:
    """Turn a property that the driver read into a value that a copy can hold."""
    if isinstance(value, DriverVector):
        if value.dtype is not VectorDType.F32:
            raise EcphoriaError("a vector of another kind than 32-bit floats cannot be copied")
        return StoredVector(value.raw())
    if isinstance(value, DateTime):
        return StoredInstant(value.iso_format())
    if isinstance(value, bytearray):
        return bytes(value)
    # The store's lists have one type; most are plain numbers and need no look at each.
    if isinstance(value, list) and value and not isinstance(value[0], bool | int | float | str):
        return [from_driver(each) for each in value]
    return value


def to_driver(value: Value) -> Any:
    """Turn a value of a copy into a property that the driver can write."""
    if isinstance(value, StoredVector):
        return DriverVector(value.content, VectorDType.F32)
    if isinstance(value, StoredInstant):
        return DateTime.from_iso_format(value.text)
    if isinstance(value, list) and value and not isinstance(value[0], bool | int | float | str):
        return [to_driver(each) for each in value]
    return value
