"""The mark of the records that the API takes as they are, and the types of their fields."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from math import isfinite
from typing import Annotated, Any, Final, TypeVar

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    JsonValue,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic.config import JsonDict
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import (
    CoreSchema,
    ErrorDetails,
    InitErrorDetails,
    PydanticCustomError,
    PydanticSerializationError,
    core_schema,
)

from ecphoria.errors import InvalidInput
from ecphoria.records.answered import adapter, describe
from ecphoria.records.conditions import OPERATORS, check_condition
from ecphoria.records.forms import composed

ROLES: Final = ("user", "assistant", "tool", "system")
"""Roles that a speaker or an asker may have, as the API names them."""

# Sizes and counts of a body are bounded, because a stranger may send any
# (docs/explanation/threats.md).
_MOST_FIELDS: Final = 1_000
"""Fields of an object in a body. Above that each would only be refused one by one."""
_MOST_ITEMS: Final = 10_000
"""Items of a list in a body; more than any list may have."""
LISTED: Final = 100
"""Faults above which none is looked at: a batch may hold a thousand such items."""
_GUESSED: Final = 3
"""Unknown fields of an object for which a near one is looked for; each takes some 50 us."""
_UNKNOWN: Final = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
"""Types of the fault of a field that does not exist: of a model, and of a record."""
_ALSO: Final = "__ecphoria_also__"
"""Attribute with the other names of fields."""
_HALF: Final = "Holds half of a surrogate pair; send well-formed Unicode"
_BOUNDS: Final = ("type", "minimum", "maximum")
"""Members of a description that bound a value."""
_SYNONYMS: Final = (
    {"cue", "query", "question", "q"},
    {"k", "limit", "top_k", "n", "max_results"},
    {"text", "content", "message", "body"},
    {"speaker", "author", "user", "name"},
    {"session", "session_id", "thread_id", "run_id", "conversation_id"},
    {"occurred_at", "timestamp", "date", "created_at"},
    {"occurred_from", "after", "since", "from", "start", "start_time"},
    {"occurred_before", "before", "until", "to", "end", "end_time"},
)
"""Names that other products give to one field; a name of ours is among each."""
_OWNERS: Final = {"user_id", "group_id"}
"""Names that other products give to the owner of memories, which is no speaker here."""

_Record = TypeVar("_Record", bound=type)
_Made = TypeVar("_Made")
_Value = TypeVar("_Value")
_Place = tuple[int | str, ...]


def asked(
    *examples: JsonDict, also: Mapping[str, str] | None = None
) -> Callable[[_Record], _Record]:
    """Let the API take a record as a body, and describe each field by the text under it.

    A field that the record does not have is refused. `examples` are bodies that work; `also` has
    other names of fields, with the field of each.
    """
    others = also or {}

    def tell(schema: JsonDict, record: type) -> None:
        describe(schema, record)
        properties = schema.get("properties", {})
        assert isinstance(properties, dict), "a record has fields"
        for other, name in others.items():
            properties[other] = {
                "anyOf": _with_null(properties[name]),
                "description": f"Another name of `{name}`.",
            }
        if examples:
            schema["examples"] = [*examples]

    def schema_of(_: type, source: type[Any], handler: GetCoreSchemaHandler) -> CoreSchema:
        def read(value: Any, inner: ValidatorFunctionWrapHandler) -> Any:
            return _read_by_any_name(value, inner, source, others)

        return core_schema.no_info_wrap_validator_function(read, handler(source))

    def mark(record: _Record) -> _Record:
        marked: Any = record
        setattr(marked, _ALSO, others)
        marked.__pydantic_config__ = ConfigDict(extra="forbid", json_schema_extra=tell)
        marked.__get_pydantic_core_schema__ = classmethod(schema_of)
        return record

    return mark


def read_as(kind: type[_Made], value: object) -> _Made:
    """Read a value as a record that the API takes; pydantic's ValidationError if it is none."""
    made: _Made = adapter(kind).validate_python(value)
    return made


def to_body(record: object, *, whole: bool = False) -> bytes:
    """Write a record or a model as a body.

    With `whole`, also write the fields that were set to their default; a change needs them.

    Raises:
        InvalidInput: A field holds what JSON cannot write.
    """
    try:
        return adapter(type(record)).dump_json(
            record, exclude_unset=True, exclude_defaults=not whole, warnings=False
        )
    except PydanticSerializationError as fault:
        raise InvalidInput(
            f"A field of the {type(record).__name__} cannot be sent: {fault}"
        ) from fault


def read_named(value: Any, read: Callable[[Any], _Made], kind: type) -> _Made:
    """Read a body; name the field that an unknown one was probably meant for.

    Raises:
        ValidationError: Lists the faults with their places.
    """
    if not isinstance(value, dict):
        return read(value)
    _check_size(value)
    try:
        made = read(value)
    except ValidationError as invalid:
        raise _with_guesses(invalid, kind) from None
    halves = [
        ((name,), PydanticCustomError("unicode", _HALF))
        for name in named(kind)
        if not _is_well_formed(getattr(made, name))
    ]
    if halves:
        raise faults_at(halves)
    return made


def named(kind: type) -> Mapping[str, Any]:
    """List the fields of a body, with their types."""
    if is_dataclass(kind):
        return {each.name: each.type for each in fields(kind) if not _is_inner(each.type)}
    assert issubclass(kind, BaseModel), "a body is a record or a model"
    return {name: field.annotation for name, field in kind.model_fields.items()}


def faults_at(faults: Iterable[tuple[_Place, PydanticCustomError]]) -> ValidationError:
    """Make the error of a body from faults and their places in it."""
    return ValidationError.from_exception_data(
        "body", [InitErrorDetails(type=fault, loc=place, input=None) for place, fault in faults]
    )


def _with_null(described: JsonValue) -> JsonValue:
    """Describe the same values, and null for none."""
    assert isinstance(described, dict), "a field's description"
    bounds: JsonValue = {name: described[name] for name in _BOUNDS if name in described}
    return described.get("anyOf") or [bounds, {"type": "null"}]


def _read_by_any_name(
    value: Any, read: Callable[[Any], _Made], kind: type, others: Mapping[str, str]
) -> _Made:
    """Read a body in which fields may have another name; faults tell the name that was sent."""
    if not isinstance(value, dict) or others.keys().isdisjoint(value):
        return read_named(value, read, kind)
    given = {name: part for name, part in value.items() if name not in others}
    sent: dict[int | str, str] = {}
    for other, name in others.items():
        part = value.get(other)
        if part is not None and given.setdefault(name, part) != part:
            saying = f"`{name}` and `{other}` are names of one field; send one of them."
            raise faults_at([((other,), PydanticCustomError("two_values", saying))])
        if name not in value:
            sent[name] = other
    try:
        return read_named(given, read, kind)
    except ValidationError as invalid:
        raise faults_at(
            (
                tuple(sent.get(step, step) for step in error["loc"][:1]) + error["loc"][1:],
                _told_again(error, None),
            )
            for error in invalid.errors()
        ) from None


def _check_size(value: dict[Any, Any]) -> None:
    """Refuse what is far too long at once: to list every fault of it would take minutes."""
    _bound("object", value, _MOST_FIELDS)
    for part in value.values():
        if isinstance(part, list):
            _bound("list", part, _MOST_ITEMS)
        elif isinstance(part, dict):
            _bound("object", part, _MOST_FIELDS)


def _bound(kind: str, value: Sized, most: int) -> None:
    if len(value) > most:
        raise PydanticCustomError(
            "too_long",  # pydantic's own type of this fault
            "A {kind} may have {max_length} parts.",
            {"kind": kind, "max_length": most},
        )


def _is_well_formed(value: object) -> bool:
    """Tell whether UTF-8 can write it; JSON's escapes can spell more, nothing can store it."""
    try:
        for text in _texts(value):
            text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(key)
            yield from _texts(inner)
    elif isinstance(value, tuple | list | frozenset):
        for inner in value:
            yield from _texts(inner)


def _with_guesses(invalid: ValidationError, kind: type) -> ValidationError:
    """Name the fields that unknown ones were probably meant for."""
    if invalid.error_count() > LISTED:
        return invalid
    errors = invalid.errors()
    unknown = [error["loc"] for error in errors if error["type"] in _UNKNOWN]
    own = [place for place in unknown if len(place) == 1][:_GUESSED]
    meant: dict[_Place, str | None] = {place: _hint(str(place[0]), kind) for place in own}
    if not any(meant.values()):
        return invalid
    return faults_at(
        (error["loc"], _told_again(error, meant.get(error["loc"]))) for error in errors
    )


def _told_again(error: ErrorDetails, hint: str | None) -> PydanticCustomError:
    if hint is not None:
        saying = "There is no such field; {hint}"
        return PydanticCustomError("unknown_field", saying, {"hint": hint})
    # Braces are those of a template only for names of the context.
    return PydanticCustomError(error["type"], error["msg"], error.get("ctx"))


def _hint(name: str, kind: type) -> str | None:
    """Tell what an unknown field was probably meant for."""
    if name.lower() in _OWNERS:
        return "each user has a tenant of its own, chosen by the key or the tenant of the call."
    near = _near_field(name, kind)
    return None if near is None else f"did you mean `{near}`?"


def _near_field(name: str, kind: type) -> str | None:
    """Find the field of a body, or of a part of it, that a name was probably meant for."""
    places = {field: field for field in (*named(kind), *getattr(kind, _ALSO, ()))}
    for field, part in named(kind).items():
        if hasattr(part, "__pydantic_config__") or hasattr(part, "model_fields"):
            for inner in named(part):
                places.setdefault(inner, f"{field}.{inner}")
    same = next((names for names in _SYNONYMS if name.lower() in names), set[str]())
    close = get_close_matches(name.lower(), places, 1)
    likely = (name, name.lower(), *(field for field in places if field in same), *close)
    return next((places[field] for field in likely if field in places), None)


def _only_text(value: object) -> object:
    """Refuse numbers, which would silently be read as seconds since 1970."""
    if isinstance(value, datetime) or (isinstance(value, str) and not _is_number(value)):
        return value
    raise ValueError("Send an ISO 8601 instant such as 2026-03-01T09:30:00Z")


def in_utc(value: object) -> object:
    """Read a date or a time without an offset in UTC; leave all else as it is (decision 0101)."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return value
    if isinstance(found, datetime) and found.tzinfo is None:
        return found.replace(tzinfo=UTC)
    return value


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


def told_as(sentence: str) -> WrapValidator:
    """Tell every fault of a value by one sentence: else a union tells one for each member."""

    def check(value: object, read: ValidatorFunctionWrapHandler) -> object:
        try:
            return read(value)
        except ValidationError:
            raise ValueError(sentence) from None

    return WrapValidator(check)


def _flat(value: object) -> object:
    """Refuse at once what the union would refuse once for each of its members."""
    if isinstance(value, str):
        return composed(value)
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("Is no finite number; leave it out.")
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
    Mapping[str, str | int | float | bool],
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
Share = Annotated[StrictFloat, Field(ge=0, le=1, allow_inf_nan=False)]
"""A share, a probability or a trust."""
FewFaults: Any = Field(fail_fast=True)
"""On a list: the first item that cannot be read ends the reading of it."""
Numbers = Annotated[tuple[StrictFloat, ...], FewFaults]
"""A vector."""


def with_repeats(schema: JsonDict) -> None:
    """Describe a set of which an item may be sent twice."""
    schema.pop("uniqueItems", None)


class _Inner:
    """The mark of a field that no caller may send."""


def _refuse(_: object) -> object:
    raise PydanticCustomError("extra_forbidden", "There is no such field")


Inner = Annotated[
    _Value, _Inner(), BeforeValidator(_refuse), Field(exclude=True), SkipJsonSchema()
]
"""A field that the service fills in and no caller may send; it needs a default."""


def _is_inner(kind: Any) -> bool:
    return any(isinstance(mark, _Inner) for mark in getattr(kind, "__metadata__", ()))
