import pytest

from ecphoria.errors import Conflict, EcphoriaError, TooLarge
from ecphoria.wire.base import FieldProblem, Problem, error_classes, error_from, problem_type


@pytest.mark.parametrize("cls", list(error_classes()), ids=lambda cls: cls.__name__)
def test_every_error_survives_the_wire(cls: type[EcphoriaError]) -> None:
    problem = Problem(
        type=problem_type(cls.code), title="t", status=500, detail="do that", request_id="r"
    )
    error = error_from(Problem.model_validate_json(problem.model_dump_json()))
    assert type(error) is cls
    assert error.message == "do that"
    assert error.fields == {"request_id": "r"}


def test_codes_are_unique() -> None:
    codes = [cls.code for cls in error_classes()]
    assert len(set(codes)) == len(codes)


def test_fields_and_pointer_come_back() -> None:
    problem = Problem(
        type=problem_type("too-large"),
        title="t",
        status=413,
        detail="d",
        errors=(FieldProblem(pointer="#/text", detail="d"),),
        fields={"limit": 200_000},
    )
    error = error_from(problem)
    assert isinstance(error, TooLarge)
    assert error.fields == {"limit": 200_000, "field": "#/text"}


def test_an_unknown_type_from_a_newer_service_is_still_an_error() -> None:
    error = error_from(Problem(type="/errors/new-kind", title="t", status=418, detail="d"))
    assert type(error) is EcphoriaError


def test_a_type_given_as_full_address_is_understood() -> None:
    error = error_from(
        Problem(type="https://memory.example/errors/conflict", title="t", status=409, detail="d")
    )
    assert type(error) is Conflict
