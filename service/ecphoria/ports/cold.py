"""What the archive needs: the graph's side of it, and files."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Protocol

from ecphoria.model.cold import ColdRecord, Located, Restored
from ecphoria.model.consolidation import Lease
from ecphoria.model.ids import EpisodeId, TenantId

__all__ = ["ColdGraph", "ColdStorage", "Due", "InTheArchive", "Stub", "Thaw"]

Due = tuple[EpisodeId, int]
"""An episode and its turn, by which pages follow one another."""

Stub = tuple[Located, int]


class ColdGraph(Protocol):
    """Takes payloads out of the graph, and puts them back."""

    async def due(
        self, tenant: TenantId, before: datetime, after_turn: int, limit: int
    ) -> Sequence[Due]:
        """List what has slept since before an instant, by turn."""
        ...

    async def records(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Sequence[ColdRecord]:
        """Serialise what would leave the graph of these episodes."""
        ...

    async def replace(
        self,
        tenant: TenantId,
        places: Sequence[Located],
        now: datetime,
        lease: Lease | None = None,
    ) -> Sequence[EpisodeId]:
        """Leave stubs of those that still are dormant and as they were written; name them.

        Raises:
            NotFound: There is no such tenant; nothing was written.
            LeaseLost: The lease is over; nothing was written.
        """
        ...

    async def stubs(self, tenant: TenantId, after_turn: int, limit: int) -> Sequence[Stub]:
        """List where records lie, by turn."""
        ...

    async def stubs_of(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Sequence[Located]:
        """Tell where the records of those of these episodes lie that are archived."""
        ...

    async def restore(
        self, tenant: TenantId, records: Sequence[ColdRecord]
    ) -> Sequence[EpisodeId]:
        """Put payloads back in one transaction that checks them byte for byte; name them.

        Raises:
            ArchiveDamaged: The graph would hold something else; nothing was written.
            Conflict: The graph holds something else under an id of theirs; nothing was written.
        """
        ...

    async def rehearse(
        self, tenant: TenantId, records: Sequence[ColdRecord]
    ) -> Sequence[EpisodeId]:
        """Answer as `restore` would, and write nothing.

        Raises:
            ArchiveDamaged: The graph would hold something else.
            Conflict: The graph holds something else under an id of theirs.
        """
        ...


class ColdStorage(Protocol):
    """Files of records, a folder a tenant.

    Every method raises ArchiveUnavailable where the folder cannot be read or written.
    """

    async def write(self, tenant: TenantId, records: Sequence[ColdRecord]) -> Sequence[Located]:
        """Store records in a new file, flushed to the disk and read back; all or nothing."""
        ...

    async def read(self, tenant: TenantId, place: Located) -> bytes:
        """Fetch a record's content.

        Raises:
            ArchiveDamaged: It is missing, or not as it was written.
        """
        ...

    async def wipe(self, tenant: TenantId, places: Sequence[Located]) -> None:
        """Overwrite records; a file without any goes."""
        ...

    async def unreferenced(
        self, tenant: TenantId, referenced: AbstractSet[tuple[str, int]], older_than_s: float
    ) -> Sequence[Located]:
        """Find records that nobody refers to, in files not written to lately."""
        ...

    async def erase(self, tenant: TenantId) -> int:
        """Delete all files of a tenant; tell how many records they held."""
        ...


class InTheArchive(Exception):
    """A write needs episodes whose words are in the archive: restore them, and write again."""

    def __init__(self, ids: Sequence[EpisodeId]) -> None:
        super().__init__(f"{len(ids)} episodes are in the archive")
        self.ids = tuple(ids)


class Thaw(Protocol):
    """The way back from the archive, as far as a write needs it."""

    async def restore(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Restored:
        """Put archived episodes back into the graph; tell which records are damaged."""
        ...

    async def forget(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> None:
        """Wipe the records of archived episodes that are about to be deleted."""
        ...
