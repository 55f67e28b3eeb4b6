"""Files to import: one JSON object a line becomes one append, with a key that survives a rerun."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from pydantic import ValidationError

from ecphoria.errors import BadFile
from ecphoria.wire.episodes import AppendRequest
from ecphoria.wire.reading import field_problems

__all__ = ["Batch", "Record", "batches", "read_records"]

_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One line of a file.

    Attributes:
        number: The line's number, from 1.
        size: The line's bytes, with those of the blank lines before it.
        content: What to append, or why the line cannot be used.
    """

    number: int
    size: int
    content: AppendRequest | BadFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Records to send together, and those that cannot be sent."""

    good: tuple[tuple[int, AppendRequest], ...]
    bad: tuple[tuple[int, BadFile], ...]
    size: int


def read_records(lines: Iterable[bytes]) -> Iterator[Record]:
    """Read each line that is not blank.

    The fields are those of an append; `id` may stand for `idempotency_key`. A record without
    either gets a key made from its bytes and from how often they came before, so that importing
    the same file again, or a longer version of it, appends nothing twice.
    """
    seen: Counter[bytes] = Counter()
    size = 0
    for number, line in enumerate(lines, start=1):
        size += len(line)
        text = line.removeprefix(_MARK) if number == 1 else line
        if not text.strip():
            continue
        digest = sha256(text.strip()).digest()[:16]
        seen[digest] += 1
        key = f"{digest.hex()}-{seen[digest]}"
        yield Record(number=number, size=size, content=_read(text, key))
        size = 0


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


def _batch(records: list[Record]) -> Batch:
    good: list[tuple[int, AppendRequest]] = []
    bad: list[tuple[int, BadFile]] = []
    for record in records:
        if isinstance(record.content, BadFile):
            bad.append((record.number, record.content))
        else:
            good.append((record.number, record.content))
    return Batch(good=tuple(good), bad=tuple(bad), size=sum(record.size for record in records))


def _read(line: bytes, key: str) -> AppendRequest | BadFile:
    try:
        fields = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        return BadFile(f"Not UTF-8 at byte {error.start + 1}.")
    except json.JSONDecodeError as error:
        return BadFile(f"Not JSON at column {error.colno}: {error.msg}.")
    except RecursionError:
        return BadFile("Not JSON that can be read: nested too deep.")
    if not isinstance(fields, dict):
        return BadFile('Not a JSON object; write one like {"text": "..."}.')
    named = fields.pop("id", None)
    fields.setdefault("idempotency_key", key if named is None else str(named))
    try:
        return AppendRequest.model_validate(fields)
    except ValidationError as error:
        found = field_problems(error.errors(), "#")
        return BadFile(" ".join(f"{problem.pointer[2:]}: {problem.detail}" for problem in found))
