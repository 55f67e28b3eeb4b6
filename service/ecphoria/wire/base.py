"""Base of all bodies, and problem documents (RFC 9457)."""

from collections.abc import Iterable, Iterator, Sequence, Sized
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Annotated, Any, Final, Generic, Self, TypeVar

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    ValidationError,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, InitErrorDetails, PydanticCustomError

from ecphoria.errors import EcphoriaError, ErrorField, InvalidInput
from ecphoria.records.answered import describe
from ecphoria.records.conditions import OPERATORS, check_condition
from ecphoria.records.episode import ROLES
from ecphoria.text.forms import composed

# Sizes and counts of a body are bounded, because a stranger may send any
# (docs/explanation/threats.md).
_MOST_FIELDS: Final = 1_000
"""Fields of an object in a body. Above that each would only be refused one by one."""
_MOST_ITEMS: Final = 10_000
"""Items of a list in a body; more than any list may have."""


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

    @model_validator(mode="before")
    @classmethod
    def _bounded(cls, value: Any) -> Any:
        """Refuse what is far too long at once: to list every fault of it would take minutes."""
        if isinstance(value, dict):
            _bound("object", value, _MOST_FIELDS)
            for part in value.values():
                if isinstance(part, list):
                    _bound("list", part, _MOST_ITEMS)
                elif isinstance(part, dict):
                    _bound("object", part, _MOST_FIELDS)
        return value

    @model_validator(mode="wrap")
    @classmethod
    def _named(cls, value: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        """Name the field that an unknown one was probably meant for."""
        try:
            return read(value)
        except ValidationError as invalid:
            if invalid.error_count() > _LISTED:
                raise
            errors = invalid.errors()
            unknown = [error["loc"] for error in errors if error["type"] == "extra_forbidden"]
            own = [place for place in unknown if len(place) == 1][:_GUESSED]
            meant: dict[tuple[int | str, ...], str | None] = {
                place: _near_field(str(place[0]), cls) for place in own
            }
            if not any(meant.values()):
                raise
            told = [
                (error["loc"], _told_again(error, meant.get(error["loc"]))) for error in errors
            ]
            raise faults_at(told) from None

    @field_validator("*", mode="after")
    @classmethod
    def _well_formed(cls, value: object) -> object:
        """Refuse what UTF-8 cannot write; JSON's escapes can spell it, nothing can store it."""
        for text in _texts(value):
            try:
                text.encode()
            except UnicodeEncodeError:
                raise ValueError(
                    "Holds half of a surrogate pair; send well-formed Unicode"
                ) from None
        return value


class Parameters(Request):
    """Parameters of an address; they come as text, so numbers are read from it."""


class Answer(Body):
    """A body sent by the service; made from model values by attribute.

    Unknown fields are ignored, so that an older client reads a newer service.
    """

    model_config = ConfigDict(extra="ignore", from_attributes=True)


_Listed = TypeVar("_Listed")


def _turn_of(cursor: object) -> int:
    # The number of a turn; 18 digits fit into Neo4j's integers.
    if isinstance(cursor, str) and cursor.isascii() and cursor.isdigit() and len(cursor) <= 18:
        return int(cursor)
    raise PydanticCustomError("cursor", "the cursor is not one that a page gave")


TurnCursor = Annotated[
    int, BeforeValidator(_turn_of), WithJsonSchema({"type": "string", "pattern": "^[0-9]{1,18}$"})
]
"""Cursor of a list in the order of append; opaque text to a caller."""


class Listing(Answer, Generic[_Listed]):
    """A list, whole or a page of it."""

    items: tuple[_Listed, ...]
    """The items, in the order that the call names."""
    next_cursor: str | None = None
    """Send it as `cursor` for the next page; null on the last, and in a list without pages."""


def _bound(kind: str, value: Sized, most: int) -> None:
    if len(value) > most:
        raise PydanticCustomError(
            "too_long",  # pydantic's own type of this fault
            "A {kind} may have {max_length} parts.",
            {"kind": kind, "max_length": most},
        )


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(key)
            yield from _texts(inner)
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from _texts(inner)


def _only_text(value: object) -> object:
    """Refuse numbers, which would silently be read as seconds since 1970."""
    if isinstance(value, datetime) or (isinstance(value, str) and not _is_number(value)):
        return value
    raise ValueError("Send an ISO 8601 instant such as 2026-03-01T09:30:00Z")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _to_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError("Lies outside the years 1 to 9999 in UTC") from None


def _with_its_offset(value: datetime) -> datetime:
    _to_utc(value)
    return value


Instant = Annotated[AwareDatetime, BeforeValidator(_only_text), AfterValidator(_to_utc)]
"""A point in time with an offset, read as UTC; a date or a time without offset is refused."""

LocalInstant = Annotated[
    AwareDatetime, BeforeValidator(_only_text), AfterValidator(_with_its_offset)
]
"""The same, with its offset kept: it tells which calendar day it was."""


def _flat(value: object) -> object:
    """Refuse at once what the union would refuse once for each of its members."""
    if isinstance(value, str):
        return composed(value)
    if isinstance(value, int | float):
        return value
    raise ValueError("Send text, a number, true or false.")


Flat = Annotated[str | int | float | bool, BeforeValidator(_flat)]
"""A value without parts, which keeps its type."""


def _condition(value: object) -> object:
    if not isinstance(value, dict):
        return _flat(value)
    if not value or not all(name.startswith("$") for name in value):
        raise ValueError('Send a value, or comparisons such as {"$gte": 4}.')
    try:
        check_condition(value)
    except InvalidInput as fault:
        raise ValueError(fault.message) from None
    return {name: _flat(other) for name, other in value.items()}


_Comparisons = Annotated[
    dict[str, str | int | float | bool],
    Field(min_length=1, json_schema_extra={"propertyNames": {"enum": [*OPERATORS]}}),
]
Condition = Annotated[str | int | float | bool | _Comparisons, BeforeValidator(_condition)]
"""A condition on a value without parts: one that it equals, or comparisons."""


def _said(value: str) -> str:
    """Refuse a name that is empty: it would look for what has no such name."""
    if not value.strip():
        raise ValueError("Is empty; leave it out, or send a name")
    return value


def _known_role(value: str) -> str:
    if value not in ROLES:
        raise ValueError(
            f"Is no role; send one of: {', '.join(ROLES)}. A human is `user`, a model `assistant`"
        )
    return value


Role = Annotated[str, AfterValidator(_known_role), Field(json_schema_extra={"enum": [*ROLES]})]
"""The role of a speaker for an agent."""

Key = Annotated[str, AfterValidator(composed)]
"""A text that is compared by its characters; a letter with an accent has one form in it."""

Name = Annotated[Key, AfterValidator(_said), Field(json_schema_extra={"pattern": r"\S"})]
"""The name of a speaker or session to filter by."""

StrictBool = Annotated[bool, Field(strict=True)]
StrictInt = Annotated[int, Field(strict=True)]
StrictFloat = Annotated[float, Field(strict=True)]
FewFaults: Any = Field(fail_fast=True)
"""On a list: the first item that cannot be read ends the reading of it."""
Numbers = Annotated[tuple[StrictFloat, ...], FewFaults]
"""A vector."""


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

_LISTED = 100
"""Faults above which none is looked at: a batch may hold a thousand such items."""

_GUESSED: Final = 3
"""Unknown fields of an object for which a near one is looked for; each takes some 50 us."""
_SYNONYMS: Final = (
    {"cue", "query", "question", "q"},
    {"k", "limit", "top_k", "n", "max_results"},
    {"text", "content", "message", "body"},
    {"speaker", "author", "user", "user_id", "name"},
    {"session", "session_id", "thread_id", "conversation_id"},
    {"occurred_at", "timestamp", "date", "created_at"},
)
"""Names that other products give to one field; a name of ours is among each."""

_SAYINGS = {
    "missing": "This field is required.",
    "string_unicode": "The name of a field is not well-formed Unicode.",
    "extra_forbidden": "There is no such field; check its spelling.",
    "timezone_aware": "Add an offset, such as Z: 2026-03-01T09:30:00Z.",
}


def faults_at(
    faults: Iterable[tuple[tuple[int | str, ...], PydanticCustomError]],
) -> ValidationError:
    """Make the error of a body from faults and their places in it."""
    return ValidationError.from_exception_data(
        "body", [InitErrorDetails(type=fault, loc=place, input=None) for place, fault in faults]
    )


def _told_again(error: ErrorDetails, near: str | None) -> PydanticCustomError:
    if near is not None:
        saying = "There is no such field; did you mean `{near}`?"
        return PydanticCustomError("unknown_field", saying, {"near": near})
    # Braces are those of a template only for names of the context.
    return PydanticCustomError(error["type"], error["msg"], error.get("ctx"))


def _near_field(name: str, body: type[Request]) -> str | None:
    """Find the field of a body, or of a part of it, that a name was probably meant for."""
    places = {field: field for field in body.model_fields}
    for field, info in body.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, Request):
            for inner in info.annotation.model_fields:
                places.setdefault(inner, f"{field}.{inner}")
    same = next((names for names in _SYNONYMS if name.lower() in names), set[str]())
    close = get_close_matches(name.lower(), places, 1)
    likely = (name, name.lower(), *(field for field in places if field in same), *close)
    return next((places[field] for field in likely if field in places), None)


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


def first_problems(invalid: ValidationError, root: str) -> tuple[FieldProblem, ...]:
    """Describe the first faults of a body; of very many only their number."""
    if invalid.error_count() > _LISTED:
        detail = f"This has {invalid.error_count():,} faults; send what the API describes."
        return (FieldProblem(pointer=root, detail=detail),)
    return field_problems(invalid.errors(), root)[:TOLD]


def saying(error: ErrorDetails) -> str:
    """Describe a validation error without the content sent."""
    if error["type"] == "too_long":
        return f"Send at most {error['ctx']['max_length']:,} in one call, and several calls."
    return _SAYINGS.get(error["type"], error["msg"].removeprefix("Value error, "))


def pointer(parts: Sequence[int | str], root: str) -> str:
    """Write a JSON pointer (RFC 6901) that is always well-formed Unicode."""
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return "/".join((root, *escaped)).encode("utf-8", "replace").decode("utf-8")
