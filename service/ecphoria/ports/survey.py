"""What surveying a graph needs: its counts, and what was asked of it in vain."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from ecphoria.model.consolidation import Degrees, Gap, GraphSize
from ecphoria.model.ids import TenantId

__all__ = ["Survey"]


class Survey(Protocol):
    """Looks at a tenant's graph as a whole, and changes nothing."""

    async def turn(self, tenant: TenantId) -> int:
        """Tell how many episodes were appended so far."""
        ...

    async def size(self, tenant: TenantId) -> GraphSize:
        """Count nodes by label and edges by type, and the edges that lack weight or family."""
        ...

    async def degrees(self, tenant: TenantId) -> Mapping[str, Degrees]:
        """Tell how many associations live nodes have, by type."""
        ...

    async def gaps(self, tenant: TenantId, *, least: int, limit: int) -> Sequence[Gap]:
        """List the cues refused so often since the last whole cycle, the most refused first.

        Cues are one if they differ only in case and outer blanks.
        """
        ...
