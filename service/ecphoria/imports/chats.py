"""Conversations and memories in JSON: ChatGPT, Claude, OpenAI, LangChain, mem0.

Each message becomes one episode, with the export's own id as its key. A message that cannot be
used is told, and the next is read.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from ecphoria.errors import BadFile
from ecphoria.imports.records import MARK, read_line
from ecphoria.imports.streams import Counted, Fields, Found, as_list, as_object, items, occurred

WRAPPED: Final = re.compile(rb'^\{.*?"(results|memories|items)"\s*:\s*\[', re.DOTALL)
"""The lists in which mem0's API puts its memories."""


def read_chatgpt(stream: Counted, _: str = "") -> Iterator[Found]:
    """Read the conversations of a ChatGPT export."""
    for number, talk in enumerate(items(stream), start=1):
        stream.at(f"conversation {number}")
        if isinstance(talk, BadFile):
            yield talk
        elif not isinstance(talk, dict) or not isinstance(talk.get("mapping"), dict):
            yield BadFile("Not a conversation of ChatGPT: `mapping` is missing.")
        else:
            yield from _chatgpt_talk(talk)


def _chatgpt_talk(talk: Mapping[str, Any]) -> Iterator[Found]:
    nodes, ident = talk["mapping"], str(talk.get("conversation_id") or talk.get("id") or "")
    session = _session(talk.get("title"), ident)
    # Other branches are answers that the user had written anew; the last one counts.
    branch: list[Mapping[str, Any]] = []
    node, seen = talk.get("current_node"), set[str]()
    while isinstance(node, str) and node not in seen and isinstance(nodes.get(node), dict):
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
        role = str(as_object(message.get("author")).get("role"))
        hidden = as_object(message.get("metadata")).get("is_visually_hidden_from_conversation")
        text = _chatgpt_text(as_object(message.get("content")))
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
            **occurred(when),
        }


def _chatgpt_text(content: Mapping[str, Any]) -> str:
    parts = as_list(content.get("parts")) or [content.get("text")]
    found = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(part for part in found if isinstance(part, str) and part.strip())


def read_claude(stream: Counted, _: str = "") -> Iterator[Found]:
    """Read the conversations of a Claude export, and the texts of their attachments."""
    for number, talk in enumerate(items(stream), start=1):
        stream.at(f"conversation {number}")
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
    parts = [as_object(part).get("text") for part in as_list(message.get("content"))]
    text = message.get("text") or "\n".join(part for part in parts if isinstance(part, str))
    common = {"source": "claude", **occurred(message.get("created_at"))}
    if not isinstance(text, str) or text.strip():  # the check of the field tells what is wrong
        yield {
            "text": text,
            "role": "user" if message.get("sender") == "human" else message.get("sender"),
            "idempotency_key": f"claude-{ident}",
            **given,
            **common,
        }
    for number, attachment in enumerate(map(as_object, as_list(message.get("attachments")))):
        words = attachment.get("extracted_content")
        if isinstance(words, str) and words.strip():
            yield {
                "text": words,
                "title": attachment.get("file_name") or "attachment",
                "idempotency_key": f"claude-{ident}-{number}",
                **common,
            }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """A message as it stands in a file, and its place in a conversation."""

    session: str
    position: int
    message: Mapping[str, Any]


def read_openai(stream: Counted, name: str = "") -> Iterator[Found]:
    """Read messages of OpenAI's API: `{"messages": [{"role": ..., "content": ...}]}`."""
    return _read_messages(stream, name, "openai", lambda message: (message.get("role"), message))


def read_langchain(stream: Counted, name: str = "") -> Iterator[Found]:
    """Read messages of LangChain: `{"type": "human", "data": {"content": ...}}`."""
    return _read_messages(stream, name, "langchain", _langchain_parts)


_LANGCHAIN_ROLES: Final = {"human": "user", "ai": "assistant", "function": "tool"}


def _langchain_parts(message: Mapping[str, Any]) -> tuple[object, Mapping[str, Any]]:
    """Find role and content in each of the forms that LangChain writes.

    They are `message_to_dict` (fields in `data`), `dumpd` (the class as the last part of `id`, the
    fields in `kwargs`), and `model_dump` (the fields beside `type`).
    """
    kind, data = message.get("type"), message
    if isinstance(message.get("kwargs"), dict) and as_list(message.get("id")):
        kind, data = message["id"][-1], message["kwargs"]
    elif isinstance(message.get("data"), dict):
        data = message["data"]
    if not isinstance(kind, str):
        return message.get("role"), data
    kind = re.sub(r"Message(Chunk)?$", "", kind).lower()
    return data.get("role") if kind == "chat" else _LANGCHAIN_ROLES.get(kind, kind), data


def _read_messages(
    stream: Counted,
    name: str,
    source: str,
    parts: Callable[[Mapping[str, Any]], tuple[object, Mapping[str, Any]]],
) -> Iterator[Found]:
    left_out = stream.reading.left_out
    for said in _said(stream, name):
        if isinstance(said, BadFile):
            yield said
            continue
        role, data = parts(said.message)
        text = message_text(data.get("content"))
        if role in ("system", "developer", "remove"):
            left_out["system messages"] += 1
        elif not text and (_calls_tools(data) or isinstance(data.get("content"), str | list)):
            left_out["messages without text"] += 1
        elif not text:
            yield BadFile("The message has no text; it is left out.")
        else:
            key = sha256(f"{said.session} {said.position} {text}".encode(errors="replace"))
            yield {
                "text": text,
                "role": "tool" if role == "function" else role,
                "speaker": data.get("name") or None,
                "session": said.session,
                "position": said.position,
                "source": source,
                "idempotency_key": f"{key.digest()[:16].hex()}-1",
                **occurred(data.get("created_at")),
            }


def message_text(content: object) -> str | None:
    """Read the text of a message: a string, or parts of which some are texts.

    Reasoning, images and calls of tools have none.
    """
    if isinstance(content, list):
        found = [
            part if isinstance(part, str) else _part_text(as_object(part)) for part in content
        ]
        content = "\n".join(part for part in found if isinstance(part, str) and part.strip())
    return content if isinstance(content, str) and content.strip() else None


def _part_text(part: Mapping[str, Any]) -> object:
    text = part.get("text") or part.get("refusal")
    return text.get("value") if isinstance(text, dict) else text


def _calls_tools(data: Mapping[str, Any]) -> bool:
    more = as_object(data.get("additional_kwargs"))
    return any(
        given.get(name) for given in (data, more) for name in ("tool_calls", "function_call")
    )


def is_lines(start: bytes) -> bool:
    """Tell by the first bytes of a file whether each line is a value of its own."""
    first, _, more = start.partition(b"\n")
    if not more.strip():
        return first.startswith(b"{")
    # The first line of a printed document breaks off inside the value. A damaged line does, too,
    # but not at such a place.
    end = first.rstrip()[-1:]
    return end not in b"{[," if first.startswith(b"{") else first[:1] + end == b"[]"


def _said(stream: Counted, name: str) -> Iterator[_Said | BadFile]:
    """Read messages: conversations or messages a line, or one document with either."""
    start = stream.start()
    if start.startswith(b"[") and b"\n" not in start:
        start = stream.long_start()
    if is_lines(start):
        for number, line in enumerate(stream.lines(), start=1):
            stream.at(f"line {number}")
            if line.strip():
                try:
                    talk = read_line(line.removeprefix(MARK) if number == 1 else line)
                except BadFile as error:
                    yield error
                else:
                    yield from _talk(talk, stream, name, number)
        return
    if not start.startswith((b"[", b"{")):
        yield BadFile("The file holds no messages in JSON; check `--format`.")
        return
    prefix = "messages.item" if start.startswith(b"{") else "item"
    number = 0
    for number, item in enumerate(items(stream, prefix), start=1):
        stream.at(f"item {number}")
        yield from [item] if isinstance(item, BadFile) else _talk(item, stream, name, number)
    if not number and prefix != "item":
        yield BadFile('The file has no messages; write {"messages": [...]}.')


_MESSAGE: Final = frozenset({"role", "type", "content"})


def _talk(talk: object, stream: Counted, name: str, number: int) -> Iterator[_Said | BadFile]:
    """Take apart a conversation; a message that stands alone belongs to the file's only one."""
    fields, place = as_object(talk), stream.reading.place
    messages = fields.get("messages") if isinstance(talk, dict) else talk
    if fields and messages is None and _MESSAGE & fields.keys():
        yield _Said(session=f"{name} 1".strip(), position=number - 1, message=fields)
        return
    if not isinstance(messages, list):
        yield BadFile('There are no messages here; write {"messages": [...]}.')
        return
    given = next((fields[key] for key in ("id", "session_id", "thread_id") if fields.get(key)), "")
    session = str(given or f"{name} {number}".strip())
    for position, message in enumerate(messages):
        stream.reading.place = f"{place}, message {position + 1}"
        if isinstance(message, dict):
            yield _Said(session=session, position=position, message=message)
        else:
            yield BadFile("The message is no object; it is left out.")


def read_mem0(stream: Counted, _: str = "") -> Iterator[Found]:
    """Read the memories of mem0."""
    wrapped = WRAPPED.search(stream.start())
    for found in items(stream, f"{wrapped[1].decode()}.item" if wrapped else "item"):
        if isinstance(found, BadFile):
            yield found
            continue
        memory = as_object(found)
        text = memory.get("memory") or memory.get("text")
        if not isinstance(text, str):
            yield BadFile("Not a memory of mem0: `memory` is missing.")
            continue
        metadata = {
            str(key): one
            for key, one in {
                **as_object(memory.get("metadata")), "agent_id": memory.get("agent_id"),
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
            **occurred(memory.get("created_at")),
        }


def _session(title: object, ident: str) -> str:
    """Name a conversation: titles are not unique."""
    words = " ".join(str(title or "Conversation").split())[:100]
    return f"{words} ({ident[:8]})" if ident else words
