import httpx
import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from ecphoria.errors import (
    ArchiveUnavailable,
    EcphoriaError,
    InvalidInput,
    NotFound,
    StoreUnavailable,
    TooLarge,
)
from ecphoria.http.problems import PROBLEMS, install, problem_of, render
from ecphoria.telemetry import Metrics
from ecphoria.wire.base import error_classes, error_from


@pytest.mark.parametrize("cls", list(error_classes()), ids=lambda cls: cls.__name__)
def test_every_error_comes_back_from_its_problem(cls: type[EcphoriaError]) -> None:
    problem = problem_of(cls("do that", limit=3))
    assert problem.status == PROBLEMS[cls].status
    back = error_from(problem)
    assert type(back) is cls
    if problem.status < 500:
        assert back.message == "do that"
        assert back.fields == {"limit": 3}


def test_no_title_stands_for_two_errors() -> None:
    titles = [kind.title for kind in PROBLEMS.values()]
    assert len(set(titles)) == len(titles)


def test_a_fault_of_the_service_tells_nothing_of_its_inside() -> None:
    problem = problem_of(EcphoriaError("query X failed at 10.0.0.1", query="X", reason="code"))
    assert "10.0.0.1" not in problem.model_dump_json()
    assert problem.fields == {}
    assert problem_of(StoreUnavailable(query="X")).fields == {}


@pytest.mark.parametrize(
    ("field", "root", "pointer"),
    [
        ("text", "#", "#/text"),
        ("filters.session", "#", "#/filters/session"),
        ("text", "#/episodes/3", "#/episodes/3/text"),
        ("header:Ecphoria-Tenant", "#", "header:Ecphoria-Tenant"),
    ],
)
def test_a_field_becomes_a_pointer(field: str, root: str, pointer: str) -> None:
    (fault,) = problem_of(InvalidInput("send another", field=field), root).errors
    assert (fault.pointer, fault.detail) == (pointer, "send another")


def test_a_retry_is_told_when_it_helps() -> None:
    assert "Retry-After" in render(problem_of(StoreUnavailable()), "r", "/x").headers
    assert "Retry-After" not in render(problem_of(NotFound()), "r", "/x").headers


def test_folders_of_the_server_are_not_told() -> None:
    told = problem_of(ArchiveUnavailable("The archive in /srv/secret cannot be used."))
    assert "/srv" not in told.detail
    assert "archive" in told.detail


def test_a_problem_of_hopeless_text_can_still_be_sent() -> None:
    body = bytes(render(problem_of(TooLarge("\ud800")), "r", "/\udfff").body)
    assert b"\\ud800" in body


@pytest.mark.parametrize(
    ("path", "error", "event", "has_frames"),
    [
        ("/readyz", StoreUnavailable(), "not_ready", False),
        ("/readyz", EcphoriaError(), "request_failed", True),
        ("/v1/stats", StoreUnavailable(), "request_failed", True),
    ],
)
async def test_only_a_store_that_is_not_ready_is_logged_without_frames(
    path: str, error: EcphoriaError, event: str, has_frames: bool
) -> None:
    app = FastAPI()
    install(app, Metrics(CollectorRegistry()))

    @app.get(path)
    async def fail() -> None:
        raise error

    transport = httpx.ASGITransport(app)
    with capture_logs() as told:
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            assert (await client.get(path)).status_code == PROBLEMS[type(error)].status
    assert [(one["event"], "exc_info" in one) for one in told] == [(event, has_frames)]
