"""Items of a JSON file: of a list, of a list inside an object, a line each, or a single one."""

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from ecphoria.errors import BadFile
from ecphoria.imports.records import MARK, LongLine, read_line, too_long, why
from ecphoria.imports.shapes import Bounds, Layout, ijson_module, shape_of
from ecphoria.imports.streams import Counted, Found, Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class FileItem:
    """A conversation, a message or a memory as it stands in a file.

    Attributes:
        value: What JSON holds there.
        number: Its number in the file, from 1; of a line, that of the line.
        name: Name of the file, for conversations without a name of their own.
        place: Where it is.
        header: Values of the object around its list that stand before it, by their paths.
    """

    value: Any
    number: int
    name: str = ""
    place: str = ""
    header: Mapping[str, Any] = field(default_factory=dict)


class _Bounded:
    """A stream of JSON that ends with a fault where the JSON is out of bounds."""

    def __init__(self, stream: Counted) -> None:
        self._stream, self._bounds = stream, Bounds()
        self._fault: BadFile | None = None

    def read(self, size: int = -1) -> bytes:
        """Read on; what stands before a fault is given first, so that it is not lost."""
        if self._fault is not None:
            raise self._fault
        before = copy(self._bounds)
        found = self._stream.read(size)
        try:
            self._bounds.check(found)
        except BadFile as fault:
            self._fault = fault
            if sound := before.sound(found):
                return found[:sound]
            raise
        return found


Take = Callable[[FileItem, Reading], Iterator[Found]]


def read_items(
    stream: Counted, name: str, take: Take, *, path: str = "", unit: str = "item"
) -> Iterator[Found]:
    """Read a file item by item; an item that cannot be read is told, and the next is read.

    `path` leads to the items inside an object, such as `results.item`; it is empty for the object.
    `unit` is what an item is called in a place.
    """
    try:
        shape = shape_of(stream.start())
    except BadFile as error:
        yield error
        return
    if shape.layout is Layout.OTHER:
        yield BadFile("The file holds no JSON, as this export does; check `--format`.")
        return
    lines = shape.layout is Layout.LINES or (shape.layout is Layout.LINE and not path)
    unit = "line" if lines else unit
    found = _lines(stream) if lines else _items(stream, shape.layout, path)
    for number, (value, header) in enumerate(found, start=1):
        stream.at(f"{unit} {number}")
        if value is None and lines:
            continue
        if isinstance(value, BadFile):
            yield value
            continue
        item = FileItem(
            value=value, number=number, name=name, place=stream.reading.place, header=header
        )
        try:
            yield from take(item, stream.reading)
        except (RecursionError, ValueError) as error:
            yield BadFile(f"The {unit} cannot be read: {why(error)}.")


def _lines(stream: Counted) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Read a value a line; None for a blank line."""
    for number, line in enumerate(stream.lines(), start=1):
        if isinstance(line, LongLine):
            yield too_long(line), {}
            continue
        text = line.removeprefix(MARK) if number == 1 else line
        try:
            yield (read_line(text) if text.strip() else None), {}
        except BadFile as error:
            yield error, {}


def _items(stream: Counted, layout: Layout, path: str) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    # Fractions are read as decimals: as floating numbers, one that is too large ends the file.
    ijson = ijson_module()
    before, bounded = stream.reading.done, _Bounded(stream)
    try:
        if layout is Layout.LIST or not path:
            for value in ijson.items(bounded, "item" if layout is Layout.LIST else ""):
                yield value, {}
        else:
            yield from _inner(ijson, bounded, path)
    except (ijson.JSONError, ValueError) as error:
        told, size = _fault(error), stream.reading.done - before
        fault = BadFile(
            f"The file is cut off or damaged after {size:,} bytes ({told}). "
            "What came before is imported; export it again and repeat the command."
        )
        yield fault, {}
    except BadFile as error:
        yield error, {}


def _fault(error: Exception) -> str:
    """Tell a fault of the library, which says it as bytes, without the text around it."""
    said = error.args[0] if error.args else ""
    told = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    return told.partition("\n")[0].strip()[:200].rstrip(".")


def _inner(ijson: Any, stream: _Bounded, inner: str) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Read the items at a path, each with the values that stand before it outside the items."""
    header: dict[str, Any] = {}
    builder, depth = None, 0
    for path, event, value in ijson.parse(stream):
        if builder is None and path != inner:
            if event in ("string", "number", "boolean"):
                header[".".join(part for part in path.split(".") if part != "item")] = value
            continue
        builder = builder or ijson.ObjectBuilder()
        builder.event(event, value)
        depth += event.startswith("start_") - event.startswith("end_")
        if depth == 0:
            yield builder.value, header
            builder = None
