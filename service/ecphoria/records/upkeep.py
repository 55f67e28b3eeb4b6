"""Upkeep: integrity, archive, copies, dormancy, engrams."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Literal

from ecphoria.records.ids import EpisodeId


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """One place where a rule is broken.

    Attributes:
        id: A node's id, a name, a stem or a total.
        detail: What is wrong with it, in words; no memory's text.
    """

    id: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A rule that is broken somewhere.

    Attributes:
        found: How many places there are.
        symptoms: The first of them.
    """

    rule: Rule
    found: int
    symptoms: tuple[Symptom, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """The result of an examination.

    Attributes:
        episodes: How many were looked at.
        settled: Whether nothing was written meanwhile; else findings may be of the moment.
        findings: What is wrong, by rule; empty in a healthy graph.
    """

    episodes: int
    settled: bool
    seconds: float
    findings: tuple[Finding, ...]

    @property
    def is_healthy(self) -> bool:
        """Tell whether every rule holds."""
        return not self.findings


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdRecord:
    """Everything of a memory that leaves the graph, in its canonical bytes."""

    id: EpisodeId
    content: bytes


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """The restored episodes; they are dormant as before."""

    restored: tuple[EpisodeId, ...]
    damaged: tuple[EpisodeId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrub:
    """The result of verifying the archive.

    Attributes:
        records: Archived memories looked at.
        damaged: Those that cannot come back: the record cannot be read as it was written, or the
            graph refuses it.
        unreferenced: Records that no memory refers to; they are wiped in time.
    """

    records: int
    damaged: tuple[EpisodeId, ...]
    unreferenced: int


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


class DormancyMode(StrEnum):
    """The mode of dormancy: when consolidation makes memories dormant."""

    OFF = "off"
    BUDGET = "budget"
    THRESHOLD = "threshold"


@dataclass(frozen=True, slots=True, kw_only=True)
class DormancyPolicy:
    """The dormancy policy of a tenant.

    Attributes:
        mode: `budget` keeps the live memories at `budget`, the most worth keeping; `threshold`
            puts to sleep what can hardly be called back, however few there are.
        budget: Live memories to keep.
        quiet_days: Younger memories, and those that a recall woke since, stay awake.
        archive_days: After so many days asleep a memory goes to the archive; None for never.
        second_look: Look among what sleeps when the gate refuses a cue.
    """

    mode: DormancyMode = DormancyMode.BUDGET
    budget: int = 10_000
    quiet_days: float = 7.0
    archive_days: float | None = 90.0
    second_look: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sleeper:
    """A dormant memory, and why it sleeps."""

    id: EpisodeId
    turn: int
    text: str
    speaker: str | None
    session: str | None
    occurred_at: datetime
    dormant_at: datetime
    reason: str


class EngramKind(StrEnum):
    """The kind of an engram: of a session or of a cluster."""

    SESSION = "session"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True, kw_only=True)
class Engram:
    """A summary that consolidation made.

    Attributes:
        session: The session it is of; None for a cluster.
        members: How many memories it stands for.
        evidence: Those whose words are in it, in the order they were appended.
        method: How it was made: `extractive`, or `llm:` and a model's name.
    """

    id: str
    kind: EngramKind
    session: str | None
    summary: str
    members: int
    evidence: tuple[EpisodeId, ...]
    method: str
    recorded_at: datetime
