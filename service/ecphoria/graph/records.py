"""The canonical bytes of what leaves the graph with an archived episode.

One line of JSON (keys sorted, floats as their shortest text), then the vector as raw
little-endian 32-bit floats. An instant is `{"$instant": ISO 8601}`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from neo4j.time import DateTime

from ecphoria.ports.world import Vector

__all__ = ["STAYS", "Payload", "from_bytes", "to_bytes"]

STAYS = frozenset((
    "id", "tenant", "turn", "session", "speaker", "role", "ordinal", "position", "occurred_at",
    "recorded_at", "importance", "title", "length", "near_length", "context_norm", "body_hash",
    "idempotency_key", "pinned", "touched", "dormant_at", "state_reason",
))  # fmt: skip
"""What a stub keeps: who it is, where it stands, and what writes around it go on changing."""

_VECTOR = "embedding"


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What leaves the graph.

    Attributes:
        properties: Without those that stay, and without the vector.
        edges: Maps of `type`, `other`, `out` and `properties`.
    """

    id: str
    properties: Mapping[str, Any]
    vector: Vector
    edges: Sequence[Mapping[str, Any]]


def to_bytes(
    ident: str, properties: Mapping[str, Any], edges: Sequence[Mapping[str, Any]]
) -> bytes:
    """Write what would leave of a node with these properties and edges."""
    leaving = {
        name: value for name, value in properties.items() if name not in STAYS and name != _VECTOR
    }
    head = {"id": ident, "properties": leaving, "edges": list(edges)}
    line = json.dumps(
        head,
        default=_told,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
    )
    vector = np.asarray(properties.get(_VECTOR, ()), "<f4")
    return line.encode() + b"\n" + vector.tobytes()


def from_bytes(content: bytes) -> Payload:
    """Read what was written."""
    line, _, raw = content.partition(b"\n")
    head = json.loads(line, object_hook=_instant)
    return Payload(
        id=head["id"],
        properties=head["properties"],
        vector=np.frombuffer(raw, "<f4").astype(np.float32),
        edges=head["edges"],
    )


def _told(value: object) -> object:
    if isinstance(value, DateTime):
        return {"$instant": value.iso_format()}
    raise TypeError(f"{type(value).__name__} has no place in the archive")


def _instant(value: dict[str, Any]) -> object:
    return DateTime.from_iso_format(value["$instant"]) if value.keys() == {"$instant"} else value
