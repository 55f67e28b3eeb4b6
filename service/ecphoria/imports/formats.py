"""The table of formats, and how the format of a file is told by its content."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import PurePosixPath
from typing import Final, Protocol

from ecphoria.errors import BadFile
from ecphoria.imports.assistants import read_activity, read_claude_code, read_mem0
from ecphoria.imports.documents import UTF_16, kind_of, read_document, refusal
from ecphoria.imports.items import Take, read_items
from ecphoria.imports.markdown import PAGES
from ecphoria.imports.messages import (
    LISTS,
    PAIRS,
    ROLES,
    TEXTS,
    read_gemini,
    read_langchain,
    read_openai,
    read_sharegpt,
)
from ecphoria.imports.messengers import TELEGRAM_CHATS, read_telegram, read_whatsapp, whatsapp_head
from ecphoria.imports.shapes import Layout, Shape, has_object, is_value, shape_of
from ecphoria.imports.slack import read_dump
from ecphoria.imports.streams import Counted, Found
from ecphoria.imports.trees import read_chatgpt, read_claude, read_grok, read_open_webui
from ecphoria.records.asked import named
from ecphoria.records.episode import NewEpisode


class Format(StrEnum):
    """A form of data that can be imported."""

    EPISODES = "episodes"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    CLAUDE_CODE = "claude-code"
    OPEN_WEBUI = "open-webui"
    GROK = "grok"
    GEMINI = "gemini"
    OPENAI = "openai"
    LANGCHAIN = "langchain"
    SHAREGPT = "sharegpt"
    MEM0 = "mem0"
    SLACK = "slack"
    TELEGRAM = "telegram"
    WHATSAPP = "whatsapp"
    MARKDOWN = "markdown"
    DOCUMENTS = "documents"
    GRAPHITI = "graphiti"


Paths = frozenset[str]


class Read(Protocol):
    """A reader of one file; its name stands for conversations without one."""

    def __call__(self, stream: Counted, name: str) -> Iterator[Found]:
        """Read the file."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A format of JSON.

    Attributes:
        take: Makes episodes of an item.
        tells: Tells by the paths below a list whether its items are of this format.
        unit: What an item is called.
        lists: Paths of lists inside an object, as `ijson` writes them, in which items stand.
    """

    take: Take
    tells: Callable[[Paths], bool]
    unit: str = "conversation"
    lists: tuple[str, ...] = ()


_WRAPPED: Final = ("conversations.item", "chats.item", "data.item", "items.item")
_MEMORIES: Final = ("results.item", "memories.item", "items.item", "data.item")
_SPOKEN: Final = (
    "human", "ai", "system", "tool", "chat", "remove", "AIMessageChunk", "constructor",
)  # fmt: skip


def _has(*paths: str) -> Callable[[Paths], bool]:
    return lambda found: all(path in found for path in paths)


def _has_any(*paths: str) -> Callable[[Paths], bool]:
    return lambda found: any(path in found for path in paths)


def _is_langchain(found: Paths) -> bool:
    places = ("", "messages.", "values.messages.")
    return "values.messages" in found or any(
        f"{place}type={kind}" in found for place in places for kind in _SPOKEN
    )


def _is_messages(found: Paths) -> bool:
    """Tell conversations, messages that stand alone, and questions with their answers."""
    places = ("", *(f"{name}." for name in LISTS))
    if "messages.author.name" in found:  # such as Discord's: people, and no roles
        return False
    spoken = any(
        f"{place}{role}" in found and any(f"{place}{text}" in found for text in TEXTS)
        for place in places
        for role in ROLES
    )
    pairs = any({ask, answer} <= found for ask, answer in PAIRS)
    return spoken or pairs or "messages" in found


def _is_telegram(found: Paths) -> bool:
    own = ("from_id", "date_unixtime", "text_entities")
    return any(name in found for name in own) or {"id", "type", "date", "from", "text"} <= found


def _is_mem0(found: Paths) -> bool:
    own = ("categories", "app_name", "app_id", "state", "metadata_", "tags", "user_id")
    return "memory" in found or ("content" in found and any(name in found for name in own))


KNOWN: Final[Mapping[Format, Known]] = {
    Format.CHATGPT: Known(take=read_chatgpt, tells=_has("mapping"), lists=_WRAPPED),
    Format.CLAUDE: Known(take=read_claude, tells=_has("chat_messages"), lists=_WRAPPED),
    Format.OPEN_WEBUI: Known(
        take=read_open_webui,
        tells=_has_any("history.messages", "chat.history", "chat.messages"),
        lists=_WRAPPED,
    ),
    Format.GROK: Known(
        take=read_grok,
        tells=_has_any("responses.response", "responses.sender", "responses.message"),
        lists=_WRAPPED,
    ),
    Format.CLAUDE_CODE: Known(
        take=read_claude_code,
        tells=_has_any("parentUuid", "leafUuid", "isSidechain", "snapshot"),
        unit="line",
    ),
    Format.TELEGRAM: Known(
        take=read_telegram,
        tells=_is_telegram,
        unit="message",
        lists=("messages.item", f"{TELEGRAM_CHATS}.item.messages.item"),
    ),
    Format.SLACK: Known(
        take=read_dump, tells=_has("ts", "user"), unit="message", lists=("messages.item",)
    ),
    Format.LANGCHAIN: Known(take=read_langchain, tells=_is_langchain, unit="item", lists=_WRAPPED),
    Format.SHAREGPT: Known(
        take=read_sharegpt,
        tells=_has_any("conversations.from", "conversations.value", "conversation.human"),
        unit="item",
        lists=_WRAPPED,
    ),
    Format.MEM0: Known(take=read_mem0, tells=_is_mem0, unit="memory", lists=_MEMORIES),
    Format.GEMINI: Known(
        take=read_gemini, tells=_has_any("chunkedPrompt", "contents.parts"), unit="item"
    ),
    Format.OPENAI: Known(take=read_openai, tells=_is_messages, unit="item", lists=_WRAPPED),
}
"""Formats of JSON, the surest first."""
_ACTIVITY: Final = Known(
    take=read_activity, tells=_has_any("safeHtmlItem", "activityControls"), unit="activity"
)
_JSON: Final = (".json", ".jsonl", ".ndjson")
_NOT_UTF_8: Final = "The file is UTF-16; save it as UTF-8."
_OWN: Final = frozenset({*named(NewEpisode), "id"})


def reader_of(form: Format, start: bytes) -> Read | None:
    """Give the reader of a format for a file that begins like this; None for other formats."""
    if form is Format.WHATSAPP:
        return read_whatsapp
    if form in (Format.MARKDOWN, Format.DOCUMENTS):
        return read_document
    known = KNOWN.get(form)
    if known is None:
        return None
    shape = shape_of(start)
    if form is Format.GEMINI and _ACTIVITY.tells(shape.paths):
        known = _ACTIVITY
    return partial(read_items, take=known.take, path=_path(known, shape) or "", unit=known.unit)


def detect(start: bytes, name: str = "") -> Format:
    """Tell the format of a file by its first bytes and its name.

    Raises:
        BadFile: It is of none that is known; the message tells the kind of file.
    """
    if not start:
        raise BadFile("The file is empty." if name else "There is nothing to read.")
    kind = kind_of(start)
    if kind != "text":
        return _detect_binary(start, kind)
    coding = "utf-16" if start.startswith(UTF_16) else "utf-8"
    lines = start[:4_096].decode(coding, errors="replace").split("\n")
    if any(whatsapp_head(line.lstrip("\ufeff").rstrip("\r")) for line in lines[:3]):
        if coding != "utf-8":
            raise BadFile(_NOT_UTF_8)
        return Format.WHATSAPP
    shape = shape_of(start)
    if shape.layout is not Layout.OTHER:
        return _detect_json(shape)
    return _detect_text(start, name)


def _detect_binary(start: bytes, kind: str) -> Format:
    if kind in ("PDF", "HTML") or start.startswith(b"PK\x03\x04"):
        return Format.DOCUMENTS
    raise refusal(kind)


def _detect_json(shape: Shape) -> Format:
    top = {path.partition("=")[0] for path in shape.paths if "." not in path}
    if "text" in top and (top <= _OWN or "occurred_at" in top):
        return Format.EPISODES
    if _ACTIVITY.tells(shape.paths):
        return Format.GEMINI
    for form, known in KNOWN.items():
        if _path(known, shape) is not None:
            return form
    if "text" in top:  # the faults of its fields are told
        return Format.EPISODES
    if not top:
        raise BadFile(f"The file holds no objects: {shape.layout.value} without fields.")
    fields = (", ".join(sorted(top)[:8]) or "none")[:200]
    raise BadFile(
        f"The format is unknown: {shape.layout.value} with the fields {fields}; "
        'give --format, or write a line {"text": "..."} for each episode.'
    )


def _path(known: Known, shape: Shape) -> str | None:
    """Find where the items of a format stand in a file; None if there are none."""
    if shape.layout in (Layout.OBJECT, Layout.LINE):
        for path in known.lists:
            prefix = path.replace(".item", "") + "."
            below = (one[len(prefix) :] for one in shape.paths if one.startswith(prefix))
            if known.tells(frozenset(below)) and not known.tells(shape.paths):
                return path
    return "" if known.tells(shape.paths) else None


def _detect_text(start: bytes, name: str) -> Format:
    path = PurePosixPath(name.lower())
    if any(path.match(pattern) for pattern in PAGES):
        return Format.MARKDOWN
    if has_object(start):
        return Format.EPISODES
    if start.startswith(UTF_16) and path.suffix in _JSON:
        raise BadFile(_NOT_UTF_8)
    if path.suffix in _JSON and is_value(start):
        raise BadFile(f"{PurePosixPath(name).name} holds neither a list nor an object of JSON.")
    if path.suffix in _JSON:
        raise BadFile(f"{PurePosixPath(name).name} is a text and no JSON; rename it to .txt.")
    if not name:
        raise BadFile("The format cannot be told by the beginning of the text; give --format.")
    return Format.DOCUMENTS
