"""Problem documents (RFC 9457) and the errors they stand for."""

from collections.abc import Iterator

from pydantic import Field

from ecphoria.errors import EcphoriaError, ErrorField
from ecphoria.wire.base import Answer

__all__ = [
    "PROBLEM_JSON",
    "FieldProblem",
    "Problem",
    "code_of",
    "error_classes",
    "error_from",
    "problem_type",
]

PROBLEM_JSON = "application/problem+json"
_PREFIX = "/errors/"


class FieldProblem(Answer):
    """One field that cannot be used."""

    pointer: str
    """JSON pointer into the body (`#/filters/session`), or `query:NAME`, `header:NAME`."""
    detail: str
    """What is wrong and what to send instead; never the value that was sent."""


class Problem(Answer):
    """Why a request was not served, and what to do."""

    type: str
    """Address of the error's page on this service: `/errors/CODE`."""
    title: str
    """The error's name, the same on every occurrence."""
    status: int
    """The HTTP status, repeated."""
    detail: str
    """What happened this time and what to do."""
    instance: str | None = None
    """Path of the request."""
    request_id: str | None = None
    """The id under which the service logged the request."""
    errors: tuple[FieldProblem, ...] = ()
    """The fields at fault."""
    fields: dict[str, str | int | float | bool | tuple[str, ...] | None] = Field(
        default_factory=dict
    )
    """Values that belong to this kind of error, such as `limit`."""


def problem_type(code: str) -> str:
    """Write the `type` member for an error code."""
    return _PREFIX + code


def code_of(problem: Problem) -> str:
    """Read the error code out of the `type` member, which may be a full address."""
    return problem.type.rpartition("/")[2]


def error_classes() -> Iterator[type[EcphoriaError]]:
    """Walk the exception tree, every class before its subclasses."""
    waiting: list[type[EcphoriaError]] = [EcphoriaError]
    while waiting:
        found = waiting.pop(0)
        yield found
        waiting.extend(found.__subclasses__())


def error_from(problem: Problem) -> EcphoriaError:
    """Turn a problem back into the error the service raised; `EcphoriaError` if unknown.

    The fields of the error are those of the problem, with `request_id` and, where a field was
    at fault, `field` beside them.
    """
    code = code_of(problem)
    found = next((cls for cls in error_classes() if cls.code == code), EcphoriaError)
    fields: dict[str, ErrorField] = dict(problem.fields)
    if problem.request_id is not None:
        fields["request_id"] = problem.request_id
    if problem.errors:
        fields.setdefault("field", problem.errors[0].pointer)
    return found(problem.detail, **fields)
