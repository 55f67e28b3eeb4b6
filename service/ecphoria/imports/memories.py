"""Memories of mem0 and of OpenMemory: a statement each, with its end of life."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from ecphoria.errors import BadFile
from ecphoria.imports.items import FileItem
from ecphoria.imports.streams import Found, Reading
from ecphoria.imports.values import Fields, as_list, as_object, instant, metadata, told_time, word

_TEXTS: Final = ("memory", "content", "text")
_KEPT: Final = ("agent_id", "app_id", "app_name", "actor_id", "state", "tags", "category")


def read_mem0(item: FileItem, reading: Reading) -> Iterator[Found]:
    """Read a memory."""
    memory = as_object(item.value)
    text = next((memory[name] for name in _TEXTS if memory.get(name) is not None), None)
    if not isinstance(text, str):
        yield BadFile("Not a memory of mem0: `memory` is missing.")
        return
    life = _life(memory, reading)
    if not text.strip():
        reading.leave("memories without text")
    elif memory.get("state") == "deleted":
        reading.leave("deleted memories")
    elif life is None:
        reading.leave("expired memories")
    else:
        more = {
            **as_object(memory.get("metadata_")),
            **as_object(memory.get("metadata")),
            **{name: memory[name] for name in _KEPT if name in memory},
            "categories": _categories(memory.get("categories")),
        }
        key = word(memory.get("id")) or json.dumps(memory, sort_keys=True, default=float)
        yield {
            "text": text,
            "speaker": word(memory.get("user_id")) or None,
            "session": word(memory.get("run_id")) or None,
            "source": "mem0",
            "metadata": metadata(more, reading.parts),
            "idempotency_key": f"mem0-{key}",
            **reading.occurred(told_time(memory)),
            **life,
        }


def _life(memory: Mapping[str, Any], reading: Reading) -> Fields | None:
    """Give the end of a memory's life as a field; None if it is over. A day ends with its end."""
    given = memory.get("expiration_date") or memory.get("expires_at")
    end = instant(given)
    if end is None:
        reading.leave_parts("times that cannot be read", bool(given))
        return {}
    if isinstance(given, str) and len(given.strip()) <= len("2026-01-31"):
        end += timedelta(days=1, seconds=-1)
    return {"expires_at": end} if end > datetime.now(UTC) else None


def _categories(given: object) -> object:
    """Give the names of categories, which OpenMemory may write as objects."""
    names = [as_object(one).get("name", one) for one in as_list(given)]
    return names or (given if isinstance(given, str) else None)
