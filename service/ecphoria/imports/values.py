"""Values of JSON and YAML as exports write them: objects, texts, times, metadata."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime
from hashlib import sha256
from typing import Any, Final

from ecphoria.records.episode import (
    CENTURY,
    EARLIEST,
    LARGEST_METADATA,
    LONGEST_KEY,
    LONGEST_NAME,
    LONGEST_SOURCE,
)

Fields = dict[str, object]

_LIMITS: Final = {
    "title": LONGEST_NAME, "speaker": LONGEST_NAME, "session": LONGEST_NAME,
    "source": LONGEST_SOURCE,
}  # fmt: skip
_KEPT_OF_KEY: Final = 400
_UNREADABLE: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_UNITS: Final = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""Numbers from the first on count nanoseconds, microseconds, milliseconds; below them seconds."""
_TIMES: Final = (
    "created_at",
    "createdAt",
    "create_time",
    "createTime",
    "timestamp",
    "time",
    "date",
)


def as_object(value: object) -> Mapping[str, Any]:
    """Take an object of JSON; anything else counts as an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> Sequence[Any]:
    """Take a list of JSON; anything else counts as an empty one."""
    return value if isinstance(value, list) else ()


def word(value: object) -> str:
    """Take a name or an id; what is no text and no whole number counts as an empty one."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**64:
        return str(value)
    return " ".join(value.split()) if isinstance(value, str) else ""


def texts(parts: Sequence[object]) -> str:
    """Join the parts that are texts, a line each."""
    return "\n".join(part for part in parts if isinstance(part, str) and part.strip())


def session_name(title: object, ident: str) -> str:
    """Name a conversation: titles are not unique."""
    words = (word(title) or "Conversation")[:100]
    return f"{words} ({ident[:8]})" if ident else words


def instant(when: object) -> datetime | None:
    """Read a time; None if it cannot be read or lies where no episode may be.

    It is a number since 1970 in seconds or a smaller unit, a date, a text in ISO 8601 or of an
    e-mail, or MongoDB's `$date`. Without an offset it is taken as UTC.
    """
    found: object = when
    try:
        if isinstance(when, dict):
            return instant(when.get("$date", when.get("$numberLong")))
        if isinstance(when, str):
            found = _read_text(when.strip())
        elif isinstance(when, int | float | Decimal) and not isinstance(when, bool):
            seconds = float(when)
            unit = next((unit for least, unit in _UNITS if abs(seconds) >= least), 1.0)
            found = datetime.fromtimestamp(seconds / unit, UTC)
        elif isinstance(when, date) and not isinstance(when, datetime):
            found = datetime(when.year, when.month, when.day, tzinfo=UTC)
        if not isinstance(found, datetime):
            return None
        aware = found if found.tzinfo else found.replace(tzinfo=UTC)
        return aware if EARLIEST <= aware <= datetime.now(UTC) + CENTURY else None
    except (ValueError, OverflowError, OSError, TypeError, RecursionError):
        return None


def _read_text(text: str) -> datetime | None:
    if re.fullmatch(r"-?\d{9,20}(\.\d{1,9})?", text):
        return instant(float(text))
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return parsedate_to_datetime(text) if len(text) <= 100 else None


def told_time(fields: Mapping[str, Any]) -> object:
    """Find the time of a message, by the names that are in use for it."""
    return next((fields[name] for name in _TIMES if fields.get(name)), None)


def fitted(fields: Fields) -> Fields:
    """Cut names to the length that is stored, and leave out blank ones and control characters.

    A key that is too long or not readable ends in its hash.
    """
    found = dict(fields)
    for name, limit in _LIMITS.items():
        value = found.get(name)
        if isinstance(value, str):
            found[name] = _UNREADABLE.sub(" ", value)[:limit].strip() or None
    key = found.get("idempotency_key")
    if isinstance(key, str) and (len(key) > LONGEST_KEY or _UNREADABLE.search(key)):
        digest = sha256(key.encode(errors="replace")).hexdigest()
        found["idempotency_key"] = f"{_UNREADABLE.sub('_', key[:_KEPT_OF_KEY])}-{digest[:16]}"
    return found


def metadata(given: Mapping[Any, Any], parts: Counter[str]) -> Fields:
    """Take the values that can be stored, and lists of such as one text; null holds nothing.

    The others are counted in `parts`.
    """
    found: Fields = {}
    size = 0
    for name, value in given.items():
        if value is None:
            continue
        one = value
        if isinstance(value, list | tuple | set) and all(map(_is_flat, value)):
            one = ", ".join(str(part) for part in value)
        if isinstance(one, date):
            one = one.isoformat()
        elif isinstance(one, Decimal):
            one = float(one)
        if _can_be_stored(name, one) and size + len(f"{name}{one}") <= LARGEST_METADATA:
            found[str(name)] = one
            size += len(f"{name}{one}")
        else:
            parts["fields that cannot be stored"] += 1
    return found


def _can_be_stored(name: object, value: object) -> bool:
    if not _is_flat(name) or not _is_flat(value) or len(str(name)) > LONGEST_NAME:
        return False
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return False
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return not _UNREADABLE.search(f"{name}{value}")


def _is_flat(value: object) -> bool:
    return isinstance(value, str | int | float | bool | date | Decimal)
