"""Bodies of merges: concepts that are likely one, and what is decided about them."""

from pydantic import ConfigDict, Field

from ecphoria.model.merge import MergeStatus
from ecphoria.wire.base import Answer, Instant, Parameters, Request

__all__ = ["MergeAnswer", "MergePage", "MergeQuery", "MergeRequest"]


class MergeQuery(Parameters):
    """Which merges to list."""

    status: MergeStatus | None = None
    """Only `proposed`, `accepted` or `rejected` ones."""
    cursor: str | None = None
    """`next_cursor` of the page before."""
    limit: int = Field(default=100, ge=1, le=1_000)
    """Size of the page."""


class MergeRequest(Request):
    """What is decided about a proposed merge."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"one": "ana ruiz", "other": "anna ruiz", "status": "accepted"}]
        }
    )

    one: str = Field(min_length=1, max_length=400)
    """The normalised name of one concept."""
    other: str = Field(min_length=1, max_length=400)
    """The normalised name of the other."""
    status: MergeStatus
    """`accepted`, `rejected`, or `proposed` to undo either."""


class MergeAnswer(Answer):
    """Two concepts that are likely one."""

    one: str
    """The normalised name of one, first in the alphabet."""
    other: str
    """The normalised name of the other."""
    kind: str
    """What kind of concept both are."""
    cosine: float
    """Of the two names' vectors."""
    reason: str
    """Why they are likely one."""
    status: MergeStatus
    """Whether the merge is `proposed`, `accepted` or `rejected`."""
    decided_at: Instant | None = None
    """When it was accepted or rejected."""


class MergePage(Answer):
    """Merges by name."""

    merges: tuple[MergeAnswer, ...]
    """The page."""
    next_cursor: str | None = None
    """Send it as `cursor` for the next page; absent on the last."""
