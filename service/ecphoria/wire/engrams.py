"""Bodies of engrams."""

from pydantic import Field

from ecphoria.model.engram import EngramKind
from ecphoria.wire.base import Answer, Instant, Parameters

__all__ = ["EngramAnswer", "EngramPage", "EngramQuery"]


class EngramAnswer(Answer):
    """What a session, or a cluster of memories that are alike, came to."""

    id: str
    """Its id, a hash of what it is of: the same members have the same."""
    kind: EngramKind
    """`session` or `cluster`."""
    session: str | None = None
    """The session; absent for a cluster."""
    summary: str
    """A few lines."""
    members: int
    """How many memories it stands for."""
    evidence: tuple[str, ...]
    """The episodes whose words are in it, in the order they were appended."""
    method: str
    """How it was made: `extractive`, or `llm:` and the model's name."""
    recorded_at: Instant
    """When it was made."""


class EngramQuery(Parameters):
    """Which engrams to list."""

    kind: EngramKind | None = None
    """Only those of sessions, or of clusters."""
    cursor: str | None = None
    """`next_cursor` of the page before."""
    limit: int = Field(default=100, ge=1, le=1_000)
    """Size of the page."""


class EngramPage(Answer):
    """Engrams by id."""

    engrams: tuple[EngramAnswer, ...]
    """The page."""
    next_cursor: str | None = None
    """Send it as `cursor` for the next page; absent on the last."""
