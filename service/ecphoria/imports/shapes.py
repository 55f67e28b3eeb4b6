"""The shape of a JSON file, told by its first bytes: its layout and the paths of its fields."""

import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final

from ecphoria.errors import BadFile, Misconfigured, install

DEEPEST: Final = 500
"""Depth of JSON that is read; the time of a deeper document would grow with its square."""
# The library's own reader crashes the process at a number that Python does not convert.
_LONG_NUMBER: Final = re.compile(rb"(?<!\d)\d{1001}")
_DIGITS: Final = b"0123456789"
_SHOWN, _LINES, _STEP, _SMALL_STEP = 6, 50, 4_096, 64
_TELLING: Final = frozenset({"type", "role", "lc", "from", "header"})
_SHORT: Final = 24


class Layout(Enum):
    """The way in which the items of a file stand in it."""

    LIST = "a list of JSON"
    OBJECT = "an object of JSON"
    LINES = "lines of JSON"
    LINE = "a line of JSON"
    OTHER = "no JSON"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Layout of a file, and what its beginning shows.

    Attributes:
        layout: Where its items stand.
        paths: Paths of its fields, such as `messages.role`. Lists add no part to a path. For some
            fields with a short text there is also `messages.role=user`.
    """

    layout: Layout
    paths: frozenset[str]


class Bounds:
    """The depth and the length of numbers of a JSON document of which the bytes come in parts."""

    _DEPTHS: Final = {byte: 1 if byte in b"[{" else -1 for byte in b"[{]}"}
    _OTHERS: Final = bytes(byte for byte in range(256) if byte not in b"[{]}")

    def __init__(self) -> None:
        self._now, self._inside, self._carried = 0, False, b""
        self._digits = b""

    def check(self, part: bytes) -> None:
        """Take the next part.

        Raises:
            BadFile: The document is too deep, or a number has more than 1,000 digits.
        """
        text = self._carried + part
        backslashes = len(text) - len(text.rstrip(b"\\"))
        self._carried = text[len(text) - backslashes % 2 :]
        bare = text[: len(text) - backslashes % 2].replace(b"\\\\", b"").replace(b'\\"', b"")
        between = bare.split(b'"')
        outside = self._digits + b" ".join(between[self._inside :: 2])
        brackets = outside.translate(None, self._OTHERS)
        self._inside ^= len(between) % 2 == 0
        self._digits = b"" if self._inside else outside[len(outside.rstrip(_DIGITS)) :]
        depths = list(accumulate(map(self._DEPTHS.__getitem__, brackets), initial=self._now))
        self._now = depths[-1]
        if max(depths) > DEEPEST:
            raise BadFile(f"The JSON cannot be read: it is more than {DEEPEST} levels deep.")
        if _LONG_NUMBER.search(outside):
            raise BadFile("The JSON cannot be read: a number has more than 1,000 digits.")

    def sound(self, part: bytes) -> int:
        """Take a part that goes beyond the bounds; count its first bytes that do not."""
        for at in range(0, len(part), _SMALL_STEP):
            try:
                self.check(part[at : at + _SMALL_STEP])
            except BadFile:
                return at
        return len(part)


@lru_cache(maxsize=1)
def shape_of(start: bytes) -> Shape:
    """Tell the shape of a file by its first bytes, without blanks in front.

    Raises:
        BadFile: It is too deep from the beginning on, or begins with too long a number.
    """
    first = start[:1]
    if first not in (b"{", b"["):
        return Shape(layout=Layout.OTHER, paths=frozenset())
    if _is_lines(start):
        found = {path for value in _values(start) for path in _walk(value, "")}
        several = start.partition(b"\n")[2].strip() or not start.startswith(b"{")
        return Shape(layout=Layout.LINES if several else Layout.LINE, paths=frozenset(found))
    layout = Layout.LIST if first == b"[" else Layout.OBJECT
    return Shape(layout=layout, paths=frozenset(_paths(_shallow(start))))


def _shallow(start: bytes) -> bytes:
    """Cut off the beginning where it is out of bounds."""
    bounds = Bounds()
    for at in range(0, len(start), _STEP):
        try:
            bounds.check(start[at : at + _STEP])
        except BadFile:
            if at == 0:
                raise
            return start[:at]
    return start


def _is_lines(start: bytes) -> bool:
    """Tell whether each line is a value of its own.

    The first line of a printed document breaks off inside the value. A damaged line does, too, but
    not at such a place.
    """
    first, _, more = start.partition(b"\n")
    end = first.rstrip()[-1:]
    if first.startswith(b"["):
        return bool(more.strip()) and end == b"]"
    if not more.strip():
        return _value(first) is not None
    if isinstance(_value(first.rstrip(b", \r")), dict):
        return True
    return end not in b"{[,:" and more.lstrip()[:1] not in b"}]"


def has_object(start: bytes) -> bool:
    """Tell whether one of the first lines is an object, also if others are damaged."""
    return any(isinstance(value, dict) for value in _values(start))


def is_value(start: bytes) -> bool:
    """Tell whether it is a value of JSON, such as a number or a text in quotation marks."""
    try:
        json.loads(start)
    except (ValueError, RecursionError):
        return False
    return True


def _values(start: bytes) -> Iterator[Any]:
    """Read the lines that are whole."""
    for line in start.split(b"\n")[:_LINES]:
        value = _value(line)
        if value is not None:
            yield value


def _value(line: bytes) -> Any:
    """Read a line; None if it is no value."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _walk(value: Any, path: str, depth: int = 0) -> Iterator[str]:
    if depth > _SHOWN:
        return
    if isinstance(value, list):
        for item in value[:_LINES]:
            yield from _walk(item, path, depth + 1)
    elif isinstance(value, dict):
        for name, inner in value.items():
            below = f"{path}.{name}" if path else name
            yield below
            if _tells(name, inner):
                yield f"{below}={inner}"
            yield from _walk(inner, below, depth + 1)


def _paths(start: bytes) -> Iterator[str]:
    """Read the fields of a value that may break off."""
    ijson = ijson_module()
    try:
        for path, event, value in ijson.parse(io.BytesIO(start)):
            parts = [part for part in path.split(".") if part not in ("item", "")]
            name = value if event == "map_key" else ""
            if name and len(parts) <= _SHOWN:
                yield ".".join([*parts, name])
            elif parts and event == "string" and _tells(parts[-1], value):
                yield f"{'.'.join(parts)}={value}"
    except (ijson.JSONError, ValueError):
        return


def _tells(name: str, value: object) -> bool:
    return name in _TELLING and isinstance(value, str) and len(value) <= _SHORT


def ijson_module() -> Any:
    """Load the library that reads JSON as a stream; Misconfigured if it is not installed."""
    try:
        import ijson  # type: ignore[import-untyped]  # noqa: PLC0415 (extra `import`)
    except ModuleNotFoundError as missing:
        raise Misconfigured(f"Reading an export needs ijson: {install('import')}.") from missing
    return ijson
