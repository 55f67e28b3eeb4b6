"""Engrams: what a session, or a cluster of memories, came to."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ecphoria.model.ids import EpisodeId

__all__ = ["Engram", "EngramKind"]


class EngramKind(StrEnum):
    """What an engram is of."""

    SESSION = "session"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True, kw_only=True)
class Engram:
    """A summary that consolidation made.

    Attributes:
        session: The session it is of; None for a cluster.
        members: How many memories it stands for.
        evidence: Those whose words are in it, in the order they were appended.
        method: How it was made: `extractive`, or `llm:` and a model's name.
    """

    id: str
    kind: EngramKind
    session: str | None
    summary: str
    members: int
    evidence: tuple[EpisodeId, ...]
    method: str
    recorded_at: datetime
