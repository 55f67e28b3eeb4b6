"""Say in our own words what pydantic found wrong with a body."""

from collections.abc import Iterable, Sequence

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ecphoria.wire.problem import FieldProblem

__all__ = ["TOLD", "field_problems", "pointer", "saying", "told"]

TOLD = 10
"""Faults of a body that are told, each with its place."""

_LISTED = 100
"""Faults above which none is looked at: a batch may hold a thousand such items."""

_SAYINGS = {
    "missing": "This field is required.",
    "string_unicode": "The name of a field is not well-formed Unicode.",
    "extra_forbidden": "There is no such field; check its spelling.",
    "timezone_aware": "Add an offset, such as Z: 2026-03-01T09:30:00Z.",
}


def field_problems(errors: Iterable[ErrorDetails], root: str) -> tuple[FieldProblem, ...]:
    """Describe validation errors of a body, each field once.

    Args:
        errors: As pydantic lists them.
        root: Where the pointers begin.
    """
    found: dict[str, FieldProblem] = {}
    for error in errors:
        place = pointer(error["loc"], root)
        found.setdefault(place, FieldProblem(pointer=place, detail=saying(error)))
    return tuple(found.values())


def told(invalid: ValidationError, root: str) -> tuple[FieldProblem, ...]:
    """Describe the first faults of a body; of very many only their number."""
    if invalid.error_count() > _LISTED:
        detail = f"This has {invalid.error_count():,} faults; send what the API describes."
        return (FieldProblem(pointer=root, detail=detail),)
    return field_problems(invalid.errors(), root)[:TOLD]


def saying(error: ErrorDetails) -> str:
    """Describe a validation error without repeating what was sent."""
    if error["type"] == "too_long":
        return f"Send at most {error['ctx']['max_length']:,} in one call, and several calls."
    return _SAYINGS.get(error["type"], error["msg"].removeprefix("Value error, "))


def pointer(parts: Sequence[int | str], root: str) -> str:
    """Write a JSON pointer (RFC 6901) that is always well-formed Unicode."""
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return "/".join((root, *escaped)).encode("utf-8", "replace").decode("utf-8")
