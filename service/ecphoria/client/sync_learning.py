# Generated from async_learning.py by scripts/generate_sync_client.py; edit that one.
"""Calls of learning, on the synchronous client."""

from ecphoria.client.exchange import Call, body_of
from ecphoria.client.sync_sending import Sender
from ecphoria.wire.learning import LearningAnswer, LearningRequest

__all__ = ["Learner"]


class Learner(Sender):
    """What lets memories change by being used."""

    def learning(self) -> LearningAnswer:
        """Show whether recalls change the memories they wake."""
        return self._get("/v1/learning", LearningAnswer)

    def set_learning(self, *, on: bool) -> LearningAnswer:
        """Let recalls change the memories they wake, or no more; needs the scope admin.

        Args:
            on: Off, what was learned stays, and recalls that wait are left out.
        """
        wanted = body_of(LearningRequest, {"on": on})
        call = Call(method="PUT", path="/v1/learning", repeatable=True, body=wanted)
        return LearningAnswer.model_validate_json((self._send(call)).content)
