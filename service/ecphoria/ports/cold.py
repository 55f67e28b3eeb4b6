"""How ingest reaches archived episodes."""

from collections.abc import Sequence
from typing import Protocol

from ecphoria.model.cold import Restored
from ecphoria.model.ids import EpisodeId, TenantId

__all__ = ["InTheArchive", "Thaw"]


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
