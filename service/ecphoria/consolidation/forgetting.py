"""Forgetting by hand: what sleeps and why, put to sleep, woken, pinned, and by which policy."""

from collections.abc import Awaitable, Callable, Sequence

from ecphoria.consolidation.archiving import ArchiveService
from ecphoria.errors import TooLarge
from ecphoria.graph.dormancy import DormancyStore
from ecphoria.model.cold import Restored
from ecphoria.model.dormancy import DormancyPolicy, Sleeper
from ecphoria.model.ids import EpisodeId, TenantId
from ecphoria.ports.world import Clock

__all__ = ["AT_ONCE", "ForgettingService", "Wake"]

AT_ONCE = 1_000
"""Episodes of one request."""

_BY_REQUEST = "by request"

Wake = Callable[[TenantId, Sequence[EpisodeId]], Awaitable[tuple[EpisodeId, ...]]]
"""Makes dormant episodes live again, and names those that were."""


class ForgettingService:
    """What an owner may do about dormancy, besides letting consolidation decide."""

    def __init__(
        self, store: DormancyStore, archive: ArchiveService, wake: Wake, clock: Clock
    ) -> None:
        self._store = store
        self._archive = archive
        self._wake = wake
        self._clock = clock

    async def policy(self, tenant: TenantId) -> DormancyPolicy:
        """Tell how the tenant forgets; NotFound without the tenant."""
        return await self._store.policy(tenant)

    async def set_policy(self, tenant: TenantId, policy: DormancyPolicy) -> DormancyPolicy:
        """Set how the tenant forgets; NotFound without the tenant."""
        await self._store.set_policy(tenant, policy)
        return policy

    async def looks_again(self, tenant: TenantId) -> bool:
        """Tell whether a refused cue is looked for among what sleeps."""
        return (await self._store.policy(tenant)).second_look

    async def sleepers(
        self, tenant: TenantId, *, after_turn: int, limit: int
    ) -> Sequence[Sleeper]:
        """List what sleeps and why, by turn."""
        return await self._store.sleepers(tenant, after_turn, limit)

    async def sleep(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Sequence[EpisodeId]:
        """Put live episodes to sleep that nobody pinned, and name those that were.

        Raises:
            TooLarge: More than `AT_ONCE`.
        """
        _check(ids)
        reasons = [(one, _BY_REQUEST) for one in sorted(set(ids))]
        return await self._store.put_to_sleep(tenant, reasons, self._clock.now())

    async def wake(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Sequence[EpisodeId]:
        """Make dormant and archived episodes live again, and name those that were.

        One whose record in the archive is damaged stays there.

        Raises:
            NotFound: No such tenant.
            TooLarge: More than `AT_ONCE`.
            ArchiveUnavailable: The archive cannot be read.
        """
        _check(ids)
        await self._archive.restore(tenant, ids)
        return await self._wake(tenant, ids)

    async def restore(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Restored:
        """Make archived episodes dormant again, byte for byte; tell which cannot be.

        Raises:
            TooLarge: More than `AT_ONCE`.
            ArchiveUnavailable: The archive cannot be read.
        """
        _check(ids)
        return await self._archive.restore(tenant, ids)

    async def pin(self, tenant: TenantId, episode: EpisodeId, *, pinned: bool) -> None:
        """Never let an episode be put to sleep, or no longer mind.

        Raises:
            NotFound: No such episode in this tenant.
        """
        await self._store.pin(tenant, episode, pinned=pinned)


def _check(ids: Sequence[EpisodeId]) -> None:
    if len(ids) > AT_ONCE:
        raise TooLarge(
            f"a request names at most {AT_ONCE:,} episodes, this one {len(ids):,}; send several",
            field="ids",
        )
