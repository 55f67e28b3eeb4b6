import pytest

from ecphoria.errors import (
    ArchiveUnavailable,
    EcphoriaError,
    InvalidInput,
    NotFound,
    StoreUnavailable,
    TooLarge,
)
from ecphoria.http.problems import PROBLEMS, problem_of, render
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
