"""Bodies of learning: the tenant's switch."""

from typing import Annotated

from pydantic import ConfigDict, Field

from ecphoria.wire.base import Answer, Request

__all__ = [
    "FeedbackAnswer",
    "FeedbackRequest",
    "LearningAnswer",
    "LearningRequest",
    "RegardAnswer",
]

_MOST = 200
_Hits = Annotated[tuple[str, ...], Field(max_length=_MOST)]


class LearningRequest(Request):
    """Whether to learn from recalls."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"on": True}]})

    on: bool = Field(strict=True)
    """True to let recalls change the memories they wake, false to leave these as they are."""


class LearningAnswer(Answer):
    """Whether the tenant's recalls change the memories they wake."""

    on: bool
    """Whether they do."""
    recalls: int
    """Recalls that were learned from."""
    pending: int
    """Recalls that wait to be."""


class FeedbackRequest(Request):
    """Which hits of a recall were useful, and which were not; the others are left open."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"useful": ["0f3c..."], "not_useful": ["77ab..."]}]}
    )

    useful: _Hits = ()
    """Ids of episodes it returned that were."""
    not_useful: _Hits = ()
    """Ids of episodes it returned that were not."""


class RegardAnswer(Answer):
    """What feedback made of a memory."""

    episode: str
    """Its id."""
    useful: bool
    """How it is judged for this recall."""
    reliability: float
    """Whether to believe it, 0 to 1: by who stated it, and by how it proved."""
    salience: float
    """Whether it matters, 0 to 1: its importance, moved by every judgement."""


class FeedbackAnswer(Answer):
    """What feedback made of the memories it named."""

    episodes: tuple[RegardAnswer, ...]
    """In the order of the recall; those erased meanwhile are left out."""
