"""The archive: records of memories in files, and what a scrub finds of them."""

from dataclasses import dataclass

from ecphoria.model.ids import EpisodeId

__all__ = ["ColdRecord", "Located", "Restored", "Scrub"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdRecord:
    """Everything of a memory that leaves the graph, in its canonical bytes."""

    id: EpisodeId
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """Where a record lies.

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
    """What came back from the archive; dormant as it was."""

    restored: tuple[EpisodeId, ...]
    damaged: tuple[EpisodeId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrub:
    """What a look through the archive found.

    Attributes:
        records: Archived memories looked at.
        damaged: Those that cannot come back: the record cannot be read as it was written, or the
            graph refuses it.
        unreferenced: Records that no memory refers to; they are wiped in time.
    """

    records: int
    damaged: tuple[EpisodeId, ...]
    unreferenced: int
