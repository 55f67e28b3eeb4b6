"""The canonical bytes of what leaves the graph with an archived episode.

One line of JSON (keys sorted, floats as their shortest text), then the vectors as raw
little-endian 32-bit floats: the episode's, then those of its passages in their order, of which
the line has the sizes. An instant is `{"$instant": ISO 8601}`.
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
        passages: The properties of its passages in their order, with their vectors.
    """

    id: str
    properties: Mapping[str, Any]
    vector: Vector
    edges: Sequence[Mapping[str, Any]]
    passages: Sequence[Mapping[str, Any]] = ()


def to_bytes(
    ident: str,
    properties: Mapping[str, Any],
    edges: Sequence[Mapping[str, Any]],
    passages: Sequence[Mapping[str, Any]] = (),
) -> bytes:
    """Write what would leave of a node with these properties and edges."""
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
    """Read what was written."""
    line, _, raw = content.partition(b"\n")
    head = json.loads(line, object_hook=_instant)
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
    )


def _told(value: object) -> object:
    if isinstance(value, DateTime):
        return {"$instant": value.iso_format()}
    raise TypeError(f"{type(value).__name__} has no place in the archive")


def _instant(value: dict[str, Any]) -> object:
    return DateTime.from_iso_format(value["$instant"]) if value.keys() == {"$instant"} else value
