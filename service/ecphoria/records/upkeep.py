"""Upkeep: integrity, archive, copies, dormancy, engrams."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Literal, get_args

from pydantic import computed_field

from ecphoria.records.answered import answered
from ecphoria.records.ids import ID, EpisodeId


class Rule(StrEnum):
    """A rule that every tenant's graph must satisfy."""

    COUNTS = "counts"
    CHAINS = "chains"
    EDGES = "edges"
    ORPHANS = "orphans"
    PROVENANCE = "provenance"
    INDEXES = "indexes"
    STATES = "states"
    ARCHIVE = "archive"


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """One place where a rule is broken."""

    id: str
    """A node's id, a name, a stem or a total."""
    detail: str
    """The fault."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A rule that is broken somewhere."""

    rule: Rule
    """Name of the rule; `GET /v1/doctor` checks all rules."""
    found: int
    """Number of places."""
    symptoms: tuple[Symptom, ...]
    """The first of them."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrityReport:
    """The result of a check of the graph."""

    episodes: int
    """Number of episodes that were checked."""
    settled: bool
    """Whether nothing was written meanwhile; if not, check again: findings may have passed."""
    seconds: float
    """Duration, in seconds."""
    findings: tuple[Finding, ...]
    """Faults, by rule."""
    warnings: tuple[str, ...] = ()
    """Remarks that are no faults: many texts are in languages that the embedding model does not
    read."""

    @computed_field  # type: ignore[prop-decorator]  # mypy knows no decorated properties
    @property
    def is_healthy(self) -> bool:
        """Whether every rule holds."""
        return not self.findings


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdRecord:
    """Everything of a memory that leaves the graph, in its canonical bytes."""

    id: EpisodeId
    content: bytes


COLD_FILE: Final = re.compile(rf"{ID.pattern}\.cold")
"""Name of a file of the archive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """The position of a record in the archive.

    Attributes:
        file: Name of the file in its tenant's folder.
        offset: Of the record's first byte.
        sha256: Of its content, as hex digits.
    """

    id: EpisodeId
    file: str
    offset: int
    sha256: str


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """The restored episodes; they are dormant as before."""

    restored: tuple[EpisodeId, ...]
    """Ids of what came back."""
    damaged: tuple[EpisodeId, ...]
    """Ids of what cannot: the record is missing or not as it was written."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Scrub:
    """The result of verifying the archive."""

    records: int
    """Archived memories looked at."""
    damaged: tuple[EpisodeId, ...]
    """Ids of those whose record is missing or not as it was written."""
    unreferenced: int
    """Records that no memory refers to; consolidation wipes them."""


FORMAT: Final = 2
"""Grows when an older release could not read the file."""

CopyKind = Literal["tenant", "store"]
COPY_KINDS: Final = get_args(CopyKind)

Value = Any
"""None, bool, int, float, str, bytes, an instant as the store gives it, lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The first line: the kind of the file, and its version.

    Attributes:
        kind: One tenant, or a whole store.
        release: Release of Ecphoria that wrote it.
        migration: Latest schema file of the store.
        model, dimension: The embedding model of all vectors.
        made_at: When, ISO 8601 in UTC.
        format: Version of this format.
    """

    kind: CopyKind
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
    """The end of a tenant, with the counts of the section and its checksum."""

    nodes: int
    edges: int
    bytes: int
    sha256: str


Record = SectionStart | CopiedNode | CopiedEdge | ArchiveBytes | SectionEnd


@dataclass(frozen=True, slots=True)
class StoredInstant:
    """An instant as the store writes it, to the nanosecond: ISO 8601 with a zone."""

    text: str


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Sleeper:
    """A dormant memory."""

    id: EpisodeId
    """Its id."""
    turn: int
    """1-based count of the tenant's appends."""
    text: str
    """Text of the memory."""
    speaker: str | None = None
    """Speaker."""
    session: str | None = None
    """The session it belongs to."""
    occurred_at: datetime
    """Time of the event."""
    dormant_at: datetime
    """Time at which it became dormant."""
    reason: str
    """Why."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Sleepy:
    """A live memory that a policy would make dormant."""

    id: EpisodeId
    """Its id."""
    label: str
    """Its title, or its speaker and the start of its text."""
    session: str | None = None
    """The session it belongs to."""
    occurred_at: datetime | None = None
    """Time of the event."""
    reason: str
    """Why."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class DormancyPreview:
    """The memories that a policy would make dormant now."""

    live: int
    """Number of live memories now."""
    dormant: int
    """Number of those that would become dormant."""
    items: tuple[Sleepy, ...]
    """The first of them, the least worth keeping first."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedMemory:
    """An archived memory: what the graph keeps of it."""

    id: EpisodeId
    """Its id; `restore` takes it."""
    turn: int
    """1-based count of the tenant's appends."""
    summary: str
    """One line of the text."""
    title: str | None = None
    """Title of a document."""
    speaker: str | None = None
    """Speaker."""
    session: str | None = None
    """The session it belongs to."""
    occurred_at: datetime
    """Time of the event."""
    archived_at: datetime
    """When it was archived."""
    reason: str
    """Why it became dormant before."""
    terms: int
    """Number of words of the text that count for search."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class DiskBytes:
    """Bytes of a store on disk, of all its tenants, by kind."""

    nodes: int
    """Nodes and their labels."""
    relationships: int
    """Edges."""
    properties: int
    """Texts, words, vectors and all other properties."""
    vector_indexes: int
    """The vector indexes, which keep the vectors once more."""
    text_indexes: int
    """The full-text indexes."""
    other_indexes: int
    """The indexes of ids, times and labels."""
    other: int
    """Names of labels and properties, counts, the schema."""
    log: int
    """The transaction log; Neo4j deletes its old parts by itself."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """The size of a store on disk."""

    bytes: DiskBytes | None = None
    """By kind; null if Neo4j runs elsewhere, because the service cannot read its files."""
