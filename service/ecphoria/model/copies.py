"""Records of a copy: nodes, edges and archived files of a tenant."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

__all__ = [
    "FORMAT",
    "ArchiveBytes",
    "CopiedEdge",
    "CopiedNode",
    "Manifest",
    "Record",
    "SectionEnd",
    "SectionStart",
    "StoredInstant",
    "StoredVector",
    "Value",
]

FORMAT: Final = 1
"""Grows when an older release could not read the file."""

Value = Any
"""None, bool, int, float, str, bytes, datetime text or vector as the store gives it, lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The first line: what the file is, and what may read it.

    Attributes:
        kind: One tenant, or a whole store.
        release: Release of Ecphoria that wrote it.
        migration: Latest schema file of the store.
        model, dimension: The embedding model of all vectors.
        made_at: When, ISO 8601 in UTC.
        format: Version of this format.
    """

    kind: Literal["tenant", "store"]
    release: str
    migration: str
    model: str
    dimension: int
    made_at: str
    format: int = FORMAT


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionStart:
    """A tenant begins; the section without a name holds the operators' keys."""

    tenant: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedNode:
    """A node.

    Attributes:
        number: Its place in the section, from 0.
        late: It grants access to the tenant, so it is created last.
    """

    number: int
    labels: tuple[str, ...]
    properties: Mapping[str, Value]
    late: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedEdge:
    """An edge between two nodes, which are named by their numbers."""

    tail: int
    head: int
    type: str
    properties: Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveBytes:
    """Part of a file of the archive."""

    file: str
    offset: int
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionEnd:
    """A tenant ends, with what the section holds and its checksum."""

    nodes: int
    edges: int
    bytes: int
    sha256: str


Record = SectionStart | CopiedNode | CopiedEdge | ArchiveBytes | SectionEnd


@dataclass(frozen=True, slots=True)
class StoredVector:
    """A vector as its bytes: 32-bit floats, big-endian, as the store sends them."""

    content: bytes


@dataclass(frozen=True, slots=True)
class StoredInstant:
    """An instant as the store writes it, to the nanosecond: ISO 8601 with a zone."""

    text: str
