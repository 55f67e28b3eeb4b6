"""Sessions: ordered streams of turns."""

from dataclasses import dataclass
from datetime import datetime

__all__ = ["Session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One stream of turns as a caller named it.

    Attributes:
        summary: Of its engram; None until consolidation has made one.
    """

    name: str
    episodes: int
    first_occurred_at: datetime
    last_occurred_at: datetime
    speakers: tuple[str, ...]
    summary: str | None = None
