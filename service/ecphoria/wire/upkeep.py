"""Bodies of upkeep: jobs, consolidation, dormancy, archive, integrity."""

from typing import Annotated

from pydantic import Field

from ecphoria.records.asked import FewFaults, Key, StrictBool, StrictFloat, StrictInt
from ecphoria.records.episode import MOST_IDS, Engram, EngramKind
from ecphoria.records.job import Job, JobState
from ecphoria.records.upkeep import ArchivedMemory, Sleeper
from ecphoria.wire.base import (
    LARGEST_PAGE,
    Answer,
    Listing,
    PageSize,
    Parameters,
    Request,
    TurnPage,
)
from ecphoria.wire.settings import DormancyRequest


class ArchiveRequest(Request, json_schema_extra={"examples": [{"days": 30}]}):
    """Episodes to archive now."""

    days: Annotated[StrictFloat, Field(ge=0, le=36_500, allow_inf_nan=False)] = 90.0
    """Only memories that have been dormant for this many days."""


class ArchiveAnswer(Answer):
    """The number of archived episodes."""

    archived: int
    """Number of memories."""


class SleeperPage(Listing[Sleeper]):
    """Dormant episodes, in the order of their append."""


class PreviewRequest(
    DormancyRequest, json_schema_extra={"examples": [{"mode": "budget", "budget": 500}]}
):
    """A policy to try; what is absent is as in the tenant's settings."""

    limit: StrictInt = Field(default=100, ge=1, le=LARGEST_PAGE)
    """Most memories to list."""

    def changes(self) -> dict[str, object]:
        """Give the values of the policy that were sent."""
        return self.model_dump(exclude={"limit"}, exclude_none=True)


class ArchivedQuery(TurnPage):
    """Filter and page of archived episodes."""

    session: Key | None = None
    """Only those of this session."""
    speaker: Key | None = None
    """Only those of this speaker, in any case of letters."""


class ArchivedPage(Listing[ArchivedMemory]):
    """Archived episodes, in the order of their append."""


class IdsRequest(
    Request, json_schema_extra={"examples": [{"ids": ["0b6e2f7c9d4a4c1f8e3b5a7d9c0e1f2a"]}]}
):
    """Episodes by id."""

    ids: Annotated[tuple[str, ...], FewFaults] = Field(min_length=1, max_length=MOST_IDS)
    """At most 1,000."""


class IdsAnswer(Answer):
    """The episodes that were changed, without unknown ones and those in that state already."""

    ids: tuple[str, ...]
    """Their ids."""


class EngramQuery(Parameters):
    """Filter and page of engrams."""

    kind: EngramKind | None = None
    """Only those of sessions, or of clusters."""
    cursor: str | None = None
    """`next_cursor` of the page before."""
    limit: PageSize = 100
    """Size of the page."""


class EngramPage(Listing[Engram]):
    """Engrams by id."""


class ConsolidationRequest(Request, json_schema_extra={"examples": [{"dry_run": True}]}):
    """The cycle to run."""

    dry_run: StrictBool = False
    """Tell what would change, and write nothing."""
    steps: tuple[str, ...] = Field(default=(), max_length=32)
    """Steps to run, in the cycle's own order; all if empty."""


class JobQuery(Parameters):
    """Filter and length of the list of jobs."""

    state: JobState | None = None
    """Only those in this state."""
    limit: PageSize = 100
    """Most jobs to list."""


class JobList(Listing[Job]):
    """Jobs, the newest first."""
