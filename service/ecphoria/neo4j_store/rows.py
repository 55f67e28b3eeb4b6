"""Rows that several features read.

The bytes of an archived episode are one line of JSON (sorted keys, shortest text of floats), then
the stored bytes of the vectors: that of the episode, then those of its passages in order. The line
has their sizes. An instant is `{"$instant": ISO 8601}`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from neo4j.time import DateTime

from ecphoria.neo4j_store.decoding import read_vector
from ecphoria.neo4j_store.encoding import stored
from ecphoria.ports import Vector
from ecphoria.records.upkeep import StoredInstant, Value

STAYS = frozenset((
    "id", "tenant", "turn", "session", "speaker", "role", "ordinal", "position", "occurred_at",
    "utc_offset", "recorded_at", "importance", "kind", "title", "length", "body_hash",
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
        vector: None if it has none.
        passages: The properties of its passages in their order, with their vectors.
        encoder: The model of its vectors; None for the first model of its store (decision 0037).
    """

    id: str
    properties: Mapping[str, Any]
    vector: Vector | None
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
    vectors = [_stored(one.get(_VECTOR)) for one in (properties, *passages)]
    head["vectors"] = [len(vector) for vector in vectors]
    head["passages"] = [
        {name: value for name, value in one.items() if name != _VECTOR} for one in passages
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
    return line.encode() + b"\n" + b"".join(vectors)


def from_bytes(content: bytes) -> Payload:
    """Parse a serialised payload."""
    line, _, raw = content.partition(b"\n")
    head = json.loads(line, object_hook=_to_instant)
    passages = head.get("passages", [])
    sizes = head.get("vectors")
    read: Callable[[bytes], Vector] = read_vector
    if sizes is None:  # written before decision 0108
        others = [4 * one[_VECTOR] for one in passages]
        sizes, read = [len(raw) - sum(others), *others], _read_floats
    ends = [0, *accumulate(sizes)]
    if ends[-1] != len(raw):
        raise ValueError("the vectors have another size than the record tells")
    own, *others = (read(raw[start:end]) if end > start else None for start, end in pairwise(ends))
    return Payload(
        id=head["id"],
        properties=head["properties"],
        vector=own,
        edges=head["edges"],
        passages=[{**one, _VECTOR: it} for one, it in zip(passages, others, strict=True)],
        encoder=head.get("encoder"),
    )


def _read_floats(raw: bytes) -> Vector:
    return np.frombuffer(raw, "<f4").astype(np.float32)


def _stored(vector: bytes | list[float] | Vector | None) -> bytes:
    """Give the bytes of a vector, which a graph of an earlier release has as a list."""
    if vector is None or isinstance(vector, bytes):
        return vector or b""
    return stored(vector)


def _told(value: object) -> object:
    if isinstance(value, DateTime):
        return {"$instant": value.iso_format()}
    raise TypeError(f"{type(value).__name__} has no place in the archive")


def _to_instant(value: dict[str, Any]) -> object:
    return DateTime.from_iso_format(value["$instant"]) if value.keys() == {"$instant"} else value


def from_driver(value: Any) -> Value:
    """Convert a property from the driver to a value for a copy."""
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
    if isinstance(value, StoredInstant):
        return DateTime.from_iso_format(value.text)
    if isinstance(value, list) and value and not isinstance(value[0], bool | int | float | str):
        return [to_driver(each) for each in value]
    return value
