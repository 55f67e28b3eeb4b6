"""Instants as they are given on the command line."""

from datetime import datetime

from ecphoria.errors import InvalidInput

__all__ = ["instant"]


def instant(text: str | None, field: str) -> datetime | None:
    """Read an instant; it needs an offset.

    Raises:
        InvalidInput: It is none; the message shows one.
    """
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise InvalidInput(
            f"`{text}` is no instant with an offset; write it like 2026-03-14T09:30:00Z.",
            field=field,
        )
    return found
