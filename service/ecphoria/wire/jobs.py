"""Bodies of jobs."""

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from ecphoria.model.job import JobKind, JobState, Trigger
from ecphoria.wire.base import Answer, Instant, Request
from ecphoria.wire.consolidation import ConsolidationAnswer

__all__ = ["ConsolidationRequest", "FaultAnswer", "JobAnswer", "ProgressAnswer"]

_EXAMPLE: JsonDict = {"dry_run": True}


class ConsolidationRequest(Request):
    """Which cycle to run."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    dry_run: bool = False
    """Tell what would change, and write nothing."""
    steps: tuple[str, ...] = Field(default=(), max_length=32)
    """Steps to run, in the cycle's own order; all if empty."""


class ProgressAnswer(Answer):
    """How far a job has come."""

    place: str
    """The step and what it is at, as `prior: save episodes`; empty before the first."""
    done: int
    """Steps that ended."""
    total: int
    """Steps in all; 0 before the first."""


class FaultAnswer(Answer):
    """Why the latest attempt failed."""

    code: str
    """That of the error; `GET /errors/{code}` explains it."""
    message: str
    """What happened and what helps."""


class JobAnswer(Answer):
    """A piece of background work, as it stands."""

    id: str
    """Its id."""
    kind: JobKind
    """`consolidation`, or `dry-run`, which writes nothing."""
    state: JobState
    """`queued` (also between attempts), `running`, `done`, `cancelled`, `failed` (refused: another
    attempt would end the same) or `dead` (failed as often as it was allowed to)."""
    trigger: Trigger
    """What asked for it: `request` or `schedule`."""
    steps: tuple[str, ...]
    """Steps it runs; all if empty."""
    attempts: int
    """How often a worker began it."""
    created_at: Instant
    """When it was queued."""
    run_after: Instant | None = None
    """From when a worker may take it: the end of a pause, or of the present lease."""
    started_at: Instant | None = None
    """When it was first begun."""
    finished_at: Instant | None = None
    """When it ended."""
    cancelling: bool
    """Whether it ends at the next place it reaches."""
    progress: ProgressAnswer
    """How far it has come."""
    report: ConsolidationAnswer | None = None
    """What it did, once it is done."""
    fault: FaultAnswer | None = None
    """Why its latest attempt failed."""
