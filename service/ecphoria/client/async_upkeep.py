"""Calls that look after a memory, of the asynchronous client."""

from collections.abc import AsyncIterator, Sequence

from ecphoria.client.async_sending import AsyncSender
from ecphoria.client.exchange import Call, body_of, segment
from ecphoria.model.dormancy import DormancyMode
from ecphoria.model.engram import EngramKind
from ecphoria.wire.cold import ArchiveAnswer, ArchiveRequest, RestoreAnswer, ScrubAnswer
from ecphoria.wire.doctor import CheckupAnswer
from ecphoria.wire.dormancy import (
    DormancyPolicyAnswer,
    DormancyPolicyRequest,
    IdsAnswer,
    IdsRequest,
    SleeperAnswer,
    SleeperPage,
)
from ecphoria.wire.engrams import EngramAnswer, EngramPage

__all__ = ["AsyncUpkeep"]


class AsyncUpkeep(AsyncSender):
    """What keeps a memory sound, and small."""

    async def doctor(self, *, timeout_s: float = 600.0) -> CheckupAnswer:
        """Check what must hold of every graph, and recount what is counted; changes nothing.

        Needs the scope admin.

        Args:
            timeout_s: Longest to wait for the end; it takes longer the larger the memory.
        """
        call = Call(method="GET", path="/v1/doctor", repeatable=True, timeout_s=timeout_s)
        return CheckupAnswer.model_validate_json((await self._send(call)).content)

    async def engrams(
        self, *, kind: EngramKind | str | None = None, page_size: int = 100
    ) -> AsyncIterator[EngramAnswer]:
        """Walk through what sessions and clusters came to, a page at a time.

        Args:
            kind: Only those of `session` or `cluster`.
            page_size: How many to ask for at once.
        """
        cursor: str | None = None
        while True:
            page = await self._get(
                "/v1/engrams", EngramPage, kind=kind, cursor=cursor, limit=page_size
            )
            for engram in page.engrams:
                yield engram
            cursor = page.next_cursor
            if cursor is None:
                return

    async def dormant(self, *, page_size: int = 100) -> AsyncIterator[SleeperAnswer]:
        """Walk through what sleeps, in the order it was appended, a page at a time."""
        cursor = 0
        while True:
            page = await self._get("/v1/dormancy", SleeperPage, cursor=cursor, limit=page_size)
            for one in page.sleepers:
                yield one
            if page.next_cursor is None:
                return
            cursor = page.next_cursor

    async def put_to_sleep(self, episodes: Sequence[str]) -> Sequence[str]:
        """Put live memories to sleep; tells which were, as pinned ones stay awake."""
        wanted = body_of(IdsRequest, {"ids": tuple(episodes)})
        done = await self._post("/v1/dormancy/sleep", wanted, IdsAnswer, repeatable=True)
        return done.ids

    async def wake(self, episodes: Sequence[str]) -> Sequence[str]:
        """Make dormant memories live again, exactly as they were; tells which were."""
        wanted = body_of(IdsRequest, {"ids": tuple(episodes)})
        done = await self._post("/v1/dormancy/wake", wanted, IdsAnswer, repeatable=True)
        return done.ids

    async def pin(self, episode: str, *, pinned: bool = True) -> None:
        """Never let a memory be put to sleep, or no longer mind."""
        method = "PUT" if pinned else "DELETE"
        path = f"/v1/episodes/{segment(episode)}/pin"
        await self._send(Call(method=method, path=path, repeatable=True))

    async def dormancy_policy(self) -> DormancyPolicyAnswer:
        """Show how the tenant forgets; needs the scope admin."""
        return await self._get("/v1/dormancy/policy", DormancyPolicyAnswer)

    async def set_dormancy_policy(
        self,
        *,
        mode: DormancyMode | str = DormancyMode.BUDGET,
        budget: int = 10_000,
        quiet_days: float = 7.0,
        archive_days: float | None = 90.0,
        second_look: bool = False,
    ) -> DormancyPolicyAnswer:
        """Set how the tenant forgets; the next consolidation goes by it. Needs the scope admin.

        Args:
            mode: `off`, `budget` or `threshold`.
            budget: Live memories to keep.
            quiet_days: Younger memories, and those that a recall woke since, stay awake.
            archive_days: After so many days asleep a memory goes to the archive; None for never.
            second_look: Look among what sleeps when the gate refuses a cue.
        """
        given = {
            "mode": mode,
            "budget": budget,
            "quiet_days": quiet_days,
            "archive_days": archive_days,
            "second_look": second_look,
        }
        wanted = body_of(DormancyPolicyRequest, given)
        call = Call(method="PUT", path="/v1/dormancy/policy", repeatable=True, body=wanted)
        return DormancyPolicyAnswer.model_validate_json((await self._send(call)).content)

    async def archive(self, *, days: float = 90.0, timeout_s: float = 600.0) -> ArchiveAnswer:
        """Move what has slept long to the archive's files; needs the scope admin.

        Args:
            days: Only what has slept for so many days.
            timeout_s: Longest to wait for the end.
        """
        wanted = body_of(ArchiveRequest, {"days": days})
        call = Call(
            method="POST",
            path="/v1/archive",
            repeatable=True,
            body=wanted,
            timeout_s=timeout_s,
        )
        return ArchiveAnswer.model_validate_json((await self._send(call)).content)

    async def restore(self, episodes: Sequence[str]) -> RestoreAnswer:
        """Make archived memories dormant again, byte for byte; tells which records are damaged."""
        wanted = body_of(IdsRequest, {"ids": tuple(episodes)})
        return await self._post("/v1/archive/restore", wanted, RestoreAnswer, repeatable=True)

    async def scrub(self, *, timeout_s: float = 600.0) -> ScrubAnswer:
        """Read every record of the archive and check it; needs the scope admin.

        Args:
            timeout_s: Longest to wait for the end.
        """
        call = Call(method="POST", path="/v1/archive/scrub", repeatable=True, timeout_s=timeout_s)
        return ScrubAnswer.model_validate_json((await self._send(call)).content)
