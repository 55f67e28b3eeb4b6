import pytest

from ecphoria.errors import (
    Conflict,
    EcphoriaError,
    InvalidInput,
    Misconfigured,
    StoreUnavailable,
    Timeout,
)
from ecphoria.jobs.worker import Attempts, fault_of
from ecphoria.records.job import JobState


@pytest.mark.parametrize("error", [StoreUnavailable(), Timeout(), EcphoriaError(), ValueError()])
def test_pauses_double_until_the_last_attempt(error: Exception) -> None:
    retries = Attempts(limit=4, first_pause_s=5, longest_pause_s=15)
    decisions = [retries.after(attempt, error) for attempt in range(1, 6)]
    assert decisions == [5, 10, 15, JobState.DEAD, JobState.DEAD]


@pytest.mark.parametrize("error", [InvalidInput(), Conflict(), Misconfigured()])
def test_what_is_refused_is_not_tried_again(error: Exception) -> None:
    assert Attempts().after(1, error) is JobState.FAILED


def test_only_a_job_begun_more_often_than_allowed_is_not_run() -> None:
    assert [Attempts(limit=2).exhausted(attempts) for attempts in (1, 2, 3)] == [
        False, False, True
    ]  # fmt: skip


def test_the_pause_stays_bounded_however_often_it_failed() -> None:
    retries = Attempts(limit=10_000)
    assert retries.after(9_999, StoreUnavailable()) == 3_600


def test_a_foreign_error_is_told_by_its_class_alone() -> None:
    fault = fault_of(ValueError("a memory's text"))
    assert fault.code == "internal"
    assert "ValueError" in fault.message
    assert "memory" not in fault.message
    assert fault_of(Timeout("too slow")).message == "too slow"
