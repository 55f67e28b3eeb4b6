"""Conversations as plain lists of messages: OpenAI, LangChain, ShareGPT, Gemini and the like.

A message has a role and a text under one of the usual names. Its key is made of the session, its
place in it and its text, so two equal messages of a conversation stay two.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from ecphoria.errors import BadFile
from ecphoria.imports.items import FileItem
from ecphoria.imports.records import RecordKeys
from ecphoria.imports.streams import Found, Reading
from ecphoria.imports.texts import CALLS, NO_TEXT, SYSTEM, THINKING, Message, joined_parts
from ecphoria.imports.values import as_list, as_object, told_time, word

LISTS: Final = ("messages", "conversations", "conversation", "contents", "turns")
"""Fields of a conversation that hold its messages."""
ROLES: Final = ("role", "from", "author", "sender")
"""Fields of a message that hold its role."""
TEXTS: Final = ("content", "value", "text", "message", "parts", "refusal")
"""Fields of a message that hold its text."""
PAIRS: Final = (
    ("prompt", "completion"), ("prompt", "response"), ("instruction", "output"),
    ("question", "answer"), ("human", "assistant"),
)  # fmt: skip
"""Fields of a question with its answer."""

_IDENTS: Final = (
    "id",
    "session_id",
    "thread_id",
    "conversation_id",
    "conversationId",
    "chat_id",
    "uuid",
)
_NAMED: Final = {
    "human": "user", "gpt": "assistant", "chatgpt": "assistant", "bot": "assistant",
    "model": "assistant", "gemini": "assistant", "ai": "assistant", "chatbot": "assistant",
    "function": "tool", "observation": "tool", "ipython": "tool",
}  # fmt: skip
_SYSTEM: Final = ("system", "developer", "remove")
_KNOWN: Final = ("user", "assistant", "tool", "system")
_CALLING: Final = ("function_call", "tool_call")
_LANGCHAIN: Final = {"human": "user", "ai": "assistant", "function": "tool"}

Parted = tuple[object, Mapping[str, Any]]
Parts = Callable[[Message], Parted]
"""Tells role and fields of a message."""


def _plain(message: Message) -> Parted:
    """Find the role under its usual names; a name that is no role is that of the speaker."""
    field, role = next(((name, message[name]) for name in ROLES if message.get(name)), ("", None))
    role = as_object(role).get("role", role)
    if isinstance(role, str):
        known = _NAMED.get(role.lower(), role.lower())
        if field != "role" and known not in (*_KNOWN, *_CALLING):
            return None, {"name": role, **message}
        return known, message
    return role, message


def _langchain(message: Message) -> Parted:
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
    return data.get("role") if kind == "chat" else _LANGCHAIN.get(kind, kind), data


def _read(source: str, parts: Parts, item: FileItem, reading: Reading) -> Iterator[Found]:
    """Take apart a conversation; a message that stands alone belongs to the file's only one."""
    talk = as_object(item.value)
    listed = _messages(item.value)
    if listed is None and talk and {*ROLES, *TEXTS, "type", "data", "kwargs"} & talk.keys():
        where = f"{item.name} 1".strip(), item.number - 1
        yield from _message(source, parts(talk), where, reading)
        return
    if listed is None:
        yield BadFile('There are no messages here; write {"messages": [...]}.')
        return
    session = _session(talk, item)
    for position, message in enumerate(listed):
        reading.place = f"{item.place}, message {position + 1}"
        if isinstance(message, dict):
            yield from _message(source, parts(message), (session, position), reading)
        else:
            yield BadFile("The message is no object; it is left out.")


def _messages(value: object) -> list[Any] | None:
    """Find the messages of a conversation; None if there are none."""
    if isinstance(value, list):
        return value
    talk = as_object(value)
    for holder in (talk, as_object(talk.get("values")), as_object(talk.get("chunkedPrompt"))):
        for name in (*LISTS, "chunks"):
            if isinstance(holder.get(name), list):
                return _instructions(talk) + [one for pair in holder[name] for one in _pair(pair)]
    asked = _pair(talk)
    return asked if asked != [talk] else None


def _pair(talk: object) -> list[Any]:
    """Make messages of a question and its answer; anything else stays as it is."""
    fields = as_object(talk)
    for ask, answer in PAIRS:
        if ask in fields and answer in fields:
            asked, answered = fields[ask], fields[answer]
            if isinstance(asked, str) and isinstance(fields.get("input"), str):
                asked = f"{asked}\n{fields['input']}".strip()
            system = fields.get("system")
            return [
                *([{"role": "system", "content": system}] if system else []),
                *(asked if isinstance(asked, list) else [{"role": "user", "content": asked}]),
                *(
                    answered
                    if isinstance(answered, list)
                    else [{"role": "assistant", "content": answered}]
                ),
            ]
    return [talk]


def _instructions(talk: Mapping[str, Any]) -> list[Any]:
    """Give the instructions of the system that stand beside the messages, if there are some."""
    given = talk.get("systemInstruction", talk.get("system_instruction"))
    return [{"role": "system", "content": given}] if given else []


def _session(talk: Mapping[str, Any], item: FileItem) -> str:
    configured = as_object(as_object(talk.get("config")).get("configurable"))
    holders = (
        talk,
        configured,
        as_object(talk.get("checkpoint")),
        as_object(talk.get("metadata")),
    )
    given = [word(holder.get(name)) for holder in holders for name in _IDENTS]
    named = next((one for one in given if one), "")
    title = word(talk.get("title"))
    return named or f"{title or item.name} {item.number}".strip()


def _message(
    source: str, parted: Parted, where: tuple[str, int], reading: Reading
) -> Iterator[Found]:
    (role, data), (session, position) = parted, where
    content = next((data[name] for name in TEXTS if data.get(name) is not None), None)
    text = joined_parts(content, reading)
    if role in _SYSTEM:
        reading.leave(SYSTEM)
    elif data.get("isThought") is True:
        reading.leave(THINKING)
    elif role in _CALLING:
        reading.leave(CALLS)
    elif not text and (content is not None or _holds_else(data)):
        reading.leave(NO_TEXT)
    elif not text:
        yield BadFile("The message has no text; it is left out.")
    else:
        yield {
            "text": text,
            "role": role,
            "speaker": word(data.get("name")) or None,
            "session": session,
            "position": position,
            "source": source,
            "idempotency_key": RecordKeys().of(
                f"{session} {position} {text}".encode(errors="replace")
            ),
            **reading.occurred(told_time(data)),
        }


def _holds_else(data: Mapping[str, Any]) -> bool:
    """Tell whether a message calls tools, or holds a file in place of a text."""
    more = as_object(data.get("additional_kwargs"))
    calls = ("tool_calls", "function_call", "audio")
    files = ("driveDocument", "driveImage", "driveVideo", "driveAudio", "inlineData", "inlineFile",
             "youtubeVideo", "executableCode", "codeExecutionResult", "errorMessage")  # fmt: skip
    return any(given.get(name) for given in (data, more) for name in (*calls, *files))


read_openai = partial(_read, "openai", _plain)
read_langchain = partial(_read, "langchain", _langchain)
read_sharegpt = partial(_read, "sharegpt", _plain)
read_gemini = partial(_read, "gemini", _plain)
