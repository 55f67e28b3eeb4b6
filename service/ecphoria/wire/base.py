"""Base of all bodies, and problem documents (RFC 9457)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any, Final, Generic, Self, TypeVar, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError

from ecphoria.errors import EcphoriaError, ErrorField
from ecphoria.records.answered import describe
from ecphoria.records.asked import LISTED, read_named
from ecphoria.records.ids import ID_FORM


class Body(BaseModel):
    """A body of the API; the text under a field describes it.

    It is built when it is first used, because a command uses few of them; see `build_all`.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Write the schema with the texts of the fields."""
        schema = handler(core_schema)
        describe(handler.resolve_ref_schema(schema), cls)
        return schema


class Request(Body):
    """A body sent by a caller; an unknown field is refused, so that a typo is not lost."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="wrap")
    @classmethod
    def _read(cls, value: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        return read_named(value, read, cls)


class Patch(Request):
    """A change of what is stored: a field sent as null is reset, one that is not sent stays."""


class Parameters(Request):
    """Parameters of an address; they come as text, so numbers are read from it."""


class Answer(Body):
    """A body sent by the service; made from model values by attribute.

    Unknown fields are ignored, so that an older client reads a newer service.
    """

    model_config = ConfigDict(extra="ignore", from_attributes=True)


BOOKMARKS_HEADER: Final = "Ecphoria-Bookmarks"
"""Header with the bookmarks of a caller's writes, separated by commas (decision 0115)."""

LARGEST_PAGE: Final = 1_000
PageSize = Annotated[int, Field(ge=1, le=LARGEST_PAGE)]

IdCursor = Annotated[str, Field(pattern=rf"^[0-9]{{1,18}}\.{ID_FORM}$")]
"""Cursor of a list in the order of a time: that time and an id; opaque text to a caller."""
PlaceCursor = Annotated[str, Field(pattern=r"^-?[0-9]{1,18}\.")]
"""Cursor of a list in another order: a number and a name; opaque text to a caller."""


def place_of(cursor: str | None) -> tuple[int, str] | None:
    """Read a cursor: a number and a name."""
    if cursor is None:
        return None
    number, _, name = cursor.partition(".")
    return int(number), name


_Listed = TypeVar("_Listed")
_Row = TypeVar("_Row")


def _turn_of(cursor: object) -> int:
    # The number of a turn; 18 digits fit into Neo4j's integers.
    if isinstance(cursor, str) and cursor.isascii() and cursor.isdigit() and len(cursor) <= 18:
        return int(cursor)
    raise PydanticCustomError("cursor", "the cursor is not one that a page gave")


TurnCursor = Annotated[
    int, BeforeValidator(_turn_of), WithJsonSchema({"type": "string", "pattern": "^[0-9]{1,18}$"})
]
"""Cursor of a list in the order of append; opaque text to a caller."""


class TurnPage(Parameters):
    """A page of a list in the order of append."""

    cursor: TurnCursor | None = None
    """`next_cursor` of the page before."""
    limit: PageSize = 100
    """Size of the page."""


class Listing(Answer, Generic[_Listed]):
    """A list, whole or a page of it."""

    items: tuple[_Listed, ...]
    """The items, in the order that the call names."""
    next_cursor: str | None = None
    """Send it as `cursor` for the next page; null on the last, and in a list without pages."""

    @classmethod
    def cut(cls, found: Sequence[_Row], limit: int, cursor: Callable[[_Row], str]) -> Self:
        """Make a page of rows, which are one more than `limit` if there is a next page.

        The rows may have fields that are not sent, such as their place in the list. `cursor`
        writes the cursor of the page that begins after a row.
        """
        page = found[:limit]
        after = cursor(page[-1]) if len(found) > limit else None
        return cls(items=cast("tuple[_Listed, ...]", tuple(page)), next_cursor=after)


PROBLEM_JSON = "application/problem+json"
_PREFIX = "/errors/"


class FieldProblem(Answer):
    """One field that cannot be used."""

    pointer: str
    """JSON pointer into the body (`#/filters/session`), or `query:NAME`, `header:NAME`."""
    detail: str
    """The fault and its remedy; never the value that was sent."""


class Problem(Answer):
    """A problem document: why a request failed, and what to do."""

    type: str
    """Address of the error's page on this service: `/errors/CODE`."""
    title: str
    """The error's name, the same on every occurrence."""
    status: int
    """The HTTP status, repeated."""
    detail: str
    """The failure and its remedy."""
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


_Class = TypeVar("_Class")


def with_subclasses(kind: type[_Class]) -> Iterator[type[_Class]]:
    """Walk a class and all its subclasses, every class before its own."""
    waiting = [kind]
    while waiting:
        found = waiting.pop(0)
        yield found
        waiting.extend(found.__subclasses__())


def build_all() -> None:
    """Build every body now; a service does so at its start, not in a request."""
    for body in with_subclasses(Body):
        body.model_config["defer_build"] = False
        body.model_rebuild()


def error_classes() -> Iterator[type[EcphoriaError]]:
    """Walk the exception tree, every class before its subclasses."""
    return with_subclasses(EcphoriaError)


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


TOLD = 10
"""Faults of a body that are told, each with its place."""

_SAYINGS = {
    "missing": "This field is required.",
    "string_unicode": "The name of a field is not well-formed Unicode.",
    "extra_forbidden": "There is no such field; check its spelling.",
    "unexpected_keyword_argument": "There is no such field; check its spelling.",
    "timezone_aware": "Add an offset, such as Z: 2026-03-01T09:30:00Z.",
    "datetime_from_date_parsing": "Send an ISO 8601 instant such as 2026-03-01T09:30:00Z.",
    "datetime_parsing": "Send an ISO 8601 instant such as 2026-03-01T09:30:00Z.",
    "frozen_set_type": "Send a list.",
    "list_type": "Send a list.",
    "tuple_type": "Send a list.",
    "dataclass_type": "Send a JSON object.",
    "dict_type": "Send a JSON object.",
    "model_attributes_type": "Send a JSON object.",
    "model_type": "Send a JSON object.",
}


def field_problems(errors: Iterable[ErrorDetails], root: str) -> tuple[FieldProblem, ...]:
    """Describe validation errors of a body, each field once; the pointers begin with `root`."""
    found: dict[str, FieldProblem] = {}
    for error in errors:
        place = pointer(error["loc"], root)
        if error["type"] == "too_short" and any(one.startswith(f"{place}/") for one in found):
            continue  # a list with a wrong item is called too short too
        found.setdefault(place, FieldProblem(pointer=place, detail=saying(error)))
    return tuple(found.values())


def first_problems(invalid: ValidationError, root: str) -> tuple[FieldProblem, ...]:
    """Describe the first faults of a body; of very many only their number."""
    if invalid.error_count() > LISTED:
        detail = f"This has {invalid.error_count():,} faults; send what the API describes."
        return (FieldProblem(pointer=root, detail=detail),)
    return field_problems(invalid.errors(), root)[:TOLD]


def saying(error: ErrorDetails) -> str:
    """Describe a validation error without the content sent."""
    if error["type"] == "too_long":
        return f"Send at most {error['ctx']['max_length']:,} in one call, and several calls."
    if error["type"] == "too_short":
        return f"Send at least {error['ctx']['min_length']:,}."
    return _SAYINGS.get(error["type"], error["msg"].removeprefix("Value error, "))


def pointer(parts: Sequence[int | str], root: str) -> str:
    """Write a JSON pointer (RFC 6901) that is always well-formed Unicode."""
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return "/".join((root, *escaped)).encode("utf-8", "replace").decode("utf-8")
