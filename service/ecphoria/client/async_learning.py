"""Calls of learning, on the asynchronous client."""

from ecphoria.client.async_sending import AsyncSender
from ecphoria.client.exchange import Call, body_of
from ecphoria.wire.learning import LearningAnswer, LearningRequest

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
