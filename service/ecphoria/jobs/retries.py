"""What becomes of a job after an attempt failed, as a value."""

from dataclasses import dataclass

from ecphoria.errors import EcphoriaError, Unavailable
from ecphoria.model.job import JobFault, JobState

__all__ = ["Again", "Over", "Retries", "fault_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """Try once more after so many seconds."""

    pause_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Over:
    """Try no more."""

    state: JobState


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often a job is attempted, and how long it rests between.

    After attempt n, counted from 1, it rests `min(first_pause_s * 2^(n - 1), longest_pause_s)`
    seconds: 5, 10, 20, 40 with the defaults.

    Attributes:
        limit: Attempts in all.
    """

    limit: int = 5
    first_pause_s: float = 5.0
    longest_pause_s: float = 3_600.0

    def exhausted(self, attempts: int) -> bool:
        """Tell whether a job that was begun so often must not be run."""
        return attempts > self.limit

    def after(self, attempts: int, error: Exception) -> Again | Over:
        """Decide after a failure: what refuses the work would refuse it again."""
        refused = isinstance(error, EcphoriaError) and not isinstance(error, Unavailable)
        if refused and type(error) is not EcphoriaError:
            return Over(state=JobState.FAILED)
        if attempts >= self.limit:
            return Over(state=JobState.DEAD)
        pause = self.first_pause_s * 2.0 ** min(attempts - 1, 60)
        return Again(pause_s=min(pause, self.longest_pause_s))


def fault_of(error: Exception) -> JobFault:
    """Tell an error to whoever asks for the job; of a foreign one its class alone."""
    if isinstance(error, EcphoriaError):
        return JobFault(code=error.code, message=error.message)
    return JobFault(
        code=EcphoriaError.code,
        message=f"An unexpected {type(error).__name__}; the log of the worker has its frames.",
    )
