"""The structure of a model's answer: asked for strictly, read with patience.

The schema that the model is shown requires every field and allows no other. A fault of one item
of a list costs that item; null is as good as absent, and further fields are ignored.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, SkipJsonSchema
from pydantic_core.core_schema import WithDefaultSchema

_THOUGHT: Final = "</think>"
_OPENER: Final = re.compile(r"\{(?=\s*[\"}])|\[(?=\s*[\[{])")
"""What can begin an object, or a list of objects."""
_LAST_COMMA: Final = re.compile(r'(?P<text>"(?:[^"\\]|\\.)*")|,(?=\s*[]}])', re.DOTALL)
_NUMBERED: Final = re.compile(r"[^\d-]{0,12}(\d{1,9})[^\d-]{0,3}")
"""A number as the prompt shows it, such as `[3]`, or with a word before it."""
_COUNTED_AT_ONCE: Final = 64
_READ_AGAIN: Final = 16
"""How often an answer may be read over, on average, in search of what fits in it."""


class Structure(BaseModel):
    """The base of an answer's structure; a field with a default may be absent or null."""

    model_config = ConfigDict(
        extra="ignore",
        hide_input_in_errors=True,
        coerce_numbers_to_str=True,
        json_schema_extra={"additionalProperties": False},
        json_schema_serialization_defaults_required=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _leave_nulls_out(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        known = {name: value[name] for name in cls.model_fields if name in value}
        if not known:
            raise ValueError("has none of the fields")
        return {name: _readable(given) for name, given in known.items() if given is not None}

    @classmethod
    def schema_asked_for(cls) -> JsonSchemaValue:
        """Give the schema for the model: every field is required."""
        return cls.model_json_schema(mode="serialization", schema_generator=_WithoutDefaults)


def _readable(value: Any) -> Any:
    """Replace halves of surrogate pairs, which JSON can escape and no text can hold."""
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


class _WithoutDefaults(GenerateJsonSchema):
    """Leaves out defaults, which endpoints refuse in a strict schema."""

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


_Item = TypeVar("_Item")
_Shape = TypeVar("_Shape", bound=Structure)


def _none_if_bad(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    try:
        return read(value)
    except ValidationError:
        return None


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


Items = Annotated[
    list[Annotated[_Item | SkipJsonSchema[None], WrapValidator(_none_if_bad)]],
    BeforeValidator(_as_list),
]
"""A list in which an item that does not fit is None."""


def _bare(value: Any) -> Any:
    found = _NUMBERED.fullmatch(value) if isinstance(value, str) else None
    return found[1] if found else value


Number = Annotated[int, BeforeValidator(_bare)]
"""The number of a memory or a turn, also in the brackets of the prompt."""
Perhaps = Annotated[_Item | None, WrapValidator(_none_if_bad)]
"""A value that is None if it is absent or does not fit."""


def read_answer(text: str, shape: type[_Shape]) -> _Shape:
    """Read the last JSON value in a text that fits a structure, wherever it stands.

    What a model thought aloud before its answer is looked at only if nothing else fits; after
    that, the answer without commas that end a list or an object, and a text that JSON encodes.

    Raises:
        ValidationError: Nothing fits; the error is that of the last value.
    """
    error: ValidationError | None = None
    for part in _readings(text):
        for value in reversed([*_values(part)]):
            try:
                return _fitted(value, shape)
            except ValidationError as fault:
                error = error or fault
    if error is not None:
        raise error
    return shape.model_validate(None)


def _readings(text: str) -> Iterator[str]:
    """Give the texts in which to look for the answer, one after the other."""
    said = text[text.rfind(_THOUGHT) + len(_THOUGHT) :] if _THOUGHT in text else text
    yield said
    if said != text:
        yield text
    if (without := _without_last_commas(said)) != said:
        yield without
    yield _encoded(said)


def _fitted(value: dict[str, Any] | list[Any], shape: type[_Shape]) -> _Shape:
    """Read an object, one in a list of its own, or the list that is all an object would have."""
    if isinstance(value, dict):
        return shape.model_validate(value)
    try:
        return shape.model_validate(value[0] if len(value) == 1 else None)
    except ValidationError:
        if len(shape.model_fields) > 1:
            raise
        (name,) = shape.model_fields
        found = shape.model_validate({name: value})
        if not any(getattr(found, name)):
            raise
        return found


def _without_last_commas(text: str) -> str:
    return _LAST_COMMA.sub(lambda found: found["text"] or "", text)


def _encoded(text: str) -> str:
    """Decode a text of JSON that is nothing but a text in quotation marks."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""


def _values(text: str) -> Iterator[dict[str, Any] | list[Any]]:
    """Decode the objects and lists in a text that lie in no other, in their order.

    The work is bounded: braces that open nothing cost what was read in vain behind them.
    """
    read = json.JSONDecoder(strict=False).raw_decode
    left = _READ_AGAIN * len(text)
    end = 0
    while left > 0 and (opener := _OPENER.search(text, end)):
        at = opener.start()
        try:
            value, end = read(text, at)
        except json.JSONDecodeError as fault:
            # The decoder also counts the lines up to the fault.
            left -= fault.pos - at + 1 + fault.pos // _COUNTED_AT_ONCE
            end = at + 1
        except (RecursionError, ValueError):  # too deep, or a number of too many digits
            left -= len(text) - at
            end = at + 1
        else:
            yield value


class ObjectsAsTheyCome:
    """Tells each whole object inside the outer one while an answer comes, in linear time."""

    def __init__(self, told: Callable[[str], None]) -> None:
        self._told = told
        self._depth = 0
        self._in_string = self._is_escaped = False
        self._begun: list[str] = []
        self._is_open = False

    def feed(self, piece: str) -> None:
        """Take the next piece."""
        start = 0
        for at, sign in enumerate(piece):
            if self._in_string:
                self._read_string(sign)
            elif sign == '"':
                self._in_string = self._depth > 0
            elif sign == "{":
                self._depth += 1
                if self._depth == _INNER:
                    start, self._is_open = at, True
            elif sign == "}":
                if self._depth == _INNER:
                    self._told("".join((*self._begun, piece[start : at + 1])))
                    self._begun, self._is_open = [], False
                self._depth = max(self._depth - 1, 0)
        if self._is_open:
            self._begun.append(piece[start:])

    def _read_string(self, sign: str) -> None:
        if self._is_escaped:
            self._is_escaped = False
        elif sign == "\\":
            self._is_escaped = True
        elif sign == '"':
            self._in_string = False


_INNER: Final = 2
"""Depth of the objects that are told: those inside the outer one."""
