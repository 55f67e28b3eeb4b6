"""Bodies of learning: the tenant's switch."""

from pydantic import Field

from ecphoria.wire.base import Answer, Request

__all__ = ["LearningAnswer", "LearningRequest"]


class LearningRequest(Request):
    """Whether to learn from recalls."""

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
