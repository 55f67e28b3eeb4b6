"""Mark whose nearest are others once some memories go or sleep, for `associate` to look again."""

from collections.abc import Sequence

from ecphoria.graph.executor import Done, Statement, Work
from ecphoria.model.ids import EpisodeId, TenantId

__all__ = ["mark_around"]

_MARK_JOINED = Statement("ingest.mark_joined", Done)
_MARK_NEAR = Statement("ingest.mark_near", Done)


async def mark_around(work: Work, tenant: TenantId, leaving: Sequence[EpisodeId]) -> None:
    """Mark them; before those that leave are deleted, or after they lost their label."""
    await work.run(_MARK_JOINED, tenant=tenant, ids=leaving)
    await work.run(_MARK_NEAR, tenant=tenant, ids=leaving)
