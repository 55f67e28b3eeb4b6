"""Arguments of tools: their schemas, other names that callers use, and faults in plain words."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, ValidationError
from pydantic_core import ErrorDetails

from ecphoria.errors import InvalidInput
from ecphoria.mcp.texts import NAME, clipped
from ecphoria.records import asked

_TIMES: Final = {"occurred_from": "after", "since": "after", "occurred_before": "before"}
_NAMES: Final = {
    "remember": {"content": "text"},
    "recall": {"cue": "query", "question": "query", "k": "limit", **_TIMES},
    "ask": {"query": "question", "cue": "question"},
    "search": {"cue": "query", "question": "query"},
    "timeline": {"concept": "about", **_TIMES},
    "facts": {"concept": "about"},
    "why": {"trace": "trace_id"},
}
"""Names by which the REST API, the client and language models call the same, for each tool."""
_PARTS: Final = {"content": "text"}
"""The same for members of a list, such as turns in the form of messages to a language model."""
_MOST_FAULTS: Final = 3

_SAYINGS: Final = {
    "missing": "is needed",
    "too_short": "is empty; give {min_length} or more",
    "too_long": "has too many parts; give at most {max_length}",
    "string_too_long": "is too long; give at most {max_length} characters",
    "string_pattern_mismatch": "is no id; ids have 32 hexadecimal digits, as `recall` gives them",
    "greater_than_equal": "is too small; give {ge} or more",
    "less_than_equal": "is too large; give {le} or less",
    "literal_error": "is none of {expected}",
    "extra_forbidden": "is no argument; check its spelling",
    "string_type": "is no text",
    "string_unicode": "is not well-formed Unicode",
    "list_type": "is no list",
    "dict_type": "is no object",
    "model_type": "is no object",
    "model_attributes_type": "is no object",
    "finite_number": "is no finite number",
}
_INSTANT: Final = "is no instant; write it like 2026-03-14T09:30:00Z"
_KINDS: Final = {
    "int": "is no whole number that fits",
    "bool": "is neither true nor false",
    "datetime": _INSTANT,
    "date": _INSTANT,
}


Instant = Annotated[asked.Instant, BeforeValidator(asked.in_utc)]
"""A point in time, in UTC unless it has an offset."""


def read_arguments(
    tool: str, schema: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Give the arguments of a call their own names, and leave out the blank ones.

    Many models fill in an empty text or null where they have no value for an optional argument.

    Raises:
        InvalidInput: The tool has no such argument, or it is given twice with two values.
    """
    known, needed = schema["properties"], schema.get("required", ())
    other = _NAMES.get(tool, {})
    read: dict[str, Any] = {}
    for told, value in given.items():
        name = told if told in known else other.get(told, told)
        if name not in known:
            raise InvalidInput(
                f"{tool} has no argument {clipped(str(told), NAME)!r}; it has {', '.join(known)}."
            )
        if _is_blank(value) and (name not in needed or name in read):
            continue
        if not _is_blank(read.get(name)) and read[name] != value:
            names = " and ".join(f"`{one}`" for one in given if other.get(one, one) == name)
            raise InvalidInput(f"{names} are names of one argument; give one of them.")
        # One id, where a list of them is asked for.
        alone = _takes_list(known[name]) and isinstance(value, str) and value[:1] != "["
        read[name] = [value] if alone else _without_blanks(value)
    return read


def _takes_list(schema: Mapping[str, Any]) -> bool:
    return any(part.get("type") == "array" for part in (schema, *schema.get("anyOf", ())))


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _without_blanks(value: object) -> object:
    if not isinstance(value, list):
        return value
    return [
        {
            _PARTS[name] if name in _PARTS and _PARTS[name] not in item else name: part
            for name, part in item.items()
            if name == "text" or not _is_blank(part)
        }
        if isinstance(item, dict)
        else item
        for item in value
    ]


def faults_of(invalid: ValidationError) -> str:
    """Tell which arguments cannot be used and how to mend them, without the values."""
    faults = {_place(error["loc"]): _saying(error) for error in reversed(invalid.errors())}
    said = [f"`{place}` {words}." for place, words in reversed(faults.items())]
    more = (
        [f"There are {len(said) - _MOST_FAULTS} more faults."] if len(said) > _MOST_FAULTS else []
    )
    return " ".join(said[:_MOST_FAULTS] + more)


def _place(parts: Sequence[int | str]) -> str:
    return clipped(".".join(map(str, parts)), NAME)


def _saying(error: ErrorDetails) -> str:
    kind = error["type"]
    words = _SAYINGS.get(kind) or _KINDS.get(kind.partition("_")[0])
    if words is None:
        return "cannot be used: " + error["msg"].removeprefix("Value error, ").rstrip(".")
    return words.format(**error.get("ctx", {}))


def inlined(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Write a JSON schema without `$ref`, `$defs` and made-up titles.

    Not every client of MCP follows references.

    >>> inlined({"$defs": {"A": {"title": "A", "type": "string"}}, "items": {"$ref": "#/$defs/A"}})
    {'items': {'type': 'string'}}
    """
    defined = schema.get("$defs", {})

    def written(part: Any, *, named: bool = False) -> Any:
        if isinstance(part, list):
            return [written(each) for each in part]
        if not isinstance(part, dict):
            return part
        if reference := part.get("$ref"):
            beside = {name: value for name, value in part.items() if name != "$ref"}
            return written(defined[reference.rpartition("/")[2]] | beside)
        # Below `properties` each key is the name of an argument, which may be `title`.
        return {
            name: written(value, named=name == "properties" and not named)
            for name, value in part.items()
            if named or not (name == "$defs" or (name == "title" and isinstance(value, str)))
        }

    return written(dict(schema))  # type: ignore[no-any-return]  # an object stays an object
