"""Bodies of the archive."""

from typing import Annotated

from pydantic import ConfigDict, Field

from ecphoria.wire.base import Answer, Request, StrictFloat

__all__ = ["ArchiveAnswer", "ArchiveRequest", "RestoreAnswer", "ScrubAnswer"]


class ArchiveRequest(Request):
    """What to archive now."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"days": 30}]})

    days: Annotated[StrictFloat, Field(ge=0, le=36_500, allow_inf_nan=False)] = 90.0
    """Only what has slept for so many days."""


class ArchiveAnswer(Answer):
    """What was archived."""

    archived: int
    """How many memories."""


class RestoreAnswer(Answer):
    """What came back from the archive; it is dormant, as it was."""

    restored: tuple[str, ...]
    """Ids of what came back."""
    damaged: tuple[str, ...]
    """Ids of what cannot: the record is missing or not as it was written."""


class ScrubAnswer(Answer):
    """What a look through the archive found."""

    records: int
    """Archived memories looked at."""
    damaged: tuple[str, ...]
    """Ids of those whose record is missing or not as it was written."""
    unreferenced: int
    """Records that no memory refers to; consolidation wipes them."""
