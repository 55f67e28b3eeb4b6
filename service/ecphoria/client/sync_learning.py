# Generated from async_learning.py by scripts/generate_sync_client.py; edit that one.
"""Calls of learning, on the synchronous client."""

from collections.abc import Sequence

from ecphoria.client.exchange import Call, body_of, segment
from ecphoria.client.sync_sending import Sender
from ecphoria.wire.learning import (
    FeedbackAnswer,
    FeedbackRequest,
    LearningAnswer,
    LearningRequest,
)

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

    def feedback(
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
        return self._post(path, wanted, FeedbackAnswer, repeatable=True)
