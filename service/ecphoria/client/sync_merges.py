# Generated from async_merges.py by scripts/generate_sync_client.py; edit that one.
"""Calls of merges, on the synchronous client."""

from ecphoria.client.exchange import Call, body_of
from ecphoria.client.sync_sending import Sender
from ecphoria.model.merge import MergeStatus
from ecphoria.wire.merges import MergeAnswer, MergePage, MergeRequest

__all__ = ["Merger"]


class Merger(Sender):
    """What decides whether two concepts are one."""

    def list_merges(
        self, *, status: str | None = None, cursor: str | None = None, limit: int = 100
    ) -> MergePage:
        """List the merges that consolidation proposed.

        Args:
            status: Only `proposed`, `accepted` or `rejected` ones.
            cursor: `next_cursor` of the page before.
            limit: Size of the page.
        """
        return self._get("/v1/merges", MergePage, status=status, cursor=cursor, limit=limit)

    def accept_merge(self, one: str, other: str) -> MergeAnswer:
        """Let recall walk between two concepts as between one and itself.

        Args:
            one: The normalised name of one concept.
            other: The normalised name of the other.
        """
        return self._decide(one, other, MergeStatus.ACCEPTED)

    def reject_merge(self, one: str, other: str) -> MergeAnswer:
        """Keep two concepts apart; consolidation does not propose them again.

        Args:
            one: The normalised name of one concept.
            other: The normalised name of the other.
        """
        return self._decide(one, other, MergeStatus.REJECTED)

    def undo_merge(self, one: str, other: str) -> MergeAnswer:
        """Take back what was decided about two concepts.

        Args:
            one: The normalised name of one concept.
            other: The normalised name of the other.
        """
        return self._decide(one, other, MergeStatus.PROPOSED)

    def _decide(self, one: str, other: str, status: MergeStatus) -> MergeAnswer:
        wanted = body_of(MergeRequest, {"one": one, "other": other, "status": status})
        call = Call(method="PUT", path="/v1/merges", repeatable=True, body=wanted)
        return MergeAnswer.model_validate_json((self._send(call)).content)
