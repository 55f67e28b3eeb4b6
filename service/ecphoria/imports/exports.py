"""Exports of other products, read as a stream: a file may be larger than the memory.

Each message becomes one episode, with the export's own id as its key. A message that cannot be
used is reported, and the next is read.
"""

import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Protocol, cast

from ecphoria.errors import BadFile, Misconfigured
from ecphoria.imports.records import Keys, Record, read_line, read_records, to_append

Fields = dict[str, object]
_WRAPPED: Final = re.compile(rb'^\s*\{.*?"(results|memories|items)"\s*:\s*\[', re.DOTALL)
"""The lists that mem0's API puts its memories in."""


class Format(StrEnum):
    """A file that can be imported."""

    EPISODES = "episodes"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    OPENAI = "openai"
    MEM0 = "mem0"


class Peeking(Protocol):
    """A binary file of which the next bytes can be looked at."""

    def read(self, size: int = -1, /) -> bytes:
        """Read so many bytes."""
        ...

    def peek(self, size: int = 0, /) -> bytes:
        """Look at the next bytes."""
        ...

    def __iter__(self) -> Iterator[bytes]:
        """Read lines."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A file that is open.

    Attributes:
        records: Its episodes.
        size: Its bytes, unpacked; None if that is unknown.
    """

    records: Iterator[Record]
    size: int | None


@contextmanager
def opened(file: Path, form: Format) -> Iterator[Opened]:
    """Open a file to import, or a ZIP archive of an export as it was downloaded.

    Raises:
        BadFile: It cannot be read, or the archive holds no conversations.
        Misconfigured: An export needs the extra `import`.
    """
    try:
        if form in {Format.CHATGPT, Format.CLAUDE} and zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as packed:
                parts = [
                    part
                    for part in sorted(packed.infolist(), key=lambda part: part.filename)
                    if Path(part.filename).match("conversations*.json")
                ]
                if not parts:
                    raise BadFile(
                        f"{file} holds no conversations.json; give the ZIP file of the export.",
                        path=str(file),
                    )
                size = sum(part.file_size for part in parts)
                yield Opened(records=_packed(packed, parts, form), size=size)
            return
        with file.open("rb") as stream:
            size = file.stat().st_size
            yield Opened(records=read_export(stream, form, name=file.stem), size=size)
    except (OSError, zipfile.BadZipFile) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise BadFile(f"{file} cannot be read: {why}.", path=str(file)) from error


def read_export(stream: Peeking, form: Format, *, name: str = "") -> Iterator[Record]:
    """Read the episodes of a file of this format.

    Args:
        stream: The file, open.
        form: Its format.
        name: Name of the conversation where the format has none.
    """
    if form is Format.EPISODES:
        return read_records(stream)
    counted = _Counted(stream)
    return _numbered(_READERS[form](counted, name), counted)


def _packed(
    packed: zipfile.ZipFile, parts: Sequence[zipfile.ZipInfo], form: Format
) -> Iterator[Record]:
    before = 0
    for part in parts:
        with packed.open(part) as stream:
            last = 0
            for record in read_export(cast("zipfile.ZipExtFile", stream), form):
                last = record.number
                yield Record(
                    number=before + record.number, size=record.size, content=record.content
                )
            before += last


def _numbered(episodes: Iterator[Fields | BadFile], stream: "_Counted") -> Iterator[Record]:
    told = 0
    for number, episode in enumerate(episodes, start=1):
        content = episode if isinstance(episode, BadFile) else to_append(episode)
        yield Record(number=number, size=stream.count - told, content=content)
        told = stream.count


class _Counted:
    """A stream that counts what was read of it."""

    def __init__(self, stream: Peeking) -> None:
        self._stream = stream
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        found = self._stream.read(size)
        self.count += len(found)
        return found

    def start(self) -> bytes:
        """Look at the first bytes without reading them."""
        return self._stream.peek(1_000)[:1_000]

    def lines(self) -> Iterator[bytes]:
        for line in self._stream:
            self.count += len(line)
            yield line


def _items(stream: _Counted, prefix: str) -> Iterator[Any]:
    """Read the items of an array, one after the other; the last may be a fault."""
    try:
        import ijson  # type: ignore[import-untyped]  # noqa: PLC0415 (extra `import`)
    except ModuleNotFoundError as missing:
        raise Misconfigured(
            "Reading an export needs ijson: pip install 'ecphoria[import]'."
        ) from missing
    if prefix == "item" and not stream.start().lstrip().startswith(b"["):
        yield BadFile("The file is no list in JSON, as this export is; check `--format`.")
        return
    try:
        yield from ijson.items(stream, prefix, use_float=True)
    except ijson.JSONError as error:
        yield BadFile(
            f"The file is cut off or damaged after {stream.count:,} bytes ({error}). What came "
            "before is imported; download the export again and repeat the command."
        )


def _chatgpt(stream: _Counted, _: str) -> Iterator[Fields | BadFile]:
    for talk in _items(stream, "item"):
        if isinstance(talk, BadFile):
            yield talk
        elif not isinstance(talk, dict) or not isinstance(talk.get("mapping"), dict):
            yield BadFile("Not a conversation of ChatGPT: `mapping` is missing.")
        else:
            yield from _chatgpt_talk(talk)


def _chatgpt_talk(talk: Mapping[str, Any]) -> Iterator[Fields | BadFile]:
    nodes, ident = talk["mapping"], str(talk.get("conversation_id") or talk.get("id") or "")
    session = _session(talk.get("title"), ident)
    # Other branches are answers that the user had written anew; the last one counts.
    branch: list[Mapping[str, Any]] = []
    node, seen = talk.get("current_node"), set[object]()
    while node is not None and node not in seen and isinstance(nodes.get(node), dict):
        seen.add(node)
        branch.append(nodes[node])
        node = nodes[node].get("parent")
    if not branch:
        yield BadFile(
            f"The conversation {ident or session} has no `current_node`; it is left out."
        )
        return
    when = talk.get("create_time")
    for position, place in enumerate(reversed(branch)):
        message = place.get("message")
        if not isinstance(message, dict):
            continue
        role = str(_object(message.get("author")).get("role"))
        hidden = _object(message.get("metadata")).get("is_visually_hidden_from_conversation")
        text = _chatgpt_text(_object(message.get("content")))
        when = message.get("create_time") or when
        if role not in {"user", "assistant", "tool"} or hidden or not text:
            continue
        yield {
            "text": text,
            "role": role,
            "session": session,
            "position": position,
            "source": "chatgpt",
            "idempotency_key": f"chatgpt-{message.get('id') or f'{ident}-{position}'}",
            **_at(when),
        }


def _chatgpt_text(content: Mapping[str, Any]) -> str:
    parts = _list(content.get("parts")) or [content.get("text")]
    found = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(part for part in found if isinstance(part, str) and part.strip())


def _claude(stream: _Counted, _: str) -> Iterator[Fields | BadFile]:
    for talk in _items(stream, "item"):
        if isinstance(talk, BadFile):
            yield talk
        elif not isinstance(talk, dict) or not isinstance(talk.get("chat_messages"), list):
            yield BadFile("Not a conversation of Claude: `chat_messages` is missing.")
        else:
            ident = str(talk.get("uuid") or "")
            session = _session(talk.get("name"), ident)
            for position, message in enumerate(talk["chat_messages"]):
                if isinstance(message, dict):
                    given = {"position": position, "session": session}
                    yield from _claude_message(message, given, f"{ident}-{position}")
                else:
                    yield BadFile(f"A message of {session} is no object; it is left out.")


def _claude_message(message: Mapping[str, Any], given: Fields, key: str) -> Iterator[Fields]:
    ident = message.get("uuid") or key
    parts = [_object(part).get("text") for part in _list(message.get("content"))]
    text = message.get("text") or "\n".join(part for part in parts if isinstance(part, str))
    common = {"source": "claude", **_at(message.get("created_at"))}
    if not isinstance(text, str) or text.strip():  # the check of the field tells what is wrong
        yield {
            "text": text,
            "role": "user" if message.get("sender") == "human" else message.get("sender"),
            "idempotency_key": f"claude-{ident}",
            **given,
            **common,
        }
    for number, attachment in enumerate(map(_object, _list(message.get("attachments")))):
        words = attachment.get("extracted_content")
        if isinstance(words, str) and words.strip():
            yield {
                "text": words,
                "title": attachment.get("file_name") or "attachment",
                "idempotency_key": f"claude-{ident}-{number}",
                **common,
            }


def _openai(stream: _Counted, name: str) -> Iterator[Fields | BadFile]:
    """Read a list of messages a line: `{"messages": [{"role": ..., "content": ...}]}`."""
    keys = Keys()
    for number, line in enumerate(stream.lines(), start=1):
        if not line.strip():
            continue
        try:
            talk = read_line(line)
        except BadFile as error:
            yield error
            continue
        messages = talk.get("messages") if isinstance(talk, dict) else talk
        if not isinstance(messages, list):
            yield BadFile(f'Line {number} has no messages; write {{"messages": [...]}}.')
            continue
        given = talk.get("id") if isinstance(talk, dict) else None
        session = str(given or f"{name} {number}")
        for position, message in enumerate(messages):
            text, role = _openai_text(message), _object(message).get("role")
            if text is None:
                yield BadFile(f"A message of line {number} has no text; it is left out.")
            elif role not in ("system", "developer"):
                yield {
                    "text": text,
                    "role": "tool" if role == "function" else role,
                    "speaker": message.get("name"),
                    "session": session,
                    "position": position,
                    "source": "openai",
                    "idempotency_key": keys.of(f"{session} {position} {text}".encode()),
                }


def _openai_text(message: object) -> str | None:
    content = _object(message).get("content")
    if isinstance(content, list):
        parts = [_object(part).get("text") for part in content]
        content = "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) and content.strip() else None


def _mem0(stream: _Counted, _: str) -> Iterator[Fields | BadFile]:
    wrapped = _WRAPPED.search(stream.start())
    for found in _items(stream, f"{wrapped[1].decode()}.item" if wrapped else "item"):
        if isinstance(found, BadFile):
            yield found
            continue
        memory = _object(found)
        text = memory.get("memory") or memory.get("text")
        if not isinstance(text, str):
            yield BadFile("Not a memory of mem0: `memory` is missing.")
            continue
        metadata = {
            str(key): one
            for key, one in {
                **_object(memory.get("metadata")), "agent_id": memory.get("agent_id"),
            }.items()
            if isinstance(one, str | int | float | bool)
        }  # fmt: skip
        yield {
            "text": text,
            "speaker": memory.get("user_id"),
            "session": memory.get("run_id"),
            "source": "mem0",
            "metadata": metadata,
            "idempotency_key": f"mem0-{memory.get('id') or json.dumps(memory, sort_keys=True)}",
            **_at(memory.get("created_at")),
        }


_READERS: Final[Mapping[Format, Callable[[_Counted, str], Iterator[Fields | BadFile]]]] = {
    Format.CHATGPT: _chatgpt,
    Format.CLAUDE: _claude,
    Format.OPENAI: _openai,
    Format.MEM0: _mem0,
}


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _session(title: object, ident: str) -> str:
    """Name a conversation: titles are not unique."""
    words = " ".join(str(title or "Conversation").split())[:100]
    return f"{words} ({ident[:8]})" if ident else words


def _at(when: object) -> Fields:
    """Read a time: seconds since 1970, or text with or without an offset."""
    if isinstance(when, int | float):
        try:
            return {"occurred_at": datetime.fromtimestamp(when, UTC)}
        except (OverflowError, ValueError, OSError):
            return {"occurred_at": str(when)}  # the check of the field tells what is wrong
    if isinstance(when, str):
        try:
            found = datetime.fromisoformat(when)
        except ValueError:
            return {"occurred_at": when}
        return {"occurred_at": found if found.tzinfo else found.replace(tzinfo=UTC)}
    return {}
