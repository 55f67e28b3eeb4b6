"""Logs and memories of assistants: Claude Code, Gemini in Google Takeout, mem0, OpenMemory."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any, Final

from ecphoria.errors import BadFile
from ecphoria.imports.items import FileItem
from ecphoria.imports.streams import Found, Reading
from ecphoria.imports.texts import CALLS, NO_TEXT, joined_parts, words_of_html
from ecphoria.imports.values import Fields, as_list, as_object, instant, metadata, told_time, word

_PROMPTED: Final = re.compile(r"(Prompted|Asked|Said)( with)?:?\s+")


def read_claude_code(item: FileItem, reading: Reading) -> Iterator[Found]:
    """Read a line of a session: a message of the user or of the assistant.

    Lines of other kinds hold no message: snapshots of files, queues, titles of sessions.
    """
    line = as_object(item.value)
    kind = line.get("type")
    message = as_object(line.get("message"))
    if not line:
        yield BadFile("The line is no object; it is left out.")
        return
    if kind not in ("user", "assistant"):
        reading.leave(f"lines of other kinds ({word(kind)[:40] or 'none'})")
        return
    text = joined_parts(message.get("content"), reading)
    if line.get("isSidechain") is True:
        reading.leave("messages of subagents")
    elif line.get("isMeta") is True or line.get("isVisibleInTranscriptOnly") is True:
        reading.leave("hidden messages")
    elif line.get("isCompactSummary") is True:
        reading.leave("summaries of the conversation")
    elif not text:
        parts = [as_object(part).get("type") for part in as_list(message.get("content"))]
        calls = parts and all(part in ("tool_use", "tool_result") for part in parts)
        reading.leave(CALLS if calls else NO_TEXT)
    else:
        ident = word(line.get("sessionId")) or item.name
        folder = PurePosixPath(word(line.get("cwd")).replace("\\", "/")).name
        key = word(line.get("uuid")) or f"{ident}-{item.number}"
        yield {
            "text": text,
            "role": kind,
            "session": f"{folder or 'Claude Code'} ({ident[:8]})",
            "position": item.number - 1,
            "source": "claude-code",
            "idempotency_key": f"claude-code-{key}",
            **reading.occurred(line.get("timestamp")),
        }


def read_activity(item: FileItem, reading: Reading) -> Iterator[Found]:
    """Read an activity of Gemini: what the user asked, and the answer in HTML."""
    activity = as_object(item.value)
    title = activity.get("title")
    if not isinstance(title, str):
        yield BadFile("Not an activity of Gemini: `title` is missing.")
        return
    given = activity.get("safeHtmlItem")
    answers = [one for one in (given if isinstance(given, list) else [given]) if one]
    asked = _PROMPTED.match(title)
    when = activity.get("time")
    if asked is None and not answers:
        reading.leave("activities without a prompt")
        return
    day = word(when)[:10]
    texts = [("user", title[asked.end() if asked else 0 :])]
    for one in map(as_object, answers):
        page = one.get("html") or one.get("htmlValue")
        texts.append(("assistant", words_of_html(page) if isinstance(page, str) else ""))
    for position, (role, text) in enumerate(texts):
        if not text.strip():
            reading.leave(NO_TEXT)
            continue
        key = sha256(f"{when} {position} {text}".encode(errors="replace")).hexdigest()[:32]
        yield {
            "text": text,
            "role": role,
            "session": f"Gemini {day}".strip(),
            "position": position,
            "source": "gemini",
            "idempotency_key": f"gemini-{key}",
            **reading.occurred(when),
        }


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
