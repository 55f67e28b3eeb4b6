"""Refuse texts that no person could read, or that are too long to store."""

import re
from typing import Final

from ecphoria.errors import InvalidInput, TooLarge
from ecphoria.text.tokens import UNREADABLE

_UNREADABLE: Final = re.compile(f"[{UNREADABLE}]")


def check_readable(field: str, value: str, limit: int | None = None) -> None:
    """Refuse control characters, and texts over a limit.

    Raises:
        InvalidInput: Names the character and its place.
        TooLarge: The text has more than `limit` characters.
    """
    if limit is not None and len(value) > limit:
        raise TooLarge(
            f"`{field}` has {len(value):,} characters; at most {limit:,} are stored, so split it",
            field=field,
        )
    if found := _UNREADABLE.search(value):
        raise InvalidInput(
            f"`{field}` holds the unreadable character U+{ord(found[0]):04X} at place "
            f"{found.start()}; remove it",
            field=field,
        )
