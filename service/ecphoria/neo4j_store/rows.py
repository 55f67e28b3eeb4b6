"""Rows that several features read.

The bytes of an archived episode are one line of JSON (sorted keys, shortest text of floats), then
the vectors as raw little-endian 32-bit floats: the vector of the episode, then those of its
passages in order. The line has their sizes. An instant is `{"$instant": ISO 8601}`.
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
from ecphoria.neo4j_store.shapes import GONE
from ecphoria.ports import Vector
from ecphoria.records.episode import Episode, MetadataValue, State, in_offset
from ecphoria.records.ids import EpisodeId
from ecphoria.records.tenant import Gate
from ecphoria.records.upkeep import StoredInstant, StoredVector, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRow:
    """One episode to create, with the columns derived from its text and its position.

    Attributes:
        terms: Stems with repeats, joined by one blank; the text index reads them.
        words: The body's normalised words, joined by one blank; names are searched in them.
        length: Number of stems, repeats counted.
        is_question, time_expression: Features of a turn; false for a document.
        first_person, second_person: Whether the text has such pronouns.
        passages: Its passages, if the text is too long for one vector.
        expires_at: End of its life; None for no end.
        utc_offset: Minutes from UTC to the time of day where it occurred; None for UTC.
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
    is_question: bool
    time_expression: bool
    first_person: bool
    second_person: bool
    vector: Vector
    passages: tuple[PassageRow, ...] = ()
    expires_at: datetime | None = None
    utc_offset: int | None = None


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEpisode:
    """An episode's columns; no session or speaker is the empty string, which ranges match."""

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
    utc_offset: int | None


def to_episode(stored: StoredEpisode) -> Episode:
    """Convert a row to an episode."""
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
        occurred_at=in_offset(stored.occurred_at, stored.utc_offset),
        recorded_at=stored.recorded_at,
        source=stored.source,
        metadata=json.loads(stored.metadata),
        importance=stored.importance,
        expires_at=stored.expires_at,
        state=State(stored.state),
    )


def to_groups(rows: Sequence[EpisodeRow]) -> list[dict[str, Any]]:
    """Group new episodes by session and speaker, so that each is looked up once a batch."""
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
        "utc_offset": row.utc_offset,
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
        "is_question": row.is_question,
        "time_expression": row.time_expression,
        "first_person": row.first_person,
        "second_person": row.second_person,
        "vector": packed(row.vector),
    }


def _instant(name: str, at: datetime) -> dict[str, int]:
    """Convert an instant to numbers, which the driver packs a hundred times faster."""
    since = at - _EPOCH
    return {
        f"{name}_s": since.days * 86_400 + since.seconds,
        f"{name}_ns": since.microseconds * 1_000,
    }


STAYS = frozenset((
    "id", "tenant", "turn", "session", "speaker", "role", "ordinal", "position", "occurred_at",
    "utc_offset", "recorded_at", "importance", "title", "length", "body_hash",
    "idempotency_key", "expires_at", "pinned", "touched", "dormant_at",
    "state_reason",
))  # fmt: skip
"""Properties of a stub: identity, position, and values that other writes change (decision
0022)."""

# The name of generation 0, in which records and copies are written (decision 0037).
_VECTOR = "embedding"


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """The content of an episode that leaves the graph.

    Attributes:
        properties: Properties that leave the graph, without the vector.
        edges: Maps of `type`, `other`, `out` and `properties`.
        passages: The properties of its passages in their order, with their vectors.
        encoder: The model of its vectors; None for the first model of its store (decision 0037).
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
    """Serialise a payload."""
    leaving = {
        name: value for name, value in properties.items() if name not in STAYS and name != _VECTOR
    }
    head: dict[str, Any] = {"id": ident, "properties": leaving, "edges": list(edges)}
    vectors = [np.asarray(one.get(_VECTOR, ()), "<f4") for one in (properties, *passages)]
    if passages:  # without passages the bytes are the same as before passages existed
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
    """Parse a serialised payload."""
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
        properties={k: v for k, v in head["properties"].items() if k not in GONE},
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
    """Write a gate as text."""
    return json.dumps(asdict(gate), default=datetime.isoformat, sort_keys=True)


def from_driver(value: Any) -> Value:
    """Convert a property from the driver to a value for a copy."""
    if isinstance(value, DriverVector):
        if value.dtype is not VectorDType.F32:
            raise EcphoriaError("a vector of another kind than 32-bit floats cannot be copied")
        return StoredVector(value.raw())
    if isinstance(value, DateTime):
        return StoredInstant(value.iso_format())
    if isinstance(value, bytearray):
        return bytes(value)
    # A stored list has one type, and most are plain numbers, so look only at the first value.
    if isinstance(value, list) and value and not isinstance(value[0], bool | int | float | str):
        return [from_driver(each) for each in value]
    return value


def to_driver(value: Value) -> Any:
    """Convert a value of a copy to a property that the driver can write."""
    if isinstance(value, StoredVector):
        return DriverVector(value.content, VectorDType.F32)
    if isinstance(value, StoredInstant):
        return DateTime.from_iso_format(value.text)
    if isinstance(value, list) and value and not isinstance(value[0], bool | int | float | str):
        return [to_driver(each) for each in value]
    return value
