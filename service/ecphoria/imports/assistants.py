"""Logs of assistants: sessions of Claude Code, activities of Gemini in Google Takeout."""

import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Final

from ecphoria.errors import BadFile
from ecphoria.imports.items import FileItem
from ecphoria.imports.streams import Found, Reading
from ecphoria.imports.texts import CALLS, NO_TEXT, joined_parts, words_of_html
from ecphoria.imports.values import as_list, as_object, word

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
