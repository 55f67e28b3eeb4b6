"""Records of a file to import, in parts that fit a request."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from pydantic import ValidationError

from ecphoria.errors import BadFile
from ecphoria.records.asked import in_utc, read_as
from ecphoria.records.episode import NewEpisode
from ecphoria.wire.base import field_problems

MARK = b"\xef\xbb\xbf"
"""Byte order mark, with which some editors begin a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One episode of a file.

    Attributes:
        number: The line's number, or that of the message in an export, from 1.
        size: Bytes read since the record before.
        content: What to append, or why it cannot be used.
        place: Where it is in the file; empty where the number tells it.
    """

    number: int
    size: int
    content: NewEpisode | BadFile
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Records to send together, and those that cannot be sent."""

    good: tuple[tuple[Record, NewEpisode], ...]
    bad: tuple[tuple[Record, BadFile], ...]
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LongLine:
    """A line that is too long to be read, and the number of its bytes."""

    size: int


class RecordKeys:
    """Keys of records that have none: made of a record and of how often it came before.

    So importing the same file again, or a longer version of it, appends nothing twice.
    """

    def __init__(self) -> None:
        # The importer keeps no state: a repeat sends everything again, and the service skips
        # stored episodes (decision 0038).
        self._seen: Counter[bytes] = Counter()

    def of(self, record: bytes) -> str:
        """Make the key of the next record."""
        digest = sha256(record).digest()[:16]
        self._seen[digest] += 1
        return f"{digest.hex()}-{self._seen[digest]}"


def read_records(lines: Iterable[bytes | LongLine]) -> Iterator[Record]:
    """Read each line that is not blank.

    The fields are those of an append; `id` may stand for `idempotency_key`.
    """
    keys = RecordKeys()
    size = 0
    for number, line in enumerate(lines, start=1):
        if isinstance(line, LongLine):
            yield Record(number=number, size=size + line.size, content=too_long(line))
            size = 0
            continue
        size += len(line)
        text = line.removeprefix(MARK) if number == 1 else line
        if not text.strip():
            continue
        content = _read(text, keys)
        yield Record(number=number, size=size, content=content)
        size = 0


def read_fields(fields: object, key: str) -> NewEpisode | BadFile:
    """Read the fields of an append; `id` may stand for `idempotency_key`, else `key` does.

    A time without an offset is in UTC, as in files of other products.
    """
    if not isinstance(fields, dict):
        return BadFile('Not a JSON object; write one like {"text": "..."}.')
    named = fields.pop("id", None)
    fields.setdefault("idempotency_key", key if named is None else str(named))
    if "occurred_at" in fields:
        fields["occurred_at"] = in_utc(fields["occurred_at"])
    return to_append(fields)


def too_long(line: LongLine) -> BadFile:
    """Refuse a line that would not fit the body of a request."""
    return BadFile(f"The line has {line.size / 1e6:,.0f} MB, too many for a request; split it.")


def batches(records: Iterable[Record], *, items: int, size: int) -> Iterator[Batch]:
    """Gather records until there are `items` of them or `size` bytes."""
    gathered: list[Record] = []
    total = 0
    for record in records:
        if gathered and (len(gathered) == items or total + record.size > size):
            yield _batch(gathered)
            gathered, total = [], 0
        gathered.append(record)
        total += record.size
    if gathered:
        yield _batch(gathered)


def to_append(fields: Mapping[str, object]) -> NewEpisode | BadFile:
    """Check the fields of an append; if one is wrong, tell which and why."""
    try:
        return read_as(NewEpisode, fields)
    except ValidationError as error:
        found = field_problems(error.errors(), "#")
        return BadFile(" ".join(f"{problem.pointer[2:]}: {problem.detail}" for problem in found))


def read_line(line: bytes) -> object:
    """Read a line of JSON; BadFile if it is none; the message tells where."""
    try:
        return json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BadFile(f"Not UTF-8 at byte {error.start + 1}.") from error
    except json.JSONDecodeError as error:
        raise BadFile(f"Not JSON at column {error.colno}: {error.msg}.") from error
    except (RecursionError, ValueError) as error:
        raise BadFile(f"Not JSON that can be read: {why(error)}.") from error


def why(error: Exception) -> str:
    """Tell in a few words why a value could not be read; no text of the file is in them."""
    return "nested too deep" if isinstance(error, RecursionError) else "a number is too long"


def _batch(records: list[Record]) -> Batch:
    good: list[tuple[Record, NewEpisode]] = []
    bad: list[tuple[Record, BadFile]] = []
    for record in records:
        if isinstance(record.content, BadFile):
            bad.append((record, record.content))
        else:
            good.append((record, record.content))
    return Batch(good=tuple(good), bad=tuple(bad), size=sum(record.size for record in records))


def _read(line: bytes, keys: RecordKeys) -> NewEpisode | BadFile:
    key = keys.of(line.strip())
    try:
        fields = read_line(line)
    except BadFile as error:
        return error
    return read_fields(fields, key)
