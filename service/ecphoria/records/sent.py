"""What a trace keeps of a question."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from ecphoria.records.answered import answered
from ecphoria.records.episode import MetadataCondition
from ecphoria.records.ids import EpisodeId


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class TracedFilters:
    """The filters of a recall as they were sent."""

    session: str | None = None
    """Only this session."""
    sessions: tuple[str, ...] = ()
    """Only these sessions."""
    speaker: str | None = None
    """Only this speaker."""
    role: str | None = None
    """Only speakers of this role."""
    occurred_from: datetime | None = None
    """Only what occurred then or later."""
    occurred_before: datetime | None = None
    """Only what occurred before."""
    exclude: tuple[EpisodeId, ...] = ()
    """Memories that were left out."""
    metadata: Mapping[str, MetadataCondition] = field(default_factory=dict)
    """Conditions on the metadata."""
