"""Calls of learning, on the asynchronous client."""

from collections.abc import Sequence

from ecphoria.client.async_sending import AsyncSender
from ecphoria.client.exchange import Call, body_of, segment
from ecphoria.wire.learning import (
    FeedbackAnswer,
    FeedbackRequest,
    LearningAnswer,
    LearningRequest,
)

__all__ = ["AsyncLearner"]


class AsyncLearner(AsyncSender):
    """What lets memories change by being used."""

    async def learning(self) -> LearningAnswer:
        """Show whether recalls change the memories they wake."""
        return await self._get("/v1/learning", LearningAnswer)

    async def set_learning(self, *, on: bool) -> LearningAnswer:
        """Let recalls change the memories they wake, or no more; needs the scope admin.

        Args:
            on: Off, what was learned stays, and recalls that wait are left out.
        """
        wanted = body_of(LearningRequest, {"on": on})
        call = Call(method="PUT", path="/v1/learning", repeatable=True, body=wanted)
        return LearningAnswer.model_validate_json((await self._send(call)).content)

    async def feedback(
        self, trace: str, *, useful: Sequence[str] = (), not_useful: Sequence[str] = ()
    ) -> FeedbackAnswer:
        """Say which hits of a recall were useful; needs the scope write.

        A hit is judged once for each recall: the same again changes nothing, the opposite is a
        conflict.

        Args:
            trace: `trace_id` of the recall.
            useful: Ids of episodes it returned that were.
            not_useful: Ids of episodes it returned that were not.
        """
        given = {"useful": tuple(useful), "not_useful": tuple(not_useful)}
        path = f"/v1/traces/{segment(trace)}/feedback"
        wanted = body_of(FeedbackRequest, given)
        return await self._post(path, wanted, FeedbackAnswer, repeatable=True)
