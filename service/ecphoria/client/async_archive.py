"""The calls of the asynchronous client about dormant and archived memories."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from ecphoria import records, wire
from ecphoria.client.async_connection import AsyncCalls
from ecphoria.client.exchange import body_of


class AsyncArchive(AsyncCalls):
    """Dormant memories, and the archived ones that slept for long."""

    async def add(
        self, *, days: float = 90.0, timeout_s: float = 600.0
    ) -> wire.upkeep.ArchiveAnswer:
        """Move long dormant memories to the files of the archive; needs the scope admin.

        Args:
            days: Only what has slept for so many days.
            timeout_s: Longest to wait for the end.
        """
        wanted = body_of(wire.upkeep.ArchiveRequest, days=days)
        return await self._ask(
            wire.upkeep.ArchiveAnswer, "POST", "/v1/archive", wanted, timeout_s=timeout_s
        )

    def list(
        self, *, session: str | None = None, speaker: str | None = None, page_size: int = 100
    ) -> AsyncIterator[records.upkeep.ArchivedMemory]:
        """Iterate over archived episodes in the order of their append, page by page.

        Args:
            session: Only those of this session.
            speaker: Only those of this speaker.
            page_size: How many to ask for at once.
        """
        return self._each(
            wire.upkeep.ArchivedPage,
            "/v1/archive",
            session=session,
            speaker=speaker,
            limit=page_size,
        )

    async def restore(self, episodes: Sequence[str]) -> records.upkeep.Restored:
        """Restore archived memories as dormant, byte for byte; returns damaged records too."""
        wanted = body_of(wire.upkeep.IdsRequest, ids=episodes)
        return await self._ask(records.upkeep.Restored, "POST", "/v1/archive/restore", wanted)

    async def scrub(self, *, timeout_s: float = 600.0) -> records.upkeep.Scrub:
        """Check every record of the archive; needs the scope admin.

        Args:
            timeout_s: Longest to wait for the end.
        """
        return await self._ask(
            records.upkeep.Scrub, "POST", "/v1/archive/scrub", timeout_s=timeout_s
        )

    def dormant(self, *, page_size: int = 100) -> AsyncIterator[records.upkeep.Sleeper]:
        """Iterate over dormant episodes in the order of their append, page by page."""
        return self._each(wire.upkeep.SleeperPage, "/v1/dormancy", limit=page_size)

    def expiring(self, *, page_size: int = 100) -> AsyncIterator[records.episode.Episode]:
        """Iterate over episodes whose life has an end, the soonest first, page by page."""
        return self._each(wire.episodes.EpisodePage, "/v1/expiring", limit=page_size)

    async def preview(
        self,
        *,
        mode: records.settings.DormancyMode | str | None = None,
        budget: int | None = None,
        quiet_days: float | None = None,
        stability: records.settings.Stability | str | None = None,
        limit: int = 100,
    ) -> records.upkeep.DormancyPreview:
        """Tell which memories a policy would make dormant now, and change nothing.

        Args:
            mode: `off`, `budget` or `threshold`; what is absent is as in the tenant's settings.
            budget: Live memories to keep.
            quiet_days: Younger memories stay live.
            stability: How long a memory of each kind lasts.
            limit: Most memories to list, at most 1,000.
        """
        wanted = body_of(
            wire.upkeep.PreviewRequest,
            mode=mode,
            budget=budget,
            quiet_days=None if quiet_days is None else float(quiet_days),
            stability=stability,
            limit=limit,
        )
        return await self._ask(
            records.upkeep.DormancyPreview, "POST", "/v1/dormancy/preview", wanted
        )

    async def sleep(self, episodes: Sequence[str]) -> Sequence[str]:
        """Make live memories dormant, except pinned ones; returns those that became dormant."""
        wanted = body_of(wire.upkeep.IdsRequest, ids=episodes)
        done = await self._ask(wire.upkeep.IdsAnswer, "POST", "/v1/dormancy/sleep", wanted)
        return done.ids

    async def wake(self, episodes: Sequence[str]) -> Sequence[str]:
        """Make dormant memories live again, unchanged; returns those that became live."""
        wanted = body_of(wire.upkeep.IdsRequest, ids=episodes)
        done = await self._ask(wire.upkeep.IdsAnswer, "POST", "/v1/dormancy/wake", wanted)
        return done.ids
