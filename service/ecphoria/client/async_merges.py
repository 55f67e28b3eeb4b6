"""Calls of merges, on the asynchronous client."""

from ecphoria.client.async_sending import AsyncSender
from ecphoria.client.exchange import Call, body_of
from ecphoria.model.merge import MergeStatus
from ecphoria.wire.merges import MergeAnswer, MergePage, MergeRequest

__all__ = ["AsyncMerger"]


class AsyncMerger(AsyncSender):
    """What decides whether two concepts are one."""

    async def list_merges(
        self, *, status: str | None = None, cursor: str | None = None, limit: int = 100
    ) -> MergePage:
        """List the merges that consolidation proposed.

        Args:
            status: Only `proposed`, `accepted` or `rejected` ones.
            cursor: `next_cursor` of the page before.
            limit: Size of the page.
        """
        return await self._get("/v1/merges", MergePage, status=status, cursor=cursor, limit=limit)

    async def accept_merge(self, one: str, other: str) -> MergeAnswer:
        """Let recall walk between two concepts as between one and itself.

        Args:
            one: The normalised name of one concept.
            other: The normalised name of the other.
        """
        return await self._decide(one, other, MergeStatus.ACCEPTED)

    async def reject_merge(self, one: str, other: str) -> MergeAnswer:
        """Keep two concepts apart; consolidation does not propose them again.

        Args:
            one: The normalised name of one concept.
            other: The normalised name of the other.
        """
        return await self._decide(one, other, MergeStatus.REJECTED)

    async def undo_merge(self, one: str, other: str) -> MergeAnswer:
        """Take back what was decided about two concepts.

        Args:
            one: The normalised name of one concept.
            other: The normalised name of the other.
        """
        return await self._decide(one, other, MergeStatus.PROPOSED)

    async def _decide(self, one: str, other: str, status: MergeStatus) -> MergeAnswer:
        wanted = body_of(MergeRequest, {"one": one, "other": other, "status": status})
        call = Call(method="PUT", path="/v1/merges", repeatable=True, body=wanted)
        return MergeAnswer.model_validate_json((await self._send(call)).content)
